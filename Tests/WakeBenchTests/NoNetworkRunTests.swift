import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

/// Runs of a phone whose network or radio goes: nothing comes over what is not there.
@Suite("Runs without a network or without Bluetooth")
struct NoNetworkRunTests {
    private func run(_ scenario: String, _ device: String) throws -> RunLog {
        var log: RunLog?
        try ScenarioFolder.with(scenario, belt: device) { options in
            try Run(options).execute()
            log = try RunLog(folder: options.out)
        }
        return try #require(log)
    }

    private func second(_ second: Int64) -> Instant { Instant.zero.advanced(by: .seconds(second)) }

    private static let server = """
        device: call-server
        messages: lines

        """

    private static func calls(_ gone: [String], _ back: [String], _ settings: String = "", until: Int = 150) -> String {
        let said = ["  - {at: 90s, voip: sip, say: HELLO}"]
        let steps = gone.map { "  - {at: 60s, \($0)}" } + said + back.map { "  - {at: 120s, \($0)}" }
        return """
            scenario: calls
            devices: [{file: belt.yaml, name: sip}]
            apps:
              - scripted: com.example.p
                name: p
                sdk: 9.3
                modes: [voip]
                voip: {servers: sip}
            \(settings)
            steps:
              - {at: 0, launch: p}
              - {at: 5s, home: p}
            \(steps.joined(separator: "\n"))
            until: \(until)s

            """
    }

    static let networks: [(gone: [String], back: [String])] = [
        (["airplane-mode: on"], ["airplane-mode: off"]),
        (["airplane-mode: on-keeping-bluetooth"], ["airplane-mode: off"]),
        (["phone: wifi-left", "phone: cellular-off"], ["phone: cellular-on"]),
        (["phone: cellular-off", "phone: wifi-left"], ["phone: wifi-joined"]),
    ]

    @Test("VOIP-7: nothing of a server comes without a network, and it comes with the next", arguments: networks)
    func waits(gone: [String], back: [String]) throws {
        let log = try run(Self.calls(gone, back, "settings: {voip.connectionTimeout: 31s}"), Self.server)
        let calls = log.decisions.filter { $0.source == "voip" }
        #expect(calls.map(\.kind) == ["voip-data"])
        #expect(calls.map(\.verdict) == [.resume])
        #expect(calls.map(\.at) == [second(120)])
        #expect(log.notes.map(\.text).contains("voip sip: the phone has no network, and it waits for one"))
    }

    @Test("VOIP-7: nothing of a server comes as long as there is no network", arguments: networks)
    func comesNot(gone: [String], back: [String]) throws {
        let log = try run(Self.calls(gone, []), Self.server)
        #expect(log.decisions.allSatisfy { $0.source != "voip" })
    }

    @Test("VOIP-7: one network of two is one")
    func oneOfTwo() throws {
        for gone in ["phone: wifi-left", "phone: cellular-off"] {
            let log = try run(Self.calls([gone], []), Self.server)
            let calls = log.decisions.filter { $0.source == "voip" }
            #expect(calls.map(\.verdict) == [.resume] && calls.map(\.at) == [second(90)], "\(gone)")
        }
    }

    @Test("VOIP-7: a connection on which something waited for too long has failed")
    func fails() throws {
        let (gone, back) = Self.networks[0]
        let log = try run(Self.calls(gone, back), Self.server)
        let calls = log.decisions.filter { $0.source == "voip" }
        #expect(calls.map(\.kind) == ["voip-closed"])
        #expect(calls.map(\.at) == [second(120)])
    }

    private static func accessory(_ transport: String, _ link: String) -> String {
        """
        device: external-accessory
        name: Printer
        manufacturer: Wakebench
        model: P1
        serial-number: "1"
        firmware: "1.2.0"
        hardware: "A"
        \(transport)
        protocols:
          - protocol: com.example.print
            \(link)

        """
    }

    private static let radio = "bluetooth: {address: \"F0:11:22:33:90:00\"}"
    private static let channel = "rfcomm: {service: 1101, channel: 3}"
    private static let wire = "usb: {vendor: \"1d6b\", product: \"0104\"}"

    private static func prints(_ off: String, _ on: String) -> String {
        """
        scenario: prints
        devices: [{file: belt.yaml, name: printer}]
        apps:
          - scripted: com.example.p
            name: p
            modes: [external-accessory]
            accessory: {protocols: [com.example.print], sessions: [{protocol: com.example.print, text: "HI\\n"}]}
        steps:
          - {at: 0, launch: p}
          - {at: 5s, home: p}
          - {at: 60s, \(off)}
          - {at: 90s, send: printer, text: "paper out\\n"}
          - {at: 120s, \(on)}
        until: 150s

        """
    }

    @Test(
        "EA-2: an accessory over Bluetooth is gone without it: its app is told, and what it sends reaches nobody",
        arguments: [
            ("bluetooth: off", "bluetooth: on"), ("bluetooth: off-in-control-centre", "bluetooth: on"),
            ("airplane-mode: on", "airplane-mode: off"),
        ]
    )
    func withoutBluetooth(off: String, on: String) throws {
        let log = try run(Self.prints(off, on), Self.accessory(Self.radio, Self.channel))
        #expect(log.decisions.allSatisfy { $0.kind != "accessory-data" })
        let gone = try #require(log.decisions.first { $0.kind == "accessory-disconnected" })
        #expect(gone.at == second(60) && gone.verdict == .resume)
        let back = try #require(log.decisions.last { $0.kind == "accessory-connected" })
        #expect(back.at == second(120) && back.verdict == .resume)
        #expect(log.notes.map(\.text).contains { $0.hasPrefix("send printer ") && $0.hasSuffix(": Bluetooth is off") })
    }

    static let staying = [
        (wire, "tty: {}", "bluetooth: off"), (wire, "tty: {}", "airplane-mode: on"),
        (radio, channel, "airplane-mode: on-keeping-bluetooth"),
    ]

    @Test("EA-2: an accessory on a wire stays, and so does one over a Bluetooth that stays on", arguments: staying)
    func stays(transport: String, link: String, off: String) throws {
        let log = try run(Self.prints(off, "note: over"), Self.accessory(transport, link))
        #expect(log.decisions.allSatisfy { $0.kind != "accessory-disconnected" })
        let data = log.decisions.filter { $0.kind == "accessory-data" }
        #expect(data.map(\.at) == [second(90)] && data.map(\.verdict) == [.resume])
    }
}
