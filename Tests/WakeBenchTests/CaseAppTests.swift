import Foundation
import Testing

/// Cases of documents and reports that need a bundle.
@Suite("Cases of apps in bundles", .enabled(if: BenchProgram.python, "needs /usr/bin/python3"))
struct CaseAppTests {
    private static let devices = BenchProgram.repository.appending(path: "Devices/Bluetooth").path

    @Test("BTC-8: an app that names Bluetooth by NSAccessorySetupSupports is relaunched after a force quit on iOS 26")
    func askKey() throws {
        let bench = try BenchProgram()
        let source = BenchProgram.repository.appending(path: "Sources/Examples/HeartRatePython/heart_rate.py")
        try bench.makeApp(
            "Ask",
            "com.example.ask",
            text: try String(contentsOf: source, encoding: .utf8),
            keys: "<key>NSAccessorySetupSupports</key><array><string>Bluetooth</string></array>"
        )
        try bench.write(
            """
            scenario: ask-key
            profile: ios26
            devices: [{file: \(Self.devices)/heart-rate-belt.yaml, name: belt}]
            apps: [{bundle: Ask.app, name: ask}]
            steps:
              - {at: 0, launch: ask}
              - {at: 1s, set-up: ask, device: belt}
              - {at: 10s, home: ask}
              - {when: {app: ask, state: suspended}, force-quit: ask}
            expect:
              - {app: ask, verdict: relaunch, reason: RelaunchedForAccessory, at-least: 1}
            until: 3m
            """,
            to: "ask.yaml"
        )
        let run = try bench.run(["run", "ask.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
    }

    @Test(
        "BTC-13: bytes on a channel resume the app of the logger, and with the switch off the notification alone does",
        arguments: [true, false]
    )
    func channel(wakes: Bool) throws {
        let bench = try BenchProgram()
        try bench.install("Logger")
        try bench.write(
            """
            scenario: l2cap-wake
            profile: ios26
            settings: {channelDataWakes: \(wakes ? "on" : "off")}
            devices: [{file: \(Self.devices)/l2cap-logger.yaml, name: logger}]
            apps: [{bundle: Logger.app, name: logger}]
            steps:
              - {at: 0, launch: logger}
              - {when: {app: logger, verdict: foreground-deliver, kind: l2cap-opened}, within: 2m, home: logger}
            expect:
              - {app: logger, verdict: resume, kind: l2cap-data, \(wakes ? "at-least: 3" : "count: 0")}
              - {app: logger, verdict: \(wakes ? "background-deliver" : "resume"), kind: characteristic-notified, count: 1}
            until: 90s
            """,
            to: "channel.yaml"
        )
        let run = try bench.run(["run", "channel.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
    }
}
