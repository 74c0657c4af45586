import Foundation
import Testing
import WakeModel

@testable import WakeDevices

/// Files that are there for a scenario in `Devices/Scenarios`.
private func files() -> ScenarioFiles {
    var files = ScenarioFiles()
    // The bundle of an example is made of its folder, which is there before it is built.
    let isFolder = files.isFolder
    files.isFolder = { path in
        guard path.hasSuffix(".app") else { return isFolder(path) }
        let name = URL(filePath: path).deletingPathExtension().lastPathComponent
        return isFolder(path) || isFolder(packageFolder + "/Sources/Examples/" + name)
    }
    return files
}

private let file = packageFolder + "/Devices/Scenarios/night.yaml"

private func parse(_ text: String) throws(FileError) -> Scenario {
    try Scenario.parse(Array(text.utf8), file: file, files: files())
}

private let night = """
    scenario: night
    profile: ios13
    seed: 7
    backends: {bluetooth: fake}
    phone: {passcode: false, unlocked: true}
    devices:
      - {file: ../Bluetooth/heart-rate-belt.yaml, name: belt, count: 3}
    apps:
      - {bundle: HeartRate.app, name: heart}
      - scripted: com.example.a
        name: a
        count: 4
        modes: [bluetooth-central]
        restore-identifier: central
        uses: [{device: belt, characteristic: 2A37}]
        scan: {services: [180D], duplicates: true}
        on:
          - {event: characteristic-notified, work: 3s, then: end, task: never}
          - {event: any, then: crash}
    steps:
      - {at: 0, launch: [heart, a.1-2]}
      - {after: 1s, home: a}
      - {at: 10s, every: 30s, times: 100, notify: belt.2, characteristic: 2A37, value: "0050"}
      - {when: {app: heart, verdict: resume, kind: characteristic-notified, count: 2}, within: 5s, terminate: heart, cause: cpu}
      - {when: {app: a.3, state: suspended}, force-quit: a.3}
      - {at: 1m, phone: reboot}
      - {at: 2m, bluetooth: off}
      - {at: 3m, arm: belt, fault: late-ccc}
      - {at: 4m, out-of-range: belt.*}
      - {at: 5m, in-range: belt}
      - {at: 6m, disconnect: belt.1}
      - {at: 7m, uninstall: heart}
      - {at: 8m, note: the end}
    expect:
      - {app: heart, verdict: deny, reason: ForceQuit, rule: LAUNCH-2, count: 1}
      - {app: a, verdict: resume, at-most: 3}
      - {app: a.1, state: not-running}
      - {app: heart, exits: 0, cause: memory}
    until: T+00:10:00
    """

@Suite("Scenarios")
struct ScenarioTests {
    @Test("BTP-5: an app is a peripheral with services, and may be denied Bluetooth")
    func peripheralApp() throws {
        let scenario = try parse(
            """
            scenario: lamp
            apps:
              - scripted: com.example.lamp
                authorizations: {bluetooth: denied}
                peripheral:
                  restore-identifier: lamp
                  name: Lamp
                  services: [{service: 180F, characteristics: [{uuid: 2A19, properties: [read], value: "50"}]}]
              - {bundle: HeartRate.app, authorizations: {bluetooth: restricted}}
            until: T+00:10:00
            """
        )
        #expect(scenario.apps.map(\.bluetoothAuthorization) == [.denied, .restricted])
        guard case .scripted(let script) = scenario.apps[0].form else { throw CancellationError() }
        #expect(script.peripheral?.name == "Lamp")
        #expect(script.peripheral?.restoreIdentifier == "lamp")
        #expect(script.peripheral?.advertises == true)
        #expect(script.peripheral?.services.map(\.uuid) == ["180F"])
        #expect(script.peripheral?.services.first?.characteristics.map(\.value) == [[0x50]])
    }

