import Foundation
import Testing
import WakeModel

@testable import WakeBundles

@Suite("What bundles lack for a phone")
struct BundleLintTests {
    /// A bundle with these keys of Info.plist, and a program with these bytes.
    private func findings(_ keys: [String: Any], program: String) throws -> [RuleID] {
        let folder = URL.temporaryDirectory.appending(path: "lint-\(UUID().uuidString)/Tried.app")
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let needed: [String: Any] = ["CFBundleIdentifier": "com.example.tried", "CFBundleExecutable": "tried"]
        let values = needed.merging(keys) { $1 }
        let plist = try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
        try plist.write(to: folder.appending(path: "Info.plist"))
        let tried = folder.appending(path: "tried")
        try Data(program.utf8).write(to: tried)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tried.path)
        return try AppBundle.read(folder.path).findings().map(\.rule)
    }

    private func modules(_ names: String...) -> String { "\0WakeClient\0" + names.map { "\0\($0)\0" }.joined() }

    @Test("BTP-5: a program that uses Bluetooth must say what for")
    func bluetooth() throws {
        #expect(try findings([:], program: modules("CoreBluetooth")) == [.btp5])
        let said = ["NSBluetoothAlwaysUsageDescription": "Shows the heart rate."]
        #expect(try findings(said, program: modules("CoreBluetooth")) == [])
        #expect(try findings([:], program: modules("CoreBluetoothTests")) == [])
    }

    @Test("BTP-5: a program that speaks over the wire is known by its words")
    func wire() throws {
        #expect(try findings([:], program: "#!/usr/bin/python3\nsend(type=\"central.create\")\n") == [.btp5])
    }

    @Test("BGT-1: who asks the scheduler over the wire must list identifiers; who only fetches need not")
    func tasks() throws {
        #expect(try findings([:], program: "send(type=\"backgroundTask.submit\")") == [.bgt1])
        #expect(try findings([:], program: "send(type=\"backgroundTask.setFetchInterval\")") == [])
        let listed: [String: Any] = [
            "BGTaskSchedulerPermittedIdentifiers": ["com.example.refresh"], "UIBackgroundModes": ["fetch"],
        ]
        #expect(try findings(listed, program: "send(type=\"backgroundTask.submit\")") == [])
        #expect(try findings(listed, program: "send(type=\"backgroundTask.setFetchInterval\")") == [.fetch6])
    }

    @Test("BGT-1: a list of patterns alone, for continued processing, needs no mode", arguments: [true, false])
    func patterns(isAlone: Bool) throws {
        let others = isAlone ? [] : ["com.example.clean"]
        let listed = ["BGTaskSchedulerPermittedIdentifiers": ["com.example.export.*"] + others]
        #expect(try findings(listed, program: "send(type=\"backgroundTask.submit\")") == (isAlone ? [] : [.bgt1]))
    }

    @Test("MODE-2: a mode without its framework is found")
    func mode() throws {
        let modes = ["UIBackgroundModes": ["location", "audio"]]
        #expect(try findings(modes, program: modules("AVFAudio")) == [.mode2])
    }

    @Test("EA-3, VOIP-1, OPT-1, LOC-5: five planted faults are five findings, and no other")
    func planted() throws {
        let keys: [String: Any] = [
            "UIBackgroundModes": ["voip", "bluetooth-central"], "UIApplicationExitsOnSuspend": true,
            "DTSDKName": "iphoneos17.0",
        ]
        let program = modules("ExternalAccessory", "CoreLocation")
        #expect(try findings(keys, program: program) == [.loc5, .mode2, .ea3, .voip1, .opt1])
    }

    @Test("VOIP-1: a bundle built with an old SDK keeps its sockets")
    func oldSDK() throws {
        let keys: [String: Any] = ["UIBackgroundModes": ["voip"], "DTSDKName": "iphoneos9.3"]
        #expect(try findings(keys, program: modules()) == [])
    }

    @Test(
        "A fact that is none is refused with its line",
        arguments: ["mode:flying", "likes:CoreBluetooth", "key", "!"]
    )
    func unknownFact(fact: String) {
        let text = "rule\twhen\tfinding\tremedy\nMODE-2\t\(fact)\tf\tr\n"
        #expect(throws: TableError("lint.tsv", line: 2, "there is no fact \(fact)")) {
            try BundleLint.rows(Array(text.utf8))
        }
    }
}
