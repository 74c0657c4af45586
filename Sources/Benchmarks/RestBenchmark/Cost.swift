import Glibc
import WakeSystem

extension Stage {
    /// Prints what a check costs that finds a program of 8 threads, and one of 50, at rest; beside it what it costs to read
    /// one file of each thread.
    func measure(samples: Int) throws {
        for threads in [8, 50] {
            let subject = try start(["rests", "mixed", "\(threads)"])
            guard subject.comesToRest(within: 10_000_000_000), subject.clock.threadCount >= threads else {
                throw Failure("the program of \(threads) threads does not rest")
            }
            let files = try StateFiles(of: subject.process)
            var checks = Samples(), readings = Samples()
            for _ in 0..<samples {
                checks.take { _ = Verdict(of: [subject.clock]) }
                readings.take { files.read() }
            }
            say(
                "\(threads) threads by \(name): a check \(checks); "
                    + "opening and reading /proc/PID/task/TID/stat of each \(readings)"
            )
        }
    }
}

/// The state of each thread of a process, as anybody reads it.
struct StateFiles {
    private let paths: [String]

    init(of process: Int32?) throws {
        guard let process, let stream = unsafe opendir("/proc/\(process)/task") else {
            throw SystemError(last: "opendir")
        }
        defer { unsafe closedir(stream) }
        var paths: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { paths.append("/proc/\(process)/task/\(name)/stat") }
        }
        self.paths = paths
    }

    func read() {
        var text = [UInt8](repeating: 0, count: 1_024)
        for path in paths {
            let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
            _ = unsafe Glibc.read(file, &text, text.count)
            close(file)
        }
    }
}

/// Times, in nanoseconds.
struct Samples: CustomStringConvertible {
    private var times: [Int64] = []

    mutating func take(_ body: () -> Void) {
        let began = MonotonicClock.now()
        body()
        times.append(MonotonicClock.now() - began)
    }

    /// The median and the 99th percentile.
    var description: String {
        let sorted = times.sorted()
        let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
        return "\(Decimal.text(median, unit: 1_000)) us, 99 of 100 within \(Decimal.text(late, unit: 1_000)) us"
    }
}
