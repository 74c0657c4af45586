/// The links that a sniffer follows, by their access address.
struct LinkLayer {
    static let advertising: UInt32 = 0x8e89_bed6
    /// So many are followed: noise has another access address with each packet.
    static let mostLinks = 20_000
    private(set) var links: [UInt32: HeardLink] = [:]

    /// Begins a link.
    ///
    /// - Parameter time: when CONNECT_IND was heard; nil for a link that was there before the capture.
    @discardableResult
    mutating func begin(_ access: UInt32, _ link: CapturedLink, at time: Int64? = nil) -> HeardLink {
        let heard = HeardLink(link, at: time)
        if links.count < Self.mostLinks || links[access] != nil { links[access] = heard }
        return heard
    }

    mutating func end(_ access: UInt32) { links[access] = nil }
}

/// A link as a sniffer hears it: some of its packets are missed, and some come again.
///
/// Each packet has a sequence number (SN) of one bit and the number that its sender expects next (NESN): Bluetooth Core, volume 6,
/// part B, 4.5.9.
final class HeardLink {
    /// One end of the link.
    private struct End {
        /// Of the last packet that was heard of it; nil before the first.
        private var sequence: UInt8?
        private var kind: UInt8 = 0
        private var body: [UInt8] = []
        /// Whether the other end has acknowledged that packet since.
        private var isAcknowledged = false
        /// Whether it has acknowledged the next one as well, which was not heard.
        private var hasMissed = false

        /// Takes what the other end says of the number that it expects.
        mutating func expected(_ number: UInt8) {
            guard let sequence else { return }
            if number != sequence { isAcknowledged = true } else if isAcknowledged { hasMissed = true }
        }

        /// Takes a packet of this end; false for the last one sent again.
        ///
        /// The next but one has the same number as the last one. That it is the next but one shows where the other end has acknowledged the
        /// one between; where that was not heard either, only its bytes tell it.
        mutating func takes(_ header: UInt8, _ packet: Span<UInt8>) -> Bool {
            let number = header >> 3 & 1
            if number == sequence, !hasMissed, header & 3 == kind, isBody(packet) { return false }
            (sequence, kind, isAcknowledged, hasMissed) = (number, header & 3, false, false)
            body.removeAll(keepingCapacity: true)
            for index in 0..<packet.count { body.append(packet[index]) }
            return true
        }

        private func isBody(_ packet: Span<UInt8>) -> Bool {
            guard packet.count == body.count else { return false }
            for index in body.indices where packet[index] != body[index] { return false }
            return true
        }
    }

    let link: CapturedLink
    var isEncrypted = false
    private var central = End()
    private var peripheral = End()
    /// The last packet that was heard: its time and its end.
    private var latest: (time: Int64, isSent: Bool)?
    /// How much speaks for it that the two numbers of the central's packets are the same (more than 0), or differ (less).
    private var sameness = 0
    /// Whether an end has said that it expects number 1: without it the numbers tell no end.
    private var hasExpected = false
    /// Whether only the central has asked, and only the peripheral answered.
    private var isOneWay = true

    /// - Parameter time: when CONNECT_IND was heard; nil for a link that was there before the capture.
    init(_ link: CapturedLink, at time: Int64?) {
        self.link = link
        // Both ends begin with number 0 and expect 0, and the central speaks first.
        if let time {
            latest = (time, false)
            sameness = Self.surmise
        }
    }

    /// Takes a packet that was heard whole; false for one that came again.
    func takes(_ header: UInt8, _ body: Span<UInt8>, isSent: Bool, at time: Int64) -> Bool {
        latest = (time, isSent)
        let expected = header >> 2 & 1
        if isSent {
            peripheral.expected(expected)
            return central.takes(header, body)
        }
        central.expected(expected)
        return peripheral.takes(header, body)
    }

    // MARK: Which end

