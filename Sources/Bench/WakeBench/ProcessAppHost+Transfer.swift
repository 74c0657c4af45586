import WakeModel
import WakePorts
import WakeSystem
import WakeWire

extension TransferArea {
    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        guard var event = host.translation.transferEvent(delivery) else { return nil }
        if case .finished(let task, let response) = event, !response.file.isEmpty {
            event = host.finished(task, response, of: delivery.event.transfer, for: app)
        }
        var told = ToldEvent(.transfer(event), of: delivery)
        if case .events = event { told.callback = "handleEventsForBackgroundURLSession" }
        return told
    }

    static func names(in message: AppMessage) -> [String] {
        guard case .transfer(_, .join(_, let session)) = message else { return [] }
        return [session.identifier]
    }

    static func refuse(_ message: AppMessage, because text: String, to app: AppID, by host: ProcessAppHost) {
        guard case .transfer(_, .join(let id, _)) = message else { return }
        host.reply(id, WireReply(transfers: []), to: app)
    }
}

extension WireTransferEvent {
    /// A download whose file the app cannot have: NSURLErrorCannotCreateFile.
    fileprivate static func cannotPlace(_ task: UInt32, _ reason: String) -> WireTransferEvent {
        .failed(task: task, code: -3_000, message: "cannot create file: \(reason)", reason: nil)
    }
}

/// The transfers of real apps.
extension ProcessAppHost {
    /// What an app is told of a download that came whole: that it failed where it cannot be given a file of its own.
    fileprivate func finished(
        _ task: UInt32,
        _ response: WireTransferResponse,
        of transfer: TransferNumber,
        for app: AppID
    ) -> WireTransferEvent {
        do throws(SystemError) {
            guard let file = try place(response, of: transfer, for: app) else {
                return .cannotPlace(task, "it is not what was received")
            }
            var response = response
            response.file = file
            return .finished(task: task, response)
        } catch {
            surroundings?.note(.held("a download failed, as it cannot be given its file: \(error)"), of: app)
            return .cannotPlace(task, error.reason)
        }
    }

    /// A request about transfers; the tasks of a session that is made again are told here, since the app waits for them.
    func heard(_ request: WireTransferRequest, manager: ManagerNumber, from app: AppID) {
        let asked: TransferRequest
        switch request {
        case .join(let id, let session):
            let identifier = translation.names.intern(session.identifier)
            let latest = tasks(of: app, in: session.identifier).suffix(WireLimits.transfersListed)
            reply(id, WireReply(transfers: Array(latest)), to: app)
            asked = .join(identifier, TransferConfiguration(session))
        case .invalidate(let cancels): asked = .invalidate(cancels: cancels)
        case .create(let task): asked = .create(task.task, TransferOrder(task))
        case .resume(let task, let earliest, let bytesToSend, let bytesToReceive):
            var wishes = TransferWishes()
            wishes.earliestBegin = earliest.flatMap { surroundings?.view.instant(of: $0) }
            (wishes.bytesToSend, wishes.bytesToReceive) = (bytesToSend, bytesToReceive)
            asked = .resume(task, wishes)
        case .suspend(let task): asked = .suspend(task)
        case .cancel(let task): asked = .cancel(task)
        case .cancelKeepingBytes(let task): asked = .cancelKeepingBytes(task)
        case .answer(let task, .credential, let user, let password):
            asked = .answer(task, .credential(user: user, password: password))
        case .answer(let task, .defaultHandling, _, _): asked = .answer(task, .defaultHandling)
        case .answer(let task, .cancel, _, _): asked = .answer(task, .cancel)
        case .handled(let session):
            guard let identifier = translation.names.known(session) else {
                return fault("calls the completion handler of \(session), which it has no session of", app)
            }
            asked = .handledEvents(identifier)
        case .tasks(let id, let session, let after):
            let beyond = tasks(of: app, in: session).filter { $0.task > after }.sorted { $0.task < $1.task }
            return reply(id, WireReply(transfers: Array(beyond.prefix(WireLimits.transfersListed))), to: app)
        }
        say(app, .request(.transfer(manager, asked)))
    }

