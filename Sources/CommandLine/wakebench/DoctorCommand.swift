import WakeBench

/// `wakebench doctor`.
enum DoctorCommand {
    static let options: [Arguments.Option] = [.json]

    /// `wake.doctor/1`.
    private struct Page: Encodable {
        struct Finding: Encodable {
            var what: String
            var good: Bool
            var finding: String
        }

        var schema = "wake.doctor/1"
        var ok = true
        var findings: [Finding]
    }

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard arguments.rest.isEmpty else { throw CommandFailure(.usage, "doctor takes no arguments") }
        let lines = Doctor.examine(.init(radioProgram: Installation.radio(.bridge)))
        if arguments.has("--json") {
            let findings = lines.map { Page.Finding(what: $0.what, good: $0.good, finding: $0.finding) }
            print(try Output.json(page: Page(findings: findings)))
            return .done
        }
        for line in lines {
            Terminal.print("\(line.good ? "yes" : "no ")  \(line.what): \(line.finding)", hanging: 5)
        }
        return .done
    }
}
