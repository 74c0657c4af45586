import Testing
import WakeModel

@testable import WakeCaptures

@Suite("Keys in HCI")
struct HCISecretsTests {
    private static let key = [UInt8](repeating: 0xAB, count: 16)
    private static let zeros = [UInt8](repeating: 0, count: 16)
    private static let address: [UInt8] = [1, 2, 3, 4, 5, 6]

    private func erased(_ kind: HCIPacket.Kind, fromHost: Bool = false, _ packets: [UInt8]...) -> [[UInt8]] {
        var secrets = HCISecrets()
        return packets.map { bytes in
            var packet = HCIPacket(kind: kind, fromHost: fromHost, bytes: bytes, at: .zero)
            secrets.erase(from: &packet)
            return packet.bytes
        }
    }

    @Test(
        "Commands keep all but the key",
        arguments: [
            (0x040B, address), (0x040D, address), (0x0C11, [1]), (0x2017, []), (0x2019, [UInt8](1...12)),
            (0x201A, [1, 2]),
            (0x2027, [UInt8](1...7)),
        ] as [(UInt16, [UInt8])]
    )
    func commands(opcode: UInt16, before: [UInt8]) {
        let head = [UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8), UInt8(before.count + 16)] + before
        #expect(erased(.command, head + Self.key) == [head + Self.zeros])
    }

    @Test(
        "Events keep all but the key",
        arguments: [
            [0x18, 23] + address, [0x15, 17, 1], [0x3B, 10] + address, [0x3E, 18, 0x09, 0],
            [0x0E, 36, 1, 0x57, 0x0C, 0],
        ] as [[UInt8]]
    )
    func events(head: [UInt8]) {
        #expect(erased(.event, head + Self.key) == [head + Self.zeros])
    }

    @Test(
        "Keys that devices hand to each other are gone, in either direction",
        arguments: [0x06, 0x08, 0x0A] as [UInt8]
    )
    func handed(code: UInt8) {
        let head: [UInt8] = [0x40, 0x20, 21, 0, 17, 0, 6, 0, code]
        #expect(erased(.data, head + Self.key) == [head + Self.zeros])
        #expect(erased(.data, fromHost: true, head + Self.key) == [head + Self.zeros])
    }

    @Test("A key in parts is gone, and what comes after it on the link is not")
    func parts() {
        let values: [UInt8] = [0x40, 0x20, 8, 0, 4, 0, 4, 0, 0x1B, 1, 0, 9]
        #expect(
            erased(
                .data,
                [0x40, 0x20, 7, 0, 17, 0, 6, 0, 0x06, 0xAB, 0xAB],
                [0x40, 0x10, 3, 0, 0xAB, 0xAB, 0xAB],
                [0x41, 0x10, 1, 0, 7],
                values,
                [0x40, 0x10, 1, 0, 7]
            ) == [
                [0x40, 0x20, 7, 0, 17, 0, 6, 0, 0x06, 0, 0], [0x40, 0x10, 3, 0, 0, 0, 0], [0x41, 0x10, 1, 0, 7], values,
                [0x40, 0x10, 1, 0, 7],
            ]
        )
    }

    @Test("A packet that begins with less than says what it is hides what comes")
    func split() {
        #expect(erased(.data, [0x40, 0x20, 2, 0, 17, 0], [0x40, 0x10, 2, 0, 6, 0]).last == [0x40, 0x10, 2, 0, 0, 0])
    }

    @Test("What holds no key is as it was")
    func others() {
        let pairing: [UInt8] = [0x40, 0x20, 11, 0, 7, 0, 6, 0, 1, 3, 0, 1, 16, 1, 1]
        #expect(erased(.data, pairing) == [pairing])
        let event: [UInt8] = [0x3E, 4, 0x02, 1, 2, 3]
        #expect(erased(.event, event) == [event])
        let command: [UInt8] = [0x0B, 0x20, 3, 1, 2, 3]
        #expect(erased(.command, command) == [command])
    }

    @Test("Any bytes keep their length and their head", arguments: 0..<200 as Range<UInt64>)
    func anything(seed: UInt64) {
        var numbers = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next() -> UInt8 {
            numbers ^= numbers << 13
            numbers ^= numbers >> 7
            numbers ^= numbers << 17
            return UInt8(truncatingIfNeeded: numbers >> 24)
        }
        var secrets = HCISecrets()
        for _ in 0..<50 {
            let kind: HCIPacket.Kind = [.command, .event, .data][Int(next()) % 3]
            var bytes = (0..<Int(next() % 32)).map { _ in next() }
            // What is most often looked at is there most often.
            if kind == .data, bytes.count > 8, next() % 2 == 0 { bytes[6...8] = [6, 0, next() % 16] }
            var packet = HCIPacket(kind: kind, fromHost: next() % 2 == 0, bytes: bytes, at: .zero)
            secrets.erase(from: &packet)
            #expect(packet.bytes.count == bytes.count)
            #expect(packet.bytes.prefix(2) == bytes.prefix(2))
            for (new, old) in zip(packet.bytes, bytes) { #expect(new == old || new == 0) }
        }
    }
}
