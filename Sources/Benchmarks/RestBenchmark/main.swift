import Glibc
import WakeProcesses

// Whether the check for rest is ever wrong, and what it costs: run as the bench runs it, on programs that never rest and on
// programs that do.

do {
    let arguments = CommandLine.arguments
    let checks = arguments.count > 1 ? Int(arguments[1]) : 1_000_000
    let choices = arguments.count > 2 ? [FreezerChoice(rawValue: arguments[2])] : [.cgroup2, .cgroup1, .sigstop]
    let kind = arguments.count > 3 ? arguments[3] : ""
    guard arguments.count <= 4, let checks, (1_000...1_000_000_000).contains(checks), !choices.contains(nil) else {
        throw Failure("usage: RestBenchmark [CHECKS [FREEZER [KIND]]]; give the number of checks, 1000 to 1000000000")
    }
    let stages = try choices.compactMap(\.self).compactMap(Stage.usable)
    guard !stages.isEmpty else { throw Failure("freezer \(arguments[2]) does not work here") }
    var wrong = 0
    for stage in stages {
        wrong += try stage.checkRestless(checks / stages.count, kind)
        wrong += try stage.checkResting(checks / stages.count / 10, kind)
    }
    say("\(wrong) wrong in all")
    for stage in stages { try stage.measure(samples: max(checks / 50, 200)) }
    exit(wrong == 0 ? 0 : 1)
} catch {
    let line = Array("RestBenchmark: \(error)\n".utf8)
    _ = unsafe write(2, line, line.count)
    exit(2)
}

/// Prints a line at once: whoever waits for the end sees how far it is.
func say(_ line: some CustomStringConvertible) {
    print(line)
    fflush(nil)
}

/// Why there is no result, in a line.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
