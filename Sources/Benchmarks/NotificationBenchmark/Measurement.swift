import ChildProcess
import Foundation

/// What a series of rounds is about.
struct Load {
    let way: Way
    /// Values a second.
    let rate: Int
    /// The most that bench and app together may take, as multiples of bleak's processor time and of the C program's.
    let limits: (bleak: Double, plain: Double)
}

/// Where everything lies.
struct Places {
    /// The folder of this measurement: scenarios, conversation, the app's bundle, and what is written.
    let folder: String
    /// The folder of the programs that were built.
    let programs: String
    /// What PYTHONPATH is for bleak.
    let bleak: String

    var app: String { "\(folder)/NotificationBenchmarkApp.app/NotificationBenchmarkApp" }
}

/// Each client at one load, round by round.
final class Measurement {
    enum Kind: String, CaseIterable { case bench, plain, bleak }

    /// What one round has shown.
    struct Round {
        /// Of the program, and of the app that it started, in microseconds of processor time a value.
        var times: [Double]
        var values: Int
        var lost: Int

        var together: Double { times.reduce(0, +) }
    }

    private let load: Load
    private let places: Places
    /// The measured part of a round, in seconds.
    private let seconds: Int
    private(set) var rounds: [Kind: [Round]] = [:]
    /// System calls a value, of the bench and of its app.
    private(set) var calls: [Double] = []

    /// Before the measured part, in seconds.
    private static let warmUp = 2
    /// While system calls are counted, in seconds.
    private static let countedSeconds = 4

    init(_ load: Load, _ places: Places, seconds: Int) {
        self.load = load
        self.places = places
        self.seconds = seconds
    }

    /// Takes so many rounds of each client in turns, and counts the bench's system calls in one more.
    func run(rounds count: Int) throws {
        for round in 0..<count {
            for turn in Kind.allCases.indices {
                try measure(Kind.allCases[(round + turn) % Kind.allCases.count])
            }
        }
        try countCalls()
    }

    private func measure(_ kind: Kind) throws {
        let (belt, client) = try begin(kind)
        let processes = try client.processes()
        let before = try processes.map(Client.processorTime)
        try belt.notify(load.rate, seconds: seconds)
        let after = try processes.map(Client.processorTime)
        try belt.end(client)
        let counted = try client.counted()
        let values = Double(load.rate * seconds)
        let times = zip(before, after).map { Double($1 - $0) / 1_000 / values }
        rounds[kind, default: []].append(Round(times: times, values: counted.values, lost: counted.lost))
    }

    /// A belt that has notified for a while, and the client that has heard it.
    private func begin(_ kind: Kind) throws -> (Belt, Client) {
        let belt = try Belt()
        if kind == .plain { belt.connect() }
        let client = try start(kind, belt)
        try belt.waitForSubscription(load.way, client)
        try belt.notify(load.rate, seconds: Self.warmUp)
        return (belt, client)
    }

    private func start(_ kind: Kind, _ belt: Belt) throws -> Client {
        let way = load.way.rawValue
        var environment = ["DBUS_SYSTEM_BUS_ADDRESS": belt.busAddress]
        switch kind {
        case .bench:
            let out = "\(places.folder)/run"
            let words = [
                "run", "\(places.folder)/\(way).yaml", "--backend", "bluez", "--apps", places.folder, "--out", out,
                "--force", "--quiet",
            ]
            let log = "\(out)/apps/com.example.notificationbenchmark.log"
            return try client(kind, "\(places.programs)/wakebench", words, environment, belt, log: log)
        case .plain:
            let journal = "\(places.folder)/plain.sqlite"
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: journal + suffix) }
            let words = [way, belt.characteristic, journal, "\(places.folder)/conversation", places.app]
            return try client(kind, "\(places.programs)/PlainNotification", words, environment, belt)
        case .bleak:
            environment["PYTHONPATH"] = places.bleak
            return try client(kind, "/usr/bin/python3", ["\(places.folder)/counter.py", way], environment, belt)
        }
    }

    private func client(
        _ kind: Kind,
        _ program: String,
        _ words: [String],
        _ environment: [String: String],
        _ belt: Belt,
        log: String? = nil
    ) throws -> Client {
        try Client(
            kind.rawValue,
            program,
            words,
            environment: environment,
            in: places.folder,
            on: belt.loop,
            log: log
        )
    }

    /// A round that is not timed: strace slows what it counts.
    private func countCalls() throws {
        let (belt, client) = try begin(.bench)
        let counters = try client.processes().map { process in
            let counter = ChildProcess(
                "/usr/bin/strace",
                ["-f", "-c", "-q", "-o", "\(places.folder)/calls-\(process)", "-p", "\(process)"]
            )
            counter.standardError = .null
            try counter.run()
            return (process, counter)
        }
        let ends = counters.map { "\(places.folder)/calls-\($0.0)" }
        try belt.notify(load.rate, seconds: Self.countedSeconds)
        for (_, counter) in counters {
            counter.send(SIGINT)
            counter.waitUntilExit()
        }
        calls = try ends.map { try Self.total(of: $0) / Double(load.rate * Self.countedSeconds) }
        try belt.end(client)
    }

    /// The sum of the calls in a table of strace's.
    private static func total(of path: String) throws -> Double {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let line = text.split(separator: "\n").last(where: { $0.hasSuffix("total") }) else {
            throw Failure("\(path) has no total")
        }
        // Per cent, seconds, microseconds a call, calls, perhaps errors, and the word.
        let words = line.split(separator: " ")
        guard words.count >= 5, let count = Double(words[3]) else { throw Failure("\(path): '\(line)'") }
        return count
    }
}
