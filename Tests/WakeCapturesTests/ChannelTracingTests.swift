import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

/// Collects the packets of L2CAP of a trace, each after whether the phone sent it.
private final class Frames {
    var acl: [(fromPhone: Bool, channel: UInt16, bytes: [UInt8])] = []
    var commands: [UInt16] = []

    func trace() -> HCITrace {
        HCITrace { packet in
            if packet.kind == .command { self.commands.append(UInt16(packet.bytes[0]) | UInt16(packet.bytes[1]) << 8) }
            guard packet.kind == .data else { return }
            let channel = UInt16(packet.bytes[6]) | UInt16(packet.bytes[7]) << 8
            self.acl.append((packet.fromHost, channel, Array(packet.bytes[8...])))
        }
    }

    /// The codes of signals, with whether the phone sent them.
    var signals: [String] {
        acl.filter { $0.channel == 5 }.map { ($0.fromPhone ? "phone " : "other ") + String($0.bytes[0], radix: 16) }
    }
}

private let logger: [UInt8] = [0xF0, 0x11, 0x22, 0x33, 0x70, 0x01]
private let timing = HCITrace.Parameters(interval: 24, latency: 0, supervisionTimeout: 72)

@Suite("L2CAP channels and advertising that a run writes")
struct ChannelTracingTests {
    /// A trace with a channel of number 7 that the phone has opened.
    private func opened() -> (Frames, HCITrace) {
        let frames = Frames()
        let trace = frames.trace()
        trace.connected(to: logger, timing, at: .zero)
        trace.channelRequested(0x81, with: logger, fromPhone: true, at: .zero)
        trace.channelAnswered(.success(7), with: logger, at: .zero)
        return (frames, trace)
    }

    @Test("A channel is asked for, opened and closed by signals of either end")
    func life() {
        let (frames, trace) = opened()
        trace.channelClosed(7, fromPhone: true, at: .zero)
        trace.channelClosed(7, fromPhone: true, at: .zero)
        #expect(frames.signals == ["phone 14", "other 15", "phone 6", "other 7"])
        // Identifier, length, SPSM and the phone's number.
        #expect(Array(frames.acl[0].bytes[..<8]) == [0x14, 1, 10, 0, 0x81, 0, 0x40, 0])
    }

    @Test("A channel that is refused says why, and its numbers are free again")
    func refused() {
        let frames = Frames()
        let trace = frames.trace()
        trace.connected(to: logger, timing, at: .zero)
        for refusal in [HCITrace.ChannelRefusal.insufficientEncryption, .unknownNumber] {
            trace.channelRequested(0x81, with: logger, fromPhone: true, at: .zero)
            trace.channelAnswered(.failure(refusal), with: logger, at: .zero)
        }
        #expect(frames.acl.filter { !$0.fromPhone }.map { $0.bytes.suffix(2) } == [[8, 0], [2, 0]])
        #expect(frames.acl.filter(\.fromPhone).allSatisfy { $0.bytes[6] == 0x40 })
    }

    @Test(
        "Bytes go in units and segments, the first of which says how long the unit is",
        arguments: [1, 245, 246, 5_000]
    )
    func segments(count: Int) {
        let (frames, trace) = opened()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        trace.channelCarries(bytes, over: 7, fromPhone: false, at: .zero)
        var left = frames.acl.filter { $0.channel == 0x40 }.map(\.bytes)[...]
        var joined: [UInt8] = []
        while let first = left.popFirst() {
            let length = Int(first[0]) | Int(first[1]) << 8
            var unit = Array(first[2...])
            while unit.count < length, let next = left.popFirst() { unit += next }
            #expect(unit.count == length)
            joined += unit
        }
        #expect(joined == bytes)
        #expect(frames.acl.allSatisfy { $0.bytes.count <= 247 })
    }

    @Test("No end sends more packets than it was given credits for")
    func credits() {
        let (frames, trace) = opened()
        for _ in 0..<100 { trace.channelCarries([1], over: 7, fromPhone: true, at: .zero) }
        var left = 16
        for frame in frames.acl {
            if frame.channel == 0x40, frame.fromPhone { left -= 1 }
            if frame.channel == 5, !frame.fromPhone, frame.bytes[0] == 0x16 {
                left += Int(frame.bytes[6])
            }
            #expect((0...16).contains(left))
        }
        #expect(frames.signals.count { $0 == "other 16" } == 12)
    }

    @Test("A channel goes silently with its link")
    func lost() {
        let (frames, trace) = opened()
        trace.disconnected(logger, reason: 0x08, at: .zero)
        trace.channelClosed(7, fromPhone: true, at: .zero)
        #expect(frames.signals == ["phone 14", "other 15"])
    }

    @Test("An advertisement is set and enabled, changed while it is off, and enabled again once a central has come")
    func advertising() {
        let frames = Frames()
        let trace = frames.trace()
        trace.advertise(Advertisement(localName: "Oven", services: ["1809"]), at: .zero)
        trace.advertise(Advertisement(localName: "Oven", services: ["1809"]), at: .zero)
        #expect(frames.commands == [0x2006, 0x2008, 0x2009, 0x200A])
        frames.commands = []
        trace.accepted(from: logger, timing, at: .zero)
        #expect(frames.commands == [0x200A])
        frames.commands = []
        trace.advertise(nil, at: .zero)
        #expect(frames.commands == [0x200A])
    }
}
