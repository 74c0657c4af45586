import Testing
import WakeModel

@Suite("Values written as bytes")
struct EncodingTests {
    @Test("A value reads back as it was written", arguments: RandomModel.allCases)
    func roundTrip(kind: RandomModel) throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(state: seed)
            #expect(try kind.roundTrip(&random).same, "seed \(seed)")
        }
    }

    @Test("Bytes cut anywhere are refused", arguments: RandomModel.allCases)
    func cut(kind: RandomModel) throws {
        for seed in 0..<50 as Range<UInt64> {
            var random = SeededGenerator(state: seed)
            let bytes = try kind.roundTrip(&random).bytes
            for length in 0..<bytes.count {
                let fault = #expect(throws: EncodingFault.self, "seed \(seed) cut at \(length)") {
                    try kind.again(Array(bytes.prefix(length)))
                }
                #expect(fault.map { $0.kind == .cut && $0.offset <= length } == true, "\(fault as Any) at \(length)")
            }
        }
    }

    @Test("Bytes after the value are refused", arguments: RandomModel.allCases)
    func trailing(kind: RandomModel) throws {
        var random = SeededGenerator(state: 7)
        let bytes = try kind.roundTrip(&random).bytes
        #expect(throws: EncodingFault(.trailingBytes, at: bytes.count)) { try kind.again(bytes + [0]) }
    }

    @Test("Scrambled bytes are read or refused, and what is read stays itself", arguments: RandomModel.allCases)
    func scrambled(kind: RandomModel) throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(state: seed)
            var bytes = try kind.roundTrip(&random).bytes
            for _ in 0...random.below(3) where !bytes.isEmpty {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let once = try? kind.again(bytes) else { continue }
            #expect(try kind.again(once) == once, "seed \(seed)")
        }
    }

    @Test("Noise is read or refused, and what is read stays itself", arguments: RandomModel.allCases)
    func noise(kind: RandomModel) throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(state: seed)
            let bytes = (0..<random.below(80)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            guard let once = try? kind.again(bytes) else { continue }
            #expect(try kind.again(once) == once, "seed \(seed)")
        }
    }

    @Test("A number too large for its place is refused, not cut")
    func narrow() {
        var writer = ByteWriter()
        writer.write(UInt64(UInt32.max) + 1)
        #expect(throws: EncodingFault(.unknownValue, at: 0)) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.readUInt32()
        }
    }

    @Test("A number of more than 64 bits is refused")
    func overlong() {
        #expect(throws: EncodingFault(.unknownValue, at: 0)) {
            var reader = ByteReader(Array(repeating: 0xff, count: 10))
            _ = try reader.readUInt64()
        }
    }

    @Test("What is not a number is refused, because it is not equal to itself")
    func notANumber() {
        var writer = ByteWriter()
        writer.write(Double.nan)
        #expect(throws: EncodingFault(.unknownValue, at: 0)) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.readDouble()
        }
        writer = ByteWriter()
        writer.write(Float.nan)
        #expect(throws: EncodingFault(.unknownValue, at: 0)) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.readFloat()
        }
    }

    @Test("A count larger than the bytes left reserves nothing and is refused")
    func greedyCount() {
        var writer = ByteWriter()
        writer.write(UInt64(1) << 62)
        #expect(throws: EncodingFault(.cut, at: 0)) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.readArray(of: NameID.self)
        }
    }

    @Test("Text that is not UTF-8 is refused")
    func badText() {
        #expect(throws: EncodingFault(.badText, at: 0)) {
            var reader = ByteReader([2, 0xc3, 0x28])
            _ = try reader.readString()
        }
    }

    @Test("A notification takes fewer than 24 bytes")
    func compact() {
        let event = WakeEvent(
            kind: .characteristicNotified,
            peripheral: NameID(12),
            attribute: 14,
            subject: NameID(13),
            origin: NameID(2),
            id: EventID(1_000_000)
        )
        #expect(ByteWriter.bytes(of: Input.event(event)).count < 24)
    }

    @Test("The writer keeps its memory and forgets what it wrote")
    func reuse() {
        var writer = ByteWriter()
        writer.write("heart-rate-belt")
        writer.removeAll()
        writer.write(UInt64(5))
        #expect(writer.bytes == [5])
    }
}
