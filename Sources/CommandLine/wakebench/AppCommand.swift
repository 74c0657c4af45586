import Foundation
import WakeBench
import WakeBundles
import WakeReports

/// `wakebench app verify` and `wakebench app bundle`.
enum AppCommand {
    static let bundleOptions: [Arguments.Option] = [
        .value(
            "--info",
            "FILE",
            "the Info.plist; default Info.plist beside the program, else in the working directory"
        ),
        .value("--out", "DIR", "where Name.app goes; default the working directory"),
    ]

    static let verifyOptions: [Arguments.Option] = [
        .flag("--strict", "end with exit code 1 when something is found that a phone would not do")
    ]

    static func verify(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: verifyOptions)
        let path = try arguments.only("NAME.app")
        let bundle: AppBundle
        let findings: [BundleFinding]
        do {
            bundle = try AppBundle.read(path)
            findings = try bundle.findings()
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
        for warning in bundle.warnings { Output.complain(warning) }
        let modes = bundle.modes.members.map(\.plistValue).joined(separator: " ")
        for note in RuleText.notes(on: bundle.modes.members) { Output.complain("note: \(path): \(note)") }
        let needs = ProgramNeeds.of(bundle.executable)
        for note in needs.notes { Output.complain("note: \(path): \(note)") }
        for missing in needs.missing.dropLast() { Output.complain("\(path): \(missing)") }
        if let last = needs.missing.last { throw CommandFailure(.invalidFile, "\(path): \(last)") }
        for finding in findings { print("\(path): \(finding.rule.text): \(finding.finding); \(finding.remedy)") }
        let service = bundle.serviceExtension.map { ", service extension: \($0.identifier)" } ?? ""
        print("\(path): good: \(bundle.identifier), background modes: \(modes.isEmpty ? "none" : modes)\(service)")
        return findings.isEmpty || !arguments.has("--strict") ? .done : .expectationFailed
    }

    static func bundle(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: bundleOptions)
        let program = try arguments.only("PROGRAM")
        let folder = arguments.value("--out") ?? "."
        do {
            let bundle = try AppBundle.make(
                program: program,
                plist: arguments.value("--info") ?? usualPlist(of: program),
                in: folder
            )
            for warning in bundle.warnings { Output.complain(warning) }
            let name = bundle.path.split(separator: "/").last ?? ""
            print(folder == "." ? "\(name)" : "\(folder)/\(name)")
            return .done
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
    }

    private static func usualPlist(of program: String) -> String {
        let folder = program.lastIndex(of: "/").map { String(program[...$0]) } ?? ""
        let beside = folder + "Info.plist"
        return FileManager.default.fileExists(atPath: beside) ? beside : "Info.plist"
    }
}
