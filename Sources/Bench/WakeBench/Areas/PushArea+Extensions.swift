import WakeModel
import WakePorts

/// When something that costs is due again while time goes on: at once after a pause, and else once in a period.
struct Pace {
    /// Nil for each time that it is asked.
    private let period: Instant.Span?
    /// The next instant at which it is due; nil where it always is.
    private(set) var next: Instant?

    init(_ period: Instant.Span?) {
        self.period = period
        next = period == nil ? nil : .zero
    }

    /// Whether it is due; it is then not due for a period.
    mutating func isDue(at now: Instant) -> Bool {
        guard let period else { return true }
        if let next, now < next { return false }
        next = now.advanced(by: period)
        return true
    }
}

/// The service extensions of real apps, which are processes (PUSH-9).
final class ServiceExtensions: PushPort {
    let backend = "processes"
    var report: ((SourceReport) -> Void)?
    /// What runs them.
    weak var host: ProcessAppHost?
    /// Those that are processes.
    private var apps: Set<AppID> = []
    /// The memory of one, in megabytes.
    private let memory: UInt32
    private let names: NameTable
    /// When the memory of those that run is looked at. In real time each turn would cost a look at the kernel's files; in virtual time
    /// what one turn found would else depend on the machine.
    private var pace: Pace

    /// - Parameters:
    ///   - memory: What one may have, in megabytes.
    ///   - realTime: Whether the run follows the machine's clock.
    init(memory: UInt32, names: NameTable, realTime: Bool) {
        self.memory = memory
        self.names = names
        pace = Pace(realTime ? .milliseconds(100) : nil)
    }

    /// Runs the extension of an app from now on.
    func take(_ app: AppID) { apps.insert(app) }

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

    /// When those that run are looked at next.
    var nextDeadline: Instant? { host?.extensions.isEmpty == false ? pace.next : nil }

    /// Ends those that have more memory than they may. What answers is measured by then, too.
    func look(at now: Instant) {
        guard let host, !host.extensions.isEmpty, pace.isDue(at: now) else { return }
        host.endExtensions(above: memory)
    }

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
