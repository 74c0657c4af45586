import Foundation
import Testing

@Suite("The scripts")
struct ScriptsTests {
    private static let folder = Program.repository.appending(path: "Scripts")
    private static let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []
    private static let programs = names.filter { name in
        var isFolder: ObjCBool = false
        let path = folder.appending(path: name).path
        let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        return exists && !isFolder.boolValue && !name.hasSuffix(".md")
    }

    private func run(_ script: String, _ words: [String], path: String? = nil) throws -> Program.Outcome {
        let program = try Program()
        defer { program.clean() }
        let usual = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try program.run(
            Self.folder.appending(path: script).path,
            words,
            environment: ["PATH": path.map { "\($0):\(usual)" } ?? usual]
        )
    }

    @Test("Each script says with --help what it does, and does nothing", arguments: programs)
    func help(_ script: String) throws {
        for word in ["--help", "-h"] {
            let help = try run(script, [word])
            #expect(help.code == 0)
            #expect(help.errors == "")
            #expect(
                help.output.contains("Scripts/\(script)") || help.output.contains("usage: \(script)"),
                "\(help.output)"
            )
            #expect(!help.output.contains("#!"))
        }
    }

    @Test(
        "systemd finds nothing wrong with the units of the daemon",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "needs systemd-analyze")
    )
    func units() throws {
        let program = try Program()
        defer { program.clean() }
        let units = ["wakebench.service", "wakebench.socket"].map { Self.folder.appending(path: "systemd/\($0)").path }
        let verified = try program.run("/usr/bin/systemd-analyze", ["verify"] + units)
        #expect(verified.code == 0, "\(verified.errors)")
    }

    @Test("Packages in Python have a description that indexes show", arguments: ["python", "sweep"])
    func packages(_ name: String) throws {
        let folder = Self.folder.appending(path: name)
        let project = try String(contentsOf: folder.appending(path: "pyproject.toml"), encoding: .utf8)
        #expect(project.contains("\nreadme = \"README.md\"\n"))
        #expect(try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8).hasPrefix("# "))
    }

    @Test("A word that Scripts/test and Scripts/demo do not know is refused with 2", arguments: ["test", "demo"])
    func unknown(_ script: String) throws {
        let refused = try run(script, ["--quik"])
        #expect(refused.code == 2)
        #expect(refused.complaints.count == 1)
        #expect(refused.errors.contains("'--quik'"))
    }

    @Test("A script that builds installs first what a build needs", arguments: ["demo", "fuzz"])
    func installs(_ script: String) throws {
        let program = try Program()
        defer { program.clean() }
        let said = program.folder.appending(path: "said").path
        for (name, code) in ["dpkg-query": 1, "apt-get": 0, "sudo": 0, "swift": 1] {
            try program.write(name, "#!/bin/sh\necho \(name) \"$@\" >>\(said)\nexit \(code)\n", executable: true)
        }
        #expect(try run(script, [], path: program.folder.path).code != 0)
        let lines = try program.read("said").split(separator: "\n")
        let first = lines.firstIndex {
            $0.contains("apt-get install") || $0.hasPrefix("sudo") && $0.contains("install")
        }
        let build = lines.firstIndex { $0.hasPrefix("swift build") }
        let (installed, built) = (try #require(first), try #require(build))
        #expect(installed < built && lines[installed].contains("libudev-dev"), "\(lines)")
    }

    @Test("On a machine that cannot boot the lab it is left out, with one line that says why")
    func noLab() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("uname", "#!/bin/sh\necho aarch64\n", executable: true)
        let able = try run("lab", ["able"], path: program.folder.path)
        #expect(able.code == 12)
        #expect(able.complaints == ["lab: the lab's kernel is Debian's for x86_64, and this machine is aarch64"])
        let test = try run("test", ["lab"], path: program.folder.path)
        #expect(test.code == 0)
        let told = test.output.split(separator: "\n").filter { $0.contains("left out: ") }
        let reason = "lab's machine: left out: the lab's kernel is Debian's for x86_64, and this machine is aarch64"
        #expect(told.count == 2 && told.allSatisfy { $0.hasSuffix(reason) }, "\(test.output)")
        #expect(test.output.split(separator: "\n").last?.hasPrefix("all passed in 0:") == true)
    }
}
