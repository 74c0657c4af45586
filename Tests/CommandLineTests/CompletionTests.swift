import Foundation
import Testing

@Suite("Completion, and help for programs")
struct CompletionTests {
    private func candidates(_ words: String..., at index: Int) throws -> [String] {
        let program = try Program()
        defer { program.clean() }
        let asked = try program.run(Program.path, ["completion", "--line", "\(index)", "--"] + words)
        #expect(asked.code == 0 && asked.errors == "", "\(asked.errors)")
        return asked.output.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
    }

    @Test("The first word is a verb or a noun, the second of a noun one of its verbs")
    func verbs() throws {
        #expect(try candidates("ru", at: 1) == ["run", "rules"])
        #expect(try candidates(at: 1).contains("scenario"))
        #expect(try candidates("scenario", at: 2) == ["run", "check"])
        #expect(try candidates("task", "h", at: 2) == ["history"])
    }

    @Test("A word with dashes is an option of the verb, and the word after one that takes a value is that value")
    func options() throws {
        #expect(try candidates("run", "--prof", at: 2) == ["--profile"])
        #expect(try candidates("run", "x.yaml", "--profile", "ios1", at: 4) == ["ios12", "ios13", "ios17"])
        #expect(try candidates("run", "--profile=ios2", at: 2) == ["--profile=ios26"])
        // As bash breaks it.
        #expect(try candidates("run", "--clock", "=", "v", at: 4) == ["virtual"])
        #expect(try candidates("run", "--freezer", at: 3) == ["automatic", "cgroup2", "cgroup1", "sigstop"])
        #expect(try candidates("run", "--quiet", "--no-j", at: 3) == ["--no-journal"])
    }

    @Test("Where a file or a folder is expected, the shell completes it")
    func files() throws {
        #expect(try candidates("run", at: 2) == [":files"])
        #expect(try candidates("run", "--out", "a", at: 3) == [":folders"])
        #expect(try candidates("report", at: 2) == [":folders"])
        #expect(try candidates("import", at: 2) == [":files"])
    }

    @Test("rules completes the rules, and help the verbs")
    func names() throws {
        let rules = try candidates("rules", "LAUNCH-", at: 2)
        #expect(rules.contains("LAUNCH-2") && rules.allSatisfy { $0.hasPrefix("LAUNCH-") })
        #expect(try candidates("help", "scen", at: 2) == ["scenario"])
    }

    @Test("A word that asks for help is none while a line is completed, and a line of nonsense has no candidates")
    func nonsense() throws {
        #expect(try candidates("run", "--help", at: 2) == ["--help"])
        #expect(try candidates("frobnicate", "x", at: 3) == [])
        let program = try Program()
        defer { program.clean() }
        expectRefusal(try program.run("completion", "--line", "0", "--", "run"), code: 2, says: "--line 0")
        expectRefusal(try program.run("completion", "tcsh"), code: 2, says: "bash, fish, zsh")
    }

