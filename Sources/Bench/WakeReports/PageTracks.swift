import WakeModel

/// What lasts for a time and belongs to a row of a page: of the phone, of a device, of an app.
struct PageTracks {
    /// From an instant to the next band of its track, or to the end of the run.
    struct Band: Hashable, Sendable {
        var at: Instant
        /// Empty where nothing is known, or nothing is.
        var state: String
    }

    struct Track: Sendable {
        var name: String
        var bands: [Band] = []

        /// Says it where it is news.
        mutating func set(_ state: String, at instant: Instant) {
            if bands.last?.state ?? "" != state { bands.append(Band(at: instant, state: state)) }
        }
    }

    /// A state of an app: one of ``AppState`` by its number, or what only a page tells apart.
    enum Shown {
        static let terminated: UInt8 = 5
        static let forceQuit: UInt8 = 6
        /// In the order of their numbers.
        static let words =
            [AppState.notRunning, .inactive, .active, .background, .suspended].map(\.word) + [
                "terminated", "force-quit",
            ]
    }

    // MARK: The phone

    /// What acts say of the phone: of a word of ``Act`` the row and the state in it.
    static let phone: [String: (row: String, state: String)] = {
        do throws(TableError) {
            var states: [String: (row: String, state: String)] = [:]
            for row in try Table("phone.tsv", EmbeddedFile.phoneTSV, columns: ["act", "row", "state"]).rows {
                let word = try row.value("act") { Act.words[$0] }
                states[word] = (try row.filled("row"), try row.filled("state"))
            }
            return states
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// The rows of the phone, in the order of the first act of each; the lock is the first where anything is known of it.
    static func ofPhone(_ log: RunLog) -> [Track] {
        var lock = Track(name: "lock")
        var tracks: [Track] = []
        for act in log.changes where act.app == nil {
            if let locked = act.locked { lock.set(locked ? "locked" : "", at: act.at) }
            guard let (row, state) = phone[act.word] else { continue }
            let place = tracks.firstIndex { $0.name == row } ?? tracks.count
            if place == tracks.count { tracks.append(Track(name: row)) }
            tracks[place].set(state, at: act.at)
        }
        return (lock.bands.isEmpty ? [] : [lock]) + tracks
    }

    // MARK: Devices

    /// What the kind of an event says of its device: `connected`, `disconnected` or `seen`; nil for what is about none.
    static let devices = Table.pairs("devices.tsv", EmbeddedFile.devicesTSV, columns: ["kind", "says"])

    /// The device of an event; nil where it is of none.
    static func device(_ decision: DecisionRecord) -> String? {
        guard devices[decision.kind] != nil, !decision.subject.isEmpty else { return nil }
        return String(decision.subject.prefix { $0 != "/" })
    }

    struct Device: Sendable {
        var link: Track
        var range: Track
    }

    /// The devices, in the order in which they are first heard of. A link ends with the phone's restart too.
    static func ofDevices(_ log: RunLog) -> [Device] {
        var places: [String: Int] = [:]
        var devices: [Device] = []
        func place(_ name: String) -> Int {
            if let place = places[name] { return place }
            places[name] = devices.count
            devices.append(Device(link: Track(name: name), range: Track(name: name)))
            return devices.count - 1
        }
        var ends = log.changes.filter { restarts.contains($0.word) }.map(\.at)[...]
        for decision in log.decisions {
            guard let says = Self.devices[decision.kind], let name = device(decision) else { continue }
            let device = place(name)
            while let end = ends.first, end <= decision.at {
                for place in devices.indices { devices[place].link.set("", at: end) }
                ends.removeFirst()
            }
            if says == "connected" { devices[device].link.set("connected", at: decision.at) }
            if says == "disconnected" { devices[device].link.set("", at: decision.at) }
        }
        for end in ends { for place in devices.indices { devices[place].link.set("", at: end) } }
        for entry in log.ranges {
            let device = place(entry.device)
            if devices[device].range.bands.isEmpty {
                devices[device].range.set(entry.inRange ? "out of range" : "in range", at: .zero)
            }
            devices[device].range.set(entry.inRange ? "in range" : "out of range", at: entry.at)
        }
        return devices
    }

    private static let restarts = [Act.word(.phone(.reboot))?.word, Act.words["shutDown"]].compactMap { $0 }

    // MARK: Apps

    /// A move of an app, as a page shows it.
    struct Move: Sendable {
        var app: String
        var at: Instant
        var state: UInt8
        var pid: Int32
    }

    /// The moves of all apps in order of time, with force quits of apps that had no process, and with reboots that lift the bar of
    /// one (LAUNCH-4).
    static func ofApps(_ log: RunLog) -> [Move] {
        struct Quit: Hashable {
            var app: String
            var at: Instant
        }
        let word = Act.words["forceQuit"]
        var quits = Set(log.exits.filter { $0.cause == .userForceQuit }.map { Quit(app: $0.app, at: $0.at) })
        let acts = log.changes.compactMap { act in
            act.word == word ? act.app.map { Quit(app: $0, at: act.at) } : nil
        }
        quits.formUnion(acts)
        var ended: Set<Quit> = []
        var moves = log.moves.map { move in
            let quit = Quit(app: move.app, at: move.at)
            let isQuit = move.to == .notRunning && quits.contains(quit)
            if isQuit { ended.insert(quit) }
            let state = isQuit ? Shown.forceQuit : move.to == .notRunning ? Shown.terminated : move.to.rawValue
            return Move(app: move.app, at: move.at, state: state, pid: move.pid)
        }
        for quit in acts where !ended.contains(quit) {
            moves.append(Move(app: quit.app, at: quit.at, state: Shown.forceQuit, pid: 0))
        }
        if log.rebootLiftsForceQuit { moves += lifted(log) }
        return moves.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// At each reboot the apps whose force quit it lifts.
    private static func lifted(_ log: RunLog) -> [Move] {
        var quit: [String] = []
        var moves: [Move] = []
        for act in log.changes {
            if let app = act.app {
                quit.removeAll { $0 == app }
                if act.word == Act.words["forceQuit"] { quit.append(app) }
            } else if act.word == restarts.first {
                moves += quit.map { Move(app: $0, at: act.at, state: Shown.terminated, pid: 0) }
                quit = []
            }
        }
        return moves
    }
}
