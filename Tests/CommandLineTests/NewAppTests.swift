import Foundation
import Testing

@Suite("A new app")
struct NewAppTests {
    private static func find(_ name: String) -> String? {
        let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
    private static let hasPython = find("python3") != nil
    private static let hasCompiler = find("cc") != nil && find("make") != nil

    /// Makes an app, then does what was printed, to the letter.
    private func follow(
        _ program: Program,
        _ words: [String],
        limit: Int = 120,
        before: () throws -> Void = {}
    ) throws -> Program.Outcome {
        let made = try program.run(Program.path, ["app", "new"] + words)
        #expect(made.code == 0, "\(made.errors)")
        try before()
        // A package of a few rooms only, as an engineer may have asked for, is no business of the user's.
        let variables = ["SWIFTPM_BUILD_DIR": Program.outside]
        return try program.run(
            "/bin/bash",
            ["-ec", "unset WAKEBENCH_TESTS\n" + made.output],
            environment: variables,
            limit: limit
        )
    }

    /// The values that the app logged are one process's before and after the resume, and a new one's after the relaunch.
    private func expectResumed(_ program: Program, _ played: Program.Outcome, folder: String, identifier: String) throws
    {
        #expect(played.code == 0, "\(played.output.suffix(2_000))\n\(played.errors.suffix(2_000))")
        #expect(played.output.contains("because  Resumed"), "\(played.output)")
        let log = try program.read("\(folder)/wakebench-runs/latest/apps/\(identifier).log")
        let values = log.matches(of: /didUpdateValue pid=([0-9]+) count=([0-9]+) value=(00[0-9a-f]{2}) bpm=7[2-5]\n/)
        #expect(values.map { String($0.3) } == ["0048", "0049", "004a"], "\(log)")
        #expect(values.map { Int($0.2) } == [1, 2, 1], "\(log)")
        guard values.count == 3 else { return }
        #expect(values[0].1 == values[1].1)
        #expect(values[1].1 != values[2].1)
    }

    @Test("In Python, what app new prints leads to a resumed app", .enabled(if: hasPython, "needs python3"))
    func python() throws {
        let program = try Program()
        defer { program.clean() }
        let played = try follow(program, ["Pulse", "--language", "python"])
        try expectResumed(program, played, folder: "Pulse", identifier: "com.example.pulse")
        #expect(try program.run("app", "verify", "Pulse/Pulse.app").errors == "")
    }

    @Test("In C, what app new prints leads to a resumed app", .enabled(if: hasCompiler, "needs cc and make"))
    func c() throws {
        let program = try Program()
        defer { program.clean() }
        let words = ["My_Pulse", "--language", "c", "--identifier", "org.pulse.C", "--out", "a folder's/pulse"]
        let played = try follow(program, words)
        try expectResumed(program, played, folder: "a folder's/pulse", identifier: "org.pulse.C")
        #expect(!played.errors.contains("warning"), "\(played.errors)")
        #expect(try program.run("app", "verify", "a folder's/pulse/My_Pulse.app").errors == "")
    }

    /// What the guide says of code that an iOS app shares.
    private static let shared = """
        #if os(iOS)
        #error("no flag turns this on")
        #endif
        #if !(os(iOS) || WAKEBENCH) || !canImport(UIKit) || !canImport(CoreBluetooth)
        #error("left out")
        #endif

        """

    /// Its package builds UIKit and CoreBluetooth for itself, as the user's own does, where other tests' packages do.
    @Test(
        "In Swift, what app new prints leads to a resumed app, without a warning",
        .enabled(if: find("swift") != nil, "needs swift")
    )
    func swift() throws {
        let program = try Program()
        defer { program.clean() }
        let played = try follow(program, ["Pulse"], limit: 900) {
            try program.write("Pulse/Sources/Shared.swift", Self.shared)
            let build = program.folder.appending(path: "Pulse/.build").path
            try FileManager.default.createDirectory(atPath: Program.outside, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: build, withDestinationPath: Program.outside)
        }
        try expectResumed(program, played, folder: "Pulse", identifier: "com.example.pulse")
        #expect(!played.output.contains("warning:"), "\(played.output)")
        let verified = try program.run("app", "verify", "Pulse/Pulse.app")
        #expect(verified.code == 0)
        #expect(verified.errors == "")
        // Its own test finds the bench in the package's folder.
        let test = "unset WAKEBENCH_TESTS; cd Pulse; PATH=$(dirname \"$(command -v swift)\"):/usr/bin:/bin swift test"
        let tested = try program.run(
            "/bin/bash",
            ["-ec", test],
            environment: ["SWIFTPM_BUILD_DIR": Program.outside],
            limit: 600
        )
        #expect(tested.code == 0, "\(tested.output.suffix(2_000))\n\(tested.errors.suffix(2_000))")
        #expect(tested.output.contains("relaunches it after the system ended it\" passed"), "\(tested.output)")
    }

    @Test("The test in the guide is the one that app new writes")
    func guide() throws {
        let program = try Program()
        defer { program.clean() }
        #expect(try program.run("app", "new", "Beat").code == 0)
        let test = try program.read("Beat/Tests/ScenarioTests.swift")
        let file = "Sources/CommandLine/wakebench/wakebench.docc/Apps.md"
        let page = try String(contentsOf: Program.repository.appending(path: file), encoding: .utf8)
        #expect(page.contains("```swift\n\(test)```\n"))
    }

    /// The words after `app new`, the exit code, and what the line says.
    private static let refusals: [([String], Int32, [String])] = [
        ([], 2, ["NAME is missing"]),
        (["9lives"], 2, ["'9lives'", "a letter"]),
        (["my-app"], 2, ["'my-app'", "a letter"]),
        (["../up"], 2, ["'../up'"]),
        (["Pülse"], 2, ["'Pülse'"]),
        ([String(repeating: "a", count: 51)], 2, ["at most 50"]),
        (["UIKit"], 2, ["'UIKit'", "module"]),
        (["Makefile"], 2, ["'Makefile'", "file"]),
        (["class"], 2, ["'class'", "word of Swift"]),
        (["HeartRate"], 2, ["'HeartRate'", "Wakebench's own package"]),
        (["Pulse", "--identifier", "a b"], 2, ["'a b'", "com.example.heart"]),
        (["Pulse", "--language", "rust"], 2, ["'rust'", "swift, python, c"]),
        (["Pulse", "--package", "nowhere"], 3, ["--package nowhere", "@TAG"]),
        (["Pulse", "--package", "."], 3, ["--package ."]),
        (["Pulse", "--package", "https://example.com/wakebench.git@"], 3, ["@TAG"]),
        (["Pulse", "--language", "c", "--package", "."], 2, ["--package", "Swift"]),
        (["Pulse", "Other"], 2, ["one NAME"]),
        (["Pulse", "--package", "https://example.com/PULSE.git@1.0.0"], 2, ["Pulse", "folder of that name", "--out"]),
    ]

    @Test(
        "A name, a language or a package that cannot be is refused with one line, and nothing is made",
        arguments: refusals
    )
    func refused(words: [String], code: Int32, says: [String]) throws {
        let program = try Program()
        defer { program.clean() }
        let outcome = try program.run(Program.path, ["app", "new"] + words)
        expectRefusal(outcome, code: code)
        for word in says { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
        #expect(program.contents == [])
    }

    @Test(
        "An app may have the name of its device, of a module of Python's, or of an example",
        .enabled(if: hasPython, "needs python3"),
        arguments: ["Belt", "json", "HeartRate", "Scenario", "yes"]
    )
    func names(_ name: String) throws {
        let program = try Program()
        defer { program.clean() }
        let played = try follow(program, [name, "--language", "python"])
        try expectResumed(program, played, folder: name, identifier: "com.example.\(name.lowercased())")
    }

    @Test("What is there is not overwritten without --force, and what is not the app's is left alone")
    func existing() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("Pulse/README.md", "mine\n")
        try program.write("Pulse/notes.txt", "mine\n")
        let refused = try program.run("app", "new", "Pulse", "--language", "python")
        expectRefusal(refused, code: 4, says: "Pulse/README.md is there already", "--force")
        #expect(try program.read("Pulse/README.md") == "mine\n")
        #expect(!program.exists("Pulse/main.py"))
        #expect(try program.run("app", "new", "Pulse", "--language", "python", "--force").code == 0)
        #expect(try program.read("Pulse/README.md").contains("# Pulse"))
        #expect(try program.read("Pulse/notes.txt") == "mine\n")
    }

    @Test("A program that was installed elsewhere asks for --package, and takes a folder or a git repository")
    func installed() throws {
        let program = try Program()
        defer { program.clean() }
        let copy = program.folder.appending(path: "bin/wakebench").path
        try FileManager.default.createDirectory(
            at: program.folder.appending(path: "bin"),
            withIntermediateDirectories: true
        )
        try FileManager.default.copyItem(atPath: Program.path, toPath: copy)
        expectRefusal(try program.run(copy, ["app", "new", "Pulse"]), code: 3, says: "built in", "--package")
        #expect(try program.run(copy, ["app", "new", "Script", "--language", "python"]).code == 0)
        let folder = Program.repository.path
        let made = try program.run(copy, ["app", "new", "Pulse", "--package", folder])
        #expect(made.code == 0)
        #expect(made.output.contains("\n\(copy) run scenario.yaml\n"), "\(made.output)")
        #expect(try program.read("Pulse/Package.swift").contains(".package(path: \"\(folder)\")"))
        let onPath = ["PATH": "\(program.folder.path)/bin:/usr/bin:/bin"]
        let short = try program.run(copy, ["app", "new", "Second", "--package", folder], environment: onPath)
        #expect(short.output.contains("\nwakebench run scenario.yaml\n"), "\(short.output)")
    }

    @Test(
        "A git repository is named by its URL, a tag that is a version by that, another as a revision",
        arguments: [
            (
                "https://example.com/a/wakebench.git@1.2.0",
                "url: \"https://example.com/a/wakebench.git\", exact: \"1.2.0\""
            ),
            ("https://example.com/a/wakebench@v1.2.0", "url: \"https://example.com/a/wakebench\", exact: \"1.2.0\""),
            ("git@example.com:a/wakebench.git@beta", "url: \"git@example.com:a/wakebench.git\", revision: \"beta\""),
            ("ssh://git@example.com/wakebench", "url: \"ssh://git@example.com/wakebench\", branch: \"main\""),
        ]
    )
    func repository(text: String, line: String) throws {
        let program = try Program()
        defer { program.clean() }
        #expect(try program.run("app", "new", "Pulse", "--package", text).code == 0)
        let manifest = try program.read("Pulse/Package.swift")
        #expect(manifest.contains(".package(\(line))"), "\(manifest)")
        #expect(manifest.contains(".product(name: \"UIKit\", package: \"wakebench\")"))
    }

    private static let isCheckout = FileManager.default.fileExists(
        atPath: Program.repository.appending(path: ".git").path
    )

    /// What can go wrong with a tag alone is known before anything is built: its version, its files, its products.
    @Test(
        "A Swift app has Wakebench by a git tag",
        .enabled(if: isCheckout && find("git") != nil && find("swift") != nil, "needs a git checkout and swift")
    )
    func tag() throws {
        let program = try Program()
        defer { program.clean() }
        let tagged = try program.run(
            "/bin/bash",
            [
                "-ec",
                """
                mkdir wakebench
                git -C "$0" ls-files -z --cached --others --exclude-standard | tar -C "$0" --null -T - -c | tar -C wakebench -x
                cd wakebench
                git init -q
                git add -A
                git -c user.name=a -c user.email=a@example.com commit -q -m all
                git tag 1.2.3
                """, Program.repository.path,
            ]
        )
        #expect(tagged.code == 0, "\(tagged.errors)")
        let url = "file://\(program.folder.path)/wakebench"
        #expect(try program.run("app", "new", "Pulse", "--package", "\(url)@1.2.3").code == 0)
        let loaded = try program.run(
            "/bin/bash",
            ["-ec", "unset WAKEBENCH_TESTS; cd Pulse; swift package plugin --list"]
        )
        #expect(loaded.code == 0, "\(loaded.errors)")
        #expect(try program.read("Pulse/Package.resolved").contains("\"version\" : \"1.2.3\""))
    }
}
