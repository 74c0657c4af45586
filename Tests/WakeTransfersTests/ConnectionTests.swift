import CWakeShims
import Testing
import WakeSystem
import WakeTransfers

/// The socket between both ends, without a process.
@Suite("A connection of packets")
struct ConnectionTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    private func pair() throws -> (near: TransferConnection, far: TransferConnection) {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe wake_packet_pair(&ends) == 0)
        let near = Descriptor(owning: ends[0])
        let far = Descriptor(owning: ends[1])
        try near.makeNonBlocking()
        try far.makeNonBlocking()
        return (try TransferConnection(near, on: loop), try TransferConnection(far, on: loop))
    }

    @Test("A packet that is longer than the other end takes is not sent, and those after it are")
    func tooLong() throws {
        let (near, far) = try pair()
        var received: [[UInt8]] = []
        var hasEnded = false
        far.received = { received.append($0) }
        far.ended = { hasEnded = true }
        near.send([UInt8](repeating: 1, count: TransferBounds.longestPacket + 1))
        near.send([2])
        while received.isEmpty, !hasEnded { try loop.runOnce(timeout: 1_000_000_000) }
        #expect(received == [[2]])
    }
}
