import Foundation
import WakeBench
import WakeBundles

/// `wakebench app new`.
enum NewAppCommand {
    static let options: [Arguments.Option] = [
        .value("--language", "swift|python|c", "what it is written in; default swift"),
        .value(
            "--package",
            "PATH|URL[@TAG]",
            "where a Swift app has Wakebench from: its folder, or a git repository and a tag of it; "
                + "default the repository that this program was built in"
        ),
        .value("--identifier", "ID", "the bundle identifier; default com.example. and the name"),
        .value("--out", "DIR", "the folder; default one of that name"),
        .flag("--force", "replace files that are there"),
        .json,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let app = try app(arguments)
        let folder = arguments.value("--out") ?? app.name
        let ownName = URL(fileURLWithPath: folder).standardizedFileURL.lastPathComponent
        if let package = app.package, ownName.lowercased() == package.identity.lowercased() {
            throw CommandFailure(
                .usage,
                "\(folder): Wakebench's own package lies in a folder of that name",
                hint: "give another with --out"
            )
        }
        try write(app.files, to: folder, replaces: arguments.has("--force"))
        let commands = ["cd \(Installation.quoted(folder))"] + app.commands(wakebench: Installation.command)
        if arguments.has("--json") {
            print(try Output.json(page: Page(app, in: folder, commands)))
            return .done
        }
        Output.complain("made \(folder): \(app.files.map(\.path).joined(separator: ", ")); to play it:")
        for command in commands { print(command) }
        return .done
    }

    /// `wake.app-new/1`.
    private struct Page: Encodable {
        var schema = "wake.app-new/1"
        var ok = true
        var folder: String
        /// The bundle identifier.
        var app: String
        var name: String
        var language: String
        /// Below the folder.
        var files: [String]
        /// What plays it, each a line for a shell.
        var commands: [String]

        init(_ app: NewApp, in folder: String, _ commands: [String]) {
            (self.folder, self.commands) = (folder, commands)
            (self.app, name, language) = (app.identifier, app.name, app.language.rawValue)
            files = app.files.map(\.path)
        }
    }

    private static func app(_ arguments: Arguments) throws(CommandFailure) -> NewApp {
        let name = try arguments.only("NAME")
        if let fault = NewApp.fault(inName: name) { throw CommandFailure(.usage, "'\(name)' \(fault)") }
        let identifier = arguments.value("--identifier") ?? NewApp.usualIdentifier(name)
        if let fault = NewApp.fault(inIdentifier: identifier) {
            throw CommandFailure(.usage, "'\(identifier)' \(fault)")
        }
        let word = arguments.value("--language") ?? NewApp.Language.swift.rawValue
        guard let language = NewApp.Language(rawValue: word) else {
            throw CommandFailure(unknown: "language '\(word)'", known: NewApp.Language.allCases.map(\.rawValue))
        }
        guard language == .swift else {
            if arguments.has("--package") { throw CommandFailure(.usage, "--package is for a Swift app") }
            return NewApp(name: name, identifier: identifier, language: language, package: nil)
        }
        let package = try package(arguments)
        if package.hasTarget(name) {
            throw CommandFailure(.usage, "'\(name)' is a name in Wakebench's own package", hint: "choose another")
        }
        return NewApp(name: name, identifier: identifier, language: language, package: package)
    }

    private static func package(_ arguments: Arguments) throws(CommandFailure) -> PackageSource {
        if let text = arguments.value("--package") {
            guard let package = PackageSource(text) else {
                throw CommandFailure(
                    .notFound,
                    "--package \(text): no package of Wakebench there",
                    hint: "expected its folder, or the URL of a git repository, with @TAG for a tag"
                )
            }
            return package
        }
        guard let repository = Installation.repository else {
            throw CommandFailure(
                .notFound,
                "this program does not lie in the repository that it was built in",
                hint: "say with --package where the Swift package of Wakebench is"
            )
        }
        return .folder(repository)
    }

    private static func write(
        _ files: [NewApp.File],
        to folder: String,
        replaces: Bool
    ) throws(CommandFailure) {
        if !replaces, let there = files.first(where: { isThere("\(folder)/\($0.path)") }) {
            throw CommandFailure(
                .wrongState,
                "\(folder)/\(there.path) is there already",
                hint: "give another folder with --out, or --force to replace it"
            )
        }
        for file in files {
            let place = URL(fileURLWithPath: "\(folder)/\(file.path)")
            do {
                let parent = place.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
                try Data(file.text.utf8).write(to: place, options: .atomic)
                let mode = file.isExecutable ? 0o755 : 0o644
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place.path)
            } catch {
                throw CommandFailure(
                    .environment,
                    "\(folder)/\(file.path) cannot be written",
                    hint: "give another folder with --out"
                )
            }
        }
    }

    private static func isThere(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }
}
