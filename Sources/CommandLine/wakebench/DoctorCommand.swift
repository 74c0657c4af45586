import WakeBench

/// `wakebench doctor`.
enum DoctorCommand {
    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: [])
        guard arguments.rest.isEmpty else { throw CommandFailure(.usage, "doctor takes no arguments") }
        for line in Doctor.examine() { print("\(line.good ? "yes" : "no ")  \(line.what): \(line.finding)") }
        return .done
    }
}