    private static func shell(_ name: String) -> String? {
        ["/bin/", "/usr/bin/"].map { $0 + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// What a shell completes after it has read its script, a line each.
    private func completed(_ shell: String, _ script: String) throws -> [String] {
        let program = try Program()
        defer { program.clean() }
        try program.write("runs/scenario.yaml", "")
        let folder = URL(fileURLWithPath: Program.path).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let outcome = try program.run(shell, ["-c", script], environment: ["PATH": "\(folder):\(path)"])
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test("bash completes by the script that is printed for it")
    func bash() throws {
        let ask = { (words: String, index: Int) in
            "COMP_WORDS=(\(words)); COMP_CWORD=\(index); _wakebench; printf '%s\\n' \"${COMPREPLY[@]}\""
        }
        // compopt works within a completion only.
        let head = "compopt() { :; }; source <(wakebench completion bash); "
        let bash = try #require(Self.shell("bash"))
        #expect(try completed(bash, head + ask("wakebench sce", 1)) == ["scenario"])
        #expect(try completed(bash, head + ask("wakebench run --clock ''", 3)) == ["virtual", "real"])
        #expect(try completed(bash, head + ask("wakebench run runs/s", 2)) == ["runs/scenario.yaml"])
    }

    @Test("fish completes by the script that is printed for it", .enabled(if: shell("fish") != nil, "needs fish"))
    func fish() throws {
        let fish = try #require(Self.shell("fish"))
        let head = "wakebench completion fish | source; "
        #expect(
            try completed(fish, head + "complete -C 'wakebench sce'").map { $0.split(separator: "\t")[0] } == [
                "scenario"
            ]
        )
        #expect(try completed(fish, head + "complete -C 'wakebench run --clock '") == ["real", "virtual"])
        #expect(try completed(fish, head + "complete -C 'wakebench run runs/s'") == ["runs/scenario.yaml"])
    }

    @Test(
        "zsh reads the script that is printed for it, and asks the program",
        .enabled(if: shell("zsh") != nil, "needs zsh")
    )
    func zsh() throws {
        let zsh = try #require(Self.shell("zsh"))
        let head = """
            compdef() { : }; _describe() { print -l -- "${(@P)2}" }; _files() { print files $* }
            source <(wakebench completion zsh)

            """
        #expect(
            try completed(zsh, head + "words=(wakebench run --clock ''); CURRENT=4; _wakebench") == ["virtual", "real"]
        )
        #expect(try completed(zsh, head + "words=(wakebench report ''); CURRENT=3; _wakebench") == ["files -/"])
    }

    /// A line has a verb and what follows it, or a noun and its verbs; a text stands behind two spaces at least.
    private func verbs(inHelp text: String) -> [[String]] {
        text.replacing(/,\n {6}/, with: ", ").split(separator: "\n").filter {
            $0.hasPrefix("  ") && !$0.hasPrefix("   ")
        }.flatMap { line in
            let names = line.dropFirst(2).split(separator: "  ")[0].split(separator: " ").map {
                $0.filter { $0 != "," }
            }
            let verbs = names.dropFirst().prefix { $0.first?.isLowercase ?? false && !$0.contains("|") }
            return verbs.isEmpty ? [[names[0]]] : verbs.map { [names[0], $0] }
        }
    }

    @Test("help has each verb once, in lines of 100 columns at most, and help --json each with its options")
    func json() throws {
        let program = try Program()
        defer { program.clean() }
        let object = try JSONSerialization.jsonObject(with: Data(try program.run("help", "--json").output.utf8))
        let verbs = try #require((object as? [String: Any])?["verbs"] as? [[String: Any]])
        let help = try program.run("help").output
        let words = verbs.compactMap { ($0["words"] as? [String])?.joined(separator: " ") }
        #expect(self.verbs(inHelp: help).map { $0.joined(separator: " ") }.sorted() == words.sorted())
        for line in help.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
        let run = try #require(verbs.first { $0["words"] as? [String] == ["run"] })
        let options = try #require(run["options"] as? [[String: Any]])
        #expect(options.contains { $0["name"] as? String == "--jobs" && $0["short"] as? String == "-j" })
    }

    @Test(
        "The manual page is read without a warning, and has each verb",
        .enabled(if: shell("groff") != nil, "needs groff")
    )
    func manual() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("wakebench.1", try program.run("help", "--man").output)
        let groff = try #require(Self.shell("groff"))
        let page = try program.run(groff, ["-man", "-ww", "-Tascii", "-P-cbou", "-rLL=200n", "wakebench.1"])
        #expect(page.code == 0 && page.errors == "", "\(page.errors)")
        for verb in ["scenario check SCENARIO.yaml", "device fuzz", "--no-journal", "EXIT STATUS"] {
            #expect(page.output.contains(verb), "\(verb)")
        }
    }
}
