import Testing
import WakeDevices
import WakeModel

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
        arguments: ["", "[]", "{}", #"{"aps":1}"#, #"{"Simulator Target Bundle":7,"aps":{}}"#, "{\"aps\":{}"]
    )
    func refused(text: String) { #expect(throws: FileError.self) { try file(text) } }

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
        "A step without a payload, without an app, or with a header that is none is refused",
        arguments: [
            "{app: a}", "{payload: {aps: {}}}", "{app: a, payload: {}}", "{app: a, payload: {aps: {}}, priority: 7}",
            "{app: a, payload: {aps: {}}, type: quiet}", "{app: a, payload: {aps: {}}, expires: soon}",
            "{app: a, file: nowhere.apns}",
        ]
    )
    func stepRefused(step: String) { #expect(throws: FileError.self) { try sent(step) } }

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