    @Test("A service of an app has no notifications of its own, and authorisations are words")
    func badPeripheralApp() {
        let entry =
            "{service: 180F, characteristics: [{uuid: 2A19, properties: [notify], notifications: [{after: 1s, values: [\"50\"]}]}]}"
        var error = #expect(throws: FileError.self) {
            try parse("scenario: x\napps:\n  - {scripted: a.b, peripheral: {services: [\(entry)]}}\nuntil: T+00:00:01")
        }
        let notified =
            "notifications in a service of an app; expected none: a central is sent the value when it subscribes"
        #expect(error?.description == "\(file):3: " + notified)
        error = #expect(throws: FileError.self) {
            try parse(
                "scenario: x\napps:\n  - {scripted: a.b, authorizations: {bluetooth: perhaps}}\nuntil: T+00:00:01"
            )
        }
        let perhaps = "unknown authorization 'perhaps'; expected one of allowed, denied, restricted"
        #expect(error?.description == "\(file):3: " + perhaps)
    }

    @Test("A scenario is read whole, with every name resolved")
    func reads() throws {
        let scenario = try parse(night)
        #expect(scenario.name == "night")
        #expect(scenario.profile == .ios13)
        #expect(scenario.seed == 7)
        #expect(scenario.backends == [BackendChoice(source: .bluetooth, word: "simulated", line: 4)])
        #expect(scenario.phone.passcode == false)
        #expect(scenario.devices.map(\.name) == ["belt.1", "belt.2", "belt.3"])
        #expect(scenario.devices.last?.peripheral?.addressText == "F0:11:22:33:44:57")
        #expect(scenario.apps.map(\.name) == ["heart", "a.1", "a.2", "a.3", "a.4"])
        #expect(scenario.until == .seconds(600))
        #expect(scenario.origin(line: 31) == "night.yaml:31")
        #expect(
            scenario.steps.map(\.verb) == [
                .user(apps: [0, 1, 2], .launch), .user(apps: [1, 2, 3, 4], .home),
                .notify(devices: [1], characteristic: "2A37", value: [0, 0x50]), .terminate(apps: [0], .cpu),
                .user(apps: [3], .forceQuit), .phone(.reboot), .phone(.bluetoothOff),
                .arm(devices: [0, 1, 2], fault: "late-ccc"), .range(devices: [0, 1, 2], inRange: false),
                .range(devices: [0, 1, 2], inRange: true), .disconnect(devices: [0]), .uninstall(apps: [0]),
                .note("the end"),
            ]
        )
        #expect(scenario.steps[0].line == 21)
        #expect(scenario.steps[0].trigger == .at(.zero))
        #expect(scenario.steps[1].trigger == .after(.seconds(1)))
        #expect((scenario.steps[2].times, scenario.steps[2].every) == (100, .seconds(30)))
        let filter = DecisionFilter(verdict: .resume, kind: .characteristicNotified)
        #expect(scenario.steps[3].trigger == .when(.decisions(apps: [0], filter, count: 2), within: .seconds(5)))
        #expect(scenario.steps[4].trigger == .when(.state(apps: [3], .suspended), within: .seconds(60)))
        #expect(
            scenario.expectations.map(\.subject) == [
                .decisions(
                    DecisionFilter(verdict: .deny, reason: .forceQuit, rule: .launch2),
                    .init(atLeast: 1, atMost: 1)
                ),
                .decisions(DecisionFilter(verdict: .resume), .init(atLeast: 0, atMost: 3)),
                .state(.notRunning), .exits(.memory, .init(atLeast: 0, atMost: 0)),
            ]
        )
    }

    @Test("BTC-14: the phone forgets the attributes of peripherals, and of nothing else")
    func forgetAttributes() throws {
        func text(_ device: String) -> String {
            """
            scenario: night
            devices:
              - {file: ../Bluetooth/heart-rate-belt.yaml, name: belt, count: 2}
              - {phone: evening, name: hub}
            apps:
              - {scripted: com.example.a, name: a}
            steps:
              - {at: 0, forget-attributes: \(device)}
            until: 1m
            """
        }
        #expect(try parse(text("[belt.2]")).steps.map(\.verb) == [.forgetAttributes(devices: [1])])
        let error = #expect(throws: FileError.self) { try parse(text("hub")) }
        #expect(error?.line == 8)
    }

    @Test("BTC-8: the user sets up peripherals for apps that declare it, and for no scripted app that does not")
    func setUp() throws {
        func text(_ step: String) -> String {
            """
            scenario: night
            devices:
              - {file: ../Bluetooth/heart-rate-belt.yaml, name: belt, count: 2}
            apps:
              - {bundle: HeartRate.app, name: heart}
              - {scripted: com.example.a, name: a, accessory-setup: true}
              - {scripted: com.example.b, name: b}
            steps:
              - {at: 0, \(step)}
            until: 1m
            """
        }
        let scenario = try parse(text("set-up: [heart, a], device: belt.2"))
        #expect(scenario.steps.map(\.verb) == [.setUp(apps: [0, 1], devices: [1])])
        for (step, part) in [
            ("set-up: b, device: belt", "night.yaml:9: 'b'; expected an app with 'accessory-setup: true'"),
            ("set-up: a", "night.yaml:9: a step without 'device'"),
            ("set-up: a, device: bell", "unknown device 'bell'"),
            ("home: a, device: belt", "'device' beside 'home'"),
        ] {
            let error = #expect(throws: FileError.self) { try parse(text(step)) }
            let message = error.map { "\($0)" } ?? ""
            #expect(message.contains(part), "\(message)")
        }
    }

    @Test("A scripted app with count makes as many apps, each with the device of its number, counted round")
    func scripted() throws {
        let scenario = try parse(night)
        let scripts = scenario.apps.compactMap { app -> ScriptedApp? in
            guard case .scripted(let script) = app.form else { return nil }
            return script
        }
        #expect(scripts.map(\.identifier) == (1...4).map { "com.example.a.\($0)" })
        #expect(scripts.map { $0.uses.map(\.device) } == [[0], [1], [2], [0]])
        let script = try #require(scripts.first)
        #expect(script.modes == BackgroundModes([.bluetoothCentral]))
        #expect(script.restoreIdentifier == "central")
        #expect(script.uses[0].characteristics == ["2A37"])
        #expect(script.scan?.services == ["180D"])
        #expect(script.scan?.allowDuplicates == true)
        #expect(script.reaction(to: .characteristicNotified)?.then == .end)
        #expect(script.reaction(to: .characteristicNotified)?.work == .seconds(3))
        #expect(script.reaction(to: .characteristicNotified)?.task == .neverEnds)
        #expect(script.reaction(to: .peripheralConnected)?.then == .crash)
    }

    @Test(
        "A wrong scenario is one line with its place and what was expected",
        arguments: [
            (
                "scenario: night", "scenaro: night",
                "night.yaml:1: unknown key 'scenaro' in a scenario; expected 'scenario'"
            ),
            ("ios13", "ios14", "night.yaml:2: unknown profile 'ios14'; expected 'ios1"),
            ("seed: 7", "seed: x", "night.yaml:3: 'x'; expected a whole number"),
            (
                "bluetooth: fake", "bluetooth: blues",
                "night.yaml:4: unknown bluetooth backend 'blues'; expected 'bluez'"
            ),
            ("bluetooth: fake", "blutooth: fake", "unknown key 'blutooth' in backends; expected 'bluetooth'"),
            ("heart-rate-belt.yaml", "heart-belt.yaml", "night.yaml:7: no device file '../Bluetooth/heart-belt.yaml'"),
            ("name: belt,", "name: be.lt,", "night.yaml:7: the name 'be.lt'; expected 1 to 64 letters"),
            ("HeartRate.app", "Heart.app", "night.yaml:9: no app bundle 'Heart.app'; expected it in "),
            ("name: heart}", "name: heart, modes: []}", "night.yaml:9: 'modes' beside 'bundle'"),
            ("name: a\n", "name: heart\n", "night.yaml:11: a second app named 'heart'"),
            ("com.example.a", "com/example", "a bundle identifier"),
            ("count: 4", "count: 0", "night.yaml:12: '0'; expected a whole number from 1 to 10000"),
            (
                "[bluetooth-central]", "[bluetooth-centrl]",
                "unknown background mode 'bluetooth-centrl'; expected 'bluetooth-central'"
            ),
            (
                "{device: belt, characteristic: 2A37}", "{device: bell}",
                "night.yaml:15: unknown device 'bell'; expected 'belt'"
            ),
            (
                "{device: belt, characteristic: 2A37}", "{device: belt, characteristic: 2A38}",
                "which does not notify; expected"
            ),
            ("then: end", "then: sleep", "unknown ending 'sleep'"),
            ("event: any", "event: every", "unknown event 'every'"),
            ("a.1-2", "a.1-5", "night.yaml:21: unknown app 'a.1-5'; expected a, a.1 to a.4, or a range such as a.1-4"),
            ("a.1-2", "heart.1", "unknown app 'heart.1'; expected 'heart'"),
            ("a.1-2", "a.2-1", "unknown app 'a.2-1'"),
            ("a.1-2", "heart", "a list that names one app twice"),
            ("launch:", "lunch:", "night.yaml:21: unknown key 'lunch' in a step; expected 'launch'"),
            ("at: 0, ", "", "night.yaml:21: a step without a time; expected one of at, after, when"),
            ("at: 0, ", "at: 0, after: 1s, ", "night.yaml:21: 'after' beside 'at' in a step; expected one of the two"),
            ("at: 0, ", "at: 0, within: 1s, ", "'within' beside 'at'"),
            ("home: a}", "home: a, note: x}", "'note' beside 'home'"),
            ("home: a}", "every: 5s, times: 2}", "a step without something to do"),
            ("every: 30s, ", "", "night.yaml:23: 'times' without 'every'; expected the time"),
            ("characteristic: 2A37, value: \"0050\"", "characteristic: 2A37", "a step without 'value'"),
            ("belt.2, characteristic: 2A37", "belt.2, characteristic: 2A99", "unknown characteristic 2A99 of belt.2"),
            ("cause: cpu", "cause: hunger", "night.yaml:24: unknown cause 'hunger'"),
            ("verdict: resume, kind", "verdict: resumed, kind", "unknown verdict 'resumed'; expected 'resume'"),
            ("state: suspended", "state: asleep", "unknown state 'asleep'"),
            ("phone: reboot", "phone: explode", "unknown change of the phone 'explode'"),
            ("bluetooth: off", "bluetooth: offf", "unknown change of Bluetooth 'offf'; expected 'off'"),
            ("fault: late-ccc", "fault: late-cc", "unknown fault 'late-cc' of belt.1; expected 'late-ccc'"),
            ("reason: ForceQuit", "reason: Forcequit", "unknown reason 'Forcequit'; expected 'ForceQuit'"),
            ("rule: LAUNCH-2", "rule: LUNCH-2", "unknown rule 'LUNCH-2'; expected 'LAUNCH-2'"),
            ("at-most: 3", "at-most: 3, at-least: 4", "at-most 3 below at-least 4"),
            ("verdict: resume, at-most: 3", "at-most: 3", "an expectation about nothing"),
            ("until: T+00:10:00", "until: 0", "a time longer than 0"),
            ("apps:\n", "apps: none\nx:\n", "unknown key 'x'"),
        ]
    )
    func wrong(what: String, with replacement: String, part: String) throws {
        let text = night.replacing(what, with: replacement, maxReplacements: 1)
        try #require(text != night)
        let error = #expect(throws: FileError.self) { try parse(text) }
        let message = error.map { "\($0)" } ?? ""
        #expect(message.contains(part), "\(message)")
        #expect(!message.contains("\n"))
    }

    @Test(
        "The other words of YAML for on and off turn Bluetooth and airplane mode on and off",
        arguments: [("true", true), ("yes", true), ("on", true), ("false", false), ("no", false), ("off", false)]
    )
    func switches(word: String, on: Bool) throws {
        let steps = "  - {at: 0, bluetooth: \(word)}\n  - {at: 0, airplane-mode: \(word)}\n"
        let scenario = try parse("scenario: x\napps: [{scripted: a}]\nsteps:\n\(steps)until: 1s\n")
        #expect(
            scenario.steps.map(\.verb) == [
                .phone(on ? .bluetoothOn : .bluetoothOff), .phone(on ? .airplaneModeOn : .airplaneModeOff),
            ]
        )
    }

    @Test("Counts that would fill the memory are refused")
    func bounds() {
        let manyApps = "scenario: x\napps: [{scripted: a, count: 10000}]\n"
        for (text, part) in [
            (manyApps + "steps:\n" + String(repeating: "  - {at: 0, home: a}\n", count: 200), "1000000 apps in all"),
            (manyApps + "steps:\n  - {at: 0, every: 1s, times: 2000001, note: x}\n", "from 1 to 2000000"),
            (
                manyApps + "steps:\n"
                    + String(repeating: "  - {at: 0, every: 1s, times: 1500000, note: x}\n", count: 2),
                "happen 3000000 times in all"
            ),
            ("scenario: x\napps: [{scripted: a, count: 10000}, {scripted: b, count: 1}]\n", "10001 apps"),
        ] {
            let error = #expect(throws: FileError.self) { try parse(text) }
            #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
        }
    }

    @Test("A wrong device file is reported with its own place")
    func wrongDevice() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/scenario-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("device: bluetooth-peripheral\nadress: x\n".utf8).write(to: URL(fileURLWithPath: folder + "/b.yaml"))
        let text = "scenario: x\napps: []\ndevices: [{file: b.yaml}]\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/s.yaml"))
        let error = #expect(throws: FileError.self) { try Scenario.load(file: folder + "/s.yaml") }
        #expect(error.map { "\($0)" }?.hasPrefix("\(folder)/b.yaml:2: unknown key 'adress'") == true)
    }

    @Test("A scenario cut at each byte never crashes")
    func cut() {
        let bytes = Array(night.utf8)
        for length in bytes.indices {
            damaged(Array(bytes[..<length]), of: file) { try Scenario.parse($0, file: $1, files: files()) }
        }
    }

    @Test("A scrambled scenario never crashes", arguments: 1...4)
    func scrambled(seed: UInt64) {
        let bytes = Array(night.utf8)
        var random = Scrambler(seed: seed)
        for _ in 0..<500 {
            damaged(random.scramble(bytes), of: file) { try Scenario.parse($0, file: $1, files: files()) }
        }
    }

    @Test("Every shipped scenario is read")
    func shipped() throws {
        let folder = packageFolder + "/Devices/Scenarios"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
        #expect(names.count >= 10)
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
            let scenario = try Scenario.parse(bytes, file: folder + "/" + name, files: files())
            #expect(scenario.name + ".yaml" == name)
            #expect(!scenario.expectations.isEmpty)
        }
    }

    @Test("The examples of the format's page are read")
    func examples() throws {
        let page = try String(contentsOfFile: packageFolder + "/Devices/README.md", encoding: .utf8)
        let blocks = page.components(separatedBy: "```yaml\n").dropFirst()
            .map { Array($0.components(separatedBy: "```")[0].utf8) }
        try #require(blocks.count == 11)
        let belt = try BluetoothPeripheral.parse(blocks[0], file: "README.md")
        #expect(belt.characteristic("2A37")?.timetable.count == 2884)
        #expect(try BluetoothPeripheral.parse(blocks[1], file: "README.md").answers.rules.first?.count == 1)
        let beacon = try Beacon.parse(blocks[2], file: "README.md")
        #expect(beacon.faults.count == 4)
        let central = try BluetoothCentral.parse(blocks[3], file: "README.md")
        #expect(central.script.count == 10)
        let places = Array("<gpx><wpt lat='1' lon='2'/><wpt lat='1' lon='3'/></gpx>".utf8)
        let track = try LocationTrack.parse(blocks[4], file: "README.md") { (_) throws(FileError) in places }
        #expect(track.faults.count == 1)
        #expect(try LocationTrack.parse(blocks[5], file: "README.md").length > .seconds(20))
        #expect(try AudioDevice.parse(blocks[6], file: "README.md").faults.count == 2)
        #expect(try ExternalAccessory.parse(blocks[7], file: "README.md").file == "README.md")
        #expect(try TransferServer.parse(blocks[8], file: "README.md").host == "podcasts.example.com")
        #expect(try CallServer.parse(blocks[9], file: "README.md").plan.count == 7)
        let scenario = try Scenario.parse(blocks[10], file: file, files: files())
        #expect(scenario.apps.count == 101)
    }
}
