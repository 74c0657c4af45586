import ChildProcess
import Foundation
import Testing

@Suite("Real apps with background tasks", .enabled(if: BenchProgram.python, "needs /usr/bin/python3"))
struct BackgroundTaskAppTests {
    /// Plays a shipped scenario with an example; gives what its process printed.
    private func play(_ scenario: String, of example: String, with name: String) throws -> [Substring] {
        let bench = try BenchProgram()
        try bench.install(name)
        let shipped = BenchProgram.repository.appending(path: "Devices/Scenarios/\(scenario)")
        let text = try String(contentsOf: shipped, encoding: .utf8)
        try bench.write(text.replacing("\(example).app", with: "\(name).app"), to: scenario)
        let run = try bench.run(["run", scenario, "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let logs = try FileManager.default.contentsOfDirectory(atPath: bench.folder.appending(path: "out/apps").path)
        return try logs.filter { $0.hasSuffix(".log") }.flatMap { try bench.lines(of: "out/apps/\($0)") }
    }

    @Test(
        "BGT-4, BGT-6, BGT-7, BGT-8: refreshed while suspended, launched for the next one, and interrupted while it cleans",
        arguments: ["FeedReader", "FeedReaderPython"]
    )
    func feedReader(name: String) throws {
        let heard = try play("feed-reader.yaml", of: "FeedReader", with: name).filter { !$0.hasPrefix("submit") }
        #expect(
            heard == [
                "didFinishLaunching", "register true true", "didEnterBackground", "refresh begins", "refresh done",
                "didFinishLaunching", "register true true", "refresh begins", "refresh done",
                "cleaning begins", "cleaning expires", "refresh begins", "refresh done", "cleaning begins",
                "cleaning done",
            ]
        )
    }

    /// Plays steps with a script that has the scheduler's two modes and may run `com.example.refresh` and `com.example.clean`.
    private func play(
        _ steps: String,
        expecting expectations: String,
        script: String,
        permits: Bool = true
    ) throws -> [Substring] {
        let bench = try BenchProgram()
        let key = "BGTaskSchedulerPermittedIdentifiers"
        let list = "<array><string>com.example.refresh</string><string>com.example.clean</string></array>"
        try bench.makeApp(
            "Asker",
            "com.example.asker",
            text: Self.wire + script,
            modes: ["fetch", "processing"],
            keys: permits ? "<key>\(key)</key>\(list)" : ""
        )
        try bench.write(
            """
            scenario: asker
            apps: [{bundle: Asker.app, name: asker}]
            steps:
            \(steps)
            expect:
            \(expectations)

            """,
            to: "asker.yaml"
        )
        let run = try bench.run(["run", "asker.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        return try bench.lines(of: "out/apps/com.example.asker.log")
    }

    /// Speaks the wire: `ask` waits for the reply, `serve` takes deliveries for good.
    private static let wire = """
        #!/usr/bin/python3 -IS
        import json, os, socket
        bench = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        def send(**message): bench.send(json.dumps(message).encode())
        def take():
            packet = bench.recv(65536)
            if not packet: os._exit(0)
            return json.loads(packet)
        def acknowledge(message):
            if "delivery" in message: send(type="ack", delivery=message["delivery"])
        numbers = iter(range(1, 1000))
        def ask(**message):
            number = next(numbers)
            send(id=number, **message)
            while True:
                answer = take()
                if answer["type"] == "reply": return answer
                acknowledge(answer)
        def serve(act):
            while True:
                message = take()
                act(message)
                acknowledge(message)
        def refresh(identifier): return {"identifier": identifier, "kind": "refresh"}
        send(type="hello", version=1, client="python", pid=os.getpid())
        take()

        """

    @Test("BGT-1, BGT-2, PWR-3: an app is told by Apple's codes why a request is not pending, and what is")
    func refusals() throws {
        let printed = try play(
            """
              - {at: 0, launch: asker}
              - {at: 1s, phone: background-refresh-off}
              - {at: 2s, home: asker}
            """,
            expecting: "  - {app: asker, state: suspended}",
            script: """
                def submit(identifier):
                    answer = ask(type="backgroundTask.submit", request=refresh(identifier))
                    print(identifier, answer.get("error", {}).get("code", 0), flush=True)
                print(ask(type="backgroundTask.refreshStatus")["granted"], flush=True)
                send(type="launched")
                submit("com.example.other")
                submit("com.example.refresh")
                submit("com.example.clean")
                send(type="backgroundTask.cancel", identifier="com.example.refresh")
                submit("com.example.clean")
                listed = ask(type="backgroundTask.list")["tasks"]
                print([task["identifier"] for task in listed], flush=True)
                def background(message):
                    if message.get("name") == "didEnterBackground": submit("com.example.refresh")
                serve(background)

                """
        )
        #expect(
            printed == [
                "True", "com.example.other 3", "com.example.refresh 0", "com.example.clean 2", "com.example.clean 0",
                "['com.example.clean']", "com.example.refresh 1",
            ]
        )
    }

    @Test("BGT-3: an app that registers a launch handler after its launch is ended, and hears no more")
    func lateHandler() throws {
        let printed = try play(
            "  - {at: 0, launch: asker}\n  - {at: 1s, note: it is gone}",
            expecting: "  - {app: asker, exits: 1, cause: crash}",
            script: """
                print(ask(type="backgroundTask.register", identifier="com.example.other")["granted"], flush=True)
                print(ask(type="backgroundTask.register", identifier="com.example.refresh")["granted"], flush=True)
                send(type="launched")
                ask(type="backgroundTask.register", identifier="com.example.clean")
                print("never", flush=True)

                """
        )
        #expect(printed == ["False", "True"])
    }

    @Test("FETCH-1, FETCH-2: an app with an interval fetches in the background, and is ended where it never answers")
    func fetch() throws {
        let printed = try play(
            """
              - {at: 0, launch: asker}
              - {at: 1s, home: asker}
              - {when: {app: asker, reason: Fetched}, within: 24h, note: it fetches}
              - {when: {app: asker, reason: Fetched}, within: 24h, note: it fetches again}
              - {after: 1m, note: its time is over}
            """,
            expecting: """
                  - {app: asker, reason: Fetched, rule: FETCH-1, count: 2}
                  - {app: asker, exits: 1}
                """,
            script: """
                fetches = []
                def fetch(message):
                    if message.get("kind") != "backgroundTask.fetch": return
                    print("fetch", flush=True)
                    fetches.append(message["number"])
                    if len(fetches) == 1: send(type="backgroundTask.fetched", number=fetches[0], result="newData")
                send(type="launched")
                send(type="backgroundTask.setFetchInterval", interval=600.0)
                serve(fetch)

                """,
            permits: false
        )
        #expect(printed == ["fetch", "fetch"])
    }

    @Test("BGT-12: a developer's lever has a running task of a real app expire")
    func lever() throws {
        let printed = try play(
            """
              - {at: 0, launch: asker}
              - {at: 1s, home: asker}
              - {at: 2s, simulate-launch: asker, task: com.example.refresh, strength: regardless}
              - {at: 3s, simulate-expiration: asker, task: com.example.refresh}
              - {at: 4s, note: it has said so}
            """,
            expecting: "  - {app: asker, kind: task-expiration-simulated, reason: LeverUsed, rule: BGT-12, count: 1}",
            script: """
                ask(type="backgroundTask.register", identifier="com.example.refresh")
                send(type="launched")
                ask(type="backgroundTask.submit", request=refresh("com.example.refresh"))
                tasks = []
                def task(message):
                    if message.get("kind") == "backgroundTask.launched":
                        tasks.append(message["number"])
                        print("launched", message["identifier"], message["task"], flush=True)
                    elif message.get("kind") == "backgroundTask.expired":
                        print("expired", message["identifier"], flush=True)
                        send(type="backgroundTask.completed", number=tasks.pop(), success=False)
                serve(task)

                """
        )
        #expect(printed == ["launched com.example.refresh refresh", "expired com.example.refresh"])
    }
}
