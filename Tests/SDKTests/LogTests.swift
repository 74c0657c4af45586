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

    @Test("A log that takes nothing ends no app", arguments: [0, 1, 2])
    func brokenLog(kind: Int) async {
        await #expect(processExitsWith: .exitCode(0)) { [kind] in
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
            Logger(subsystem: "com.example", category: "broken").error("nobody hears this")
            os_log("nor this")
            exit(0)
        }
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
}
