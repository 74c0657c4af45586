import Foundation
import WakeClient
import WakeWire

/// Runs the app in the background for what it asks, when the phone has a good moment for it.
///
/// The identifiers of its tasks stand in BGTaskSchedulerPermittedIdentifiers of Info.plist, and UIBackgroundModes has `fetch` for
/// refresh tasks and `processing` for processing tasks.
open class BGTaskScheduler: NSObject, @unchecked Sendable {
    private static let instance = BGTaskScheduler()

    private let lock = NSLock()
    private var registered: Set<String> = []
    /// The tasks that run, by their identifiers.
    private var running: [String: BGTask] = [:]

    /// The app's only scheduler.
    open class var shared: BGTaskScheduler { instance }

    private override init() {
        super.init()
        let client = BenchClient.shared
        client.runWithoutApplication()
        // Not that of a launch handler, which may be busy with the very work that is to end.
        let queue = DispatchQueue(label: "wakebench.tasks")
        let manager = client.register(queue: queue) { [unowned self] body, _ in
            guard case .backgroundTask(.expired(let identifier)) = body else { return }
            lock.withLock { running[identifier] }?.expire()
        }
        BackgroundTaskHandlers.setExpirations(manager: manager)
    }

    // MARK: Launch handlers

    /// Has the tasks of an identifier handed to a handler, on a queue; nil for one of the system's.
    ///
    /// It is to be called before the launch is over, and once for an identifier: anything else ends the app, as an exception does
    /// (BGT-3).
    ///
    /// - Returns: whether Info.plist permits the identifier (BGT-1).
    @discardableResult
    open func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        let isFirst = lock.withLock { registered.insert(identifier).inserted }
        guard isFirst else {
            raise("Launch handler for task with identifier \(identifier) has already been registered", identifier)
        }
        let handler = LaunchHandler(call: launchHandler)
        let client = BenchClient.shared
        let own = queue ?? DispatchQueue(label: "wakebench.task.\(identifier)")
        let manager = client.register(queue: own) { [unowned self] body, _ in
            guard case .backgroundTask(.launched(let number, let identifier, let kind)) = body else { return }
            let task =
                kind == .processing
                ? BGProcessingTask(identifier, number: number) : BGAppRefreshTask(identifier, number: number)
            lock.withLock { running[identifier] = task }
            handler.call(task)
        }
        BackgroundTaskHandlers.setLaunch(of: identifier, manager: manager)
        return asksToRegister(identifier)
    }

    /// Whether the phone takes the handler; where it does not do so because the launch is over, the app does not come back.
    private func asksToRegister(_ identifier: String) -> Bool {
        guard Self.isPossible(identifier) else { return false }
        return BenchClient.shared.request { .backgroundTask(.register(id: $0, identifier: identifier)) }.granted == true
    }

    /// Prints what an exception says that nobody catches, and ends the app. The phone ends it by its own rule where it decides.
    private func raise(_ reason: String, _ identifier: String) -> Never {
        complain("terminating app due to uncaught exception 'NSInternalInconsistencyException', reason: '\(reason)'")
        _ = asksToRegister(identifier)
        abort()
    }

    // MARK: Requests

    /// Asks for a task to be run, in place of a request with the same identifier (BGT-2). One request is one run (BGT-4).
    ///
    /// - Throws: ``Error`` when the request is not pending now.
    open func submit(_ taskRequest: BGTaskRequest) throws {
        guard let wire = taskRequest.wire(), Self.isPossible(wire.identifier) else {
            throw Error(.notPermitted)
        }
        let reply = BenchClient.shared.request { .backgroundTask(.submit(id: $0, wire)) }
        guard let failure = reply.failure else { return }
        // Without a phone there is no scheduler.
        if failure.domain == "WakebenchErrorDomain" {
            throw Error(errorCode: Error.Code.unavailable.rawValue, errorText: failure.message)
        }
        throw failure.error(orOf: Error.self)
    }

    /// Takes back a request that is pending.
    open func cancel(taskRequestWithIdentifier identifier: String) {
        guard Self.isPossible(identifier) else { return }
        BenchClient.shared.send(.backgroundTask(.cancel(identifier: identifier)))
    }

    /// Takes back every request that is pending.
    open func cancelAllTaskRequests() { BenchClient.shared.send(.backgroundTask(.cancelAll)) }

    /// Tells the requests that are pending, on a queue of the system's.
    open func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
        let requests = pending()
        let handler = ListHandler(call: completionHandler)
        DispatchQueue.global().async { handler.call(requests) }
    }

    /// The requests that are pending.
    open func pendingTaskRequests() async -> [BGTaskRequest] { pending() }

    private func pending() -> [BGTaskRequest] {
        let reply = BenchClient.shared.request { .backgroundTask(.list(id: $0)) }
        return (reply.tasks ?? []).map(\.request)
    }

    /// A task is completed.
    func forget(_ task: BGTask) {
        lock.withLock { if running[task.identifier] === task { running[task.identifier] = nil } }
    }

    /// Whether the wire can say an identifier; no Info.plist lists any other.
    private static func isPossible(_ identifier: String) -> Bool {
        (1...WireLimits.taskIdentifierBytes).contains(identifier.utf8.count)
    }
}

/// What an app calls on its own queue alone.
private struct LaunchHandler: @unchecked Sendable {
    let call: (BGTask) -> Void
}

private struct ListHandler: @unchecked Sendable {
    let call: ([BGTaskRequest]) -> Void
}
