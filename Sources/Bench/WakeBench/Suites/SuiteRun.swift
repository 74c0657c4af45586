import Glibc
import WakeReports

/// One run of a suite: a scenario, with a seed or once more.
package struct SuiteRun: Hashable, Sendable {
    /// What its folder is called in the suite's, and what it is called in lists; no other run of the suite has the same.
    package var name: String
    /// The scenario's file.
    package var scenario: String
    /// Nil for the scenario's own.
    package var seed: UInt64?
}

/// What a suite is to play.
package struct SuitePlan: Hashable, Sendable {
    /// A part of a suite: the `number`th of `count`, from 1.
    package struct Shard: Hashable, Sendable {
        package var number: Int
        package var count: Int

        /// Reads `2/3`; nil when it is none.
        package init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
            guard parts.count == 2, let number = parts[0], let count = parts[1],
                (1...SuitePlan.mostRuns).contains(count),
                (1...count).contains(number)
            else { return nil }
            (self.number, self.count) = (number, count)
        }
    }

    /// More runs are a mistake in a command.
    package static let mostRuns = 1_000_000

    package private(set) var runs: [SuiteRun]

    /// - Parameters:
    ///   - scenarios: the files, in the order in which they are played.
    ///   - seeds: each scenario is played with each of them; none for its own.
    ///   - repetitions: how often each of these is played, at least once.
    ///   - shard: the part of all that is played: every so manyth, so that each has some of everything.
    /// - Throws: ``CommandFailure`` with exit code 2 for more than ``mostRuns``.
    package init(
        _ scenarios: [String],
        seeds: [UInt64] = [],
        repetitions: Int = 1,
        shard: Shard? = nil
    ) throws(CommandFailure) {
        let variants = max(seeds.count, 1) * max(repetitions, 1)
        guard scenarios.count <= Self.mostRuns / variants else {
            throw CommandFailure(
                .usage,
                "\(Plural.text(scenarios.count, "scenario")), \(Plural.text(variants, "time")) each: "
                    + "more than \(Self.mostRuns) runs",
                hint: "take fewer seeds or repetitions, or a shard with its own seeds"
            )
        }
        var runs: [SuiteRun] = []
        for (scenario, name) in zip(scenarios, Self.names(of: scenarios)) {
            for seed in seeds.isEmpty ? [nil] : seeds.map(Optional.some) {
                for repetition in 1...max(repetitions, 1) {
                    var full = name
                    if let seed { full += ".seed-\(seed)" }
                    if repetitions > 1 { full += ".\(repetition)" }
                    runs.append(SuiteRun(name: full, scenario: scenario, seed: seed))
                }
            }
        }
        if let shard {
            runs = runs.enumerated().filter { $0.offset % shard.count == shard.number - 1 }.map(\.element)
        }
        self.runs = runs
    }

    /// Reads `1-20`, `3` and `1-5,9`.
    ///
    /// - Returns: nil for what is none, goes down, or is more than ``mostRuns``.
    package static func seeds(_ text: String) -> [UInt64]? {
        var seeds: [UInt64] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last,
                last - first < UInt64(mostRuns), seeds.count + Int(last - first) < mostRuns
            else { return nil }
            seeds += first...last
        }
        return seeds
    }

    // MARK: Names

    /// The file's own name, with the folder's before it where several have the same, and a number where that does not help.
    private static func names(of files: [String]) -> [String] {
        func name(_ file: String, folders: Int) -> String {
            var parts = file.split(separator: "/").map(String.init)
            let last = parts.popLast() ?? file
            let stem = last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
            return (parts.suffix(folders).filter { $0 != "." && $0 != ".." } + [stem]).joined(separator: "-")
        }
        let short = files.map { name($0, folders: 0) }
        let counts = Dictionary(short.map { ($0, 1) }, uniquingKeysWith: +)
        var taken: Set<String> = []
        return zip(files, short).map { file, short in
            let wanted = counts[short] == 1 ? short : name(file, folders: 1)
            var found = wanted
            var number = 2
            while !taken.insert(found).inserted {
                found = "\(wanted)-\(number)"
                number += 1
            }
            return found
        }
    }
}
