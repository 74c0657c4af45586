import Testing
import WakeModel

@testable import WakeDevices

@Suite("Pushes in files and steps")
struct PushFileTests {
    private func file(_ text: String) throws -> PushFile { try PushFile.parse(Array(text.utf8), file: "x.apns") }

    private func sent(_ step: String) throws -> ScriptedApp.SentPush? {
        let text = "scenario: s\napps: [{scripted: com.example.a, push: {}}]\nsteps: [{at: 0, push: \(step)}]\n"
        let scenario = try Scenario.parse(Array(text.utf8), file: "s.yaml")
        guard case .push(let sent)? = scenario.steps.first?.verb else { return nil }
        return sent
    }

    @Test("simctl's file says whom it is for, and the payload is what APNs would carry")
    func simulatorFile() throws {
        let read = try file(
            #"{"Simulator Target Bundle":"com.example.a","aps":{"alert":"Hi","badge":1},"x":[1,null,true]}"#
        )
        #expect(read.bundle == "com.example.a")
        #expect(String(decoding: read.payload, as: UTF8.self) == #"{"aps":{"alert":"Hi","badge":1},"x":[1,null,true]}"#)
        #expect(try file(#"{"aps":{}}"#).bundle == nil)
    }

    @Test(
        "What is no push is refused in a line",
        arguments: [
            ("[]", #"something else; expected a JSON object, as in {"aps": {"alert": "Hello"}}"#),
            ("{}", "a push without 'aps'; expected an object of that name"),
            (#"{"aps":1}"#, "a push without 'aps'; expected an object of that name"),
            (
                #"{"Simulator Target Bundle":7,"aps":{}}"#,
                "a 'Simulator Target Bundle' that is no text; expected the bundle identifier of an app"
            ),
        ]
    )
    func refused(text: String, line: String) {
        let error = #expect(throws: FileError.self) { try file(text) }
        #expect(error?.description == "x.apns: " + line)
    }

    @Test(
        "Of text that is no JSON the error names the line and the column at which it stops being that",
        arguments: [
            ("", 1, 1), ("{\"aps\":{}", 1, 10), ("{\n \"aps\": {\"alert\": \"é\",}\n}\n", 2, 23), ("{}\n{", 2, 1),
        ]
    )
    func broken(text: String, line: Int, column: Int) {
        let expected = #"a JSON object, as in {"aps": {"alert": "Hello"}}"#
        let error = FileError(
            file: "x.apns",
            line: line,
            column: column,
            found: "text that is no JSON",
            expected: expected
        )
        #expect(throws: error) { try file(text) }
    }

    @Test("PUSH-5: a payload that nests deeper than its JSON may is refused with its place")
    func nested() throws {
        func step(_ levels: Int) -> String {
            let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return "{app: a, payload: {aps: {}, deep: \(value)}}"
        }
        #expect(try sent(step(29)) != nil)
        let error = #expect(throws: FileError.self) { try sent(step(40)) }
        #expect(error?.line == 3)
        #expect(error?.found == "lists and mappings that nest too deep")
    }

    @Test("A step says payload and headers; type and priority follow from the payload")
    func step() throws {
        let silent = try sent("{app: a, payload: {aps: {content-available: 1}, n: \"1\"}}")
        #expect((silent?.type, silent?.priority, silent?.expires) == (.background, .normal, .never))
        #expect(
            silent.map { String(decoding: $0.file.payload, as: UTF8.self) }
                == #"{"aps":{"content-available":1},"n":"1"}"#
        )
        let alert = try sent("{app: a, payload: {aps: {alert: Hi}}, expires: 0, collapse-id: tea}")
        #expect((alert?.type, alert?.priority, alert?.expires) == (.alert, .high, .once))
        #expect(alert?.collapseID == "tea")
        let call = try sent("{app: a, payload: {aps: {}}, type: voip, expires: 30s, priority: 1}")
        #expect((call?.type, call?.priority, call?.expires) == (.call, .low, .after(.seconds(30))))
    }

    @Test(
        "What has JSON's grammar of numbers is a number in the payload of a step, and what has not is text",
        arguments: [
            ("0.5", "0.5"), ("10.25", "10.25"), ("-0.125", "-0.125"), ("1e3", "1000.0"), ("1.5E-3", "0.0015"),
            ("7", "7"), ("-7", "-7"), ("9223372036854775808", "9223372036854775808"), ("0180", #""0180""#),
            ("+1", #""+1""#), (".5", #"".5""#), ("5.", #""5.""#), ("0x1F", #""0x1F""#), ("1_000", #""1_000""#),
            ("1e999", #""1e999""#), (".inf", #"".inf""#), ("1 2", #""1 2""#), ("'0.5'", #""0.5""#), ("true", "true"),
            ("false", "false"), ("yes", #""yes""#), ("~", "null"), ("null", "null"), ("'null'", #""null""#),
            ("!!str 5", #""5""#), ("!!float '0.5'", "0.5"),
        ]
    )
    func plain(text: String, json: String) throws {
        let push = try sent("{app: a, payload: {aps: {alert: Hi}, x: [\(text)]}}")
        let expected = #"{"aps":{"alert":"Hi"},"x":[\#(json)]}"#
        #expect(push.map { String(decoding: $0.file.payload, as: UTF8.self) } == expected)
    }

    @Test(
        "A step without a payload, without an app, or with a header that is none is refused",
        arguments: [
            ("{app: a}", "a push without a payload; expected one of file, payload"),
            (
                "{payload: {aps: {}}}",
                "a push for no app; expected 'app', or a file with 'Simulator Target Bundle'"
            ),
            ("{app: a, payload: {}}", "a mapping; expected a payload such as {aps: {content-available: 1}}"),
            ("{app: a, payload: {aps: {}}, priority: 7}", "unknown priority '7'; expected '1'"),
            (
                "{app: a, payload: {aps: {}}, type: quiet}",
                "unknown type of push 'quiet'; expected one of alert, background, voip"
            ),
            (
                "{app: a, payload: {aps: {}}, expires: soon}",
                "'soon'; expected a time such as 250ms, 30s, 15m, 2h, 1h30m, T+01:30:00 or 0"
            ),
            ("{app: a, file: nowhere.apns}", "no push 'nowhere.apns'; expected it in ."),
        ]
    )
    func stepRefused(step: String, line: String) {
        let error = #expect(throws: FileError.self) { try sent(step) }
        #expect(error?.description == "s.yaml:3: " + line)
    }

    @Test("A scripted app says what it does about pushes")
    func use() throws {
        let text =
            "scenario: s\napps: [{scripted: com.example.a, push: {register: [voip], completion: never, work: 2s, "
            + "reports-calls: false, returns: false, extension: {after: 1s, memory: 12, title: T, then: crash}}}]\n"
        let scenario = try Scenario.parse(Array(text.utf8), file: "s.yaml")
        guard case .scripted(let app)? = scenario.apps.first?.form, let use = app.push else {
            Issue.record("there is no scripted app with pushes")
            return
        }
        #expect(!use.registers && use.registersCalls && !use.reportsCalls && !use.returns)
        #expect((use.completion, use.work) == (nil, .seconds(2)))
        #expect((use.serviceExtension?.after, use.serviceExtension?.memory) == (.seconds(1), 12))
        #expect((use.serviceExtension?.title, use.serviceExtension?.ending) == ("T", .crash))
    }
}
