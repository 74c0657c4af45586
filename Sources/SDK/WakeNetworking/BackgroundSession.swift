import Foundation
@_weakLinked import FoundationNetworking
import Synchronization
import WakeClient
import WakeModel
import WakeWire

/// A session whose tasks the phone carries.
final class BackgroundSession: URLSession, @unchecked Sendable {
    private struct State {
        var tasks: [UInt32: any BackgroundTask] = [:]
        var lastTask: UInt32 = 0
        var takesTasks = true
        var delegate: (any FoundationNetworking.URLSessionDelegate)?
    }

    private static let sessions = Mutex<[String: BackgroundSession]>([:])

    private let identifier: String
    private let kept: URLSessionBackgroundConfiguration
    private let state: Mutex<State>
    private let operations: OperationQueue
    private let manager = Mutex<UInt32>(0)

    /// Gives the session of an identifier.
    static func make(
        _ configuration: URLSessionBackgroundConfiguration,
        _ delegate: (any FoundationNetworking.URLSessionDelegate)?,
        _ queue: OperationQueue?
    ) -> BackgroundSession {
        let identifier = configuration.identifier ?? ""
        guard (1...WireLimits.sessionIdentifierBytes).contains(identifier.utf8.count) else {
            preconditionFailure(
                "the identifier of a background session has 1 to \(WireLimits.sessionIdentifierBytes) bytes"
            )
        }
        let (session, isNew) = sessions.withLock { sessions in
            if let session = sessions[identifier] { return (session, false) }
            let session = BackgroundSession(configuration, identifier, delegate, queue)
            sessions[identifier] = session
            return (session, true)
        }
        if isNew {
            session.join()
        } else {
            complain("a background URLSession with the identifier \(identifier) already exists")
        }
        return session
    }

    private init(
        _ configuration: URLSessionBackgroundConfiguration,
        _ identifier: String,
        _ delegate: (any FoundationNetworking.URLSessionDelegate)?,
        _ queue: OperationQueue?
    ) {
        (self.identifier, kept) = (identifier, configuration)
        state = Mutex(State(delegate: delegate))
        let own = OperationQueue()
        own.maxConcurrentOperationCount = 1
        operations = queue ?? own
        super.init(configuration: .ephemeral, delegate: nil, delegateQueue: operations)
    }

    override var configuration: URLSessionConfiguration { kept }
    override var delegate: (any FoundationNetworking.URLSessionDelegate)? { state.withLock { $0.delegate } }
    override var delegateQueue: OperationQueue { operations }

    // MARK: The bench

    private func join() {
        let isMain = operations === OperationQueue.main
        let queue = isMain ? DispatchQueue.main : DispatchQueue(label: "wakebench.session.\(identifier)")
        let number = BenchClient.shared.register(queue: queue) { [self] body, _ in
            guard case .transfer(let event) = body else { return }
            // The bench waits until the delegate has been told.
            if isMain {
                receive(event)
            } else {
                operations.addOperations([BlockOperation { [self] in receive(event) }], waitUntilFinished: true)
            }
        }
        manager.withLock { $0 = number }
        let session = wire
        let reply = BenchClient.shared.request { .transfer(manager: number, .join(id: $0, session)) }
        let latest = reply.transfers ?? []
        let listed = latest.count < WireLimits.transfersListed ? latest : listAll(number)
        state.withLock { state in
            for task in listed {
                state.lastTask = max(state.lastTask, task.task)
                let request = URL(string: task.url).map { URLRequest(url: $0) }
                let known = make(task.task, task.kind, request)
                known.core.facts.withLock { $0.state = task.isSuspended ? .suspended : .running }
                state.tasks[task.task] = state.tasks[task.task] ?? known
            }
        }
    }

    /// All tasks of the session; fewer where the bench stops answering.
    private func listAll(_ manager: UInt32) -> [WireTransferTask] {
        var all: [WireTransferTask] = []
        while true {
            let after = all.last?.task ?? 0
            let reply = BenchClient.shared.request {
                .transfer(manager: manager, .tasks(id: $0, session: identifier, after: after))
            }
            guard let part = reply.transfers, !part.isEmpty else { return all }
            all += part
        }
    }

    private var wire: WireTransferSession {
        var session = WireTransferSession(identifier: identifier)
        session.sendsLaunchEvents = kept.sessionSendsLaunchEvents
        session.isDiscretionary = kept.isDiscretionary
        session.allowsCellular = kept.allowsCellularAccess
        // What was left as it is on a phone the profile says.
        let (request, resource) = (kept.timeoutIntervalForRequest, kept.timeoutIntervalForResource)
        session.requestTimeout = request == 60 ? nil : Self.bounded(request)
        session.resourceTimeout = resource == 604_800 ? nil : Self.bounded(resource)
        return session
    }

    private static func bounded(_ seconds: TimeInterval) -> TimeInterval {
        seconds.isNaN ? 60 : min(max(0.001, seconds), 315_576_000)
    }

    func say(_ request: WireTransferRequest) {
        BenchClient.shared.send(.transfer(manager: manager.withLock { $0 }, request))
    }

