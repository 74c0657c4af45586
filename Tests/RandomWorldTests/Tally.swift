import WakeModel

/// What a run of the random world met: its coverage.
struct Tally {
    /// The kinds of input, as columns of the table.
    static let inputKinds: [String] =
        [
            "time", "install", "uninstall", "terminate", "redeliver", "benchRestarted", "setUp", "update",
            "refuseUpdate",
            "clock",
        ]
        + PhoneChange.allCases.map { "phone.\($0)" }
        + UserAction.allCases.map { "user.\($0)" }
        + [
            "beginTask", "endTask", "done", "createManager", "releaseManager", "scan", "stopScan", "connect",
            "cancelConnection", "operate", "peripheralManager", "watchConnections", "location",
            "accessory", "voip", "audio", "notification", "measured", "asked", "transfer", "push", "backgroundTask",
        ]
        + ["launched", "returned", "suspended", "suspensionRefused", "exited", "launchFailed", "took"]

    static let states = AppState.allCases.count

    var inputs = [Int](repeating: 0, count: Tally.inputKinds.count * Tally.states)
    var events = [Int](repeating: 0, count: EventKind.allCases.count * Tally.states)
    var moves = [Int](repeating: 0, count: Tally.states * Tally.states)
    var verdicts = [Int](repeating: 0, count: Verdict.allCases.count)
    var reasons = [Int](repeating: 0, count: Reason.allCases.count)
    var exits = [Int](repeating: 0, count: ExitCause.allCases.count)
    var faults = [Int](repeating: 0, count: RequestFault.allCases.count)
    var steps = 0

    mutating func add(_ other: Tally) {
        steps += other.steps
        for index in inputs.indices { inputs[index] += other.inputs[index] }
        for index in events.indices { events[index] += other.events[index] }
        for index in moves.indices { moves[index] += other.moves[index] }
        for index in verdicts.indices { verdicts[index] += other.verdicts[index] }
        for index in reasons.indices { reasons[index] += other.reasons[index] }
        for index in exits.indices { exits[index] += other.exits[index] }
        for index in faults.indices { faults[index] += other.faults[index] }
    }

    mutating func count(_ kind: Int, in state: AppState) {
        inputs[kind * Tally.states + Int(state.rawValue)] += 1
    }

    /// The column of an input; nil for events, which have a table of their own.
    static func column(of input: Input) -> Int? {
        let phone = 10
        let user = phone + PhoneChange.allCases.count
        let request = user + UserAction.allCases.count
        let report = request + 22
        switch input {
        case .timeReached: return 0
        case .install: return 1
        case .uninstall: return 2
        case .terminate: return 3
        case .redeliver: return 4
        case .benchRestarted: return 5
        case .setUp: return 6
        case .update: return 7
        case .refuseUpdate: return 8
        case .clock: return 9
        case .phone(let change): return phone + Int(change.rawValue)
        case .user(_, let action): return user + Int(action.rawValue)
        case .request(_, .beginTask): return request
        case .request(_, .endTask): return request + 1
        case .request(_, .done): return request + 2
        case .request(_, .createManager): return request + 3
        case .request(_, .releaseManager): return request + 4
        case .request(_, .scan): return request + 5
        case .request(_, .stopScan): return request + 6
        case .request(_, .connect): return request + 7
        case .request(_, .cancelConnection): return request + 8
        case .request(_, .operate): return request + 9
        case .request(_, .peripheralManager): return request + 10
        case .request(_, .watchConnections): return request + 11
        case .request(_, .location): return request + 12
        case .request(_, .accessory): return request + 13
        case .request(_, .voip): return request + 14
        case .request(_, .audio): return request + 15
        case .request(_, .notification): return request + 16
        case .request(_, .measured): return request + 17
        case .request(_, .asked): return request + 18
        case .request(_, .transfer): return request + 19
        case .request(_, .push): return request + 20
        case .request(_, .backgroundTask): return request + 21
        case .process(_, .launched): return report
        case .process(_, .returned): return report + 1
        case .process(_, .suspended): return report + 2
        case .process(_, .suspensionRefused): return report + 3
        case .process(_, .exited): return report + 4
        case .process(_, .launchFailed): return report + 5
        case .process(_, .took): return report + 6
        case .event, .overflowed: return nil
        }
    }

