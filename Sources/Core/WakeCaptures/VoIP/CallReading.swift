import WakeDevices
import WakeModel

/// What the reading of a network's captures comes to: who spoke SIP with whom, and what had to be left out.
package final class CallReading: RecordTaker {
    /// Why a packet or message was left out.
    package enum Skip: String, CaseIterable, Error, Sendable {
        case otherKind = "records that are of no network"
        case cutByCapture = "packets that the capture holds only in part"
        case badPacket = "packets that are too short for what they say they are"
        case fragment = "fragments of IP packets"
        case otherNetwork = "packets of other networks than IP"
        case otherTransport = "packets of other protocols than UDP and TCP"
        case otherTraffic = "packets that are no SIP"
        case again = "packets and messages that came again"
        case gap = "gaps in connections, of which packets are missing"
        case badMessage = "messages that are malformed"
        case tooMuch = "messages beyond the first 16 MiB"
    }

    /// Connections in which nothing is said yet.
    private static let mostSilent = 4_096
    /// Of messages, and of what is no whole message yet.
    private static let mostBytes = 16 << 20

    package private(set) var recordCount = 0
    /// Nanoseconds since 1970; nil before the first record.
    package private(set) var first: Int64?
    package private(set) var last: Int64?
    /// By the offset of the record.
    package private(set) var leftOut = LeftOut()

    private struct Key: Hashable {
        var isTCP: Bool
        var low: NetworkEndpoint
        var high: NetworkEndpoint

        init(_ packet: NetworkPacket) {
            isTCP = packet.transport != .udp
            let inOrder = packet.source.isBefore(packet.destination)
            low = inOrder ? packet.source : packet.destination
            high = inOrder ? packet.destination : packet.source
        }
    }

    private var open: [Key: CapturedCall] = [:]
    /// Those whose ends began another connection.
    private var closed: [CapturedCall] = []
    /// Connections in which nothing was said when they were made, the oldest first.
    private var silent: [Key] = []
    private var kept = 0
    private let keepAliveRoom = CapturedCall.Room()
    private var held = 0

    package init() {}

    /// Reads a capture to its end.
    ///
    /// - Throws: ``CaptureDamage`` where it cannot be read any further; what stands before is taken.
    package func read(_ source: inout CaptureBytes, _ format: CaptureFormat) throws(CaptureDamage) {
        defer { finishFile(at: source.offset) }
        try format.read(&source, into: self)
    }

    /// Those in which something was said: those with the most messages first, then by when they began.
    package var calls: [CapturedCall] {
        (closed + open.values).filter { !$0.messages.isEmpty }.sorted { left, right in
            if left.messages.count != right.messages.count { return left.messages.count > right.messages.count }
            return (left.messages[0].time, left.messages[0].offset) < (right.messages[0].time, right.messages[0].offset)
        }
    }

    /// Ends of connections mean nothing in another capture.
    private func finishFile(at offset: Int) {
        for call in open.values {
            for side in CapturedCall.Side.allCases {
                while call.jump(side) {
                    takeMessages(call, side, at: last ?? 0, offset)
                    skip(call.messages.isEmpty ? .otherTraffic : .gap, at: offset)
                }
            }
        }
        closed += open.values.filter { !$0.messages.isEmpty }
        open.removeAll()
        silent.removeAll()
        held = 0
    }

    private func skip(_ why: Skip, at offset: Int) { leftOut.add(why.rawValue, at: offset) }

    // MARK: Packets

    func take(_ record: CaptureRecord, _ bytes: Span<UInt8>) -> Bool {
        recordCount += 1
        if first == nil { first = record.time }
        if record.time > last ?? .min { last = record.time }
        guard record.kind == .network else {
            if record.kind != .note { skip(.otherKind, at: record.offset) }
            return true
        }
        if record.missing > 0 {
            skip(.cutByCapture, at: record.offset)
            return true
        }
        do throws(Skip) {
            let packet = try NetworkPacket(bytes, linkType: record.linkType)
            let payload = bytes.extracting(packet.payload)
            switch packet.transport {
            case .udp: try takeDatagram(packet, payload, record)
            case .tcp(let sequence, let flags): try takeSegment(packet, sequence, flags, payload, record)
            }
        } catch {
            skip(error, at: record.offset)
        }
        return true
    }

    private func takeDatagram(
        _ packet: NetworkPacket,
        _ payload: Span<UInt8>,
        _ record: CaptureRecord
    ) throws(Skip) {
        let bytes = payload.copied()
        if let call = open[Key(packet)], let lines = Self.silence(bytes) {
            return call.keepOpen(call.side(packet.source), lines, at: record.time, record.offset)
        }
        guard SIPMessage.begins(bytes) == true else { throw .otherTraffic }
        guard case .message(let message, _) = SIPMessage.first(of: bytes, isDatagram: true) else { throw .badMessage }
        let call = open[Key(packet)] ?? make(packet, opener: nil)
        let side = call.side(packet.source)
        if call.repeats(message, side) { throw .again }
        try keep(message, call, side, at: record.time, record.offset)
    }

    /// What holds a path open: empty lines, or up to four zeros. Says how many lines it is; nil for anything else.
    private static func silence(_ bytes: [UInt8]) -> Int? {
        if bytes.count > 4 { return nil }
        return bytes.allSatisfy { $0 == 0 } ? 0 : SIPMessage.emptyLines(bytes)
    }

    private func takeSegment(
        _ packet: NetworkPacket,
        _ sequence: UInt32,
        _ flags: NetworkPacket.Flags,
        _ payload: Span<UInt8>,
        _ record: CaptureRecord
    ) throws(Skip) {
        let key = Key(packet)
        var found = open[key]
        if flags.contains(.synchronize) {
            let isAnswer = flags.contains(.acknowledge)
            if let call = found, call.begins(anew: sequence &+ 1, from: packet.source) {
                if !call.messages.isEmpty { closed.append(call) }
                forget(key)
                found = nil
            }
            let call = found ?? make(packet, opener: isAnswer ? packet.destination : packet.source)
            call.start(at: sequence &+ 1, from: packet.source)
            return
        }
        if !payload.isEmpty {
            if found?.hasBegun(packet.source) != true {
                let beginning = payload.copied(limit: 64)
                guard SIPMessage.begins(beginning) == true || found != nil && SIPMessage.emptyLines(beginning) != nil
                else { throw .otherTraffic }
                let call = found ?? make(packet, opener: nil)
                call.start(at: sequence, from: packet.source)
                found = call
            }
            try takePayload(found!, key, sequence, payload, from: packet.source, record)
        }
        if flags.contains(.finish) || flags.contains(.reset) {
            found?.ended(by: packet.source, at: record.time, isReset: flags.contains(.reset))
        }
    }

    private func takePayload(
        _ call: CapturedCall,
        _ key: Key,
        _ sequence: UInt32,
        _ payload: Span<UInt8>,
        from source: NetworkEndpoint,
        _ record: CaptureRecord
    ) throws(Skip) {
        let side = call.side(source)
        let before = call.held
        let outcome = call.take(side, sequence, payload)
        if outcome == .again { throw .again }
        if outcome == .gap { skip(.gap, at: record.offset) }
        takeMessages(call, side, at: record.time, record.offset)
        held += call.held - before
        if call.messages.isEmpty && call.isForeign {
            forget(key)
            throw .otherTraffic
        }
        if held > Self.mostBytes {
            forget(key)
            if !call.messages.isEmpty { closed.append(call) }
            throw .tooMuch
        }
    }

    /// Takes the messages that have come whole.
    private func takeMessages(_ call: CapturedCall, _ side: CapturedCall.Side, at time: Int64, _ offset: Int) {
        while true {
            switch call.next(side, at: time, offset) {
            case .message(let message, _):
                do throws(Skip) { try keep(message, call, side, at: time, offset) } catch { skip(error, at: offset) }
            case .incomplete: return
            case .nothing: if !call.messages.isEmpty { skip(.badMessage, at: offset) }
            }
        }
    }

    private func keep(
        _ message: SIPMessage,
        _ call: CapturedCall,
        _ side: CapturedCall.Side,
        at time: Int64,
        _ offset: Int
    ) throws(Skip) {
        let size = message.body.count + message.lines.reduce(256) { $0 + $1.utf8.count + 32 }
        guard kept + size <= Self.mostBytes else { throw .tooMuch }
        kept += size
        call.messages.append(.init(time: time, offset: offset, side: side, message: message))
    }

    // MARK: Calls

    private func forget(_ key: Key) { held -= open.removeValue(forKey: key)?.held ?? 0 }

    private func make(_ packet: NetworkPacket, opener: NetworkEndpoint?) -> CapturedCall {
        if silent.count >= 2 * Self.mostSilent {
            silent = silent.filter { open[$0]?.messages.isEmpty == true }
            // Connections of which nothing has come for long say nothing.
            for key in silent.dropLast(Self.mostSilent) { forget(key) }
            silent = silent.suffix(Self.mostSilent)
        }
        let key = Key(packet)
        let call = CapturedCall(
            packet.source,
            packet.destination,
            isTCP: key.isTCP,
            opener: opener,
            room: keepAliveRoom
        )
        open[key] = call
        silent.append(key)
        return call
    }
}
