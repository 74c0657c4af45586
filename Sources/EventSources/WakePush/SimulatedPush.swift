import WakeModel
import WakePorts

/// What a service extension that the scenario plays makes of a notification (PUSH-9).
package struct PlayedExtension: Hashable, Sendable {
    /// How it ends.
    package enum Ending: UInt8, Worded, Sendable {
        /// It calls its content handler.
        case answer
        case crash
        /// It never calls it.
        case hang
    }

    package var after = Instant.Span.zero
    /// In megabytes.
    package var memory: UInt32 = 8
    /// What stands in place of the notification's own; nil leaves it.
    package var title: String?
    package var body: String?
    package var ending = Ending.answer

    package init() {}
}

/// A provider that does what a scenario says, and the service extensions of scripted apps, which it plays.
package final class SimulatedPush: PushPort {
    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?

    /// What takes pushes, from steps and from whoever else brings some.
    package var desk: PushDesk
    private var extensions: [AppID: PlayedExtension]
    /// The apps whose extensions are processes: others run those.
    private var real: Set<AppID>
    private let names: NameTable
    private var running = TimedQueue<Running>()

    /// An extension that is about to end.
    private struct Running: Codable {
        var app: AppID
        var number: UInt32
        var content: NotificationContent
    }

    package init(desk: PushDesk, extensions: [AppID: PlayedExtension] = [:], real: Set<AppID> = [], names: NameTable) {
        self.desk = desk
        self.extensions = extensions
        self.real = real
        self.names = names
    }

    /// Plays the extension of an app from now on; nil for one that answers at once.
    package func play(_ played: PlayedExtension?, of app: AppID) { extensions[app] = played }

    /// Leaves the extension of an app to others.
    package func leaveExtension(of app: AppID) { real.insert(app) }

    package func start(at now: Instant) throws(SourceFailure) {}
    package func stop() {}

    // MARK: Pushes

    /// A provider sends a push.
    ///
    /// - Throws: ``SourceFailure`` of kind unknown, with APNs' answer, when it is none that a phone could get.
    package func send(_ message: PushMessage, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        let (answer, report) = desk.receive(message, origin: origin, at: now)
        if let report {
            self.report?(report)
        } else if case .refused(let refusal) = answer {
            throw SourceFailure(.unknown, "APNs refuses the push with \(refusal.status) \(refusal.rawValue)")
        }
    }

    // MARK: Commands

    package func perform(_ command: PushCommand, at now: Instant) {
        switch command {
        case .register(let app, let forCalls): desk.register(app, forCalls: forCalls, true)
        case .unregister(let app, let forCalls): desk.register(app, forCalls: forCalls, false)
        case .runExtension(let app, let number, let notification):
            if real.contains(app) { return }
            let played = extensions[app] ?? PlayedExtension()
            if played.ending == .hang { return }
            running.add(
                Running(app: app, number: number, content: notification.content),
                at: now.advanced(by: played.after)
            )
        case .warnExtension: break
        case .endExtension(let app, let number):
            let others = running.entries.filter { ($0.element.app, $0.element.number) != (app, number) }
            running = TimedQueue(others, added: running.added)
        }
    }

    package var nextDeadline: Instant? { running.next }

    package func timeReached(_ now: Instant) {
        while let (_, due) = running.takeDue(by: now) {
            let played = extensions[due.app] ?? PlayedExtension()
            var push = Push()
            push.content = due.content
            if let title = played.title { push.content.title = title }
            if let body = played.body { push.content.body = body }
            push.extensionMemory = played.memory
            var event = WakeEvent(
                kind: .serviceExtensionEnded,
                local: due.number,
                failed: played.ending == .crash,
                app: due.app,
                origin: names.intern("service extension")
            )
            event.push = push
            report?(SourceReport(event, .notification(push.content)))
        }
    }

    /// Its part of a snapshot.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try desk.code(with: &coder)
        try coder.code(&running)
    }
}