    /// More than the longest packet (LE 1M, 2 120 us) and the pause between two packets of a connection event (T_IFS, 150 us): in
    /// nanoseconds, from the beginning of a packet to that of the next.
    private static let longestStep: Int64 = 2_500_000
    /// The most that can speak for an end.
    private static let certainty = 4
    /// What is likely, and no more.
    private static let surmise = 2

    /// Whether the central sent a packet, where the capture does not say it.
    ///
    /// Each packet that arrives is acknowledged by the one that answers it, so an end's two numbers go on together: they are the same at
    /// one end, and differ at the other. Which is the central's is told by packets that only one end may send, by the first packet after a
    /// pause, since the central begins each connection event, and by which end asks in ATT. Any of these may mislead when a packet was missed,
    /// so they are weighed over the whole link.
    ///
    /// - Parameter isReadable: whether the body is not encrypted.
    func isSent(_ header: UInt8, _ body: Span<UInt8>, at time: Int64, isReadable: Bool) -> Bool {
        if header & 4 != 0 { hasExpected = true }
        let isSame = (header >> 2 ^ header >> 3) & 1 == 0
        if isReadable, let isSent = Self.onlySender(header, body) {
            sameness = isSent == isSame ? Self.certainty : -Self.certainty
            return isSent
        }
        let asks = isReadable ? Self.asks(header, body) : nil
        let isLate = latest.map { time - $0.time > Self.longestStep } ?? false
        let isInTurn = latest.map { isLate || !$0.isSent } ?? true
        guard hasExpected else { return asks ?? isInTurn }
        if isLate { weigh(isSent: true, isSame, 1) }
        let before = sameness
        if isOneWay, let asks { weigh(isSent: asks, isSame, Self.surmise) }
        let isSent = sameness == 0 ? asks ?? isInTurn : (sameness > 0) == isSame
        if let asks, asks != isSent { (isOneWay, sameness) = (false, before) }
        return isSent
    }

    /// Something speaks for an end as the sender of a packet whose numbers are the same or not.
    private func weigh(isSent: Bool, _ isSame: Bool, _ weight: Int) {
        let sum = sameness + (isSent == isSame ? weight : -weight)
        sameness = max(-Self.certainty, min(Self.certainty, sum))
    }

    /// The channel of a packet that begins one of L2CAP, and the first byte in it; nil for any other packet.
    private static func beginning(_ header: UInt8, _ body: Span<UInt8>) -> (channel: UInt16, code: UInt8)? {
        header & 3 == 2 && body.count >= 5 ? (body.little16(2), body[4]) : nil
    }

    /// Whether the central sent a packet that only one of the two may send; nil for any other.
    private static func onlySender(_ header: UInt8, _ body: Span<UInt8>) -> Bool? {
        if header & 3 == 3, body.count >= 1 {
            switch body[0] {
            // Connection Update, Channel Map, Encryption Request, Feature Request, Pause Encryption Request, PHY Update.
            case 0x00, 0x01, 0x03, 0x08, 0x0a, 0x18: return true
            // Encryption Response, Start Encryption Request, Peripheral Feature Request, Minimum Used Channels.
            case 0x04, 0x05, 0x0e, 0x19: return false
            default: return nil
            }
        }
        switch beginning(header, body) {
        // Connection Parameter Update: Request and Response.
        case (0x0005, 0x12)?: return false
        case (0x0005, 0x13)?: return true
        // Pairing: Request, Response and Security Request.
        case (0x0006, 0x01)?: return true
        case (0x0006, 0x02)?, (0x0006, 0x0b)?: return false
        default: return nil
        }
    }

    /// Whether a packet of ATT is for a server; nil for any other packet.
    private static func asks(_ header: UInt8, _ body: Span<UInt8>) -> Bool? {
        guard let (channel, code) = beginning(header, body), channel == 0x0004 else { return nil }
        return CaptureReading.isForServer(code)
    }
}
