import Glibc
import WakeSystem

extension Stage {
    /// How a token goes round; RestBenchmarkProgram's ways.c says what each is.
    private static let ways = [
        "pipe", "eventfd", "unix", "unix-packets", "tcp", "udp", "terminal", "poll", "select", "epoll", "futex",
        "condition", "condition-timed", "semaphore", "semaphore-timed", "yield", "signal", "signal-timed", "handler",
        "sleep-ended", "message-queue",
    ]
    private static let lives = [
        "threads", "joined-threads", "forks", "children", "spawned-children", "programs", "computing",
        "computing-child",
    ]
    private static let waits = [
        "read", "poll", "select", "epoll", "accept", "recv", "write", "condition", "lock", "semaphore", "sigwait",
        "signalfd", "waitpid", "message-queue", "inotify", "open", "file-lock", "nanosleep", "poll-timed",
        "select-timed", "epoll-timed", "condition-timed", "semaphore-timed", "sigwait-timed", "timerfd", "alarm",
        "recv-timed", "stopped-child", "stopped-work", "ended-child", "writing-child",
    ]

    /// Programs that never rest: whoever finds one at rest is wrong.
    ///
    /// - Parameters:
    ///   - checks: at least so many, of all programs together.
    ///   - wanted: only the programs with this in their words.
    /// - Returns: how many were wrong.
    func checkRestless(_ checks: Int, _ wanted: String) throws -> Int {
        var kinds: [[String]] = Self.ways.map { ["ring", $0, "2"] } + Self.ways.map { ["relay", $0, "3"] }
        kinds += [["ring", "pipe", "16"], ["ring", "futex", "16"]] + Self.lives.map { ["lives", $0] }
        kinds.removeAll { !$0.joined(separator: " ").contains(wanted) }
        let each = checks / max(kinds.count, 1) + 1
        say(Row.head(of: "never at rest, threads by \(name)"))
        var sum = Tally()
        for kind in kinds {
            var tally = Tally()
            let subject = try start(kind)
            tally.run(each) { Verdict(of: [subject.clock]) }
            say(Row(kind.joined(separator: " "), tally, wrong: tally.rest))
            sum += tally
        }
        let others = [
            ("two apps", { try self.checkTwoApps(each) }), ("lives thousand", { try self.checkMany(each / 100 + 1) }),
        ]
        for (kind, check) in others where kind.contains(wanted) {
            let tally = try check()
            say(Row(kind, tally, wrong: tally.rest))
            sum += tally
        }
        say(Row("all", sum, wrong: sum.rest))
        return sum.rest
    }

    /// Two apps that hand each other a token: each rests now and then, both together never.
    private func checkTwoApps(_ checks: Int) throws -> Tally {
        var name = Array("/tmp/wakebench-rest-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw SystemError(last: "mkdtemp") }
        let folder = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            for side in 0...1 { unsafe unlink("\(folder)/\(side)") }
            unsafe rmdir(folder)
        }
        for side in 0...1 where unsafe mkfifo("\(folder)/\(side)", 0o600) != 0 { throw SystemError(last: "mkfifo") }
        let subjects = try (0...1).map { try start(["half", folder, "\($0)"]) }
        var tally = Tally()
        tally.run(checks) { Verdict(of: subjects.map(\.clock)) }
        return tally
    }

    /// Two threads behind a thousand that sleep.
    private func checkMany(_ checks: Int) throws -> Tally {
        let subject = try start(["lives", "thousand"])
        var tally = Tally()
        tally.run(checks) { Verdict(of: [subject.clock]) }
        return tally
    }

    /// Programs that wait: whoever finds one not at rest is wrong.
    ///
    /// - Returns: how many were wrong.
    func checkResting(_ checks: Int, _ wanted: String) throws -> Int {
        var kinds = Self.waits.map { ["rests", $0] }
        kinds += Self.waits.prefix(12).map { ["rests", $0, "3"] } + [["rests", "mixed", "50"]]
        kinds.removeAll { !$0.joined(separator: " ").contains(wanted) }
        let each = checks / max(kinds.count, 1) + 1
        say(Row.head(of: "at rest, threads by \(name)"))
        var sum = Tally()
        for kind in kinds {
            let subject = try start(kind)
            var tally = Tally()
            // It is on its way to its wait when it says so.
            if subject.comesToRest(within: 10_000_000_000) {
                tally.run(each) { Verdict(of: [subject.clock]) }
            } else {
                tally.checks = each
            }
            say(Row(kind.joined(separator: " "), tally, wrong: tally.checks - tally.rest))
            sum += tally
        }
        say(Row("all", sum, wrong: sum.checks - sum.rest))
        return sum.checks - sum.rest
    }
}

extension Subject {
    /// Whether it is found at rest before the wall time is over, in nanoseconds.
    func comesToRest(within nanoseconds: Int64) -> Bool {
        let end = MonotonicClock.now() + nanoseconds
        while MonotonicClock.now() < end {
            if Verdict(of: [clock]) == .rest { return true }
            sched_yield()
        }
        return false
    }
}

/// What a number of checks has brought.
struct Tally {
    var checks = 0
    /// Found at rest.
    var rest = 0
    /// Found not at rest only by the second half.
    var late = 0
    /// In nanoseconds of wall time.
    var time: Int64 = 0

    mutating func run(_ count: Int, _ check: () -> Verdict) {
        let began = MonotonicClock.now()
        for _ in 0..<count {
            switch check() {
            case .restless: break
            case .restlessAtLast: late += 1
            case .rest: rest += 1
            }
        }
        checks += count
        time += MonotonicClock.now() - began
    }

    static func += (sum: inout Tally, one: Tally) {
        sum.checks += one.checks
        sum.rest += one.rest
        sum.late += one.late
        sum.time += one.time
    }
}

/// A line of a table.
struct Row: CustomStringConvertible {
    let description: String

    init(_ kind: String, _ tally: Tally, wrong: Int) {
        description = Self.line(
            kind,
            "\(tally.checks)",
            "\(wrong)",
            "\(tally.late)",
            Decimal.text(tally.time, unit: 1_000_000_000)
        )
    }

    static func head(of title: String) -> String { line(title, "checks", "wrong", "late", "seconds") }

    private static func line(_ kind: String, _ columns: String...) -> String {
        kind + String(repeating: " ", count: max(38 - kind.utf8.count, 1))
            + columns.map { String(repeating: " ", count: max(10 - $0.utf8.count, 1)) + $0 }.joined()
    }
}

enum Decimal {
    /// With two places.
    static func text(_ value: Int64, unit: Int64) -> String {
        let cents = (value * 100 + unit / 2) / unit
        return "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)"
    }
}