    /// The cells that a long run must have filled and has not.
    var missing: [String] {
        var missing: [String] = []
        for (kind, name) in Tally.inputKinds.enumerated() {
            for state in AppState.allCases where inputs[kind * Tally.states + Int(state.rawValue)] == 0 {
                missing.append("input \(name) in \(state)")
            }
        }
        for kind in EventKind.allCases {
            for state in AppState.allCases where Tally.isLegal(kind, in: state) {
                if events[Int(kind.rawValue) * Tally.states + Int(state.rawValue)] == 0 {
                    missing.append("event \(kind.word) decided in \(state)")
                }
            }
        }
        for from in AppState.allCases {
            for to in AppState.allCases where LegalMoves.contains(from: from, to: to) {
                if moves[Int(from.rawValue) * Tally.states + Int(to.rawValue)] == 0 {
                    missing.append("move from \(from) to \(to)")
                }
            }
        }
        missing += Verdict.allCases.filter { verdicts[Int($0.rawValue)] == 0 }.map { "verdict \($0.word)" }
        missing += Reason.allCases.filter { reasons[Int($0.rawValue)] == 0 }.map { "reason \($0.word)" }
        missing += ExitCause.allCases.filter { exits[Int($0.rawValue)] == 0 }.map { "exit \($0.word)" }
        missing += RequestFault.allCases.filter { faults[Int($0.rawValue)] == 0 }.map { "fault \($0.word)" }
        return missing
    }

    /// The state of the adapter is no business of a terminated app (BTC-8); all else may meet an app in any state.
    private static func isLegal(_ kind: EventKind, in state: AppState) -> Bool {
        switch kind {
        case .bluetoothPoweredOn, .bluetoothPoweredOff: state != .notRunning
        // The sessions of a process go with it (EA-6).
        case .accessorySessionOpened, .accessoryDataAvailable, .accessorySessionEnded: state != .notRunning
        // A process that is gone neither ranges nor has updates to pause.
        case .beaconsRanged: state != .notRunning
        // Sockets and handlers go with their process.
        case .voipData, .voipClosed, .voipKeepAlive: state != .notRunning
        // A tap brings its app to the front before it is told.
        case .notificationTapped: state == .inactive || state == .active
        // It is about no app, and becomes the notification that follows.
        case .serviceExtensionEnded: false
        // It leads to the event of its task.
        case .taskLaunchSimulated: false
        // A task expires while its app runs.
        case .taskExpirationSimulated: state != .notRunning && state != .suspended
        // A beacon concerns regions, and those have events of their own.
        case .beaconSighted: false
        default: true
        }
    }

    /// The tables, for people.
    var text: String {
        let names = AppState.allCases.map { "\($0)" }
        var lines = ["\(steps) steps", "", Tally.row("input", names)]
        for (kind, name) in Tally.inputKinds.enumerated() {
            lines.append(Tally.row(name, (0..<Tally.states).map { "\(inputs[kind * Tally.states + $0])" }))
        }
        lines += ["", Tally.row("event decided", names)]
        for kind in EventKind.allCases {
            let first = Int(kind.rawValue) * Tally.states
            lines.append(Tally.row(kind.word, (0..<Tally.states).map { "\(events[first + $0])" }))
        }
        lines += ["", Tally.row("move from, to", names)]
        for from in AppState.allCases {
            let first = Int(from.rawValue) * Tally.states
            lines.append(Tally.row("\(from)", (0..<Tally.states).map { "\(moves[first + $0])" }))
        }
        lines += ["", "verdict"]
        lines += Verdict.allCases.map { Tally.row($0.word, ["\(verdicts[Int($0.rawValue)])"]) }
        lines += ["", "reason"]
        lines += Reason.allCases.map { Tally.row($0.word, ["\(reasons[Int($0.rawValue)])"]) }
        lines += ["", "exit"]
        lines += ExitCause.allCases.map { Tally.row($0.word, ["\(exits[Int($0.rawValue)])"]) }
        lines += ["", "refused request"]
        lines += RequestFault.allCases.map { Tally.row($0.word, ["\(faults[Int($0.rawValue)])"]) }
        return lines.joined(separator: "\n")
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        func pad(_ text: String, to width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count))
        }
        return name + pad(name, to: 30) + cells.map { pad($0, to: 11) + $0 }.joined()
    }
}

/// LIFE-1, written down a second time from the rulebook and from nowhere else.
enum LegalMoves {
    private static let table: [AppState: Set<AppState>] = [
        .notRunning: [.inactive, .background],
        .inactive: [.active, .background, .notRunning],
        .active: [.inactive, .notRunning],
        .background: [.inactive, .suspended, .notRunning],
        .suspended: [.background, .inactive, .notRunning],
    ]

    static func contains(from: AppState, to: AppState) -> Bool {
        table[from]!.contains(to)
    }
}
