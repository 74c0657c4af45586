import Foundation
@_weakLinked import FoundationNetworking
import Synchronization
import WakeModel
import WakeWire

/// A task of a background session.
protocol BackgroundTask: URLSessionTask {
    var core: TaskCore { get }
}

/// What a task of a background session knows, whatever kind it is.
final class TaskCore: Sendable {
    struct Facts {
        var state = URLSessionTask.State.suspended
        var earliestBegin: Date?
        var received: Int64 = 0
        var sent: Int64 = 0
        var toReceive = NSURLSessionTransferSizeUnknown
        var toSend: Int64 = 0
        var response: URLResponse?
        /// Where the response came from after redirects.
        var redirected: URL?
        var error: (any Error)?
        /// Who waits for what the task leaves to go on from.
        var takers: [ResumeDataTaker] = []
    }

    let number: UInt32
    let kind: TransferKind
    let request: URLRequest?
    let facts = Mutex(Facts())
    /// The session keeps its tasks, and they it until it is invalid.
    let session: BackgroundSession

    init(_ number: UInt32, _ kind: TransferKind, _ request: URLRequest?, of session: BackgroundSession) {
        (self.number, self.kind, self.request, self.session) = (number, kind, request, session)
    }

    /// The request as it went to where redirects led, once the response is there; the one that was made before that.
    var currentRequest: URLRequest? {
        guard var current = request, let redirected = facts.withLock({ $0.redirected }) else { return request }
        current.url = redirected
        return current
    }

    func resume(_ task: URLSessionTask) {
        let (isOpen, earliest) = facts.withLock { facts in
            let isOpen = facts.state == .suspended
            if isOpen { facts.state = .running }
            return (isOpen, facts.earliestBegin)
        }
        guard isOpen else { return }
        session.say(
            .resume(
                task: number,
                earliestBegin: earliest.map { min(max(0, $0.timeIntervalSince1970), WireLimits.latestDate) },
                bytesToSend: UInt64(exactly: task.countOfBytesClientExpectsToSend),
                bytesToReceive: UInt64(exactly: task.countOfBytesClientExpectsToReceive)
            )
        )
    }

    func suspend() {
        let runs = facts.withLock { facts in
            let runs = facts.state == .running
            if runs { facts.state = .suspended }
            return runs
        }
        if runs { session.say(.suspend(task: number)) }
    }

    func cancel() {
        let isOpen = facts.withLock { facts in
            let isOpen = facts.state == .running || facts.state == .suspended
            if isOpen { facts.state = .canceling }
            return isOpen
        }
        if isOpen { session.say(.cancel(task: number)) }
    }

    func cancel(leavingTo taker: ResumeDataTaker) {
        let isOpen = facts.withLock { facts in
            let isOpen = facts.state == .running || facts.state == .suspended
            if isOpen {
                facts.state = .canceling
                facts.takers.append(taker)
            }
            return isOpen
        }
        if isOpen { session.say(.cancelKeepingBytes(task: number)) } else { taker.take(nil) }
    }

    /// The task is over, and leaves so much; on its session's delegate queue.
    func answer(_ data: Data?) {
        let takers = facts.withLock { facts in
            defer { facts.takers = [] }
            return facts.takers
        }
        for taker in takers { taker.take(data) }
    }
}

/// A completion handler of `cancel(byProducingResumeData:)`, which is called once, on the delegate queue of its session.
struct ResumeDataTaker: @unchecked Sendable {
    let take: (Data?) -> Void
}

/// A download that the phone carries on.
final class BackgroundDownloadTask: URLSessionDownloadTask, BackgroundTask, @unchecked Sendable {
    let core: TaskCore

    init(_ core: TaskCore) {
        self.core = core
        super.init()
    }

    override var taskIdentifier: Int { Int(core.number) }
    override var originalRequest: URLRequest? { core.request }
    override var currentRequest: URLRequest? { core.currentRequest }
    override var response: URLResponse? { core.facts.withLock { $0.response } }
    override var error: (any Error)? { core.facts.withLock { $0.error } }
    override var state: URLSessionTask.State { core.facts.withLock { $0.state } }
    override var countOfBytesReceived: Int64 { core.facts.withLock { $0.received } }
    override var countOfBytesExpectedToReceive: Int64 { core.facts.withLock { $0.toReceive } }

    override func resume() { core.resume(self) }
    override func suspend() { core.suspend() }
    override func cancel() { core.cancel() }

    override func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        core.cancel(leavingTo: ResumeDataTaker(take: completionHandler))
    }
}

/// An upload that the phone carries on.
final class BackgroundUploadTask: URLSessionUploadTask, BackgroundTask, @unchecked Sendable {
    let core: TaskCore

    init(_ core: TaskCore) {
        self.core = core
        super.init()
    }

    override var taskIdentifier: Int { Int(core.number) }
    override var originalRequest: URLRequest? { core.request }
    override var currentRequest: URLRequest? { core.currentRequest }
    override var response: URLResponse? { core.facts.withLock { $0.response } }
    override var error: (any Error)? { core.facts.withLock { $0.error } }
    override var state: URLSessionTask.State { core.facts.withLock { $0.state } }
    override var countOfBytesSent: Int64 { core.facts.withLock { $0.sent } }
    override var countOfBytesExpectedToSend: Int64 { core.facts.withLock { $0.toSend } }
    override var countOfBytesReceived: Int64 { core.facts.withLock { $0.received } }

    override func resume() { core.resume(self) }
    override func suspend() { core.suspend() }
    override func cancel() { core.cancel() }
}
