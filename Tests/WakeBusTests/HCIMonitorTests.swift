import Glibc
import Testing
import WakeSystem

@testable import WakeBlueZ

/// A message of the kernel's monitor.
private func message(_ opcode: UInt16, _ index: UInt16, _ bytes: [UInt8], length: Int? = nil) -> [UInt8] {
    let length = length ?? bytes.count
    return [opcode, index, UInt16(length)].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] } + bytes
}

@Suite("Messages of the HCI monitor")
struct HCIMonitorFrameTests {
    private func frame(_ bytes: [UInt8]) -> HCIMonitorFrame? { HCIMonitorFrame(bytes.span, time: 7) }

    @Test("A message says its kind, its controller and its bytes")
    func whole() {
        #expect(
            frame(message(5, 0x0102, [1, 2, 3]))
                == HCIMonitorFrame(.receivedData, index: 0x0102, time: 7, bytes: [1, 2, 3])
        )
        #expect(frame(message(16, 0, []))?.kind == .other(16))
    }

    @Test("A message that is cut anywhere is none")
    func cut() {
        let whole = message(2, 0, [0x03, 0x0C, 0x00])
        for length in 0..<whole.count { #expect(frame(Array(whole[..<length])) == nil) }
    }

    @Test("A message of another length than it says is none", arguments: [0, 2, 4, 65_535])
    func length(said: Int) {
        #expect(frame(message(2, 0, [1, 2, 3], length: said)) == nil)
    }

    @Test("Controllers say their address when they appear and when they are set up, as far as they have one")
    func addresses() {
        let address: [UInt8] = [0x55, 0x44, 0x33, 0x22, 0x11, 0xF0]
        #expect(frame(message(0, 0, [0, 1] + address + [104, 99, 105]))?.address == "F0:11:22:33:44:55")
        #expect(frame(message(10, 0, address + [2, 0]))?.address == "F0:11:22:33:44:55")
        #expect(frame(message(10, 0, [0, 0, 0, 0, 0, 0, 2, 0]))?.address == nil)
        #expect(frame(message(0, 0, [0, 1, 2]))?.address == nil)
        #expect(frame(message(3, 0, address))?.address == nil)
    }

    @Test("Any bytes are read as what they say, or as nothing", arguments: 0..<200 as Range<UInt64>)
    func anything(seed: UInt64) {
        var chance = Chance(seed: seed)
        var bytes = (0..<Int.random(in: 0...64, using: &chance)).map { _ in UInt8.random(in: 0...255, using: &chance) }
        // Half of them have the right length, so that all of what follows is reached.
        if Bool.random(using: &chance), bytes.count >= 6 {
            bytes.replaceSubrange(
                0..<6,
                with: message(UInt16.random(in: 0...20, using: &chance), 0, [], length: bytes.count - 6)
            )
        }
        guard let frame = frame(bytes) else { return }
        #expect(frame.bytes == Array(bytes[6...]))
        if let address = frame.address { #expect(address.utf8.count == 17) }
    }
}

@Suite("Listening to the HCI monitor")
struct HCIMonitorTests {
    /// A monitor whose messages a test sends.
    private final class Ends {
        let loop: EventLoop
        let monitor: HCIMonitor
        let other: Descriptor
        var heard: [[UInt8]] = []

        init(longest: Int = HCIMonitorFrame.longest) throws {
            loop = try EventLoop()
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
            other = Descriptor(owning: ends[1])
            monitor = try HCIMonitor(Descriptor(owning: ends[0]), on: loop, longest: longest)
            monitor.heard = { [unowned self] in heard.append($0.bytes) }
        }

        func send(_ bytes: [UInt8]) throws { #expect(try other.write(bytes) == bytes.count) }
    }

    @Test("Messages are heard in order, in a turn of the loop")
    func order() throws {
        let ends = try Ends()
        for number in 0..<5 as Range<UInt8> { try ends.send(message(3, 0, [number])) }
        #expect(try ends.loop.runOnce(timeout: 0))
        #expect(ends.heard == [[0], [1], [2], [3], [4]])
    }

    @Test("Others have their turn after so many messages")
    func bounded() throws {
        let ends = try Ends()
        for number in 0..<100 as Range<UInt8> { try ends.send(message(3, 0, [number])) }
        try ends.loop.runOnce(timeout: 0)
        #expect(ends.heard.count == 64)
        try ends.loop.runOnce(timeout: 0)
        #expect(ends.heard.count == 100)
    }

    @Test("What waits at the end is heard, and nothing after it")
    func finishing() throws {
        let ends = try Ends()
        try ends.send(message(3, 0, [1]))
        ends.monitor.finish()
        try ends.send(message(3, 0, [2]))
        #expect(try !ends.loop.runOnce(timeout: 0))
        ends.monitor.finish()
        #expect(ends.heard == [[1]])
    }

    @Test("What makes no sense is counted, and the next is heard")
    func garbled() throws {
        let ends = try Ends()
        try ends.send([1, 2, 3])
        try ends.send(message(3, 0, [1], length: 9))
        try ends.send(message(3, 0, [2]))
        try ends.loop.runOnce(timeout: 0)
        #expect(ends.monitor.damaged == 2)
        #expect(ends.heard == [[2]])
    }

    @Test("What a note says is missing is counted, and other notes are not")
    func noted() throws {
        let ends = try Ends()
        let others = ["Linux version 6.1\0", "", "wakebench: -1 frames lost", "wakebench: 3 frames"]
        for text in ["wakebench: 12 frames lost\0", "wakebench: 5 frames lost"] + others {
            try ends.send(message(12, 0, Array(text.utf8)))
        }
        try ends.send(message(3, 0, Array("wakebench: 7 frames lost".utf8)))
        try ends.loop.runOnce(timeout: 0)
        #expect(ends.monitor.lost == 17)
    }

    @Test("A message beyond the longest is counted, whatever it says, and the next is heard")
    func oversized() throws {
        let ends = try Ends(longest: 16)
        try ends.send(message(3, 0, [UInt8](repeating: 1, count: 50), length: 10))
        try ends.send(message(3, 0, [2]))
        try ends.loop.runOnce(timeout: 0)
        #expect(ends.monitor.damaged == 1)
        #expect(ends.heard == [[2]])
    }

    @Test("A monitor that ends is left alone")
    func ended() throws {
        let ends = try Ends()
        try ends.send(message(3, 0, [1]))
        shutdown(ends.other.number, Int32(SHUT_RDWR))
        try ends.loop.runOnce(timeout: 0)
        #expect(try !ends.loop.runOnce(timeout: 0))
        #expect(ends.heard == [[1]])
    }

    @Test("What the kernel had no room for is counted")
    func lost() throws {
        let loop = try EventLoop()
        let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(number >= 0)
        var room: Int32 = 4_096
        unsafe setsockopt(number, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(number, address, size) == 0 && getsockname(number, address, &size) == 0
                    && connect(number, address, size) == 0
            }
        }
        try #require(isConnected)
        let monitor = try HCIMonitor(Descriptor(owning: number), on: loop)
        var heard = 0
        monitor.heard = { _ in heard += 1 }
        let bytes = message(3, 0, [UInt8](repeating: 1, count: 500))
        for _ in 0..<100 { _ = unsafe send(number, bytes, bytes.count, 0) }
        monitor.finish()
        #expect(heard > 0)
        #expect(monitor.lost == 100 - heard)
    }
}
