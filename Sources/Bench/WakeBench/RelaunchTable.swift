import WakeModel
import WakeReports
import WakeRouter

/// A way by which apps are woken, as it is tried for the table of relaunches (LAUNCH-1, LAUNCH-2).
struct WakeMechanism: Sendable {
    /// Such as `BLE with restore identifier`.
    let name: String
    let modes: BackgroundModes
    /// What else the bundle says.
    var declare: @Sendable (inout AppManifest) -> Void = { _ in }
    /// The app runs in the foreground for the first time: what it asks for.
    let prepare: @Sendable (inout TriedPhone) -> Void
    /// What the mechanism is for happens, after the app has ended.
    let happen: @Sendable (inout TriedPhone) -> Void
}

/// A phone with one app, which one mechanism is tried on: a router, and a host that does all that it is asked at once.
struct TriedPhone {
    static let app = AppID(0)

    private(set) var router: Router
    private var now = Instant.zero
    private var lastEvent: UInt64 = 0
    private(set) var decisions: [Decision] = []

    init(_ profile: Profile) { router = Router(profile: profile) }

    var profile: Profile { router.profile }

    mutating func hear(_ input: Input) {
        lastEvent += 1
        let id = EventID(lastEvent)
        var input = input
        if case .event(var event) = input {
            event.id = id
            input = .event(event)
        }
        var output = RouterOutput()
        router.handle(input, id: id, at: now, into: &output)
        decisions += output.decisions
        for action in output.actions {
            switch action {
            case .callback(let app, let callback, _): hear(.process(app, .returned(callback)))
            case .freeze(let app): hear(.process(app, .suspended))
            case .raise(let event, _): hear(.event(event))
            default: break
            }
        }
    }

    mutating func ask(_ request: AppRequest) { hear(.request(Self.app, request)) }

    /// Time passes; each deadline is handled when it comes.
    mutating func wait(_ span: Instant.Span) {
        let target = now.advanced(by: span)
        while let next = router.nextDeadline, next <= target {
            now = max(now, next)
            hear(.timeReached)
        }
        now = target
    }

    mutating func forget() { decisions = [] }
}

/// Which mechanism brings a dead app back, by how it ended: asked of the router itself.
package struct RelaunchTable: Sendable {
    /// How the app ended, and what of the phone with it: the columns.
    package enum Ending: CaseIterable, Sendable {
        case purged
        case crashed
        case forceQuit
        case rebootedLocked
        case rebootedUnlocked

        /// The heading of its column.
        package var word: String {
            switch self {
            case .purged: "purged by the system"
            case .crashed: "crashed"
            case .forceQuit: "force-quit"
            case .rebootedLocked: "reboot, locked"
            case .rebootedUnlocked: "reboot, unlocked once"
            }
        }

        func carryOut(on phone: inout TriedPhone) {
            switch self {
            case .purged: phone.hear(.terminate(TriedPhone.app, .memory))
            case .crashed:
                // It can only crash while it runs.
                phone.hear(.user(TriedPhone.app, .launch))
                phone.hear(.process(TriedPhone.app, .exited(ExitRecord.abort)))
            case .forceQuit: phone.hear(.user(TriedPhone.app, .forceQuit))
            case .rebootedLocked: phone.hear(.phone(.reboot))
            case .rebootedUnlocked:
                phone.hear(.phone(.reboot))
                phone.hear(.phone(.unlock))
            }
        }
    }

    /// What became of the app.
    package struct Cell: Hashable, Sendable {
        package var isRelaunched: Bool
        /// The rule that decided; nil where nothing was decided about the app.
        package var rule: RuleID?

        /// Such as `yes LAUNCH-1`.
        package var text: String { (isRelaunched ? "yes" : "no") + (rule.map { " " + $0.text } ?? "") }
    }

    /// A mechanism, with a cell for each of ``Ending/allCases``.
    package struct Row: Sendable {
        package let mechanism: String
        package let cells: [Cell]
    }

    package let rows: [Row]

    /// Tries every mechanism of every area.
    package init(profile: Profile) {
        rows = Areas.rows.flatMap { $0.mechanisms }.map { mechanism in
            Row(mechanism: mechanism.name, cells: Ending.allCases.map { Self.attempt(mechanism, $0, profile) })
        }
    }

    private static func attempt(_ mechanism: WakeMechanism, _ ending: Ending, _ profile: Profile) -> Cell {
        var phone = TriedPhone(profile)
        var manifest = AppManifest(bundle: NameID(1), modes: mechanism.modes)
        mechanism.declare(&manifest)
        phone.hear(.install(TriedPhone.app, manifest))
        phone.hear(.user(TriedPhone.app, .launch))
        mechanism.prepare(&phone)
        phone.hear(.process(TriedPhone.app, .launched))
        phone.hear(.user(TriedPhone.app, .home))
        phone.wait(.seconds(60))
        phone.forget()
        // What the end itself brings back, such as the start of the phone, counts too.
        ending.carryOut(on: &phone)
        mechanism.happen(&phone)
        let about = phone.decisions.filter { $0.app == TriedPhone.app }
        let relaunch = about.first { $0.verdict == .relaunch }
        return Cell(isRelaunched: relaunch != nil, rule: (relaunch ?? about.last)?.rule)
    }

    /// A line a mechanism under a heading.
    package var lines: [String] {
        let heading = ["MECHANISM"] + Ending.allCases.map { $0.word.uppercased() }
        return TextTable.lines([heading] + rows.map { [$0.mechanism] + $0.cells.map(\.text) })
    }
}
