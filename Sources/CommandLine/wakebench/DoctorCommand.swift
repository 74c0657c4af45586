import WakeBench

/// `wakebench doctor`.
enum DoctorCommand {
    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: [])
        guard arguments.rest.isEmpty else { throw CommandFailure(.usage, "doctor takes no arguments") }
        for line in Doctor.examine() {
            Terminal.print("\(line.good ? "yes" : "no ")  \(line.what): \(line.finding)", hanging: 5)
        }
        return .done
    }
}
