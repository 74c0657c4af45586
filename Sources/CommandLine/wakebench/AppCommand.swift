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
        .value(
            "--identifier",
            "ID",
            "the bundle identifier, in place of Info.plist's; default for an Xcode project's com.example. and the name"
        ),
        .value("--out", "DIR", "where Name.app goes; default the working directory"),
        .json,
    ]

    static let verifyOptions: [Arguments.Option] = [
        .flag("--strict", "end with exit code 7 when something is found that a phone would not do"),
        .json,
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
        let modes = bundle.modes.members.map(\.plistValue)
        let needs = ProgramNeeds.of(bundle.executable)
        let notes = RuleText.notes(on: bundle.modes.members) + needs.notes
        for note in notes { Output.complain("note: \(path): \(note)") }
        for missing in needs.missing.dropLast() { Output.complain("\(path): \(missing)") }
        if let last = needs.missing.last { throw CommandFailure(.invalidFile, in: path, last) }
        let isGood = findings.isEmpty || !arguments.has("--strict")
        if arguments.has("--json") {
            print(try Output.json(page: VerifyPage(ok: isGood, bundle, at: path, findings, notes: notes)))
        } else {
            for finding in findings { print("\(path): \(finding.rule.text): \(finding.finding); \(finding.remedy)") }
            let service = bundle.serviceExtension.map { ", service extension: \($0.identifier)" } ?? ""
            let list = modes.isEmpty ? "none" : modes.joined(separator: " ")
            print("\(path): good: \(bundle.identifier), background modes: \(list)\(service)")
        }
        return isGood ? .done : .expectationFailed
    }

    static func bundle(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: bundleOptions)
        let program = try arguments.only("PROGRAM")
        let folder = arguments.value("--out") ?? "."
        let made: (bundle: AppBundle, path: String)
        do {
            let bundle = try AppBundle.make(
                program: program,
                plist: arguments.value("--info") ?? usualPlist(of: program),
                in: folder,
                identifier: arguments.value("--identifier")
            )
            for warning in bundle.warnings { Output.complain(warning) }
            let name = bundle.path.split(separator: "/").last.map(String.init) ?? ""
            made = (bundle, folder == "." ? name : "\(folder)/\(name)")
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
        print(try arguments.has("--json") ? Output.json(page: BundlePage(made.bundle, at: made.path)) : made.path)
        return .done
    }

    private static func usualPlist(of program: String) -> String {
        let folder = program.lastIndex(of: "/").map { String(program[...$0]) } ?? ""
        let beside = folder + "Info.plist"
        return FileManager.default.fileExists(atPath: beside) ? beside : "Info.plist"
    }
}

extension AppCommand {
    /// `wake.app-bundle/1`.
    private struct BundlePage: Encodable {
        var schema = "wake.app-bundle/1"
        var ok = true
        var path: String
        /// The bundle identifier.
        var app: String
        var warnings: [String]

        init(_ bundle: AppBundle, at path: String) {
            (self.path, app, warnings) = (path, bundle.identifier, bundle.warnings)
        }
    }

    /// `wake.app-verify/1`.
    private struct VerifyPage: Encodable {
        struct Finding: Encodable {
            var rule: String
            var finding: String
            var remedy: String
        }

        var schema = "wake.app-verify/1"
        var ok: Bool
        var path: String
        /// The bundle identifier.
        var app: String
        var modes: [String]
        /// Its bundle identifier.
        var serviceExtension: String?
        var findings: [Finding]
        var notes: [String]
        var warnings: [String]

        init(ok: Bool, _ bundle: AppBundle, at path: String, _ findings: [BundleFinding], notes: [String]) {
            (self.ok, self.path, self.notes) = (ok, path, notes)
            (app, warnings) = (bundle.identifier, bundle.warnings)
            modes = bundle.modes.members.map(\.plistValue)
            serviceExtension = bundle.serviceExtension?.identifier
            self.findings = findings.map { Finding(rule: $0.rule.text, finding: $0.finding, remedy: $0.remedy) }
        }
    }
}
