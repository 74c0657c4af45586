import WakeDevices
import WakeModel

/// A record of a capture.
package struct CapturePlace: Hashable, Sendable, Comparable {
    /// Counted from 0, in the order in which they were read.
    package var file: Int
    /// Counted from 1 in its file, as Wireshark does.
    package var frame: Int
    /// Nanoseconds since 1970.
    package var time: Int64

    package static func < (left: Self, right: Self) -> Bool { (left.file, left.frame) < (right.file, right.frame) }
}

/// How the captured side listens for advertisements.
struct CapturedScan {
    /// A sniffer's, which has no number of its own.
    static let sniffing = 0

    /// Whether it listens at least half of the time, so that two advertisements that follow each other are mostly both heard.
    var isThorough = false
    /// The scan's own number while it is on, hears nearly all and each advertisement is reported; nil for any other.
    var number: Int?
}

/// What a device of a capture did that guidelines are about: what it was, and where it shows first.
package struct CapturedConduct: Sendable {
    /// Something that shows at a place.
    struct Shown<Value: Hashable & Sendable>: Hashable, Sendable {
        var value: Value
        var place: CapturePlace
    }

    /// How far a list of handles was asked for, by its last handle.
    struct Discovery: Hashable, Sendable {
        /// The first that was asked for.
        var first: UInt16
        /// The server said that there are no more.
        var isWhole = false
    }

    private static let pauseLimit = 2_000
    private static let listLimit = 64
    private static let discoveryLimit = 512
    /// The shortest pause between two advertisements: less is the same one on another channel.
    private static let shortestPause: Int64 = 15_000_000
    /// The longest, well beyond what the specification has: more is a scan that heard nothing, or a clock that was set.
    private static let longestPause: Int64 = 60_000_000_000

    // MARK: On the air

    private(set) var advertised: CapturePlace?
    private(set) var answersScans = false
    private(set) var name: Shown<[UInt8]>?
    private(set) var informationAdvertised: CapturePlace?
    /// What the captured side set for itself, in 625 us.
    private(set) var setInterval: Shown<UInt32>?
    /// From one advertisement to the next heard in one scan, in nanoseconds.
    private(set) var pauses: [Int64] = []
    private(set) var firstPause: CapturePlace?
    private var latest: (time: Int64, scan: Int)?

    mutating func heard(at place: CapturePlace, isAnswer: Bool, scan: Int?) {
        if isAnswer { answersScans = true }
        if isAnswer { return }
        if advertised == nil { advertised = place }
        guard let scan else {
            latest = nil
            return
        }
        guard let before = latest, before.scan == scan else {
            latest = (place.time, scan)
            return
        }
        let pause = place.time - before.time
        if pause >= 0, pause < Self.shortestPause { return }
        latest = (place.time, scan)
        guard pause > 0, pause <= Self.longestPause, pauses.count < Self.pauseLimit else { return }
        if firstPause == nil { firstPause = place }
        pauses.append(pause)
    }

    mutating func said(_ advertising: SeenAdvertising, at place: CapturePlace) {
        if advertised == nil { advertised = place }
        if let said = advertising.name, said != name?.value { name = Shown(value: said, place: place) }
        if informationAdvertised == nil, advertising.services.contains(.short(0x180a)) { informationAdvertised = place }
    }

    mutating func sets(interval: UInt32, at place: CapturePlace) {
        if setInterval?.value != interval { setInterval = Shown(value: interval, place: place) }
    }

    /// Takes what the captured side set for its own advertisements.
    mutating func advertises(as own: CapturedConduct) {
        (advertised, name, informationAdvertised) = (own.advertised, own.name, own.informationAdvertised)
        setInterval = own.setInterval
    }

    // MARK: Links

    private(set) var timings: [Shown<PeripheralRules.Timing>] = []
    private(set) var packets: Shown<Bool>?
    private(set) var mtu: Shown<Int>?
    /// Where it asked for security before anything was refused, and no earlier pairing answered for it.
    private(set) var pairingRequests: [CapturePlace] = []

    private static func interval(_ units: UInt16) -> Instant.Span {
        Instant.Span(nanoseconds: Int64(units) * 1_250_000)
    }

    private static func timeout(_ units: UInt16) -> Instant.Span { .milliseconds(Int64(units) * 10) }

    private mutating func add(_ timing: PeripheralRules.Timing, at place: CapturePlace) {
        guard timings.count < Self.listLimit, !timings.contains(where: { $0.value == timing }) else { return }
        timings.append(Shown(value: timing, place: place))
    }

    /// A link is timed anew: interval, latency and timeout, two bytes each.
    mutating func agreed(_ bytes: Span<UInt8>, at place: CapturePlace) {
        let timing = PeripheralRules.Timing(
            interval: Self.interval(bytes.little16(0)),
            latency: Int(bytes.little16(2)),
            timeout: Self.timeout(bytes.little16(4))
        )
        add(timing, at: place)
    }

    /// The device asks for a timing: shortest and longest interval, latency and timeout, two bytes each.
    mutating func asked(_ bytes: Span<UInt8>, at place: CapturePlace) {
        let timing = PeripheralRules.Timing(
            asked: Self.interval(bytes.little16(0)),
            Self.interval(bytes.little16(2)),
            latency: Int(bytes.little16(4)),
            timeout: Self.timeout(bytes.little16(6))
        )
        add(timing, at: place)
    }

    /// It showed whether it supports the Data Packet Length Extension; that it does once is enough.
    mutating func extendsPackets(_ does: Bool, at place: CapturePlace) {
        if packets == nil || (does && packets?.value == false) { packets = Shown(value: does, place: place) }
    }

    /// It said how much it takes in a packet.
    mutating func exchanged(mtu: Int, at place: CapturePlace) {
        if self.mtu == nil || (mtu < 23 && self.mtu!.value >= 23) { self.mtu = Shown(value: mtu, place: place) }
    }

    mutating func askedToPair(at place: CapturePlace) {
        if pairingRequests.count < Self.listLimit { pairingRequests.append(place) }
    }

    // MARK: Attributes

    /// Of all services, and of characteristics, by the last handle asked for.
    private(set) var services: [UInt16: Discovery] = [:]
    private(set) var characteristics: [UInt16: Discovery] = [:]
    private(set) var refusedDiscovery: CapturePlace?
    /// Where a handle had another service than before.
    private(set) var changedServices: CapturePlace?
    /// By the first handle of a service, the handle of a declaration, and of a value.
    private(set) var servicePlaces: [UInt16: CapturePlace] = [:]
    private(set) var declarationPlaces: [UInt16: CapturePlace] = [:]
    private(set) var valuePlaces: [UInt16: CapturePlace] = [:]

    mutating func discovers(_ question: ATTQuestion) {
        switch (question.opcode, question.type) {
        case (0x10, .primaryService): Self.begin(question, &services)
        case (0x08, .characteristic): Self.begin(question, &characteristics)
        default: break
        }
    }

    private static func begin(_ question: ATTQuestion, _ list: inout [UInt16: Discovery]) {
        guard list[question.last] != nil || list.count < discoveryLimit else { return }
        let first = min(question.first, list[question.last]?.first ?? .max)
        list[question.last, default: Discovery(first: first)].first = first
    }

    mutating func refused(_ question: ATTQuestion, _ opcode: UInt8, with error: UInt8, at place: CapturePlace) {
        let isDiscovery =
            [0x04, 0x06, 0x10].contains(opcode)
            || (opcode == 0x08 && [.characteristic, .include].contains(question.type))
        guard isDiscovery else { return }
        switch error {
        case 0x05, 0x08, 0x0c, 0x0f: if refusedDiscovery == nil { refusedDiscovery = place }
        case 0x0a where opcode == 0x10 && question.type == .primaryService: services[question.last]?.isWhole = true
        case 0x0a where opcode == 0x08 && question.type == .characteristic:
            characteristics[question.last]?.isWhole = true
        default: break
        }
    }

    mutating func showed(
        _ service: AttributeTable.Service,
        at handle: UInt16,
        instead before: AttributeTable.Service?,
        _ place: CapturePlace
    ) {
        if servicePlaces[handle] == nil { servicePlaces[handle] = place }
        if service.end == .max { services[.max]?.isWhole = true }
        if changedServices == nil, let before, before.uuid != service.uuid { changedServices = place }
    }

    mutating func showed(declaration handle: UInt16, _ place: CapturePlace) {
        if declarationPlaces[handle] == nil { declarationPlaces[handle] = place }
    }

    mutating func showed(value handle: UInt16, _ place: CapturePlace) {
        if valuePlaces[handle] == nil { valuePlaces[handle] = place }
    }

    /// Whether all services were listed from the first on.
    var showsAllServices: Bool { services[.max].map { $0.isWhole && $0.first <= 1 } ?? false }

    /// Whether all characteristics between two handles were listed.
    func showsCharacteristics(from first: UInt16, to end: UInt16) -> Bool {
        characteristics.contains { last, discovery in last >= end && discovery.first <= first && discovery.isWhole }
    }
}
