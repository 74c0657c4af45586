import Foundation
import Testing

@Suite("Bundles: made, found, verified")
struct BundleVerbTests {
    private static let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    private func plist(executable: String = "heart", identifier: String = "com.acme.heart", name: String = "") -> String
    {
        let named = name.isEmpty ? "" : "<key>CFBundleName</key><string>\(name)</string>"
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>\(identifier)</string>
            <key>CFBundleExecutable</key><string>\(executable)</string>\(named)
            </dict></plist>
            """
    }

    // MARK: app bundle

    @Test("app bundle makes a bundle that app verify finds good, and makes it again over the older one")
    func made() throws {
        try inFolder { program in
            try program.write("Info.plist", plist(name: "Heart"))
            for words in ["first", "second"] {
                try program.write("build/heart", "#!/bin/sh\necho \(words)\n", executable: true)
                let made = try program.run("app", "bundle", "build/heart")
                #expect(made.code == 0, "\(made.errors)")
                #expect(made.output == "Heart.app\n")
                #expect(try program.read("Heart.app/heart").contains(words))
                #expect(program.contents == ["Heart.app", "Info.plist", "build"])
            }
            #expect(try program.run("app", "verify", "Heart.app").code == 0)
        }
    }

    @Test("Info.plist is found beside the program first, or named, and the bundle goes where it is told")
    func places() throws {
        try inFolder { program in
            try program.write("Info.plist", plist(identifier: "com.acme.wrong"))
            try program.write("app/Info.plist", plist())
            try program.write("app/heart", "#!/bin/sh\n", executable: true)
            try program.write("other.plist", plist(identifier: "com.acme.other", name: "Other One"))
            let elsewhere = try program.run("app", "bundle", "app/heart", "--out", "new/apps")
            #expect(elsewhere.output == "new/apps/heart.app\n", "\(elsewhere.errors)")
            #expect(try program.run("app", "verify", "new/apps/heart.app").output.contains("com.acme.heart"))
            #expect(try program.run("app", "bundle", "app/heart", "--info", "other.plist").code == 0)
            #expect(try program.run("app", "verify", "Other One.app").output.contains("com.acme.other"))
        }
    }

    @Test("The Info.plist of an Xcode project will do: what is assumed of it is told, and --identifier says it")
    func project() throws {
        try inFolder { program in
            try program.write("heart", "#!/bin/sh\n", executable: true)
            let text = plist(executable: "$(EXECUTABLE_NAME)", identifier: "$(PRODUCT_BUNDLE_IDENTIFIER)")
            try program.write("Info.plist", text)
            let assumed = try program.run("app", "bundle", "heart")
            #expect(assumed.code == 0 && assumed.output == "heart.app\n", "\(assumed.errors)")
            #expect(assumed.errors.contains("Info.plist: the identifier is a setting of a project; com.example.heart "))
            let said = try program.run("app", "bundle", "heart", "--identifier", "com.acme.heart", "--out", "said")
            #expect(said.code == 0 && said.errors == "", "\(said.errors)")
            #expect(try program.run("app", "verify", "said/heart.app").output.contains("good: com.acme.heart,"))
        }
    }

    @Test("The bundle's Info.plist keeps the arrays of the project's, with what they hold")
    func arrays() throws {
        try inFolder { program in
            try program.write("heart", "#!/bin/sh\n", executable: true)
            let lists = """
                <key>UIBackgroundModes</key><array><string>audio</string><string>bluetooth-central</string></array>
                <key>Deep</key><dict><key>Lists</key><array><array/><integer>3</integer><true/>
                <dict><key>a &amp; b</key><string>&lt;$(PRODUCT_NAME)&gt;</string></dict></array></dict>
                </dict></plist>
                """
            let text = plist(identifier: "$(PRODUCT_BUNDLE_IDENTIFIER)").replacing("</dict></plist>", with: lists)
            try program.write("Info.plist", text)
            let made = try program.run("app", "bundle", "heart")
            #expect(made.code == 0 && made.output == "heart.app\n", "\(made.errors)")
            let bytes = Data(try program.read("heart.app/Info.plist").utf8)
            let read = try unsafe PropertyListSerialization.propertyList(from: bytes, format: nil)
            let values = try #require(read as? [String: Any])
            #expect(values["CFBundleIdentifier"] as? String == "com.example.heart")
            #expect(values["UIBackgroundModes"] as? [String] == ["audio", "bluetooth-central"])
            let list = try #require((values["Deep"] as? [String: Any])?["Lists"] as? [Any])
            try #require(list.count == 4)
            #expect((list[0] as? [Any])?.isEmpty == true)
            #expect(list[1] as? Int == 3 && list[2] as? Bool == true)
            #expect(list[3] as? [String: String] == ["a & b": "<heart>"])
        }
    }

    @Test("What makes no bundle is refused with 11, and leaves everything as it was")
    func refused() throws {
        try inFolder { program in
            try program.write("heart", "#!/bin/sh\n", executable: true)
            try program.write("text", "hello")
            try program.write("good.plist", plist())
            try program.write("other.plist", plist(executable: "liver"))
            try program.write("up.plist", plist(name: "../up"))
            try program.write("bad.plist", plist(identifier: "a b"))
            try program.write("heart.app/Info.plist", plist(identifier: "com.acme.liver"))
            let before = program.contents
            for (words, says) in [
                (["none"], "none: no such file"), (["heart"], "Info.plist"),
                (["text", "--info", "good.plist"], "chmod +x"), ([".", "--info", "good.plist"], "no file"),
                (["heart", "--info", "other.plist"], "'liver'"), (["heart", "--info", "up.plist"], "CFBundleName"),
                (["heart", "--info", "bad.plist"], "CFBundleIdentifier"),
                (["heart", "--info", "good.plist"], "heart.app: something else of that name"),
                (["heart", "--info", "good.plist", "--out", "text"], "cannot be made there"),
            ] {
                expectRefusal(try program.run(Program.path, ["app", "bundle"] + words), code: 11, says: says)
                #expect(program.contents == before, "\(words)")
            }
            #expect(try program.read("heart.app/Info.plist").contains("com.acme.liver"))
        }
    }

    // MARK: found from anywhere

    @Test("A bundle is found beside the scenario, by its path, in --apps and in WAKEBENCH_APPS, from any folder")
    func found() throws {
        try inFolder { program in
            try program.makeBundle()
            let text = Scenarios.oneBundle
            try program.write("beside.yaml", text)
            let path = program.folder.appending(path: "Heart.app").path
            try program.write("a/b/absolute.yaml", text.replacing("Heart.app", with: path))
            try program.write("a/b/relative.yaml", text.replacing("Heart.app", with: "../../Heart.app"))
            try program.write("a/b/named.yaml", text)
            let folder = program.folder.path
            func check(_ file: String, _ words: [String] = [], apps: String? = nil) throws -> Program.Outcome {
                let line = ["-C", "/", Program.path, "scenario", "check", "\(folder)/\(file)"] + words
                return try program.run("/usr/bin/env", line, environment: apps.map { ["WAKEBENCH_APPS": $0] } ?? [:])
            }
            for file in ["beside.yaml", "a/b/absolute.yaml", "a/b/relative.yaml"] {
                #expect(try check(file).code == 0, "\(file)")
            }
            #expect(try check("a/b/named.yaml", ["--apps", folder]).code == 0)
            #expect(try check("a/b/named.yaml", apps: "/nowhere:\(folder)").code == 0)
            expectRefusal(try check("a/b/named.yaml", apps: "/nowhere"), code: 11, says: "no app bundle 'Heart.app'")
        }
    }

    @Test("What Scripts/bundle made is found from any folder by the program of the same repository")
    func builtApps() throws {
        try inFolder { program in
            let root = program.folder.appending(path: "repository")
            for folder in [".build/debug", ".build/apps", "Sources/SDK/UIKit"] {
                let place = root.appending(path: folder)
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            }
            try program.write("repository/Package.swift", "let package = Package(\n    name: \"wakebench\")\n")
            let copy = root.appending(path: ".build/debug/wakebench").path
            try FileManager.default.copyItem(atPath: Program.path, toPath: copy)
            try program.makeBundle()
            let place = root.appending(path: ".build/apps/Heart.app").path
            try FileManager.default.moveItem(atPath: program.folder.appending(path: "Heart.app").path, toPath: place)
            try program.write("one.yaml", Scenarios.oneBundle)
            #expect(try program.run(copy, ["scenario", "check", "one.yaml"]).code == 0)
        }
    }

    // MARK: app verify

    /// Makes Heart.app of bytes.
    private func bundle(_ program: Program, _ bytes: [UInt8]) throws {
        try program.makeBundle()
        let file = program.folder.appending(path: "Heart.app/heart")
        try Data(bytes).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    private func compile(_ program: Program, _ source: String, _ words: [String]) throws {
        try program.write("heart.c", source)
        let outcome = try program.run("/usr/bin/cc", ["heart.c", "-o", "Heart.app/heart", "-L."] + words)
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    @Test(
        "app verify names modules, frameworks, functions and libraries that a program asks for in vain",
        .enabled(if: hasCompiler, "needs cc")
    )
    func missing() throws {
        try inFolder { program in
            try program.makeBundle()
            // A library that has them when the program is linked, and not any more when it is loaded.
            try program.write(
                "stub.c",
                """
                char nfc __asm__("$s7CoreNFC16NFCReaderSessionC5beginyyF") = 1;
                char more __asm__("$s7CoreNFC16NFCReaderSessionC10invalidateyyF") = 1;
                char screen __asm__("$s5UIKit8UIScreenC4mainACvgZ") = 1;
                char own __asm__("$s5MyKit3runyyF") = 1;
                void MTLCreateSystemDefaultDevice(void) {}
                void frobnicate(void) {}
                """
            )
            let library = ["-shared", "-fPIC", "-o", "Heart.app/libstub.so"]
            #expect(try program.run("/usr/bin/cc", library + ["stub.c"]).code == 0)
            let source = """
                extern char nfc __asm__("$s7CoreNFC16NFCReaderSessionC5beginyyF");
                extern char more __asm__("$s7CoreNFC16NFCReaderSessionC10invalidateyyF");
                extern char screen __asm__("$s5UIKit8UIScreenC4mainACvgZ");
                extern char own __asm__("$s5MyKit3runyyF");
                void MTLCreateSystemDefaultDevice(void);
                void frobnicate(void);
                char *table[] = {&nfc, &more, &screen, &own};
                int main(void) { MTLCreateSystemDefaultDevice(); frobnicate(); return table[0] != table[1]; }
                """
            try compile(program, source, ["-LHeart.app", "-lstub", "-Wl,-rpath,$ORIGIN"])
            #expect(try program.run("app", "verify", "Heart.app").code == 0)
            try program.write("stub.c", "int nothing;")
            #expect(try program.run("/usr/bin/cc", library + ["stub.c"]).code == 0)
            let verified = try program.run("app", "verify", "Heart.app")
            #expect(verified.code == 11)
            #expect(verified.output == "")
            #expect(
                Set(verified.complaints) == [
                    "wakebench: Heart.app: uses CoreNFC, which Wakebench does not have: 2 symbols, such as "
                        + "CoreNFC.NFCReaderSession.begin() -> (); #if canImport(CoreNFC) leaves it out",
                    "wakebench: Heart.app: uses of UIKit what is not here: static UIKit.UIScreen.main.getter : UIKit.UIScreen",
                    "wakebench: Heart.app: uses the module MyKit, which is not linked to it: MyKit.run() -> ()",
                    "wakebench: Heart.app: uses Metal, which Wakebench does not have: MTLCreateSystemDefaultDevice",
                    "wakebench: Heart.app: uses frobnicate, which no library here has",
                ]
            )
        }
    }

    @Test("app verify names libraries that are not here", .enabled(if: hasCompiler, "needs cc"))
    func libraries() throws {
        try inFolder { program in
            try program.makeBundle()
            try program.write("empty.c", "int frob(void) { return 0; }")
            for name in ["libfrob.so", "libCoreNFC.so"] {
                #expect(try program.run("/usr/bin/cc", ["-shared", "-o", name, "empty.c"]).code == 0)
            }
            try compile(
                program,
                "int frob(void); int main(void) { return frob(); }",
                [
                    "-Wl,--no-as-needed", "-lfrob", "-lCoreNFC",
                ]
            )
            let verified = try program.run("app", "verify", "Heart.app")
            #expect(verified.code == 11)
            #expect(
                verified.complaints == [
                    "wakebench: Heart.app: needs the library libfrob.so, which this machine does not have",
                    "wakebench: Heart.app: uses CoreNFC (libCoreNFC.so), which Wakebench does not have",
                ]
            )
        }
    }

    @Test("A program that has all it asks for is good, and one that cannot be told of is said to be so")
    func told() throws {
        try inFolder { program in
            let own = try Data(contentsOf: URL(fileURLWithPath: "/bin/true"))
            try bundle(program, Array(own))
            let good = try program.run("app", "verify", "Heart.app")
            #expect(good.code == 0)
            #expect(good.errors == "")
            try bundle(program, Array("MZ\u{0}\u{0}".utf8))
            let unknown = try program.run("app", "verify", "Heart.app")
            #expect(unknown.code == 0)
            #expect(unknown.complaints.count == 1)
            #expect(
                unknown.errors.contains("neither a binary (ELF) nor a script (#!): what it asks for cannot be told")
            )
            guard Self.hasCompiler else { return }
            try compile(program, "int main(void) { return 0; }", ["-static"])
            let fixed = try program.run("app", "verify", "Heart.app")
            #expect(fixed.code == 0)
            #expect(fixed.errors.contains("linked statically, or is damaged: what it asks for cannot be told"))
        }
    }

    @Test("A program of another system or processor, and a script without its interpreter, are refused with 11")
    func foreign() throws {
        try inFolder { program in
            try bundle(program, [0xcf, 0xfa, 0xed, 0xfe, 0, 0, 0, 0])
            expectRefusal(try program.run("app", "verify", "Heart.app"), code: 11, says: "Apple's systems (Mach-O)")
            var other = Array(try Data(contentsOf: URL(fileURLWithPath: "/bin/true")))
            other[18] = 0x2b
            try bundle(program, other)
            expectRefusal(try program.run("app", "verify", "Heart.app"), code: 11, says: "another processor")
            try bundle(program, Array("#!/opt/no such/python9\n".utf8))
            expectRefusal(try program.run("app", "verify", "Heart.app"), code: 11, says: "/opt/no, which")
            try bundle(program, Array("#!/usr/bin/env -S python9.9 -u\n".utf8))
            expectRefusal(
                try program.run("app", "verify", "Heart.app"),
                code: 11,
                says: "python9.9, which is not in PATH"
            )
        }
    }

    @Test(
        "app verify names the modules that a Python script imports in vain, and runs nothing of it",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3")
    )
    func python() throws {
        try inFolder { program in
            let script = """
                #!/usr/bin/env python3
                import json, no_such.part
                from beside import name
                from other_missing.part import thing as own
                try:
                    import optional_missing
                except ImportError:
                    pass
                open("ran", "w")

                """
            try bundle(program, Array(script.utf8))
            try program.write("Heart.app/beside.py", "open('ran', 'w')\nname = 1\n")
            let verified = try program.run("app", "verify", "Heart.app")
            #expect(verified.code == 11)
            #expect(
                verified.complaints == [
                    "wakebench: Heart.app: imports no_such, which this machine's Python does not have",
                    "wakebench: Heart.app: imports other_missing, which this machine's Python does not have",
                ]
            )
            #expect(!program.exists("ran") && !program.exists("Heart.app/ran"))
            try bundle(program, Array("#!/usr/bin/python3\nimport os\nif os:\nprint(1)\n".utf8))
            expectRefusal(try program.run("app", "verify", "Heart.app"), code: 11, says: "no Python", "line 4")
        }
    }

    @Test("A program cut off anywhere, or with bytes changed, is told of without harm")
    func damaged() throws {
        try inFolder { program in
            let whole = Array(try Data(contentsOf: URL(fileURLWithPath: "/bin/true")))
            var state: UInt64 = 7
            for round in 0..<40 {
                var bytes = whole
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                if round.isMultiple(of: 2) {
                    bytes = Array(
                        bytes.prefix(round < 20 ? 4 + round * 8 : Int(truncatingIfNeeded: state >> 33) % whole.count)
                    )
                } else {
                    for shift in stride(from: 0, to: 64, by: 8) {
                        bytes[4 + (Int(truncatingIfNeeded: state >> shift) & 0xff) * 4] ^= 0xa5
                    }
                }
                try bundle(program, bytes)
                let outcome = try program.run("app", "verify", "Heart.app")
                #expect([0, 11].contains(outcome.code), "round \(round): \(outcome.errors)")
                for line in outcome.complaints { #expect(line.hasPrefix("wakebench: "), "\(line)") }
            }
        }
    }
}
