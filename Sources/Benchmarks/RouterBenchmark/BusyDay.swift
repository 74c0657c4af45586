import WakeModel
import WakeRouter

/// A hundred apps on forty belts, each belt's characteristic shared by five apps and notifying every second.
///
/// About a third of what happens is not delivered: apps are force-quit, lack the mode, have no restore identifier, or
/// the phone was restarted and not unlocked. Apps are suspended when their window ends and resumed by the next
/// notification; some are terminated and relaunched. The host answers at once.
struct BusyDay {
    private(set) var decisions: UInt64 = 0
    private(set) var refused: UInt64 = 0
    private(set) var resumes: UInt64 = 0
    private(set) var relaunches: UInt64 = 0
    /// Checks that passed or failed.
    private(set) var checks: UInt64 = 0
    private(set) var inputs: UInt64 = 0
    /// Folds every field of every decision, in order.
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    private var router = Router(profile: .ios17)
    private var output = RouterOutput()
    private var now = Instant.zero
    private var lastEvent: UInt64 = 0
    /// What the host and the apps answer, first in, first out.
    private var answers: [Input] = []

    private static let apps: UInt32 = 100
    private static let belts: UInt32 = 40
    private static let heartRate: AttributeHandle = 0x10
    private static let service = NameID(300)
    private static let subscribersPerBelt: UInt32 = 5
    /// A notification every 25 ms: each belt once a second.
    private static let pace = Instant.Span.milliseconds(25)

    init() {
        for app in 0..<Self.apps {
            var modes = BackgroundModes([.bluetoothCentral])
            if app % 10 == 7 { modes = [] }
            hear(.install(AppID(app), AppManifest(bundle: NameID(app + 1), modes: modes)))
        }
    }

    /// Lets days pass until there are so many decisions.
    mutating func run(until count: UInt64) {
        while decisions < count {
            morning()
            for round in 0..<60 where decisions < count { stretch(round) }
        }
    }

    // MARK: The day

    /// The phone restarts, is unlocked a little later, and the user opens every app and leaves some for good.
    private mutating func morning() {
        hear(.phone(.reboot))
        for index in 0..<Self.belts * 10 { discover(index % Self.belts) }
        hear(.phone(.unlock))
        for app in 0..<Self.apps { open(app) }
        hear(.user(AppID(Self.apps - 1), .home))
        now = now.advanced(by: .seconds(30))
        for app in 0..<Self.apps { leave(app) }
    }

    /// In the foreground the app scans, connects to its belts and subscribes.
    private mutating func open(_ number: UInt32) {
        let app = AppID(number)
        hear(.user(app, .launch))
        hear(.request(app, .scan(1, services: [Self.service], allowDuplicates: false)))
        for belt in 0..<Self.belts
        where (0..<Self.subscribersPerBelt).contains(where: { self.app($0, of: belt) == app }) {
            hear(.request(app, .connect(1, peripheral: name(belt))))
            var connected = event(.peripheralConnected, belt)
            connected.client = BluetoothClient(app: app, slot: 0)
            hear(.event(connected), id: connected.id)
            hear(.request(app, .operate(1, peripheral: name(belt), .setNotify(Self.heartRate, true))))
        }
    }

    /// Of ten apps one is force-quit, one lacks the mode and one the restore identifier; those end here.
    private mutating func leave(_ app: UInt32) {
        switch app % 10 {
        case 3: hear(.user(AppID(app), .forceQuit))
        case 5, 7: hear(.terminate(AppID(app), .memory))
        default: break
        }
    }

    /// Forty seconds of notifications, and one app makes room for others.
    private mutating func stretch(_ round: Int) {
        for index in 0..<Self.belts * 40 {
            now = now.advanced(by: Self.pace)
            while let next = router.nextDeadline, next <= now { hear(.timeReached) }
            let notified = event(.characteristicNotified, index % Self.belts, attribute: Self.heartRate)
            hear(.event(notified), id: notified.id)
        }
        hear(.terminate(AppID(UInt32(round) % Self.apps), .memory))
    }

    private mutating func discover(_ belt: UInt32) {
        var event = event(.peripheralDiscovered, belt)
        event.services = [Self.service]
        hear(.event(event), id: event.id)
    }

    private func app(_ place: UInt32, of belt: UInt32) -> AppID {
        AppID((belt * 7 + place * 23) % Self.apps)
    }

    private func name(_ belt: UInt32) -> NameID { NameID(200 + belt) }

    /// The next event.
    private mutating func event(_ kind: EventKind, _ belt: UInt32, attribute: AttributeHandle = 0) -> WakeEvent {
        lastEvent += 1
        return WakeEvent(
            kind: kind,
            peripheral: name(belt),
            attribute: attribute,
            subject: name(belt),
            origin: NameID(1),
            id: EventID(lastEvent)
        )
    }

