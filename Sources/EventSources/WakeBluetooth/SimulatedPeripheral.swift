import WakeDevices
import WakeModel

/// One peripheral of the simulated radio: what it is, where its link stands, and who holds what.
struct SimulatedPeripheral {
    /// The link to the phone; there is one, shared by all clients.
    enum Link: UInt8, Codable {
        /// Nothing. Valid transitions to: `connecting`.
        case down
        /// Somebody waits and the peripheral can be reached. Valid transitions to: `up`, `down`.
        case connecting
        /// Valid transitions to: `down`.
        case up
    }

    /// A client's hold on the peripheral.
    struct Holder: Codable {
        var client: BluetoothClient
        var state: State
        var writes = WriteQueue()

        enum State: UInt8, Codable {
            /// Waits for the link.
            case pending
            /// Came when the link was up; is told at once.
            case joining
            /// Was told that it is connected.
            case connected
        }
    }

    /// A GATT operation that waits for its answer.
    struct Request: Codable {
        /// Nil when the client let go meanwhile: nobody hears the answer.
        var client: BluetoothClient?
        var operation: BluetoothOperation
        /// The phone has paired for it, or tried to.
        var hasPaired = false
    }

    /// The faults that are armed.
    struct Faults: Codable {
        var lateSubscribeAnswer: Instant.Span = .zero
        /// Notifications left until the link drops.
        var disconnectAfter: Int?
        /// By how much the handles move when the link goes.
        var staleHandles = 0
        /// How long after the first unanswered operation the link drops.
        var noAnswer: Instant.Span?
        /// Whether that operation has come.
        var unanswered = false
        var cutValues: Int?
        /// Values left until a channel is closed.
        var closeChannelAfter: Int?
        var refusesChannels = false
    }

    let name: String
    let nameID: NameID
    let description: BluetoothPeripheral
    /// What it says on the air but for its name.
    private let unnamed: Advertisement
    /// The advertised services, as interned names.
    let advertisedServices: [NameID]
    /// What the server has.
    var attributes: SimulatedAttributes
    /// What the phone has found of them, and goes by from then on; nil where it has found nothing yet, or has forgotten it (BTC-14).
    private(set) var kept: SimulatedAttributes?
    /// Whether that is not what the server has any more.
    private(set) var isStale = false
    /// What each client has found over the link that is up.
    var found = FoundAttributes()
    /// The position of its first characteristic among all of the radio's.
    let firstCharacteristic: Int
    var random: SimulatedRandom
    /// What it answers to writes and reads.
    var machine: BluetoothAnswerMachine
    /// The lines of the device file that its answers come from.
    let answerOrigins: [Int: NameID]
    /// Which plan for what it does after a request this is.
    var answerGeneration: UInt32 = 0

    var link = Link.down
    /// Which link, or attempt at one, this is; what was planned for another means nothing.
    var linkGeneration: UInt32 = 0
    /// Which plan to lose the link this is.
    var lossGeneration: UInt32 = 0
    /// Counts links of the whole radio in order of connection.
    var connectedAs: UInt64 = 0
    var inRange = true
    var wasDiscovered = false
    var wasConnected = false
    /// Its name, in what it says on the air and among its attributes.
    var localName: String?
    /// The name that the phone knows it by: the one heard until a link is up, and then the one of its attributes.
    var knownName: String?
    /// The phone has asked for more than the advertisement, and been answered.
    var heardAnswer = false
    var sightingPlanned = false
    /// In the order in which they came.
    var holders: [Holder] = []
    /// Oldest first; the server answers one at a time.
    var requests: [Request] = []
    /// The first of them has gone out, as far as a trace of the radio says.
    var isAsked = false
    /// How secure the link is, and each later one: the bond stays.
    var security = BluetoothPeripheral.Security.none
    /// Until then the phone and the peripheral are pairing, and nothing else is answered.
    var pairingEnds = Instant.zero
    /// The server has answered everything by then.
    var busyUntil = Instant.zero
    var connection = SimulatedConnection()
    var faults = Faults()

