import ChildProcess
import Foundation
import Testing

@Suite("Real apps that are pushed to", .enabled(if: BenchProgram.python, "needs /usr/bin/python3"))
struct MessengerAppTests {
    private static let words = [
        "didFinishLaunching", "didReceive", "willPresent", "didReceiveRemoteNotification", "didReceiveIncomingPush",
    ]

    @Test(
        "PUSH-1, PUSH-6, PUSH-7, PUSH-9: woken and launched by pushes, called after a force quit, and read before the user",
        arguments: ["Messenger", "MessengerPython"]
    )
    func messenger(name: String) throws {
        let bench = try BenchProgram()
        try bench.install(name)
        let devices = BenchProgram.repository.appending(path: "Devices")
        let shipped = devices.appending(path: "Scenarios/messenger.yaml")
        let scenario = try String(contentsOf: shipped, encoding: .utf8)
            .replacing("Messenger.app", with: "\(name).app").replacing("../Push", with: "\(devices.path)/Push")
        try bench.write(scenario, to: "messenger.yaml")
        let run = try bench.run(["run", "messenger.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let identifier = name == "Messenger" ? "com.example.messenger" : "com.example.messenger.python"
        let heard = try bench.lines(of: "out/apps/\(identifier).log").filter { line in
            Self.words.contains { line.hasPrefix($0 + " ") }
        }
        #expect(
            heard == [
                "didFinishLaunching thread=none", "willPresent first Ada: It is ready. push=true",
                "didReceiveRemoteNotification thread=tea", "didFinishLaunching thread=cake",
                "didReceiveRemoteNotification thread=cake", "didFinishLaunching thread=none",
                "didReceiveIncomingPush Ada", "didReceive Ada: It is ready. thread=tea",
                "didReceive A message thread=long",
            ]
        )
        // Each message has a process of the extension's own.
        let read = try bench.lines(of: "out/apps/\(identifier).service.log")
        let processes = read.compactMap { $0.components(separatedBy: "pid=").dropFirst().first }
        #expect(processes.count == 3 && Set(processes).count == 3)
        #expect(read.last == "serviceExtensionTimeWillExpire")
        #expect(bench.waitForTheDead() == [])
    }

    /// How an extension fails, as the end of its script, and what the run says of it.
    static let failures: [(script: String, said: String)] = [
        ("sys.exit(3)", "has exited with 3, without an answer"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9, without an answer"),
        ("import time; time.sleep(3600)", "is ended without an answer"),
        (
            "kept = bytearray(os.urandom(1 << 20)) * 60; answer()",
            "MB of memory"
        ),
    ]

    @Test("PUSH-9: an extension that ends, hangs or has too much memory changes nothing", arguments: failures)
    func fails(script: String, said: String) throws {
        let bench = try BenchProgram()
        try makeApp(in: bench, script: script)
        try bench.write(
            """
            scenario: failing
            apps: [{bundle: Tea.app, name: tea}]
            steps:
              - {at: 0, launch: tea}
              - {at: 1s, push: {app: tea, collapse-id: it, payload: {aps: {alert: As it came, mutable-content: 1}}}}
            expect:
              - {app: tea, kind: notification-due, count: 1}
            until: 41s

            """,
            to: "failing.yaml"
        )
        let run = try bench.run(["run", "failing.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(try bench.lines(of: "out/apps/com.example.tea.log").contains("due As it came"))
        #expect(try bench.lines(of: "out/decisions.ndjson").contains { $0.contains("OriginalShown") })
        #expect(try bench.lines(of: "out/outcomes.ndjson").contains { $0.contains(said) })
        #expect(bench.waitForTheDead() == [])
    }

    /// An app that registers, and prints what is due; its extension does as the script says.
    private func makeApp(in bench: BenchProgram, script: String) throws {
        let head = """
            #!/usr/bin/python3
            import json, os, socket, sys
            link = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
            def send(**message): link.send(json.dumps(message).encode())
            send(type="hello", version=1, client="python", pid=os.getpid())
            while packet := link.recv(65536):
                message = json.loads(packet)
                if "delivery" in message: send(type="ack", delivery=message["delivery"])

            """
        try bench.makeApp(
            "Tea",
            "com.example.tea",
            text: head + """
                    if message["type"] == "welcome":
                        send(type="push.register")
                        send(type="launched")
                    if message.get("kind") == "notification.due":
                        print("due", message["notification"]["body"], flush=True)

                """
        )
        try bench.makeApp(
            "Tea.app/PlugIns/Reader",
            "com.example.tea.reader",
            text: head + """
                    def answer():
                        notification = {**message["notification"], "body": "changed"}
                        send(type="push.extended", number=message["number"], notification=notification)
                    if message["type"] == "welcome": send(type="launched")
                    if message.get("kind") == "push.extend":
                        \(script)

                """
        )
        let folder = bench.folder.appending(path: "apps/Tea.app/PlugIns")
        try FileManager.default.moveItem(
            at: folder.appending(path: "Reader.app"),
            to: folder.appending(path: "Reader.appex")
        )
        let list = folder.appending(path: "Reader.appex/Info.plist")
        let values = try String(contentsOf: list, encoding: .utf8).replacing(
            "<plist version=\"1.0\"><dict>",
            with: "<plist version=\"1.0\"><dict><key>NSExtension</key><dict><key>NSExtensionPointIdentifier</key>"
                + "<string>com.apple.usernotifications.service</string></dict>"
        )
        try Data(values.utf8).write(to: list)
    }

    @Test("PUSH-9: app verify names the service extension, and says what is wrong with one")
    func verify() throws {
        let bench = try BenchProgram()
        try bench.install("MessengerPython")
        #expect(try bench.run(["app", "verify", "apps/MessengerPython.app"]).code == 0)
        let said = try bench.lines(of: "stdout").joined()
        #expect(said.hasSuffix(", service extension: com.example.messenger.python.service"))
        let service = "apps/MessengerPython.app/PlugIns/MessengerPythonService.appex"
        try FileManager.default.removeItem(at: bench.folder.appending(path: "\(service)/service.py"))
        let refused = try bench.run(["app", "verify", "apps/MessengerPython.app"])
        #expect(refused.code == 11)
        #expect(refused.errors.contains("MessengerPythonService.appex") && refused.errors.contains("service.py"))
    }

    @Test("LAUNCH-6: a process is told whether its app has a device token, from an earlier process too")
    func registered() throws {
        let bench = try BenchProgram()
        try bench.makeApp(
            "Tea",
            "com.example.tea",
            text: """
                #!/usr/bin/python3
                import json, os, socket
                link = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
                def send(**message): link.send(json.dumps(message).encode())
                send(type="hello", version=1, client="python", pid=os.getpid())
                while packet := link.recv(65536):
                    message = json.loads(packet)
                    if "delivery" in message: send(type="ack", delivery=message["delivery"])
                    if message["type"] == "welcome": send(type="push.isRegistered", id=1)
                    if message["type"] == "reply":
                        print(message["granted"], flush=True)
                        send(type="push.register")
                        send(type="launched")

                """
        )
        try bench.write(
            """
            scenario: registered
            apps: [{bundle: Tea.app, name: tea}]
            steps:
              - {at: 0, launch: tea}
              - {at: 1s, terminate: tea, cause: memory}
              - {at: 2s, launch: tea}
            until: 3s

            """,
            to: "registered.yaml"
        )
        let run = try bench.run(["run", "registered.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(try bench.lines(of: "out/apps/com.example.tea.log") == ["False", "True"])
    }

    @Test("PUSH-7: an app that reports no call is ended, and after the third time launched for no more (PUSH-8)")
    func unreported() throws {
        let bench = try BenchProgram()
        try bench.install("MessengerPython")
        let program = bench.folder.appending(path: "apps/MessengerPython.app/messenger.py")
        let text = try String(contentsOf: program, encoding: .utf8)
            .replacing("            self.send(type=\"push.reportCall\")\n", with: "")
        try FileManager.default.removeItem(at: program)
        try Data(text.utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        try bench.write(
            """
            scenario: careless
            apps: [{bundle: MessengerPython.app, name: careless}]
            steps:
              - {at: 0, launch: careless}
              - {at: 5s, home: careless}
              - {at: 10s, push: {app: careless, type: voip, expires: 0, payload: {aps: {}, caller: Ada}}, every: 1m, times: 4}
            expect:
              - {app: careless, exits: 3, cause: crash}
              - {app: careless, verdict: deny, reason: CallsNotReported, rule: PUSH-8, count: 1}
            until: 5m

            """,
            to: "careless.yaml"
        )
        let run = try bench.run(["run", "careless.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
    }
}
