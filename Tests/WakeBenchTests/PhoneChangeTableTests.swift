import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

/// What each change of the phone lets come, and what it holds, over each way on which something comes to an app.
@Suite("Changes of the phone against ways to wake")
struct PhoneChangeTableTests {
    /// An app for each way, by its name; all are suspended when the phone changes at 60 s.
    private static let ways: Set = ["push", "call", "load", "belt", "wired", "printer", "beacon", "fence"]
    private static let overNetwork: Set = ["push", "call", "load"]
    private static let overRadio: Set = ["belt", "printer", "beacon"]

    /// What comes no more after a change: all else does.
    private static func held(by change: PhoneChange) -> Set<String> {
        switch change {
        case .bluetoothOff, .bluetoothOffInControlCentre: overRadio
        case .airplaneModeOn: overNetwork.union(overRadio)
        case .airplaneModeOnKeepingBluetooth: overNetwork
        case .lowPowerModeOn: ["push"]
        // Nothing, or nothing before the first unlock.
        case .shutDown, .reboot: ways
        default: []
        }
    }

    /// One app of them all goes for want of memory, and which that is, is another matter.
    static let changes = PhoneChange.allCases.filter { $0 != .memoryShortage }

    @Test("Each change of the phone holds what it should hold, and nothing else", arguments: changes)
    func table(change: PhoneChange) throws {
        let log = try run(["at: 60s, phone: \(change.word)"])
        #expect(woken(log) == Self.ways.subtracting(Self.held(by: change)))
        if change == .reboot { return }
        let shown = log.deeds.filter { $0.deed == .notificationShown }.map(\.at)
        #expect(shown == (change == .shutDown ? [] : [Instant.zero.advanced(by: .seconds(130))]))
    }

    @Test("Without Wi-Fi and mobile data nothing comes over a network, in either order")
    func noNetwork() throws {
        for steps in [["wifi-left", "cellular-off"], ["cellular-off", "wifi-left"]] {
            let log = try run(steps.map { "at: 60s, phone: \($0)" })
            #expect(woken(log) == Self.ways.subtracting(Self.overNetwork))
        }
    }

    /// The apps that were woken once the phone had changed, and by what comes from 90 s on.
    private func woken(_ log: RunLog) -> Set<String> {
        let late = log.decisions.filter { $0.at >= Instant.zero.advanced(by: .seconds(90)) }
        let woke = late.filter { $0.verdict == .resume || $0.verdict == .relaunch }
        return Set(woke.compactMap(\.app).map { String($0.split(separator: ".").last ?? "") })
    }

    private func run(_ changes: [String]) throws -> RunLog {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-changes-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in Self.devices {
            try Data(text.utf8).write(to: folder.appending(path: "\(name).yaml"))
        }
        let file = folder.appending(path: "changes.yaml")
        try Data((Self.scenario + (changes + Self.later).map { "  - {\($0)}\n" }.joined()).utf8).write(to: file)
        let options = RunOptions(scenario: file.path, out: folder.appending(path: "out").path)
        try Run(options).execute()
        return try RunLog(folder: options.out)
    }

    /// What comes after the change; a download of 65 s began at 35 s, and a notification is due at 130 s.
    private static let later = [
        "at: 90s, push: {app: push, payload: {aps: {content-available: 1}}}", "at: 90s, voip: sip, say: HELLO",
        "at: 90s, notify: belt, characteristic: 2A37, value: \"0048\"", "at: 90s, send: wired, text: \"over\"",
        "at: 90s, send: printer, text: \"over\"", "at: 90s, position: {latitude: 48.1, longitude: 11.5}",
        "at: 160s, note: over",
    ]

    private static let scenario = """
        scenario: changes
        devices:
          - {file: belt.yaml, name: belt}
          - {file: sip.yaml, name: sip}
          - {file: wired.yaml, name: wired}
          - {file: printer.yaml, name: printer}
          - {file: beacon.yaml, name: beacon}
          - {file: files.yaml, name: files}
        apps:
          - scripted: com.example.belt
            name: belt-app
            modes: [bluetooth-central]
            uses: [{device: belt, characteristic: 2A37}]
          - {scripted: com.example.push, name: push, modes: [remote-notification], push: {}}
          - {scripted: com.example.call, name: call, sdk: 9.3, modes: [voip], voip: {servers: sip}}
          - scripted: com.example.wired
            name: wired-app
            modes: [external-accessory]
            accessory: {protocols: [com.example.wire], sessions: [{protocol: com.example.wire, text: "HI"}]}
          - scripted: com.example.printer
            name: printer-app
            modes: [external-accessory]
            accessory: {protocols: [com.example.print], sessions: [{protocol: com.example.print, text: "HI"}]}
          - scripted: com.example.beacon
            name: beacon-app
            location: {beacons: [{identifier: shop, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}]}
          - scripted: com.example.fence
            name: fence
            location: {regions: [{identifier: home, latitude: 48.1, longitude: 11.5, radius: 100m}]}
          - scripted: com.example.load
            name: load
            transfers: {sessions: [{id: all, tasks: [{download: "https://files.example.com/a"}]}]}
          - {scripted: com.example.note, name: note, notifications: {schedule: [{id: tea, body: Tea, after: 90s}]}}
        steps:
          - {at: 0, launch: belt-app}
          - {at: 0, position: {latitude: 48.2, longitude: 11.5}}
          - {at: 5s, launch: push}
          - {at: 10s, launch: call}
          - {at: 15s, launch: wired-app}
          - {at: 20s, launch: printer-app}
          - {at: 25s, launch: beacon-app}
          - {at: 30s, launch: fence}
          - {at: 35s, launch: load}
          - {at: 40s, launch: note}
          - {at: 45s, home: note}

        """

    private static let devices = [
        "belt": """
        device: bluetooth-peripheral
        name: HR Belt
        address: "F0:11:22:33:44:55"
        advertising: {interval: 100ms, services: [180D]}
        gatt: [{service: 180D, characteristics: [{uuid: 2A37, properties: [notify]}]}]

        """,
        "sip": "device: call-server\nmessages: lines\n",
        "wired": accessory("usb: {vendor: \"1d6b\", product: \"0104\"}", "com.example.wire", "tty: {}"),
        "printer": accessory(
            "bluetooth: {address: \"F0:11:22:33:90:00\"}",
            "com.example.print",
            "rfcomm: {service: 1101}"
        ),
        "beacon": """
        device: ibeacon
        address: "C2:00:00:00:00:01"
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        distance: [{after: 90s, metres: 2}]

        """,
        "files": """
        device: transfer-server
        host: files.example.com
        bandwidth: 1kB
        files: [{path: /a, size: 65kB, resumable: true}]

        """,
    ]

    private static func accessory(_ transport: String, _ name: String, _ link: String) -> String {
        """
        device: external-accessory
        name: Thing
        manufacturer: Wakebench
        model: T1
        serial-number: "1"
        firmware: "1.2.0"
        hardware: "A"
        \(transport)
        protocols:
          - protocol: \(name)
            \(link)

        """
    }
}
