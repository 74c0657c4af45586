import Testing

/// What an app keeps between wakes by Foundation's means.
@Suite("State that an app keeps")
struct KeptStateTests {
    @Test("What was written is there at the next launch, also after a kill at once, and lies in the app's own folder")
    func kept() throws {
        let bench = try BenchProgram()
        let app = try BenchProgram.built("KeepingApp")
        try bench.makeApp("Keeping", "com.example.keeping", text: "#!/bin/sh\nexec '\(app)'\n", modes: [])
        try bench.write(
            """
            scenario: keeping
            apps: [{bundle: Keeping.app, name: keeping}]
            steps:
              - {at: 1s, launch: keeping}
              - {at: 2s, home: keeping}
              - {at: 1m, launch: keeping}
              - {at: 2m, note: the end}

            """,
            to: "scenario.yaml"
        )
        let run = try bench.run(["run", "scenario.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let folders = [
            "home own=true there=true", "account own=true there=true", "tilde own=true there=true",
            "documents own=true there=true", "caches own=true there=true", "temporary own=true there=true",
            "support own=true",
        ]
        let kept = "kept atomic string plain protected archive cookie response"
        let log = try bench.lines(of: "out/apps/com.example.keeping.log").map(String.init)
        #expect(log == folders + ["kept"] + folders + [kept])
    }

    @Test("All apps of a run are given one place for the folders of app groups, in the run's own")
    func groups() throws {
        let bench = try BenchProgram()
        for name in ["one", "two"] {
            try bench.makeApp(
                name,
                "com.example.\(name)",
                text: "#!/bin/sh\necho \(name) >> \"$WAKEBENCH_GROUPS/words\"\n",
                modes: []
            )
        }
        try bench.write(
            """
            scenario: groups
            apps: [{bundle: one.app, name: one}, {bundle: two.app, name: two}]
            steps:
              - {at: 1s, launch: one}
              - {at: 1m, launch: two}
              - {at: 2m, note: the end}

            """,
            to: "scenario.yaml"
        )
        let run = try bench.run(["run", "scenario.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        // Both end at their launch.
        #expect(run.code == 8, "\(run.errors)")
        #expect(try bench.lines(of: "out/apps/groups/words") == ["one", "two"])
    }

    @Test("app verify says which of an app's means are otherwise here than on a phone")
    func verified() throws {
        let bench = try BenchProgram()
        try bench.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>com.example.keeping</string>
            <key>CFBundleExecutable</key><string>KeepingApp</string>
            </dict></plist>
            """,
            to: "Info.plist"
        )
        let made = try bench.run(["app", "bundle", BenchProgram.built("KeepingApp"), "--info", "Info.plist"])
        #expect(made.code == 0, "\(made.errors)")
        let verified = try bench.run(["app", "verify", "KeepingApp.app"])
        #expect(verified.code == 0)
        for words in ["it protects files", "cookies in HTTPCookieStorage", "responses in URLCache"] {
            #expect(verified.errors.contains("note: KeepingApp.app: ") && verified.errors.contains(words))
        }
        #expect(!verified.errors.contains("URLCredentialStorage"))
    }
}
