import Foundation
import Testing
import WakeModel

@testable import WakeDevices

@Suite("Call servers")
struct CallServerTests {
    private static let folder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Devices"

    private let plain = """
        device: call-server
        port: 5070
        messages: lines
        plan:
          - await: HELLO
          - send: "WELCOME ${Name}\\n"
          - pause: 30s
          - stall: 5s
          - garbage: 12
          - pour: 20kB
          - half-close: true
          - reset: true
        answers: [{to: PING, send: PONG}]
        faults: [{name: restart, reset: true}, {name: noise, garbage: 4}]
        """

    private func parse(_ text: String) throws(FileError) -> CallServer {
        try CallServer.parse(Array(text.utf8), file: "server.yaml")
    }

    @Test("A server says what its plan says, in order")
    func reads() throws {
        let server = try parse(plain)
        #expect(server.port == 5070)
        #expect(server.framing == .lines)
        #expect(
            server.plan == [
                .await("HELLO"), .send("WELCOME ${Name}\n"), .pause(.seconds(30)), .stall(.seconds(5)), .garbage(12),
                .pour(20_000), .halfClose, .reset,
            ]
        )
        #expect(server.answers == [CallServer.Answer(prefix: "PING", text: "PONG")])
        #expect(server.faults.map(\.name) == ["restart", "noise"])
    }

    @Test("A server needs no more than its kind")
    func least() throws {
        let server = try parse("device: call-server")
        #expect(server.port == 0)
        #expect(server.framing == .sip)
        #expect(server.plan.isEmpty)
    }

    @Test("Each shipped server is read")
    func shipped() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder + "/VoIP")
        #expect(!names.isEmpty)
        for name in names {
            #expect(try CallServer.load(file: Self.folder + "/VoIP/" + name).plan.isEmpty == false)
        }
    }

    @Test(
        "A wrong server is one line with its place and what was expected",
        arguments: [
            ("call-server", "toaster", "server.yaml:1: unknown kind of device 'toaster'; expected one of call-server"),
            ("port: 5070", "port: 70000", "'70000'; expected a whole number from 0 to 65535"),
            ("messages: lines", "messages: words", "unknown way to tell messages apart 'words'"),
            ("await: HELLO", "wait: HELLO", "unknown key 'wait' in a step of a plan; expected 'await'"),
            ("pause: 30s", "pause: 0s", "expected a time longer than 0"),
            ("pour: 20kB", "pour: 2GB", "'2GB'; expected a number of bytes such as 512"),
            ("pour: 20kB", "pour: 2000000MB", "'2000000MB'; expected a number of bytes"),
            ("half-close: true", "half-close: false", "'false'; expected true"),
            ("{to: PING, send", "{to: PING, sent", "unknown key 'sent' in an answer"),
            ("name: noise", "name: restart", "a second fault 'restart'"),
            ("name: noise, garbage: 4", "name: noise, await: X", "a fault that waits"),
        ]
    )
    func wrong(old: String, new: String, message: String) {
        #expect {
            try parse(plain.replacingOccurrences(of: old, with: new))
        } throws: { error in
            (error as? FileError)?.description.contains(message) == true
        }
    }

    @Test("A file cut anywhere is read or refused, and never stops the program")
    func cut() {
        let bytes = Array(plain.utf8)
        for length in bytes.indices {
            damaged(Array(bytes[..<length]), of: "server.yaml") { try CallServer.parse($0, file: $1) }
        }
    }

    @Test("Poured bytes are told by their place, however they are taken")
    func poured() {
        var whole = PouredBytes(seed: 7)
        var parts = PouredBytes(seed: 7)
        let bytes = whole.next(10_000)
        var same: [UInt8] = []
        for count in [1, 2, 3, 7, 8, 9, 100, 9_870] { same += parts.next(count) }
        #expect(bytes == same)
        #expect(parts.offset == 10_000)
        var other = PouredBytes(seed: 8)
        #expect(other.next(10_000) != bytes)
        #expect(Set(stride(from: 0, to: 9_992, by: 8).map { Array(bytes[$0..<$0 + 8]) }).count == 1_249)
    }

    @Test("A scenario names servers in steps, in the sockets of its apps, and in its settings")
    func scenario() throws {
        let text = """
            scenario: calls
            voip: {wakeLimit: off, legacy: on}
            devices: [{file: VoIP/sip-server.yaml, name: sip}]
            apps:
              - {scripted: com.example.a, name: a, sdk: 9.3, modes: [voip], voip: {servers: sip, keep-alive: 10m}}
            steps:
              - {at: 0, voip: sip, say: OPTIONS}
              - {at: 1s, voip: sip, act: half-close}
              - {at: 2s, arm: sip, fault: restart}
            """
        let scenario = try Scenario.parse(Array(text.utf8), file: Self.folder + "/calls.yaml")
        let profile = Profile.ios17.with(scenario.settings)
        #expect(profile.areas.voip.wakeLimit == nil)
        #expect(profile.areas.voip.legacy == .on)
        #expect(
            scenario.steps.map(\.verb) == [
                .call(devices: [0], .send("OPTIONS")), .call(devices: [0], .halfClose),
                .arm(devices: [0], fault: "restart"),
            ]
        )
        guard case .scripted(let app) = scenario.apps[0].form else {
            Issue.record("no scripted app")
            return
        }
        #expect(app.sdk == SDKVersion(9, 3))
        #expect(app.voip == ScriptedApp.VoIPUse(servers: [0], keepAlive: .seconds(600)))
    }
}