    // MARK: The host

    /// Hears one input and all that the host answers to it.
    private mutating func hear(_ input: Input, id: EventID = .none) {
        turn(input, id: id)
        var first = 0
        while first < answers.count {
            let answer = answers[first]
            first += 1
            turn(answer, id: .none)
        }
        answers.removeAll(keepingCapacity: true)
    }

    private mutating func turn(_ input: Input, id: EventID) {
        inputs += 1
        output.removeAll()
        router.handle(input, id: id, at: now, into: &output)
        // Looked at where they stand: the day's own they would be copied before it counts them.
        var heard = RouterOutput()
        swap(&heard, &output)
        defer { swap(&heard, &output) }
        for place in heard.decisions.indices { count(heard.decisions[place]) }
        for action in heard.actions {
            switch action {
            case .launch(let app, _, _, _, _, _):
                let identifier = app.number % 10 == 5 ? NameID.none : NameID(400 + app.number)
                answers.append(.request(app, .createManager(1, restoreIdentifier: identifier)))
                answers.append(.process(app, .launched))
            case .freeze(let app): answers.append(.process(app, .suspended))
            case .callback(let app, let callback, _): answers.append(.process(app, .returned(callback)))
            case .thaw, .kill, .closeListeners, .expireTasks, .deliver, .keep, .discard, .tell, .command, .refused,
                .alert, .did,
                .lost,
                .exited,
                .moved,
                .raise:
                break
            }
        }
    }

    // MARK: Counting

    @inline(__always)
    private mutating func fold(_ value: UInt64) {
        hash = (hash ^ value) &* 0x9e37_79b9_7f4a_7c15
        hash ^= hash >> 29
    }

    private mutating func count(_ decision: Decision) {
        decisions += 1
        switch decision.verdict {
        case .resume: resumes += 1
        case .relaunch: relaunches += 1
        case .foregroundDeliver, .backgroundDeliver: break
        case .defer, .coalesce, .drop, .deny: refused += 1
        }
        // Pass and fail have the upper bit set.
        checks += UInt64(decision.checks.upper.nonzeroBitCount)
        fold(decision.id.number)
        fold(UInt64(bitPattern: decision.at.nanoseconds))
        fold(decision.event.number)
        fold(UInt64(decision.subject.number) << 32 | UInt64(decision.app.number))
        fold(UInt64(decision.origin.number) << 32 | UInt64(decision.parent.number))
        fold(
            UInt64(decision.kind.rawValue) << 32 | UInt64(decision.verdict.rawValue) << 24
                | UInt64(decision.reason.rawValue) << 16 | UInt64(decision.rule.rawValue) << 8
                | UInt64(decision.wouldHave?.rawValue ?? 0xff)
        )
        for plane in [decision.checks.lower, decision.checks.upper] {
            fold(UInt64(truncatingIfNeeded: plane))
            fold(UInt64(truncatingIfNeeded: plane >> 64))
        }
        fold(decision.supersedes.number)
        fold(decision.snapshot)
    }

    @inline(__always)
    private mutating func fold(_ snapshot: AppSnapshot) {
        fold(UInt64(snapshot.bundle.number) << 32 | UInt64(snapshot.generation))
        fold(UInt64(bitPattern: snapshot.stateSince.nanoseconds))
        fold(
            UInt64(snapshot.state.rawValue) << 32 | UInt64(snapshot.modes.rawValue) << 16
                | UInt64(snapshot.lastExitCause.rawValue) << 8 | UInt64(snapshot.via.rawValue)
        )
        fold(snapshot.lastExit)
        fold(UInt64(bitPattern: snapshot.lastExitAt.nanoseconds))
        fold(UInt64(bitPattern: snapshot.forceQuitAt.nanoseconds))
        fold(snapshot.forceQuitBy.number)
        fold(UInt64(bitPattern: snapshot.unlockedAt.nanoseconds))
        fold(
            (snapshot.forceQuit ? 16 : 0) | (snapshot.unlockedSinceBoot ? 8 : 0) | (snapshot.passcode ? 4 : 0)
                | (snapshot.bluetoothOn ? 2 : 0) | (snapshot.exitsOnSuspend ? 1 : 0)
        )
        fold(UInt64(snapshot.restoreIdentifier.number))
        fold(UInt64(bitPattern: snapshot.registeredAt.nanoseconds))
        fold(UInt64(bitPattern: snapshot.budgetLimit.nanoseconds))
        fold(UInt64(bitPattern: snapshot.budgetUsed.nanoseconds))
    }
}
