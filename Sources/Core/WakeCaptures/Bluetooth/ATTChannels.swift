/// A channel that carries ATT: on each, an end asks one thing at a time.
final class ATTBearer {
    /// What was asked of the captured side's server and is not answered yet.
    var local = ATTQuestion()
    /// The same of the peer's.
    var peer = ATTQuestion()
    /// Packets that came in several frames and are not whole yet, sent and received: of a channel with credits alone.
    var parts = (sent: L2CAPPacket(), received: L2CAPPacket())
}

/// The channels that the ends of a link opened for ATT beside the fixed one, as Enhanced ATT (Bluetooth Core, volume 3, part F, 3.2.11).
struct ATTChannels {
    private struct Request {
        /// The numbers by which the end that asked receives.
        var numbers: [UInt16]
        var mtu: UInt16
    }

    /// A question of which end, by its number.
    private struct Question: Hashable {
        var identifier: UInt8
        var isSent: Bool
    }

    /// Where ATT listens.
    private static let service: UInt16 = 0x0027
    /// Numbers of channels on LE that are given as they are opened.
    private static let dynamic: ClosedRange<UInt16> = 0x0040...0x007f

    private var requests: [Question: Request] = [:]
    /// By the number that the receiver of a packet gave the channel: of what is sent, and of what is received.
    private var bearers: (sent: [UInt16: ATTBearer], received: [UInt16: ATTBearer]) = ([:], [:])

    /// The channel that a packet is of; nil when it is not of ATT.
    func bearer(_ number: UInt16, isSent: Bool) -> ATTBearer? {
        isSent ? bearers.sent[number] : bearers.received[number]
    }

    /// A request to open channels (L2CAP_CREDIT_BASED_CONNECTION_REQ): PSM, MTU, MPS and credits, then up to five numbers.
    mutating func asked(_ identifier: UInt8, _ body: Span<UInt8>, isSent: Bool) {
        guard body.little16(0) == Self.service else { return }
        requests[Question(identifier: identifier, isSent: isSent)] =
            Request(numbers: Self.numbers(body), mtu: body.little16(2))
    }

    /// The answer: MTU, MPS, credits and result, then a number for each that was asked for, 0 where it is refused.
    ///
    /// - Returns: the longest packet of ATT that may go over them; nil when no channel of ATT is open by it.
    mutating func answered(_ identifier: UInt8, _ body: Span<UInt8>, isSent: Bool) -> Int? {
        guard let request = requests.removeValue(forKey: Question(identifier: identifier, isSent: !isSent)) else {
            return nil
        }
        let opened = zip(request.numbers, Self.numbers(body)).filter { own, other in
            Self.dynamic.contains(own) && Self.dynamic.contains(other)
        }
        for (own, other) in opened {
            let bearer = ATTBearer()
            // The end that asked sends to the other's number.
            bearers.sent[isSent ? own : other] = bearer
            bearers.received[isSent ? other : own] = bearer
        }
        return opened.isEmpty ? nil : Int(min(request.mtu, body.little16(0)))
    }

    /// A channel is closed (L2CAP_DISCONNECTION_RSP): the number of the end that answers, then of the one that asked.
    mutating func closed(_ body: Span<UInt8>, isSent: Bool) {
        bearers.sent[body.little16(isSent ? 2 : 0)] = nil
        bearers.received[body.little16(isSent ? 0 : 2)] = nil
    }

    /// The numbers behind the first eight bytes.
    private static func numbers(_ body: Span<UInt8>) -> [UInt16] {
        stride(from: 8, to: min(body.count, 18) - 1, by: 2).map { body.little16($0) }
    }
}

extension CaptureReading {
    /// A frame of a channel with credits: the first of a packet begins with the packet's length (Bluetooth Core, volume 3, part A, 3.4.3).
    func takeFrame(_ link: CapturedLink, _ bearer: ATTBearer, _ frame: Span<UInt8>, isSent: Bool, at time: Int64) {
        var packet = L2CAPPacket()
        // Taken out, so that nobody else holds it while it is read.
        if isSent { swap(&packet, &bearer.parts.sent) } else { swap(&packet, &bearer.parts.received) }
        defer { if isSent { swap(&packet, &bearer.parts.sent) } else { swap(&packet, &bearer.parts.received) } }
        if packet.length == 0 {
            guard frame.count >= 2 else { return skip(.badPacket) }
            packet.begin(frame.extracting(2...), Int(frame.little16(0)))
        } else {
            packet.add(frame)
        }
        if packet.bytes.count < packet.length { return }
        if packet.bytes.count == packet.length {
            takeATT(link, bearer, packet.bytes.span, isSent: isSent, at: time)
        } else {
            skip(.badPacket)
        }
        packet.clear()
    }
}
