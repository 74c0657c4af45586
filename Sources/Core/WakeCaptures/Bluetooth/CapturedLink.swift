/// A link between the captured side and a peer; of a sniffer, the central is the captured side.
final class CapturedLink {
    /// An end of the link.
    enum Side {
        case captured
        case peer
    }

    let controller: UInt16
    let key: UInt32
    private(set) var peer: CapturedDevice?
    /// The captured side, once it is somebody's server.
    private(set) var local: CapturedDevice?
    /// The channel that ATT always has.
    let bearer = ATTBearer()
    /// The channels that it has beside.
    var channels = ATTChannels()
    /// Packets of L2CAP that are not whole yet, sent and received.
    var parts = (sent: L2CAPPacket(), received: L2CAPPacket())
    /// Whether the captured side asked to end it.
    var isEndedHere = false
    /// Whether a request was refused until the link is paired or encrypted.
    var wasRefused = false
    /// A peripheral's wish for security that was not answered yet.
    var wish: (place: CapturePlace, device: CapturedDevice)?
    /// When it began; nil for one that was there before the capture.
    private var opened: Int64?
    private var interval: UInt16 = 0
    private var mtu = 23
    private var isEncrypted = false

    init(controller: UInt16, key: UInt32, peer: CapturedDevice?) {
        (self.controller, self.key, self.peer) = (controller, key, peer)
    }

    /// The devices at its ends, as far as they are known.
    private var devices: [CapturedDevice] { [peer, local].compactMap(\.self) }

    /// It begins.
    ///
    /// - Parameter interval: in units of 1.25 ms.
    func open(at time: Int64, interval: UInt16) {
        (opened, self.interval) = (time, interval)
        peer?.opened(at: time, interval: interval)
    }

    /// An end turns out to be a server: the device has been on the link from its beginning.
    ///
    /// - Parameter isElsewhere: whether it is on another link as well, whose beginning counts.
    func serves(_ device: CapturedDevice, isLocal: Bool, isElsewhere: Bool = false) {
        if isLocal { local = device } else { peer = device }
        if let opened, !isElsewhere { device.opened(at: opened, interval: interval) }
        guard opened != nil || interval > 0 || mtu > 23 || isEncrypted else { return }
        device.withConnection {
            if interval > 0 { $0.interval = interval }
            $0.mtu = max($0.mtu, mtu)
            if isEncrypted { $0.isEncrypted = true }
        }
    }

    func change(interval: UInt16) {
        self.interval = interval
        for device in devices { device.withConnection { $0.interval = interval } }
    }

    /// The ends agreed on an MTU, which is one for both of them (Bluetooth Core, volume 3, part F, 3.4.2.2).
    func agree(mtu: Int) {
        self.mtu = mtu
        for device in devices { device.withConnection { $0.mtu = mtu } }
    }

    /// A channel that ATT has beside takes so much in a packet.
    func widen(mtu: Int) { if mtu > self.mtu { agree(mtu: mtu) } }

    func encrypt() {
        wish = nil
        isEncrypted = true
        for device in devices { device.withConnection { $0.isEncrypted = true } }
    }

    /// It is over.
    ///
    /// - Parameter side: the end that ended it; nil where it was lost.
    func close(at time: Int64, reason: UInt8?, by side: Side?) {
        endPairing()
        let isEndedHere = side == .captured
        peer?.closed(at: time, reason: reason, isEndedHere: isEndedHere, isEndedByOther: isEndedHere)
        local?.closed(at: time, reason: reason, isEndedHere: isEndedHere, isEndedByOther: side == .peer)
    }

    /// A wish for security came to a pairing, or to nothing.
    func endPairing() {
        if let wish { wish.device.conduct.askedToPair(at: wish.place) }
        wish = nil
    }
}

/// A packet of L2CAP that is put together.
struct L2CAPPacket {
    private(set) var bytes: [UInt8] = []
    /// How many bytes it has, with what of its header was kept; 0 when none is under way.
    var length = 0

    mutating func begin(_ part: Span<UInt8>, _ length: Int) {
        clear()
        add(part)
        self.length = length
    }

    mutating func add(_ part: Span<UInt8>) {
        for index in 0..<part.count { bytes.append(part[index]) }
    }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        length = 0
    }
}
