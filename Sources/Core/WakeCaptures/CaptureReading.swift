import WakeDevices
import WakeModel

/// What the reading of captures comes to: counts, devices, and what had to be left out.
///
/// Several captures may be read one after the other; what one shows of a device's attributes holds in the next.
package final class CaptureReading: RecordTaker {
    /// Why a packet was left out.
    package enum Skip: String, CaseIterable, Sendable {
        case cutByCapture = "packets that the capture holds only in part"
        case unknownKind = "records of an unknown kind"
        case badPacket = "packets that are too short for what they say they are"
        case continuation = "fragments without a beginning"
        case otherChannel = "packets of other L2CAP channels than ATT"
        case badAttribute = "ATT packets that are malformed"
        case strayAnswer = "ATT answers without a request before them"
        case again = "packets of the air that came again"
        case encrypted = "packets that are encrypted on the air"
        case badChecksum = "packets that arrived damaged at the sniffer"
        case tooManyDevices = "advertisements of devices beyond the first 20000"
        case tooManyLinks = "links beyond the first 20000, and devices without an address beyond as many"
    }

    /// How many records there were, of each kind.
    package private(set) var records: [CaptureRecord.Kind: Int] = [:]
    package private(set) var recordCount = 0
    /// Nanoseconds since 1970; nil before the first record.
    package private(set) var first: Int64?
    package private(set) var last: Int64?
    /// The record that is being read.
    private(set) var place = CapturePlace(file: -1, frame: 0, time: 0)
    /// How each controller listens for advertisements, and how often one began to.
    var scans: [UInt16: CapturedScan] = [:]
    var scanCount = 0
    package internal(set) var skipped: [Skip: Int] = [:]
    /// How many packets there were of each link type that is not read, in captures that have others as well.
    package private(set) var unread: [UInt16: Int] = [:]
    /// By address.
    private(set) var peers: [UInt64: CapturedDevice] = [:]
    /// Devices whose address the captures do not show, by controller and handle or access address.
    private(set) var nameless: [UInt32: CapturedDevice] = [:]
    private(set) var controllers: [UInt16: LocalController] = [:]
    let store = CaptureStore()
    /// The only device whose notifications are kept; nil for those of all.
    private let only: UInt64?
    /// Tables that are known before anything is read.
    private let tables: [CapturedDevice.Identity: AttributeTable]

    private var counts = [Int](repeating: 0, count: CaptureRecord.Kind.allCases.count)
    private var links: [UInt32: CapturedLink] = [:]
    private var latestLink: (key: UInt32, link: CapturedLink)?
    var sniffer = LinkLayer()

    /// - Parameters:
    ///   - only: the address of the one device whose notifications matter.
    ///   - tables: tables of devices whose discovery the captures do not show.
    package init(only: UInt64? = nil, tables: [CapturedDevice.Identity: AttributeTable] = [:]) {
        (self.only, self.tables) = (only, tables)
    }

    private func make(_ identity: CapturedDevice.Identity, address: UInt64?) -> CapturedDevice {
        let device = CapturedDevice(identity, address: address)
        device.isWanted = only == nil || only == address
        if let table = tables[identity] { device.table = table }
        return device
    }

    /// Reads a capture to its end.
    ///
    /// - Throws: ``CaptureDamage`` where it cannot be read any further; what stands before is taken.
    package func read(_ source: inout CaptureBytes, _ format: CaptureFormat) throws(CaptureDamage) {
        place = CapturePlace(file: place.file + 1, frame: 0, time: 0)
        defer { finishFile() }
        try format.read(&source, into: self)
    }

    private func finishFile() {
        for kind in CaptureRecord.Kind.allCases where counts[Int(kind.rawValue)] > 0 {
            records[kind] = counts[Int(kind.rawValue)]
        }
        for link in links.values { link.endPairing() }
        // Handles mean nothing in another capture.
        links.removeAll()
        scans.removeAll()
        latestLink = nil
        sniffer = LinkLayer()
    }

    func skip(_ why: Skip) { skipped[why, default: 0] += 1 }

    func take(_ record: CaptureRecord, _ bytes: Span<UInt8>) -> Bool {
        count(record)
        if record.missing > 0 {
            skip(.cutByCapture)
        } else if record.isDamaged {
            skip(.badChecksum)
        } else {
            read(record, bytes)
        }
        return true
    }

    private func count(_ record: CaptureRecord) {
        counts[Int(record.kind.rawValue)] += 1
        recordCount += 1
        let time = record.time
        place.frame += 1
        place.time = time
        if first == nil { first = time }
        if time > last ?? .min { last = time }
    }

    private func read(_ record: CaptureRecord, _ bytes: Span<UInt8>) {
        switch record.kind {
        case .acl: takeACL(record, bytes)
        case .event: takeEvent(record, bytes)
        case .command: takeCommand(record, bytes)
        case .linkLayer: takeLinkLayer(record, bytes)
        case .controllerAdded: takeController(record, bytes)
        case .controllerRemoved: controllerLeft(record.controller, at: record.time)
        case .synchronous, .isochronous, .network, .note: break
        case .unknown: skip(.unknownKind)
        case .unread: unread[record.linkType, default: 0] += 1
        }
    }

    // MARK: Devices and links

    /// The device of an address; nil when there are too many.
    func peer(_ address: UInt64) -> CapturedDevice? {
        if let found = peers[address] { return found }
        guard store.takeDevice() else { return nil }
        let device = make(.address(address), address: address)
        peers[address] = device
        return device
    }

    func controller(_ number: UInt16) -> LocalController {
        if let found = controllers[number] { return found }
        let controller = LocalController()
        controllers[number] = controller
        return controller
    }

    /// The link of a key; begun before the capture when it is not known.
    func link(_ key: UInt32) -> CapturedLink {
        if let latestLink, latestLink.key == key { return latestLink.link }
        let link = links[key] ?? newLink(key, peer: nil)
        latestLink = (key, link)
        return link
    }

    /// Begins a link, in place of one of the same key.
    @discardableResult
    func newLink(_ key: UInt32, peer: CapturedDevice?) -> CapturedLink {
        let link = CapturedLink(controller: UInt16(truncatingIfNeeded: key >> 16), key: key, peer: peer)
        // A file may say that each of its packets is of another link.
        if links.count < LinkLayer.mostLinks || links[key] != nil { links[key] = link } else { skip(.tooManyLinks) }
        latestLink = (key, link)
        return link
    }

    /// The link of a key, which is no more.
    func endLink(_ key: UInt32) -> CapturedLink? {
        latestLink = nil
        return links.removeValue(forKey: key)
    }

    /// The server at one end of a link, whose ATT packets came.
    func server(_ link: CapturedLink, isLocal: Bool) -> CapturedDevice {
        if isLocal {
            if let device = link.local { return device }
            let controller = controller(link.controller)
            let device = controller.served ?? make(.controller(link.controller), address: controller.address)
            controller.serves(device)
            let isElsewhere = links.values.contains { $0.local === device }
            link.serves(device, isLocal: true, isElsewhere: isElsewhere)
            return device
        }
        if let device = link.peer { return device }
        let known = nameless[link.key]
        let device = known ?? make(.link(link.key), address: nil)
        if known == nil {
            if store.takeDevice() { nameless[link.key] = device } else { skip(.tooManyLinks) }
        }
        link.serves(device, isLocal: false)
        return device
    }

    private func controllerLeft(_ number: UInt16, at time: Int64) {
        for (key, link) in links where UInt16(truncatingIfNeeded: key >> 16) == number {
            link.close(at: time, reason: nil, by: .captured)
            links[key] = nil
        }
        latestLink = nil
    }

    /// All devices that were seen: those with the most ATT packets first, then by address.
    package var devices: [CapturedDevice] {
        let own = controllers.values.compactMap(\.served)
        return (Array(peers.values) + Array(nameless.values) + own).sorted { left, right in
            if left.operations != right.operations { return left.operations > right.operations }
            if left.advertising.reports != right.advertising.reports {
                return left.advertising.reports > right.advertising.reports
            }
            return left.address ?? .max < right.address ?? .max
        }
    }
}

/// The captured side's own end: its addresses, and what it advertises.
final class LocalController {
    var publicAddress: UInt64?
    var randomAddress: UInt64?
    /// Whether it advertises with its random address.
    var usesRandom = false
    var advertising = SeenAdvertising()
    /// What it set for its advertisements, with where.
    var conduct = CapturedConduct()
    private(set) var served: CapturedDevice?

    /// The device that it is for others, as their server.
    func serves(_ device: CapturedDevice) {
        served = device
        device.advertising = advertising
        device.conduct.advertises(as: conduct)
    }

    var address: UInt64? { usesRandom ? randomAddress ?? publicAddress : publicAddress ?? randomAddress }

    /// Tells the device what is known now.
    func update() {
        guard let served else { return }
        served.address = address
        served.advertising = advertising
        served.conduct.advertises(as: conduct)
    }
}
