import ChildProcess
import Foundation

/// What a notification costs, from a stand-in bluetoothd on a private bus, beside bleak and a C program doing the same job.
///
///   NotificationBenchmark FOLDER PROGRAMS BLEAK [SECONDS [ROUNDS]]
enum NotificationBenchmark {
    private static let loads = [
        Load(way: .start, rate: 200, limits: (bleak: 3.5, plain: 2)),
        Load(way: .acquire, rate: 1_000, limits: (bleak: 1, plain: 2)),
    ]
    /// The most system calls a notification, at 200 a second by signals: of the bench, and of the app.
    private static let callLimits = [8.0, 12.0]

    static func run(_ words: [String]) throws -> Bool {
        guard words.count >= 3 else {
            throw Failure("usage: NotificationBenchmark FOLDER PROGRAMS BLEAK [SECONDS [ROUNDS]]")
        }
        let places = Places(folder: words[0], programs: words[1], bleak: words[2])
        let seconds = words.count > 3 ? Int(words[3]) ?? 0 : 10
        let rounds = words.count > 4 ? Int(words[4]) ?? 0 : 3
        guard seconds > 0, rounds > 0 else { throw Failure("expected a number of seconds and of rounds from 1") }
        let spinners = try keepAwake()
        defer { for spinner in spinners { spinner.terminate() } }
        var holds = true
        for load in loads {
            let measurement = Measurement(load, places, seconds: seconds)
            try measurement.run(rounds: rounds)
            holds = report(measurement, load, seconds, rounds) && holds
        }
        return holds
    }

    /// Gives each processor something to do that anything else goes before: in a virtual machine, falling asleep and waking
    /// at each value costs more than the work, and varies from minute to minute.
    private static func keepAwake() throws -> [ChildProcess] {
        try (0..<ProcessInfo.processInfo.activeProcessorCount).map { processor in
            let script = "while :; do :; done"
            let spinner = ChildProcess(
                "/usr/bin/taskset",
                ["-c", "\(processor)", "/usr/bin/chrt", "--idle", "0", "/bin/sh", "-c", script]
            )
            try spinner.run()
            return spinner
        }
    }

    private static func report(_ measurement: Measurement, _ load: Load, _ seconds: Int, _ rounds: Int) -> Bool {
        say(
            "\(load.rate) values a second by \(load.way.member): us of processor time a value, "
                + "median of \(rounds) rounds of \(seconds) s"
        )
        var lost = 0
        var medians: [Measurement.Kind: Double] = [:]
        for kind in Measurement.Kind.allCases {
            let taken = measurement.rounds[kind] ?? []
            guard !taken.isEmpty else { continue }
            let median = taken.sorted { $0.together < $1.together }[taken.count / 2]
            medians[kind] = median.together
            let own = taken.reduce(0) { $0 + $1.lost }
            lost += own
            let parts = median.times.count > 1 ? "  (\(median.times.map(tenths).joined(separator: " + ")))" : ""
            say("  \(name(kind)) \(tenths(median.together))\(parts)  lost \(own)")
        }
        let bench = medians[.bench] ?? .nan
        let toBleak = bench / (medians[.bleak] ?? .nan)
        let toPlain = bench / (medians[.plain] ?? .nan)
        var holds = verdict("to bleak", toBleak, load.limits.bleak)
        holds = verdict("to the C program", toPlain, load.limits.plain) && holds
        let calls = measurement.calls.map(tenths).joined(separator: " and ")
        if load.way == .start {
            let isWithin = zip(measurement.calls, callLimits).allSatisfy { $0 <= $1 } && measurement.calls.count == 2
            let limits = callLimits.map { "\(Int($0))" }.joined(separator: " and ")
            say("  system calls a value, bench and app: \(calls)   at most \(limits): \(word(isWithin))")
            holds = holds && isWithin
        } else {
            say("  system calls a value, bench and app: \(calls)")
        }
        say("  lost: \(lost)   none: \(word(lost == 0))")
        return holds && lost == 0
    }

    private static func name(_ kind: Measurement.Kind) -> String {
        switch kind {
        case .bench: "wakebench with journal, app  "
        case .plain: "C program with journal, app  "
        case .bleak: "bleak                        "
        }
    }

    private static func verdict(_ name: String, _ ratio: Double, _ limit: Double) -> Bool {
        say("  ratio \(name): \(String(format: "%.2f", ratio))   at most \(limit): \(word(ratio <= limit))")
        return ratio <= limit
    }

    /// At once, also to a pipe.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func word(_ holds: Bool) -> String { holds ? "holds" : "DOES NOT HOLD" }

    private static func tenths(_ value: Double) -> String { String(format: "%.1f", value) }
}

do {
    exit(try NotificationBenchmark.run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("NotificationBenchmark: \(error)\n".utf8))
    exit(2)
}