    /// The tasks of a session that its app has not been told the end of, as the wire lists them.
    private func tasks(of app: AppID, in session: String) -> [WireTransferTask] {
        guard let identifier = translation.names.known(session) else { return [] }
        let tasks = surroundings?.view.transferTasks(of: app, in: identifier) ?? []
        return tasks.map {
            WireTransferTask(task: $0.number, kind: $0.order.kind, url: $0.order.url, isSuspended: $0.isSuspended)
        }
    }
}

extension WireTranslation {
    /// What an app reads of an event of its transfers; nil for one that came without it.
    func transferEvent(_ delivery: AppDelivery) -> WireTransferEvent? {
        // What is for the process itself says no more than that its session has something for it.
        if delivery.manager == 0 { return .events(session: names.text(delivery.event.subject)) }
        let task = delivery.event.transferTask
        switch (delivery.event.kind, delivery.payload) {
        case (.transferEnded, .transfer(.finished(let response))):
            return .finished(task: task, WireTransferResponse(response))
        case (.transferEnded, .transfer(.failed(let failure))):
            return .failed(
                task: task,
                code: failure.code,
                message: WireLimits.cut(failure.message, to: WireLimits.headerBytes),
                reason: failure.reason?.rawValue,
                resumes: failure.resumes
            )
        case (.transferEnded, _):
            // Its result did not outlive the bench.
            return .failed(task: task, code: -1, message: "unknown error", reason: nil)
        case (.transferChallenged, .transfer(.challenge(let challenge))):
            return .challenged(
                task: task,
                host: WireLimits.cut(challenge.host, to: WireLimits.headerBytes),
                realm: WireLimits.cut(challenge.realm, to: WireLimits.headerBytes),
                scheme: WireLimits.cut(challenge.scheme, to: WireLimits.headerBytes),
                failures: challenge.failures
            )
        case (.transferProgressed, .transfer(.progress(let sent, let received, let expected))):
            return .progress(task: task, sent: sent, received: received, expected: expected)
        case (.transferWaiting, _): return .waiting(task: task)
        case (.transferEventsFinished, _): return .eventsFinished
        default: return nil
        }
    }
}

extension WireTransferResponse {
    /// As much of it as can be told: no URL or field of the header that is too long.
    fileprivate init(_ response: TransferResponse) {
        self.init(
            status: response.status,
            headers: response.fields.prefix(WireLimits.headerFields).compactMap(WireHTTPField.init),
            sent: response.sent,
            received: response.received,
            file: response.file,
            url: response.url.flatMap { $0.utf8.count <= WireLimits.transferURLBytes ? $0 : nil }
        )
    }
}

extension WireHTTPField {
    /// Nil for a field that is too long to be told.
    fileprivate init?(_ field: HTTPField) {
        guard field.name.utf8.count <= WireLimits.headerBytes, field.value.utf8.count <= WireLimits.headerBytes else {
            return nil
        }
        self.init(name: field.name, value: field.value)
    }
}

extension TransferOrder {
    fileprivate init(_ task: WireTransferTask) {
        self.init(
            task.kind,
            url: task.url,
            method: task.method,
            fields: task.headers.map { HTTPField($0.name, $0.value) },
            file: task.file,
            resumes: task.resumes
        )
    }
}

extension TransferConfiguration {
    fileprivate init(_ session: WireTransferSession) {
        self.init()
        kind = session.kind
        sendsLaunchEvents = session.sendsLaunchEvents
        isDiscretionary = session.isDiscretionary
        requestTimeout = session.requestTimeout.map { Self.span($0) }
        resourceTimeout = session.resourceTimeout.map { Self.span($0) }
        allowsCellular = session.allowsCellular
    }

    /// A time in whole milliseconds; the wire lets none through that is no time of the bench.
    private static func span(_ seconds: Double) -> Instant.Span { .milliseconds(max(1, Int64(seconds * 1_000))) }
}
