import WakeDevices
import WakeModel
import WakePorts

/// One accessory in memory: whether it is there, and what is wrong with it.
struct SimulatedAccessory {
    let description: ExternalAccessory
    let name: String
    /// The interned ``name``.
    let nameID: NameID
    let protocolIDs: [NameID]
    /// Whether it is plugged in, or in range.
    var isPresent = false
    /// The number of its connection; nil while it is away, or the radio is off that it comes over.
    var connection: AccessoryConnection?
    /// The next change of its presence, and when.
    var nextPresence = 0
    var presenceDue: Instant?
    /// When it comes back after a fault pulled it.
    var backAt: Instant?
    var faults = Faults()
    var random: SimulatedNoise

    /// What armed faults have left to do.
    struct Faults: Codable {
        var bytesBeforeUnplug: Int?
        var valuesBeforeUnplug: Int?
        var backAfter: Instant.Span?
        var stalledUntil: Instant?
        var garbage = 0
        var flood = 0
    }

    init(_ description: ExternalAccessory, named name: String, names: NameTable, seed: UInt64) {
        self.description = description
        self.name = name
        nameID = names.intern(name)
        protocolIDs = description.protocols.map { names.intern($0.name) }
        random = SimulatedNoise(seed: seed, name: name)
    }

    /// When something of its own is due.
    var due: Instant? {
        [presenceDue, backAt, faults.stalledUntil].compactMap { $0 }.min()
    }
}

/// One session with a simulated accessory: its script as it plays.
final class SimulatedSession {
    let number: AccessorySession
    /// A position among the accessories.
    let device: Int
    /// A position among its protocols.
    let place: Int
    let socket: SessionSocket
    let link: ExternalAccessory.Link
    let script: ExternalAccessory.Script
    /// The script's own timetable, then those of its answers.
    var players: [Player]
    /// The last bytes that arrived, as many as the longest answer wants.
    var tail: [UInt8] = []
    /// What is to be sent and has no room yet; nothing else is sent before it.
    var backlog = ByteQueue()
    /// What the link carries of the app's.
    var pace: LinkPace

    /// A timetable as it plays.
    struct Player {
        var timetable: Timetable
        var position = Timetable.Position()
        /// When its next value is due; nil when there is none.
        var due: Instant?

        mutating func start(at now: Instant) {
            position = Timetable.Position()
            due = timetable.pause(before: position).map { now.advanced(by: $0) }
        }
    }

    init(
        number: AccessorySession,
        device: Int,
        place: Int,
        of description: ExternalAccessory.AccessoryProtocol,
        socket: SessionSocket
    ) {
        self.number = number
        self.device = device
        self.place = place
        self.socket = socket
        link = description.link
        pace = LinkPace(rate: description.link.rate)
        script = description.script
        players = ([script.timetable] + script.answers.map(\.timetable)).map { Player(timetable: $0) }
    }

    /// Bytes as the link carries them: in reports of one size where it has reports, filled with zeros.
    func framed(_ bytes: [UInt8]) -> [UInt8] {
        guard case .hid(let reports) = link else { return bytes }
        return bytes + [UInt8](repeating: 0, count: (reports.size - bytes.count % reports.size) % reports.size)
    }

    /// The next instant at which a value is due. While something has no room yet the script stands still.
    var due: Instant? { backlog.isEmpty ? players.compactMap(\.due).min() : nil }

    /// Starts the answers to what arrived, byte by byte.
    func arrived(_ bytes: [UInt8], at now: Instant) {
        guard let longest = script.answers.map(\.to.count).max() else { return }
        for byte in bytes {
            tail.append(byte)
            if tail.count > longest { tail.removeFirst() }
            for (index, answer) in script.answers.enumerated() where tail.ends(with: answer.to) {
                players[index + 1].start(at: now)
            }
        }
    }
}

extension [UInt8] {
    fileprivate func ends(with other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}

/// Random bytes that a seed and a name give again in each run.
struct SimulatedNoise: Codable {
    private var state: UInt64

    init(seed: UInt64, name: String) { state = Mixing.fork(seed, name) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: Mixing.next(&state)) }
    }
}
