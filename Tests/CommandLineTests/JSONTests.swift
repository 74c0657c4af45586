import Foundation
import Testing

/// Each verb says with `--json` what its text says.
@Suite("One JSON object of each verb")
struct JSONTests {
    private typealias Object = [String: Any]

    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    /// The run of a beacon whose app was force-quit, in the folder `out`.
    private func afterForceQuit(_ body: (Program) throws -> Void) throws {
        try inFolder { program in
            try program.writeForceQuit()
            let run = try program.run("run", "swiped.yaml", "--out", "out", "-q")
            #expect(run.code == 0, "\(run.errors)")
            try body(program)
        }
    }

    /// What a command says as text, and as an object with this schema, with the same code.
    private func both(_ program: Program, _ schema: String, _ words: [String]) throws -> (text: String, page: Object) {
        let text = try program.run(Program.path, words)
        let json = try program.run(Program.path, words + ["--json"])
        #expect(json.code == text.code, "\(json.errors)")
        let page = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? Object)
        #expect(json.output.hasSuffix("}\n") && json.output.count { $0 == "\n" } == 1)
        #expect(page["schema"] as? String == schema)
        #expect(page["ok"] as? Bool == (json.code == 0))
        return (text.output, page)
    }

    private func objects(_ page: Object, _ key: String) throws -> [Object] { try #require(page[key] as? [Object]) }

    private func text(_ object: Object, _ key: String) throws -> String { try #require(object[key] as? String) }

    // MARK: Questions about runs

    @Test("app exits")
    func exits() throws {
        try afterForceQuit { program in
            let (text, page) = try both(program, "wake.exits/1", ["app", "exits", "heart", "--run", "out"])
            let exits = try objects(page, "exits")
            #expect(exits.map { $0["cause"] as? String } == ["user-force-quit"])
            #expect(exits.first?["at_launch"] as? Bool == false)
            let rows = text.split(separator: "\n").dropFirst()
            #expect(rows.count == exits.count)
            for (row, exit) in zip(rows, exits) {
                for key in ["id", "app", "state_before", "cause", "how"] {
                    #expect(row.contains(try self.text(exit, key)))
                }
                #expect(try self.text(exit, "t").hasPrefix(String(row.prefix { $0 != " " })))
            }
            let all = try program.run("app", "exits", "--run", "out")
            #expect(all.code == 0 && all.output.hasPrefix(text.split(separator: "\n")[0].description))
            expectRefusal(try program.run("app", "exits", "hart", "--run", "out"), code: 3, says: "hart", "heart")
        }
    }

    @Test("why")
    func why() throws {
        try afterForceQuit { program in
            let (text, page) = try both(program, "wake.why/1", ["why", "heart", "--run", "out"])
            #expect(text.hasPrefix(try self.text(page, "summary") + "\n"))
            let decision = try #require(page["explained"] as? Object)
            for key in ["reason", "because", "rule", "confidence"] {
                #expect(text.contains(try self.text(decision, key)), "\(key)")
            }
            #expect(text.contains("without it: \(try self.text(decision, "would_have"))"))
            let passed = try #require(decision["passed"] as? [String])
            #expect(text.contains("  passed   \(passed.joined(separator: " "))  "))
            let advice = try #require(decision["advice"] as? [String])
            #expect(advice.count == text.split(separator: "\n").count { $0.hasPrefix("  try ") })
            let others = try objects(page, "decisions")
            let count = others.compactMap { $0["count"] as? Int }.reduce(0, +)
            #expect(text.contains("decided  \(count) more decision"))
            #expect((page["force_quit"] as? Object)?["bars"] as? Bool == true)
        }
    }

    @Test("why of an app that nothing was decided about")
    func standing() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            #expect(try program.run("run", "small.yaml", "--out", "out", "-q").code == 0)
            let (text, page) = try both(program, "wake.why/1", ["why", "heart", "--run", "out"])
            #expect(text.hasPrefix(try self.text(page, "summary") + "\n"))
            #expect(page["explained"] == nil)
            let state = try #require(page["state"] as? Object)
            #expect(text.contains("it is \(try self.text(state, "state")) since "))
            #expect(try objects(page, "decisions").isEmpty)
        }
    }

    @Test("why with a reason, an event and a time")
    func whyOfSome() throws {
        try afterForceQuit { program in
            let (_, some) = try both(program, "wake.why/1", ["why", "heart", "Resumed", "--run", "out"])
            #expect((some["explained"] as? Object)?["reason"] as? String == "Resumed")
            let event = try program.event(of: "region-exited", in: "out")
            let (_, one) = try both(program, "wake.why/1", ["why", "heart", "--event", event, "--run", "out"])
            #expect((one["explained"] as? Object)?["event"] as? String == event)
            let (table, last) = try both(program, "wake.why/1", ["why", "heart", "--since", "1h", "--run", "out"])
            let rows = table.split(separator: "\n").dropFirst().filter { !$0.hasPrefix("Time not running") }
            let reasons = rows.map { $0.split(separator: " ")[1] }
            #expect(try objects(last, "decisions").map { try self.text($0, "reason") } == reasons.map(String.init))
            let idle = try objects(last, "not_running").map { try self.text($0, "reason") }
            #expect(try #require(table.split(separator: "\n").last).contains(": \(try #require(idle.first)) "))
        }
    }

    @Test("can-wake")
    func canWake() throws {
        try afterForceQuit { program in
            let (text, page) = try both(
                program,
                "wake.can-wake/1",
                ["can-wake", "heart", "region-entered", "--run", "out"]
            )
            let answers = try objects(page, "answers")
            #expect(answers.count == 1)
            #expect(answers[0]["wakes"] as? Bool == false)
            let decision = try #require(answers[0]["decision"] as? Object)
            #expect(decision["decision"] == nil)
            let told = "\(try self.text(decision, "verdict")), \(try self.text(decision, "reason"))"
            #expect(text.hasPrefix("no: region-entered \(try self.text(decision, "subject")): \(told)\n"))
        }
    }

    @Test("task list and task history")
    func tasks() throws {
        try inFolder { program in
            try program.write(
                "feed.yaml",
                """
                scenario: feed
                apps:
                  - scripted: com.acme.feed
                    name: feed
                    modes: [processing]
                    tasks: {permitted: [com.acme.clean], submits: [{id: com.acme.clean, kind: processing}]}
                steps:
                  - {at: 0, launch: feed}
                  - {at: 1m, home: feed}
                  - {at: 2m, phone: display-off}
                  - {at: 3m, phone: charger-connected}
                until: 2d

                """
            )
            #expect(try program.run("run", "feed.yaml", "--out", "out", "-q").code == 0)
            let (list, waiting) = try both(program, "wake.tasks/1", ["task", "list", "--run", "out"])
            let tasks = try objects(waiting, "tasks")
            #expect(tasks.count == list.split(separator: "\n").count - 1)
            let (history, page) = try both(program, "wake.task-history/1", ["task", "history", "out"])
            let days = try objects(page, "days")
            let lines = history.split(separator: "\n").dropFirst()
            #expect(!days.isEmpty)
            #expect(days.count == lines.count)
            for (day, line) in zip(days, lines) {
                let words = line.split(separator: " ").map(String.init)
                #expect(try self.text(day, "app") == words[0])
                #expect(day["day"] as? Int == Int(words[1]))
                let times = try #require(day["processings"] as? [String]).map { String($0.prefix { $0 != "." }) }
                // Of many a line has the first five and the last.
                #expect(words.suffix(7) == times.prefix(5) + ["..."] + times.suffix(1))
            }
        }
    }

    @Test("blame")
    func blame() throws {
        try afterForceQuit { program in
            let (text, page) = try both(program, "wake.blame/1", ["blame", "out", "--cost", "wake=7"])
            let app = try #require(try objects(page, "apps").first)
            let row = try #require(text.split(separator: "\n").dropFirst().first).split(separator: " ").map(String.init)
            #expect(try self.text(app, "app") == row[0])
            let costs = try objects(app, "charges").compactMap { $0["millijoules"] as? Double }
            let shown = row.dropFirst().prefix(costs.count).compactMap(Double.init)
            #expect(shown == costs.map { ($0).rounded() / 1_000 })
            #expect(costs.reduce(0, +) == app["millijoules"] as? Double)
            let wake = try objects(page, "model").first { $0["charge"] as? String == "wake" }
            #expect(wake?["millijoules"] as? Double == 7)
        }
    }

    @Test("compare")
    func compare() throws {
        try afterForceQuit { program in
            let (text, page) = try both(program, "wake.compare/1", ["compare", "out", "out"])
            #expect(page["equal"] as? Bool == true)
            #expect(try self.text(page, "summary") + "\n" == text)
        }
    }

    @Test("report names the files that it wrote, and refuses to print a form beside its object")
    func report() throws {
        try afterForceQuit { program in
            for words in [["report", "out"], ["report", "out", "--format", "md,csv"], ["report", "out", "out"]] {
                let (text, page) = try both(program, "wake.report/1", words)
                let files = try objects(page, "files").map { file in
                    "\(try self.text(file, "form")): \(try self.text(file, "path"))\n"
                }
                #expect(files.joined() == text)
                for file in try objects(page, "files") { #expect(program.exists(try self.text(file, "path"))) }
            }
            let both = try program.run("report", "out", "--format", "md", "-O", "-", "--json")
            #expect(both.code == 2)
            #expect(both.output.hasPrefix("{\"schema\":\"wake.error/1\",\"ok\":false,\"error\":{\"code\":2,"))
        }
    }

    @Test("log has a header and a record a line, and one object of what a fresh router says")
    func log() throws {
        try afterForceQuit { program in
            let lines = try program.run("log", "out", "--json").output.split(separator: "\n")
            let head = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? Object)
            for key in ["schema", "version", "phone", "determinism"] { #expect(head[key] is String) }
            #expect(head["seed"] is Int)
            #expect(try program.run("log", "out").output.split(separator: "\n") == lines)
            let rest = try program.run("log", "out", "--cursor", "2").output.split(separator: "\n")
            #expect(rest.first == lines.first)
            #expect(rest.dropFirst() == lines.dropFirst(3))
            let again = try both(program, "wake.determinism/1", ["run", "--from", "out"])
            let words = ["log", "out", "--check-determinism"]
            let (text, page) = try both(program, "wake.determinism/1", words)
            #expect(again.0 == text && again.1["inputs"] as? Int == page["inputs"] as? Int)
            #expect(try self.text(page, "summary") + "\n" == text)
            #expect(page["decisions"] as? Int == lines.count - 1)
            expectRefusal(try program.run("log", "out", "--cursor", "d"), code: 2, says: "--cursor d")
        }
    }

    // MARK: Others

    @Test("rules, and its lists")
    func rules() throws {
        try afterForceQuit { program in
            let (list, page) = try both(program, "wake.rules/1", ["rules"])
            let rules = try objects(page, "rules")
            for (rule, line) in zip(rules, list.split(separator: "\n")) {
                #expect(line.hasPrefix(try text(rule, "rule") + " "))
                #expect(line.contains(try text(rule, "sentence")))
                #expect(line.contains(try text(rule, "standing")))
            }
            #expect(rules.count == list.split(separator: "\n").count)
            let (one, single) = try both(program, "wake.rules/1", ["rules", "launch-2"])
            for source in try #require(try objects(single, "rules").first?["sources"] as? [String]) {
                #expect(one.contains("source      \(source)\n"))
            }
            let (reasons, given) = try both(program, "wake.reasons/1", ["rules", "--reasons"])
            let pairs = try objects(given, "reasons").map { "\(try text($0, "reason"))\t\(try text($0, "rule"))\n" }
            #expect(pairs.joined() == reasons)
            let (settings, set) = try both(program, "wake.settings/1", ["rules", "--settings", "--profile", "ios8"])
            let rows = try objects(set, "settings").map { setting in
                try ["setting", "value", "range", "rule", "meaning"].map { try text(setting, $0) }.joined(
                    separator: "\t"
                )
            }
            #expect(rows.joined(separator: "\n") + "\n" == settings)
            let (matrix, tried) = try both(program, "wake.relaunches/1", ["rules", "--matrix"])
            #expect(try objects(tried, "mechanisms").count == matrix.split(separator: "\n").count - 1)
            let (coverage, counts) = try both(program, "wake.rule-coverage/1", ["rules", "--coverage", "out"])
            let counted = try objects(counts, "rules").map { rule in
                [try text(rule, "rule"), "\(rule["decided"] as? Int ?? -1)", "\(rule["asked"] as? Int ?? -1)"]
            }
            let shown = coverage.split(separator: "\n").dropFirst().prefix(counted.count)
            #expect(shown.map { $0.split(separator: " ").map(String.init) } == counted)
        }
    }

    @Test("scenario check, and a file that is no scenario as an object on stdout")
    func check() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let (text, page) = try both(program, "wake.scenario-check/1", ["scenario", "check", "swiped.yaml"])
            func count(_ key: String) -> String {
                let number = page[key] as? Int ?? -1
                return "\(number) \(number == 1 ? String(key.dropLast()) : key)"
            }
            let counts = ["apps", "devices", "steps", "expectations"].map(count).joined(separator: ", ")
            #expect(text == "swiped.yaml: good: \(counts)\n")
            let bad = try program.run("scenario", "check", "beacon.yaml", "--json")
            #expect(bad.code == 11)
            #expect(bad.errors == "")
            let error = try JSONSerialization.jsonObject(with: Data(bad.output.utf8)) as? Object
            #expect(error?["schema"] as? String == "wake.error/1" && error?["ok"] as? Bool == false)
            let told = try #require(error?["error"] as? Object)
            #expect(told["code"] as? Int == 11 && told["file"] as? String == "beacon.yaml")
            #expect([told["line"] as? Int, told["column"] as? Int] == [1, 1])
        }
    }

    @Test("An error holds its file, its line and its column, of each mistake of a scenario")
    func places() throws {
        try inFolder { program in
            try program.write("pillbox.yaml", Cases.pillbox)
            var text = Cases.threeErrors
            let remedies = ["restore-identifer": "restore-identifier", "\"0\"": "\"00\"", "7x": "7h"]
            var found: [String] = []
            while found.count <= remedies.count {
                try program.write("pill.yaml", text)
                let check = try program.run("scenario", "check", "pill.yaml", "--json")
                let page = try #require(try JSONSerialization.jsonObject(with: Data(check.output.utf8)) as? Object)
                #expect(page["ok"] as? Bool == (check.code == 0) && check.errors == "")
                guard let error = page["error"] as? Object else { break }
                #expect(check.code == 11 && error["file"] as? String == "pill.yaml")
                let (line, column) = (try #require(error["line"] as? Int), try #require(error["column"] as? Int))
                #expect((error["message"] as? String)?.hasPrefix("pill.yaml:\(line): ") == true)
                let rest = text.split(separator: "\n", omittingEmptySubsequences: false)[line - 1].dropFirst(column - 1)
                let mistake = try #require(remedies.keys.first { rest.hasPrefix($0) }, "\(error)")
                found.append(mistake)
                text = text.replacing(mistake, with: try #require(remedies[mistake]))
            }
            #expect(found.sorted() == remedies.keys.sorted())
        }
    }

    @Test(
        "An error of a file that is no scenario names it, too",
        arguments: [
            (["app", "verify", "None.app"], "None.app"), (["import", "none.btsnoop"], "none.btsnoop"),
            (["device", "check", "none.yaml"], "none.yaml"), (["log", "away"], "away/decisions.ndjson"),
            (["report", "away"], "away/decisions.ndjson"), (["run", "none.yaml"], "none.yaml"),
            (["run", "none.yaml", "other.yaml"], "none.yaml"),
        ]
    )
    func files(words: [String], file: String) throws {
        try inFolder { program in
            let outcome = try program.run(Program.path, words + ["--json"])
            let page = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? Object)
            #expect(page["schema"] as? String == "wake.error/1" && page["ok"] as? Bool == false)
            #expect((page["error"] as? Object)?["file"] as? String == file, "\(outcome.output)")
        }
    }

    @Test("help, exit-codes and the guidelines of device check")
    func lists() throws {
        try inFolder { program in
            _ = try both(program, "wake.exit-codes/1", ["exit-codes"])
            let (text, page) = try both(program, "wake.guidelines/1", ["device", "check", "--guidelines"])
            for guideline in try objects(page, "guidelines") {
                #expect(
                    text.contains("  \(try self.text(guideline, "guideline"))  \(try self.text(guideline, "says"))")
                )
            }
            let help = try program.run("help", "--json")
            let table = try #require(try JSONSerialization.jsonObject(with: Data(help.output.utf8)) as? Object)
            #expect(table["schema"] as? String == "wake.help/1" && table["ok"] as? Bool == true)
        }
    }

    @Test("app bundle and app verify")
    func bundles() throws {
        try inFolder { program in
            try program.makeBundle(modes: ["bluetooth-central", "audio"])
            let made = ["app", "bundle", "Heart.app/heart", "--info", "Heart.app/Info.plist", "--out", "made"]
            let (path, bundle) = try both(program, "wake.app-bundle/1", made)
            #expect(try text(bundle, "path") + "\n" == path)
            #expect(try text(bundle, "app") == "com.acme.heart")
            for words in [["app", "verify", "Heart.app"], ["app", "verify", "Heart.app", "--strict"]] {
                let (verified, page) = try both(program, "wake.app-verify/1", words)
                let findings = try objects(page, "findings").map { finding in
                    "Heart.app: \(try text(finding, "rule")): \(try text(finding, "finding")); \(try text(finding, "remedy"))\n"
                }
                #expect(!findings.isEmpty)
                #expect(verified.hasPrefix(findings.joined() + "Heart.app: good: \(try text(page, "app")), "))
                let modes = try #require(page["modes"] as? [String])
                #expect(verified.hasSuffix("background modes: \(modes.joined(separator: " "))\n"))
            }
        }
    }

    @Test("app new")
    func newApp() throws {
        try inFolder { program in
            let (text, page) = try both(
                program,
                "wake.app-new/1",
                ["app", "new", "heart", "--language", "c", "--force"]
            )
            #expect(try #require(page["commands"] as? [String]).joined(separator: "\n") + "\n" == text)
            let folder = try self.text(page, "folder")
            for file in try #require(page["files"] as? [String]) { #expect(program.exists("\(folder)/\(file)")) }
        }
    }

    @Test("shrink")
    func shrink() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let words = ["shrink", "swiped.yaml", "--keep", "heart:deny:ForceQuit", "-o", "few.yaml", "-q", "--force"]
            let (text, page) = try both(program, "wake.shrink/1", words)
            let counts = try ["events", "apps", "devices"].map { key in
                let count = try #require(page[key] as? [String: Int])
                let before = count["before"] ?? -1
                return "\(count["after"] ?? -1) of \(before) \(before == 1 ? String(key.dropLast()) : key)"
            }
            let runs = try #require(page["runs"] as? Int)
            #expect(text.hasPrefix("few.yaml: \(counts.joined(separator: ", ")), after \(runs) runs\n"))
            #expect(text.hasSuffix("kept: \(try self.text(page, "kept"))\n"))
            #expect(try self.text(page, "ended") == "smallest")
        }
    }

    @Test("doctor")
    func doctor() throws {
        try inFolder { program in
            let (text, page) = try both(program, "wake.doctor/1", ["doctor"])
            // What killed runs left on this machine is told once.
            func isLasting(_ line: some StringProtocol) -> Bool { !line.hasPrefix("yes  control groups: ") }
            let findings = try objects(page, "findings").map { finding in
                let good = finding["good"] as? Bool == true
                return "\(good ? "yes" : "no ")  \(try self.text(finding, "what")): "
            }.filter(isLasting)
            let lines = text.split(separator: "\n").filter(isLasting)
            #expect(lines.count == findings.count)
            for (line, finding) in zip(lines, findings) { #expect(line.hasPrefix(finding)) }
        }
    }
}