    init(
        _ description: BluetoothPeripheral,
        named name: String,
        firstCharacteristic: Int,
        names: NameTable,
        seed: UInt64
    ) {
        let advertising = description.advertising
        self.name = name
        nameID = names.intern(name)
        self.description = description
        localName = description.name
        unnamed = Advertisement(
            services: advertising.services,
            manufacturerData: advertising.manufacturerData,
            serviceData: advertising.serviceData,
            txPower: advertising.txPower,
            connectable: advertising.connectable,
            signalStrength: advertising.signalStrength
        )
        advertisedServices = advertising.services.map { names.intern($0) }
        attributes = SimulatedAttributes(description, device: name, names: names)
        self.firstCharacteristic = firstCharacteristic
        random = SimulatedRandom(seed: seed, name: name)
        machine = BluetoothAnswerMachine(description.answers, mtu: description.mtu)
        let file = description.file.split(separator: "/").last ?? ""
        let lines = description.answers.rules.joined().map { ($0.line, names.intern("\(file):\($0.line)")) }
        answerOrigins = Dictionary(lines) { first, _ in first }
    }

    var advertisement: Advertisement {
        var said = unnamed
        said.localName = localName
        return said
    }

    /// What the phone reports of an advertisement, and from now on knows: a name that does not fit into the advertisement itself
    /// comes in the answer to a scan, after the first report.
    mutating func heard() -> Advertisement {
        var heard = advertisement
        if !heardAnswer, !heard.carriesName { heard.localName = nil }
        heardAnswer = true
        if !wasConnected, let name = heard.localName { knownName = name }
        return heard
    }

    /// The table that the phone goes by.
    var table: SimulatedAttributes { kept ?? attributes }

    /// Whether the phone hears of a change over a link: it has found Service Changed, and the server has it.
    var hearsChanges: Bool { table.indicatesChanges && attributes.indicatesChanges }

    /// The phone looks for attributes, and finds them all.
    mutating func keepTable() {
        if kept == nil { kept = attributes }
    }

    mutating func forgetTable() {
        kept = nil
        isStale = false
    }

    /// The server's table is another, or may be.
    mutating func compareTables() { isStale = kept.map { !$0.shows(theSameAs: attributes) } ?? false }

    /// The link is over. What the phone found outlives it where nothing could tell of a change, or where the bond lets the server tell
    /// of it later (BTC-14).
    ///
    /// - Parameter keeps: whether anything outlives it at all.
    mutating func endLink(keeps: Bool) {
        found.removeAll()
        let isBonded = security != .none
        if keeps, let kept, isBonded || !kept.indicatesChanges { compareTables() } else { forgetTable() }
    }

    /// A peripheral with a link is silent on the air, unless its file says otherwise.
    var advertises: Bool { inRange && (link != .up || description.advertising.whileConnected) }

    func holder(_ client: BluetoothClient) -> Int? { holders.firstIndex { $0.client == client } }

    func isConnected(_ client: BluetoothClient) -> Bool {
        holder(client).map { holders[$0].state == .connected } ?? false
    }
}

extension SimulatedPeripheral {
    /// Both ends' tables, and what clients have found.
    mutating func codeTables(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&attributes)
        var isKept = kept != nil
        try coder.code(&isKept)
        if isKept {
            var table = kept ?? attributes
            try coder.code(&table)
            kept = table
        } else {
            kept = nil
        }
        compareTables()
        try coder.code(&found)
    }
}

/// One characteristic of the simulated radio: its value, its subscribers and where its timetable stands.
struct SimulatedCharacteristic {
    /// A position among the radio's peripherals.
    let peripheral: Int
    /// A position in the peripheral's attributes.
    let position: Int
    let timetable: Timetable
    /// The line of the device file that it comes from.
    let origin: NameID
    var value: [UInt8]
    /// In the order in which they came.
    var subscribers: [BluetoothClient] = []
    var place = Timetable.Position()
    /// The pause left before the next value while the timetable stands still; nil before its first start.
    var left: Instant.Span?
    /// When the next value is due; nil while the timetable stands still or is over.
    var due: Instant?
    /// Which plan for a value this is.
    var generation: UInt32 = 0
}

extension Advertisement {
    /// The most bytes in an advertisement (Bluetooth Core Specification, volume 6, part B, 2.3.1).
    private static let limit = 31

    /// Whether the name fits beside the rest. Each part has two bytes for its length and kind.
    var carriesName: Bool {
        let uuids = Dictionary(grouping: services) { $0.count == 4 ? 2 : $0.count == 8 ? 4 : 16 }
        // The flags come first.
        let parts =
            [1] + uuids.map { $0.key * $0.value.count }
            + serviceData.map { ($0.service.count == 4 ? 2 : 16) + $0.data.count }
            + [manufacturerData?.count, txPower.map { _ in 1 }, localName?.utf8.count].compactMap { $0 }
        return parts.reduce(0) { $0 + 2 + $1 } <= Self.limit
    }
}
