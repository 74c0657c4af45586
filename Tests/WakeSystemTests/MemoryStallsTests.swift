import Foundation
import Glibc
import Testing
import WakeSystem

@Suite("The machine's memory pressure")
struct MemoryStallsTests {
    private static let isCounted = unsafe access(MemoryStalls.file, R_OK | W_OK) == 0

    @Test("A word of the kernel is told once")
    func told() throws {
        let loop = try EventLoop()
        let (own, other) = try streamPair()
        defer { close(other) }
        var told = 0
        let pressure = try MemoryStalls(watching: Descriptor(owning: own), loop: loop) { told += 1 }
        // Urgent data makes a socket ready as the kernel's word makes its file.
        let sent = unsafe send(other, "x", 1, Int32(MSG_OOB))
        try #require(sent == 1)
        while told == 0 { try loop.runOnce(timeout: 30_000_000_000) }
        try loop.runOnce(timeout: 0)
        #expect(told == 1)
        withExtendedLifetime(pressure) {}
    }

    @Test("A machine that does not count it is told from one where it may not be asked for")
    func missing() throws {
        let loop = try EventLoop()
        let missing = #expect(throws: SystemError.self) { try MemoryStalls(loop: loop, file: "/nowhere/memory") {} }
        #expect(missing?.code == ENOENT)
        let other = #expect(throws: SystemError.self) { try MemoryStalls(loop: loop, file: "/dev/full") {} }
        #expect(other?.code == ENOSPC)
        #expect(other?.description.contains("/dev/full") == true)
    }

    @Test(
        "The kernel takes what it is asked for",
        .enabled(if: isCounted, "needs /proc/pressure/memory")
    )
    func taken() throws {
        let loop = try EventLoop()
        var told = 0
        let pressure = try MemoryStalls(loop: loop) { told += 1 }
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        #expect(files.contains(MemoryStalls.file))
        // The kernel calls a file ready at once that it was asked nothing through.
        try loop.runOnce(timeout: 0)
        #expect(told == 0)
        withExtendedLifetime(pressure) {}
    }
}