    // MARK: Tasks

    private func make(_ number: UInt32, _ kind: TransferKind, _ request: URLRequest?) -> any BackgroundTask {
        let core = TaskCore(number, kind, request, of: self)
        return kind == .upload ? BackgroundUploadTask(core) : BackgroundDownloadTask(core)
    }

    private func create(
        _ kind: TransferKind,
        _ request: URLRequest,
        file: String = "",
        resumes: UInt64? = nil
    ) -> any BackgroundTask {
        let task = state.withLock { state in
            precondition(state.takesTasks, "a task was created in the session \(identifier), which is invalid")
            state.lastTask += 1
            let task = make(state.lastTask, kind, request)
            state.tasks[state.lastTask] = task
            return task
        }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
            .map { WireHTTPField(name: $0.key, value: $0.value) }
            .filter { max($0.name.utf8.count, $0.value.utf8.count) <= WireLimits.headerBytes }
        say(
            .create(
                WireTransferTask(
                    task: task.core.number,
                    kind: kind,
                    url: request.url?.absoluteString ?? "",
                    method: request.httpMethod ?? "GET",
                    headers: Array(fields.prefix(WireLimits.headerFields)),
                    file: file,
                    resumes: resumes
                )
            )
        )
        return task
    }

    override func downloadTask(with url: URL) -> URLSessionDownloadTask { downloadTask(with: URLRequest(url: url)) }

    override func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { download(request, resumes: nil) }

