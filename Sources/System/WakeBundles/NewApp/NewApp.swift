/// A new app that follows a heart-rate belt in the background: the files to begin with, and the commands that play it.
package struct NewApp: Sendable {
    package enum Language: String, CaseIterable, Sendable {
        case swift
        case python
        case c
    }

    /// A file of the app.
    package struct File: Hashable, Sendable {
        /// Below the app's folder.
        package var path: String
        package var text: String
        package var isExecutable = false
    }

    /// The name of the app, its bundle and its Swift module.
    package let name: String
    /// CFBundleIdentifier.
    package let identifier: String
    package let language: Language
    /// Where a Swift app has its SDK from.
    package let package: PackageSource?

    /// - Parameters:
    ///   - name: one that ``fault(inName:)`` finds nothing wrong with.
    ///   - identifier: one that ``fault(inIdentifier:)`` finds nothing wrong with.
    ///   - package: where the SDK comes from; a Swift app needs it.
    package init(name: String, identifier: String, language: Language, package: PackageSource?) {
        self.name = name
        self.identifier = identifier
        self.language = language
        self.package = package
    }

    /// The identifier of an app that was given none: the name as it may stand in one.
    package static func usualIdentifier(_ name: String) -> String {
        "com.example." + name.lowercased().replacing("_", with: "-")
    }

    /// What differs between languages.
    private struct Kit {
        /// The app's own files, each with its template; the first may be a program.
        var files: [(path: String, template: [UInt8])]
        /// The program, as CFBundleExecutable has it.
        var executable: String
        var build: [String]
        /// What git leaves alone.
        var ignored: String
        /// What the README says of the files.
        var about: String
    }

    private var kit: Kit {
        switch language {
        case .swift:
            Kit(
                files: [
                    ("Package.swift", PackageResources.Package_swift_txt),
                    ("as-needed.cfg", PackageResources.as_needed_cfg_txt),
                    ("Sources/AppDelegate.swift", PackageResources.AppDelegate_swift_txt),
                    ("Sources/BeltCentral.swift", PackageResources.BeltCentral_swift_txt),
                    ("Tests/ScenarioTests.swift", PackageResources.ScenarioTests_swift_txt),
                ],
                executable: name,
                build: ["swift build", "app bundle .build/debug/\(name)"],
                ignored: ".build",
                about: """
                    `Sources` is an app delegate as it is on a phone. `#if os(iOS)` is false on Linux, and no compile flag turns it on:
                    write `#if os(iOS) || WAKEBENCH`, which `Package.swift` defines, or `#if canImport(CoreBluetooth)`.

                    `swift test` plays the scenario and looks at the verdicts. It starts the `wakebench` that the variable WAKEBENCH names,
                    or that is on PATH.
                    """
            )
        case .python:
            Kit(
                files: [("main.py", PackageResources.main_py_txt)],
                executable: "main.py",
                build: ["app bundle main.py"],
                ignored: "__pycache__",
                about: "`main.py` speaks the wire of Wakebench (WIRE.md), with Python's own library."
            )
        case .c:
            Kit(
                files: [("main.c", PackageResources.main_c_txt), ("Makefile", PackageResources.Makefile_txt)],
                executable: name,
                build: ["make", "app bundle \(name)"],
                ignored: "/\(name)",
                about: "`main.c` speaks the wire of Wakebench (WIRE.md), with the C library alone."
            )
        }
    }

    /// The files, in the order in which they are told of. Their names are the same for all apps: one named after the app
    /// might hide a module of Python's, or be two files in one.
    package var files: [File] {
        let kit = kit
        let common: [(path: String, template: [UInt8])] = [
            ("Info.plist", PackageResources.Info_plist_txt), ("belt.yaml", PackageResources.belt_yaml_txt),
            ("scenario.yaml", PackageResources.scenario_yaml_txt), ("README.md", PackageResources.README_md_txt),
        ]
        let source = package ?? .git(url: "wakebench", tag: nil)
        let words = [
            "name": name, "identifier": identifier, "executable": kit.executable, "about": kit.about,
            "commands": commands().joined(separator: "\n"), "dependency": source.line,
            "package": PackageSource.quoted(source.identity),
        ]
        let files = (kit.files + common).map { file in
            let text = Self.fill(String(decoding: file.template, as: UTF8.self), with: words)
            return File(path: file.path, text: text, isExecutable: file.path == "main.py")
        }
        return files + [File(path: ".gitignore", text: "\(kit.ignored)\n*.app\nwakebench-runs\n")]
    }

    /// A template with the words in the places that name them, such as `{{name}}`.
    private static func fill(_ template: String, with words: [String: String]) -> String {
        let pieces = template.split(separator: "{{", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(into: String(pieces[0])) { text, piece in
            let parts = piece.split(separator: "}}", maxSplits: 1, omittingEmptySubsequences: false)
            text += (words[String(parts[0])] ?? "") + (parts.count > 1 ? parts[1] : "")
        }
    }

    /// What makes the program and plays it, from within the app's folder.
    ///
    /// - Parameter wakebench: how the program is called there.
    package func commands(wakebench: String = "wakebench") -> [String] {
        let build = kit.build.map { $0.hasPrefix("app ") ? "\(wakebench) \($0)" : $0 }
        return build + ["\(wakebench) run scenario.yaml", "\(wakebench) why \(identifier) Resumed"]
    }
}
