import Testing
import WakeBench
import WakeWire

@Suite("A packet of several messages")
struct PacketBatchTests {
    private func callback(_ number: UInt64) -> BenchMessage {
        .callback(delivery: number, .didEnterBackground, state: .background)
    }

    private func taken(_ batch: inout PacketBatch) throws -> [BenchMessage] {
        var packet: [UInt8] = []
        batch.take { packet = $0 }
        var reader = BenchPacketReader()
        return try reader.messages(in: packet)
    }

    @Test("Messages come out in the order in which they were added, and then the next packet is empty")
    func order() throws {
        var batch = PacketBatch()
        for number in UInt64(1)...3 { _ = batch.add(callback(number)) }
        #expect(try taken(&batch) == (1...3).map(callback))
        #expect(batch.isEmpty)
        batch.take { _ in Issue.record("there is nothing to take") }
    }

    @Test("A single message is the packet that it would be alone")
    func single() {
        var batch = PacketBatch()
        _ = batch.add(callback(7))
        batch.take { #expect($0 == callback(7).encode()) }
    }

    @Test("A packet takes no more messages than the wire allows")
    func messages() throws {
        var batch = PacketBatch()
        var number: UInt64 = 0
        while batch.add(callback(number + 1)) { number += 1 }
        #expect(number == UInt64(WireLimits.messages))
        #expect(try taken(&batch).count == WireLimits.messages)
    }

    @Test("A message that would make the packet too long is left out whole")
    func length() throws {
        let value = BenchMessage.deliver(
            WireDelivery(
                delivery: 1,
                manager: 1,
                body: .peripheral(
                    "5A1B4E6C-0D3F-4F7A-9C52-1E8A7B9D2C31",
                    .value(attribute: 18, value: [UInt8](repeating: 7, count: WireLimits.valueBytes), failure: nil)
                )
            )
        )
        var batch = PacketBatch()
        var added = 0
        while batch.add(value) { added += 1 }
        var size = 0
        batch.take { size = $0.count }
        #expect(added > 1 && added < WireLimits.messages)
        #expect(size <= WireLimits.packetBytes && size + value.encode().count + 1 > WireLimits.packetBytes)
    }
}