    /// Goes on with a download that was cancelled or has failed. What is no resume data of a background session is a task that
    /// fails with `NSURLErrorUnsupportedURL`.
    override func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        let data = ResumeData(resumeData)
        return download(data?.request ?? URLRequest(url: URL(fileURLWithPath: "/")), resumes: data?.bytes)
    }

    private func download(_ request: URLRequest, resumes: UInt64?) -> URLSessionDownloadTask {
        guard let task = create(.download, request, resumes: resumes) as? BackgroundDownloadTask else {
            preconditionFailure("a download is another task")
        }
        return task
    }

    override func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        guard let task = create(.upload, request, file: fileURL.standardizedFileURL.path) as? BackgroundUploadTask
        else {
            preconditionFailure("an upload is another task")
        }
        return task
    }

    // What a background session does not do (XFER-9): on a phone these raise an exception.

    override func dataTask(with request: URLRequest) -> URLSessionDataTask { refuse("Data tasks") }
    override func dataTask(with url: URL) -> URLSessionDataTask { refuse("Data tasks") }
    override func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        refuse("Upload tasks from NSData")
    }
    override func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        refuse("Upload tasks from streams")
    }
    override func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask { refuse("Completion handler blocks") }
    override func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask { refuse("Completion handler blocks") }
    override func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { refuse("Completion handler blocks") }
    override func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { refuse("Completion handler blocks") }
    override func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask { refuse("Completion handler blocks") }
    override func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask { refuse("Completion handler blocks") }

    private func refuse(_ what: String) -> Never {
        fatalError("\(what) are not supported in background sessions, such as \(identifier)")
    }

    override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = openTasks
        operations.addOperation { completionHandler(tasks) }
    }

    override func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask])
            -> Void
    ) {
        let tasks = openTasks
        operations.addOperation {
            completionHandler(
                [],
                tasks.compactMap { $0 as? URLSessionUploadTask },
                tasks.compactMap { $0 as? URLSessionDownloadTask }
            )
        }
    }

    private var openTasks: [URLSessionTask] {
        state.withLock { $0.tasks.sorted { $0.key < $1.key }.map { $0.value as URLSessionTask } }
    }

    // MARK: The end

    override func finishTasksAndInvalidate() { invalidate(cancels: false) }
    override func invalidateAndCancel() { invalidate(cancels: true) }

    private func invalidate(cancels: Bool) {
        state.withLock { $0.takesTasks = false }
        say(.invalidate(cancels: cancels))
        endIfDone()
    }

    /// A session that takes no tasks is invalid once its last one is over.
    private func endIfDone() {
        let isDone = state.withLock { !$0.takesTasks && $0.tasks.isEmpty }
        guard isDone, Self.sessions.withLock({ $0.removeValue(forKey: identifier) }) != nil else { return }
        BenchClient.shared.unregister(manager: manager.withLock { $0 })
        operations.addOperation { [self] in
            let delegate = state.withLock { state in
                defer { state.delegate = nil }
                return state.delegate
            }
            delegate?.urlSession(self, didBecomeInvalidWithError: nil)
        }
    }

    override func reset(completionHandler: @escaping @Sendable () -> Void) {
        operations.addOperation { completionHandler() }
    }

    override func flush(completionHandler: @escaping @Sendable () -> Void) {
        operations.addOperation { completionHandler() }
    }

    // MARK: Events

    /// Takes an event of the session; on its delegate's queue.
    private func receive(_ event: WireTransferEvent) {
        let delegate = delegate
        switch event {
        case .events: break
        case .finished(let number, let response):
            finish(task(number, isUpload: response.file.isEmpty && response.sent > 0), response, delegate)
        case .failed(let number, let code, let message, let reason, let resumes):
            fail(task(number), (code, message, reason), resumes, delegate)
        case .challenged(let number, let host, let realm, let scheme, let failures):
            challenge(task(number), host, realm, scheme, Int(failures), delegate)
        case .progress(let number, let sent, let received, let expected):
            progress(task(number, isUpload: sent > 0), sent, received, expected, delegate)
        case .waiting(let number):
            (delegate as? any URLSessionTaskDelegate)?.urlSession(self, taskIsWaitingForConnectivity: task(number))
        case .eventsFinished:
            (delegate as? any URLSessionDelegate)?.urlSessionDidFinishEvents(forBackgroundURLSession: self)
        }
    }

    /// A task of the session; one that an earlier process created, and that the bench did not list, is known from now on.
    private func task(_ number: UInt32, isUpload: Bool = false) -> any BackgroundTask {
        state.withLock { state in
            if let task = state.tasks[number] { return task }
            let task = make(number, isUpload ? .upload : .download, nil)
            task.core.facts.withLock { $0.state = .running }
            state.tasks[number] = task
            state.lastTask = max(state.lastTask, number)
            return task
        }
    }

    private func finish(
        _ task: any BackgroundTask,
        _ response: WireTransferResponse,
        _ delegate: (any FoundationNetworking.URLSessionDelegate)?
    ) {
        let fields = Dictionary(response.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        let redirected = response.url.flatMap { URL(string: $0) }
        let url = redirected ?? task.originalRequest?.url ?? URL(fileURLWithPath: "/")
        task.core.facts.withLock { facts in
            facts.state = .completed
            facts.received = Int64(clamping: response.received)
            facts.sent = max(facts.sent, Int64(clamping: response.sent))
            facts.redirected = redirected
            facts.response = HTTPURLResponse(
                url: url,
                statusCode: Int(response.status),
                httpVersion: "HTTP/1.1",
                headerFields: fields
            )
        }
        if let download = task as? BackgroundDownloadTask, !response.file.isEmpty {
            let location = URL(fileURLWithPath: response.file)
            (delegate as? any FoundationNetworking.URLSessionDownloadDelegate)?
                .urlSession(self, downloadTask: download, didFinishDownloadingTo: location)
            // What the app did not take is gone.
            try? FileManager.default.removeItem(at: location)
        }
        task.core.answer(nil)
        end(task, nil, delegate)
    }

    private func fail(
        _ task: any BackgroundTask,
        _ failure: (code: Int32, message: String, reason: UInt8?),
        _ resumes: UInt64?,
        _ delegate: (any FoundationNetworking.URLSessionDelegate)?
    ) {
        var info: [String: Any] = [NSLocalizedDescriptionKey: failure.message]
        if let url = task.originalRequest?.url { info[NSURLErrorFailingURLErrorKey] = url }
        if let reason = failure.reason { info[NSURLErrorBackgroundTaskCancelledReasonKey] = Int(reason) }
        let data = resumes.flatMap { ResumeData($0, of: task.originalRequest)?.data }
        if let data { info[NSURLSessionDownloadTaskResumeData] = data }
        let error = URLError(_nsError: NSError(domain: NSURLErrorDomain, code: Int(failure.code), userInfo: info))
        task.core.facts.withLock { ($0.state, $0.error) = (.completed, error) }
        task.core.answer(data)
        end(task, error, delegate)
    }

    private func end(
        _ task: any BackgroundTask,
        _ error: (any Error)?,
        _ delegate: (any FoundationNetworking.URLSessionDelegate)?
    ) {
        state.withLock { _ = $0.tasks.removeValue(forKey: task.core.number) }
        (delegate as? any FoundationNetworking.URLSessionTaskDelegate)?
            .urlSession(self, task: task, didCompleteWithError: error)
        endIfDone()
    }

    private func progress(
        _ task: any BackgroundTask,
        _ sent: UInt64,
        _ received: UInt64,
        _ expected: UInt64?,
        _ delegate: (any FoundationNetworking.URLSessionDelegate)?
    ) {
        let whole = expected.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown
        let before = task.core.facts.withLock { facts in
            defer { (facts.sent, facts.received) = (Int64(clamping: sent), Int64(clamping: received)) }
            if task.core.kind == .upload { facts.toSend = whole } else { facts.toReceive = whole }
            return (sent: facts.sent, received: facts.received)
        }
        if let download = task as? BackgroundDownloadTask {
            (delegate as? any FoundationNetworking.URLSessionDownloadDelegate)?.urlSession(
                self,
                downloadTask: download,
                didWriteData: Int64(clamping: received) - before.received,
                totalBytesWritten: Int64(clamping: received),
                totalBytesExpectedToWrite: whole
            )
        } else {
            (delegate as? any FoundationNetworking.URLSessionTaskDelegate)?.urlSession(
                self,
                task: task,
                didSendBodyData: Int64(clamping: sent) - before.sent,
                totalBytesSent: Int64(clamping: sent),
                totalBytesExpectedToSend: whole
            )
        }
    }
}
