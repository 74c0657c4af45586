import Foundation
import Testing
import WakeReports

@testable import WakeBench

@Suite("Steps of one instant")
struct StepOrderTests {
    /// An event that a step makes, the device that it needs, and what its app is beside that.
    struct Event: CustomTestStringConvertible {
        var step: String
        var device = Self.belt
        var app = ""

        var testDescription: String { step }

        private static let belt = """
            device: bluetooth-peripheral
            name: Belt
            address: "F0:11:22:33:44:55"
            gatt:
              - service: 180D
                characteristics: [{uuid: 2A37, properties: [notify], value: "0048"}]
            advertising: {services: [180D]}

            """

        private static let server = """
            device: call-server
            messages: lines
            answers:
              - {to: PING, send: PONG}

            """

        private static let printer = """
            device: external-accessory
            name: Printer
            manufacturer: Wakebench
            model: P1
            serial-number: "1"
            firmware: "1"
            hardware: "A"
            bluetooth: {address: "F0:11:22:33:90:00"}
            protocols:
              - protocol: com.example.print
                rfcomm: {service: 1101, channel: 3}

            """

        static let all = [
            Event(
                step: #"notify: device, characteristic: 2A37, value: "0051""#,
                app: "uses: [{device: device, characteristic: 2A37}]"
            ),
            Event(
                step: "enter: office",
                app: "location: {regions: [{identifier: office, latitude: 52.3731, longitude: 4.8922, radius: 150m}]}"
            ),
            Event(step: "push: {app: app, payload: {aps: {content-available: 1}}}"),
            Event(step: "voip: device, say: HELLO", device: server, app: "voip: {servers: device}"),
            Event(
                step: #"send: device, text: "done\n""#,
                device: printer,
                app: "accessory: {protocols: [com.example.print], sessions: [{protocol: com.example.print}]}"
            ),
        ]
    }

    static let others = [
        "bluetooth: off", "bluetooth: off-in-control-centre", "airplane-mode: on", "force-quit: app", "phone: reboot",
        "uninstall: app", "authorize: app, location: denied", "phone: lock", "terminate: app, cause: memory",
    ]

    /// What was decided in a run of two steps so far apart, and what ended.
    private func outcome(_ event: Event, _ steps: [String], apart: String, readsBack: Bool) throws -> [String] {
        let scenario = """
            scenario: order
            devices: [{file: belt.yaml, name: device}]
            apps:
              - scripted: com.example.app
                name: app
                sdk: 9.3
                modes: [bluetooth-central, external-accessory, voip, remote-notification]
                restore-identifier: central
                push: {work: 1s}
                \(event.app)
            steps:
              - {at: 0, launch: app}
              - {at: 20s, home: app}
              - {at: 120s, \(steps[0])}
              - {after: \(apart), \(steps[1])}
            until: 150s

            """
        var lines: [String] = []
        try ScenarioFolder.with(scenario, belt: event.device) { options in
            try Run(options).execute()
            let log = try RunLog(folder: options.out)
            lines = log.decisions.map { "\($0.kind) \($0.verdict) \($0.reason)" } + log.exits.map { "\($0.cause)" }
            guard readsBack else { return }
            // Read back, as after a kill before its reports, it says the same.
            let file = options.out + "/outcomes.ndjson"
            let before = FileManager.default.contents(atPath: file)
            try Run(options).execute()
            #expect(FileManager.default.contents(atPath: file) == before)
        }
        return lines
    }

    @Test(
        "Two steps of one instant come to what they come to a moment apart, in the order of their lines",
        arguments: Event.all,
        others
    )
    func asApart(event: Event, other: String) throws {
        for steps in [[event.step, other], [other, event.step]] {
            let apart = try outcome(event, steps, apart: "20ms", readsBack: false)
            let together = try outcome(event, steps, apart: "0", readsBack: true)
            #expect(together == apart, "\(steps)")
        }
    }

    @Test("EA-2: what an accessory's script sends at the instant of a step reaches the app before it")
    func scriptBeforeStep() throws {
        let printer = """
            device: external-accessory
            name: Printer
            manufacturer: Wakebench
            model: P1
            serial-number: "1"
            firmware: "1"
            hardware: "A"
            bluetooth: {address: "F0:11:22:33:90:00"}
            protocols:
              - protocol: com.example.print
                rfcomm: {service: 1101, channel: 3}
                send: [{after: 120s, text: ["done\\n"]}]

            """
        let event = Event(
            step: "note: sent",
            device: printer,
            app: "accessory: {protocols: [com.example.print], sessions: [{protocol: com.example.print}]}"
        )
        let lines = try outcome(event, [event.step, "terminate: app, cause: memory"], apart: "0", readsBack: true)
        #expect(lines.contains("accessory-data resume resumed"))
    }

    @Test("Steps of one instant are in the order of their lines, whether they say `at` or `after`")
    func order() throws {
        let scenario = """
            scenario: order
            apps: [{scripted: com.example.a, name: a}]
            steps:
              - {at: 0, launch: a}
              - {after: 1s, note: second}
              - {at: 1s, note: third}
              - {after: 0, note: fourth}
              - {at: 1s, note: fifth}
            until: 2s

            """
        try ScenarioFolder.with(scenario, belt: "") { options in
            try Run(options).execute()
            #expect(try RunLog(folder: options.out).notes.map(\.text) == ["second", "third", "fourth", "fifth"])
        }
    }

    @Test("What a scripted app does at once comes before the next step of the instant")
    func scriptedAtOnce() throws {
        let event = Event.all[0]
        let app = "\(event.app)\n    on: [{event: characteristic-notified, then: crash}]"
        let crashing = Event(step: event.step, device: event.device, app: app)
        let lines = try outcome(crashing, [event.step, "terminate: app, cause: memory"], apart: "0", readsBack: true)
        #expect(lines.contains("crash"))
    }

    @Test("However many steps one instant has, each waits for what came before it")
    func manySteps() throws {
        // More than the rounds that one of them waits at most.
        let others = Array(repeating: "  - {at: 1s, phone: unlock}", count: Run.mostRounds + 100)
        let scenario = """
            scenario: many
            apps: [{scripted: com.example.a, name: a}]
            steps:
            \(others.joined(separator: "\n"))
              - {at: 1s, launch: a}
              - {at: 1s, measure: a, footprint: 90MB}
            until: 2s

            """
        try ScenarioFolder.with(scenario, belt: "") { options in
            try Run(options).execute()
            #expect(try RunLog(folder: options.out).notes.map(\.text) == [])
        }
    }

    @Test(
        "SYS-2: a state that an app only passes through makes no `when` come true, in a run or in its journal read back"
    )
    func passedThrough() throws {
        let scenario = """
            scenario: passing
            apps: [{scripted: com.example.a, name: a}]
            steps:
              - {at: 1s, launch: a}
              - {when: {app: a, state: inactive}, within: 10m, note: inactive}
              - {at: 30s, note: later}
              - {when: {app: a, state: active}, within: 10m, note: active}
            until: 1m

            """
        try ScenarioFolder.with(scenario, belt: "") { options in
            // The second reads the journal back, as after a kill before the reports.
            for _ in 1...2 {
                try Run(options).execute()
                let notes = try RunLog(folder: options.out).notes.map(\.text)
                #expect(notes == ["later", "active", "until: 1m leaves out 1 step, the first is line 5"])
            }
        }
    }
}
