import WakeModel
import WakePorts

/// The service extensions of real apps, which are processes (PUSH-9).
final class ServiceExtensions: PushPort {
    let backend = "processes"
    var report: ((SourceReport) -> Void)?
    /// What runs them.
    weak var host: ProcessAppHost?
    private let apps: Set<AppID>
    /// The memory of one, in megabytes.
    private let memory: UInt32
    private let names: NameTable

    /// - Parameters:
    ///   - apps: Those that are processes.
    ///   - memory: What one may have, in megabytes.
    init(of apps: Set<AppID>, memory: UInt32, names: NameTable) {
        self.apps = apps
        self.memory = memory
        self.names = names
    }

    /// Whether there can be none.
    var isEmpty: Bool { apps.isEmpty }

    func start(at now: Instant) throws(SourceFailure) {}
    func stop() {}

    func takes(_ command: SourceCommand) -> Bool {
        guard case .push(let command) = command else { return false }
        switch command {
        case .runExtension(let app, _, _), .warnExtension(let app, _), .endExtension(let app, _):
            return apps.contains(app)
        case .register, .unregister: return false
        }
    }

    func perform(_ command: PushCommand, at now: Instant) {
        switch command {
        case .runExtension(let app, let number, let notification):
            host?.runExtension(of: app, for: number, notification, at: now)
        case .warnExtension(let app, let number): host?.warnExtension(of: app, for: number)
        case .endExtension(let app, let number): host?.endExtension(of: app, for: number)
        case .register, .unregister: break
        }
    }

    func look(at now: Instant) { host?.endExtensions(above: memory) }

    /// One has answered, or has ended without an answer.
    func ended(_ end: EndedExtension) {
        var push = Push()
        push.content = end.content ?? NotificationContent()
        push.extensionMemory = end.memory
        var event = WakeEvent(
            kind: .serviceExtensionEnded,
            local: end.number,
            failed: end.content == nil,
            app: end.app,
            origin: names.intern("service extension")
        )
        event.push = push
        report?(SourceReport(event))
    }
}
