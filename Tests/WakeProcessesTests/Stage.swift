import Foundation
import Testing
import WakeProcesses
import WakeSystem

/// The longest a test waits for something that must happen, in nanoseconds.
let patience: Int64 = 30_000_000_000

/// A program of this package, beside the tests.
func builtProgram(_ name: String) throws -> String {
    let candidates = [Bundle.main.executablePath ?? ""] + CommandLine.arguments
    for path in candidates {
        let folder = URL(filePath: path).deletingLastPathComponent()
        for place in [folder, folder.appending(path: "../../..").standardized] {
            let program = place.appending(path: name).path
            if FileManager.default.isExecutableFile(atPath: program) { return program }
        }
    }
    throw SystemError("access", code: ENOENT, subject: name)
}

/// The counter that MisbehavingApp keeps in a file.
struct Counter {
    let path = FileManager.default.temporaryDirectory.appending(path: "wakebench-counter-\(UUID())").path

    private func number(at offset: Int) -> Int64 {
        guard let data = FileManager.default.contents(atPath: path), data.count >= offset + 8 else { return 0 }
        return data[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    var value: Int64 { number(at: 0) }
    var process: Int32 { Int32(truncatingIfNeeded: number(at: 8)) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// A loop, a host and what it told.
final class Stage {
    let loop: EventLoop
    let host: ProcessHost
    let output: Descriptor
    var exits: [ProcessExit] = []
    var packets: [[UInt8]] = []
    var faults: [SocketFault] = []

    init(_ freezer: FreezerKind) throws {
        loop = try EventLoop()
        output = try Descriptor.open("/dev/null", O_WRONLY)
        let choice = try #require(FreezerChoice(rawValue: freezer.rawValue))
        host = try ProcessHost(loop: loop, freezer: choice, runName: "test-\(UUID())")
        host.onExit = { [unowned self] _, exit in exits.append(exit) }
        host.onPacket = { [unowned self] _, bytes, _ in packets.append(bytes) }
        host.onFault = { [unowned self] _, fault in faults.append(fault) }
    }

    @discardableResult
    func spawn(_ mode: String..., output: Int32? = nil) throws -> Int32 {
        let program = AppProgram(path: try builtProgram("MisbehavingApp"), arguments: ["app"] + mode)
        return try host.spawn(1, program, output: output ?? self.output.number, error: self.output.number)
    }

    /// Turns the loop until the condition holds; a timer looks at what tells nobody, such as a counter.
    func turn(until condition: () -> Bool, _ location: SourceLocation = #_sourceLocation) throws {
        let end = MonotonicClock.now() + patience
        var timer: WakeSystem.Timer?
        timer = try loop.timer { timer?.arm(at: BootClock.now() + 1_000_000) }
        timer?.arm(at: 0)
        while !condition() && MonotonicClock.now() < end { try loop.runOnce(timeout: patience) }
        timer = nil
        #expect(condition(), sourceLocation: location)
    }

    func freeze() throws -> FreezeOutcome? {
        var outcome: FreezeOutcome?
        host.freeze(1) { outcome = $0 }
        try turn { outcome != nil }
        return outcome
    }
}

/// Whether the process is gone, or waits as a zombie for whoever adopted it.
func isDead(_ pid: Int32) -> Bool {
    state(of: pid).map { $0 == "Z" || $0 == "X" } ?? true
}

/// Whether the process waits for something.
func isAsleep(_ pid: Int32) -> Bool {
    state(of: pid) == "S"
}

/// Whether the process is over, whoever has still to hear of it.
func hasEnded(_ pid: Int32) -> Bool {
    state(of: pid).map { "ZX".contains($0) } ?? true
}

private func state(of pid: Int32) -> Character? {
    guard let text = try? readSmallFile("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return nil }
    return text[end...].dropFirst(2).first
}
