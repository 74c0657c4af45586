import Glibc

// How long a notification takes from the adapter to the app: through the bench, and through a C program that does as
// little as can be done, in one run.

do {
    let arguments = CommandLine.arguments
    switch arguments.count {
    case 4 where arguments[1] == "--bench":
        guard let mode = BenchSubject.Mode(rawValue: arguments[3]) else { throw Failure("no mode \(arguments[3])") }
        try BenchSubject(folder: arguments[2], mode: mode).run()
    case 2, 3:
        let samples = arguments.count == 3 ? Int(arguments[2]) : 500
        guard let samples, (10...100_000).contains(samples) else {
            throw Failure("give the number of samples, 10 to 100000")
        }
        let holds = try Comparison(folder: arguments[1], samples: samples).run()
        exit(holds ? 0 : 1)
    default:
        throw Failure("usage: WakeBenchmark FOLDER [SAMPLES]; the folder holds the app, the scenario and the belt")
    }
} catch {
    let line = Array("WakeBenchmark: \(error)\n".utf8)
    _ = unsafe write(2, line, line.count)
    exit(2)
}

/// Why there is no measurement, in a line.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A call of the system failed.
    init(call: String) { self.description = unsafe "\(call): \(String(cString: strerror(errno)))" }
}
