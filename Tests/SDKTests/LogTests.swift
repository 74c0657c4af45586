import ChildProcess
import Foundation
import OSLog
import Testing

@testable import os

@Suite("The module os")
struct LogTests {
    @Test(
        "A format shows each value, whatever its kind, and reads nothing that is not there",
        arguments: [
            ("%d of %{public}d", [7, UInt8(9)], "7 of 9"), ("%{public}@", ["text"], "text"),
            ("%.2f%%", [2.5], "2.50%"), ("%02x", [10], "0a"), ("%@", [[1, 2]], "[1, 2]"),
            ("%@ and %@", ["one"], "one and <decode: missing data>"),
            ("%d", ["no number"], "no number"), ("100%", [], "100<decode: missing data>"), ("%lld", [Int64(-1)], "-1"),
        ] as [(String, [any Sendable], String)]
    )
    func formats(format: String, arguments: [any Sendable], text: String) {
        #expect(Format.text(format, arguments) == text)
    }

    @Test("A message takes values with privacy, formats and missing ones")
    func interpolation() {
        let missing: Int? = nil
        let message: OSLogMessage =
            "a \(1) b \("x", privacy: .public) c \(255, format: .hex) d \(missing) e \(0.5, format: .fixed(precision: 1))"
        #expect(message.text == "a 1 b x c ff d nil e 0.5")
    }

    @Test("A log that takes nothing ends no app, and goes on when it takes lines again", arguments: [0, 1, 2])
    func brokenLog(kind: Int) async throws {
        reapAdopted()
        let result = await #expect(processExitsWith: .exitCode(0), observing: [\.standardErrorContent]) { [kind] in
            let logger = Logger(subsystem: "com.example", category: "broken")
            logger.error("before")
            let whole = dup(STDERR_FILENO)
            var ends: [Int32] = [-1, -1]
            switch kind {
            case 0: _ = unsafe dup2(open("/dev/full", O_WRONLY), STDERR_FILENO)
            case 1: close(STDERR_FILENO)
            default:
                _ = unsafe pipe(&ends)
                dup2(ends[1], STDERR_FILENO)
                close(ends[0])
                close(ends[1])
            }
            logger.error("nobody hears this")
            os_log("nor this")
            dup2(whole, STDERR_FILENO)
            logger.error("after")
            exit(0)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text == "error [com.example:broken] before\nerror [com.example:broken] after\n")
    }

    @Test("An unfair lock guards its state")
    func lock() {
        let lock = OSAllocatedUnfairLock(initialState: 1)
        lock.withLock { $0 += 1 }
        #expect(lock.withLock { $0 } == 2)
        let plain = OSAllocatedUnfairLock()
        #expect(plain.lockIfAvailable())
        #expect(!plain.lockIfAvailable())
        plain.unlock()
    }

    @Test("An unfair lock of the old kind lets one thread in at a time, and is handed on")
    func unfairLock() {
        @safe struct Guarded: @unchecked Sendable {
            let lock: os_unfair_lock_t = .allocate(capacity: 1)
            let count: UnsafeMutablePointer<Int> = .allocate(capacity: 1)
        }
        let guarded = Guarded()
        unsafe guarded.lock.initialize(to: os_unfair_lock())
        unsafe guarded.count.initialize(to: 0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 {
                unsafe os_unfair_lock_lock(guarded.lock)
                unsafe guarded.count.pointee += 1
                unsafe os_unfair_lock_unlock(guarded.lock)
            }
        }
        #expect(unsafe guarded.count.pointee == 80_000)
        #expect(unsafe os_unfair_lock_trylock(guarded.lock))
        unsafe os_unfair_lock_assert_owner(guarded.lock)
        #expect(unsafe !os_unfair_lock_trylock(guarded.lock))
        unsafe os_unfair_lock_unlock(guarded.lock)
        unsafe os_unfair_lock_assert_not_owner(guarded.lock)
        unsafe guarded.lock.deallocate()
        unsafe guarded.count.deallocate()
    }

    @Test("An unfair lock taken twice by one thread, or given back by another, ends the process", arguments: [0, 1])
    func unfairLockMisuse(kind: Int) async {
        reapAdopted()
        await #expect(processExitsWith: .signal(SIGABRT)) { [kind] in
            var lock = os_unfair_lock()
            if kind == 0 { unsafe os_unfair_lock_lock(&lock) }
            if kind == 0 { unsafe os_unfair_lock_lock(&lock) } else { unsafe os_unfair_lock_unlock(&lock) }
        }
    }

    @Test("Signposts are lines with what they mark, their name, their number and the time")
    func signposts() async throws {
        reapAdopted()
        let result = await #expect(processExitsWith: .exitCode(0), observing: [\.standardErrorContent]) {
            let log = OSLog(subsystem: "com.example", category: .pointsOfInterest)
            os_signpost(.begin, log: log, name: "sync", signpostID: OSSignpostID(7), "%d of %d", 1, 2)
            os_signpost(.end, log: log, name: "sync", signpostID: OSSignpostID(7))
            os_signpost(.event, log: log, name: "nothing", signpostID: .invalid)
            let signposter = OSSignposter(subsystem: "com.example", category: "work")
            let count = signposter.withIntervalSignpost("load", id: signposter.makeSignpostID()) { 3 }
            signposter.emitEvent("loaded", "\(count) records")
            OSSignposter.disabled.emitEvent("never")
            exit(0)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").map { $0.replacing(/at=\d+\.\d{9}/, with: "at=T") }
        #expect(
            lines == [
                "signpost [com.example:PointsOfInterest] begin sync id=7 at=T 1 of 2",
                "signpost [com.example:PointsOfInterest] end sync id=7 at=T",
                "signpost [com.example:work] begin load id=1 at=T", "signpost [com.example:work] end load id=1 at=T",
                "signpost [com.example:work] event loaded id=exclusive at=T 3 records",
            ]
        )
    }
}
