import WakeBench
import WakeBundles
import WakeReports

/// `wakebench app verify`.
enum AppCommand {
    static func verify(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: [])
        let path = try arguments.only("NAME.app")
        do {
            let bundle = try AppBundle.read(path)
            for warning in bundle.warnings { Output.complain(warning) }
            let modes = bundle.modes.members.map(\.plistValue).joined(separator: " ")
            for note in RuleText.notes(on: bundle.modes.members) { Output.complain("note: \(path): \(note)") }
            print("\(path): good: \(bundle.identifier), background modes: \(modes.isEmpty ? "none" : modes)")
            return .done
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
    }
}
