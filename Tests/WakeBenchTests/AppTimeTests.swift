import ChildProcess
import Foundation
import Testing
import WakeProcesses

@Suite("Real apps in virtual time")
struct AppTimeTests {
    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - uuid: 2A37
                properties: [notify]
                notifications: [{after: 2s, counter: {count: 40, every: 60ms, width: 1}}]

        """

    /// A bench with the hopping app and its belt.
    func bench(until end: String = "8s") throws -> BenchProgram {
        let bench = try BenchProgram()
        try bench.makeApp("Hopping", "com.example.hopping")
        let bundle = bench.folder.appending(path: "apps/Hopping.app")
        try FileManager.default.removeItem(at: bundle.appending(path: "program"))
        try FileManager.default.copyItem(
            atPath: try BenchProgram.built("HoppingApp"),
            toPath: bundle.appending(path: "program").path
        )
        try bench.write(Self.belt, to: "belt.yaml")
        try bench.write(
            """
            scenario: hops
            devices: [{file: belt.yaml, name: belt}]
            apps: [{bundle: Hopping.app, name: hopping}]
            steps: [{at: 0, launch: hopping}]
            until: \(end)
            """,
            to: "hops.yaml"
        )
        return bench
    }

    private func log(
        _ bench: BenchProgram,
        _ environment: [String: String],
        _ more: String...
    ) throws -> [String] {
        let arguments =
            ["run", "hops.yaml", "--apps", "apps", "--out", "out", "--quiet", "--force", "--no-journal"] + more
        let run = try bench.run(arguments, environment: environment)
        #expect(run.code == 0, "\(run.errors)")
        return try bench.lines(of: "out/apps/com.example.hopping.log").map(String.init)
    }

    @Test(
        "However an app hops between its queues, it logs what the app that does not hop logs, and time never overtakes it",
        arguments: ["main", "global", "task", "mainActor"]
    )
    func hops(kind: String) throws {
        let bench = try bench()
        let inline = try log(bench, ["WAKEBENCH_APP_HOP": "inline"])
        #expect(inline.filter { $0.hasPrefix("value") }.count == 40)
        #expect(inline.contains { $0.hasPrefix("rssi at") })
        for _ in 0..<3 { #expect(try log(bench, ["WAKEBENCH_APP_HOP": kind]) == inline) }
    }

    @Test("An app that puts off its work by 50 ms does it 50 ms later to the nanosecond, and is not overtaken")
    func putOff() throws {
        let bench = try bench()
        let inline = try log(bench, ["WAKEBENCH_APP_HOP": "inline"]).filter { $0.hasPrefix("value") }
        for _ in 0..<3 {
            let late = try log(bench, ["WAKEBENCH_APP_HOP": "asyncAfter"]).filter { $0.hasPrefix("value") }
            #expect(late.map { $0.replacing("handled 50000000 later", with: "handled 0 later") } == inline)
        }
    }

    @Test("Timers of each kind come to the nanosecond in the app's own clock, though none of them is waited for")
    func timers() throws {
        let bench = try bench(until: "1m")
        let lines = try log(bench, ["WAKEBENCH_APP_TIMERS": "1"])
        #expect(
            lines.filter { $0.contains(" off ") } == [
                "asyncAfter off 0", "Timer off 0", "Task.sleep off 0", "Thread.sleep off 0",
                "DispatchSourceTimer off 0",
                "DispatchSourceTimer off 0", "DispatchSourceTimer off 0",
            ]
        )
    }

    /// Whether the bench may give apps a processor on which nothing interrupts them.
    private static let mayTakeTurns = AppProcessor.available()?.isFirstInFirstOut == true

    @Test(
        "What the threads of an app do at one instant is in the same order in each run",
        .enabled(if: mayTakeTurns, "needs root, or ulimit -r 1, and two processors")
    )
    func order() throws {
        let bench = try bench()
        let first = try log(bench, ["WAKEBENCH_APP_CROWD": "1"])
        #expect(first.filter { $0.hasPrefix("thread") }.count == 160)
        #expect(first.filter { $0.hasPrefix("block") }.count == 160)
        for _ in 0..<5 { #expect(try log(bench, ["WAKEBENCH_APP_CROWD": "1"]) == first) }
    }

    @Test(
        "An app that works on and on shares its processor with others until it rests",
        .enabled(if: mayTakeTurns, "needs root, or ulimit -r 1, and two processors")
    )
    func turns() throws {
        let bench = try bench()
        let lines = try log(bench, ["WAKEBENCH_APP_TURNS": "1"]).filter { $0.hasPrefix("policy") }
        #expect(lines == ["policy 1", "policy 0 at work", "policy 1 after a rest"])
    }

    @Test("In real time an app runs as any other program: without the library, and with no processor of its own")
    func realTime() throws {
        let bench = try bench(until: "1s")
        let lines = try log(bench, ["WAKEBENCH_APP_TURNS": "1"], "--clock", "real")
        #expect(lines.contains("policy 0"))
        #expect(lines.filter { $0.hasPrefix("date ") } != ["date 2026-01-01T00:00:00Z"])
    }

    @Test("The library is found beside a program that was found on PATH, and whatever it is called by")
    func calledByName() throws {
        let bench = try bench(until: "1m")
        let program = URL(filePath: try BenchProgram.built("wakebench"))
        let link = bench.folder.appending(path: "linked")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: program)
        for name in [program.lastPathComponent, "linked"] {
            let process = ChildProcess(
                "/bin/sh",
                ["-c", "PATH=\"$0:$1:$PATH\" exec \(name) run hops.yaml --apps apps --out out --quiet --force"]
                    + [program.deletingLastPathComponent().path, bench.folder.path]
            )
            process.folder = bench.folder
            process.environment = ProcessInfo.processInfo.environment.merging(["WAKEBENCH_APP_TIMERS": "1"]) { $1 }
            let errors = Pipe()
            process.standardError = .pipe(errors)
            process.standardOutput = .null
            try process.run()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(text == "")
            #expect(try bench.lines(of: "out/apps/com.example.hopping.log").contains("Timer off 0"))
        }
    }

    @Test("Without its library an app runs on wall time as it is, and a line says so")
    func withoutLibrary() throws {
        let bench = try bench()
        let copy = bench.folder.appending(path: "wakebench").path
        try FileManager.default.copyItem(atPath: try BenchProgram.built("wakebench"), toPath: copy)
        let process = ChildProcess(copy, ["run", "hops.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        process.folder = bench.folder
        let errors = Pipe()
        process.standardError = .pipe(errors)
        process.standardOutput = .null
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(
            text.contains("libWakebenchTime.so is not beside the program: apps' own clocks and timers run on wall time")
        )
        #expect(try bench.lines(of: "out/apps/com.example.hopping.log").count > 40)
    }

    @Test("A run's date is the apps' date, the same each time unless it is set, and in the log's header")
    func date() throws {
        let bench = try bench(until: "1s")
        #expect(try log(bench, [:]).contains("date 2026-01-01T00:00:00Z"))
        #expect(try bench.lines(of: "out/decisions.ndjson").first?.contains(#""date":"2026-01-01T00:00:00Z""#) == true)
        #expect(try log(bench, [:], "--date", "2027-03-28T00:59:59Z").contains("date 2027-03-28T00:59:59Z"))
        let run = try bench.run(["run", "hops.yaml", "--apps", "apps", "--date", "tomorrow"])
        #expect(run.code == 2)
        #expect(run.errors.contains("--date tomorrow: expected a date such as 2026-01-01T00:00:00Z"))
    }

    @Test("A program that spins on its clock sees it creep, and comes to its end")
    func spins() throws {
        let bench = try bench(until: "3s")
        let lines = try log(bench, ["WAKEBENCH_APP_SPIN": "1"])
        #expect(lines.contains { $0.hasPrefix("spun ") })
    }

    @Test(
        "A suspended app's timers stand still with it, and are overdue when it goes on",
        arguments: ["sigstop", "automatic"]
    )
    func frozen(freezer: String) throws {
        let bench = try bench()
        try bench.write(
            """
            scenario: hops
            apps: [{bundle: Hopping.app, name: hopping}]
            steps:
              - {at: 0, launch: hopping}
              - {at: 100ms, home: hopping}
              - {at: 60s, launch: hopping}
            until: 70s
            """,
            to: "hops.yaml"
        )
        let lines = try log(bench, ["WAKEBENCH_APP_TIMERS": "1"], "--freezer", freezer).filter { $0.contains(" off ") }
        // The user brings it back at 60 s. A repeating one tells once of what it missed, and goes on in its own steps.
        #expect(
            lines.sorted() == [
                "DispatchSourceTimer off 49000000000", "DispatchSourceTimer off 49000000000",
                "DispatchSourceTimer off 54000000000", "Task.sleep off 56250000000", "Thread.sleep off 55000000000",
                "Timer off 57500000000", "asyncAfter off 58750000000",
            ]
        )
    }

    // MARK: Python

    private static let pythonApp = """
        #!/usr/bin/python3 -IS
        import asyncio, json, os, queue, select, socket, threading, time
        bench = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        def send(**message): bench.send(json.dumps(message).encode())
        def listen():
            while packet := bench.recv(65536):
                message = json.loads(packet)
                if message["type"] == "welcome": send(type="launched")
                if "delivery" in message: send(type="ack", delivery=message["delivery"])
        def spent(what, body):
            began = time.monotonic_ns()
            body()
            print(what, time.monotonic_ns() - began, flush=True)
        def timer():
            timer = threading.Timer(2, lambda: None)
            timer.start()
            timer.join()
        def get():
            try: queue.Queue().get(timeout=3)
            except queue.Empty: pass
        def wait():
            condition = threading.Condition()
            with condition: condition.wait(0.1)
        send(type="hello", version=1, client="python", pid=os.getpid())
        threading.Thread(target=listen, daemon=True).start()
        spent("asyncio.sleep", lambda: asyncio.run(asyncio.sleep(1.25)))
        spent("threading.Timer", timer)
        spent("queue.get", get)
        spent("select", lambda: select.select([], [], [], 0.5))
        spent("Condition.wait", wait)
        spent("time.sleep", lambda: time.sleep(20))
        threading.Event().wait()

        """

    @Test("Python's timers come to the nanosecond in an app's own clock", .enabled(if: BenchProgram.python))
    func pythonTimers() throws {
        let bench = try BenchProgram()
        try bench.makeApp("Python", "com.example.python", text: Self.pythonApp)
        try bench.write(
            """
            scenario: python
            apps: [{bundle: Python.app, name: python}]
            steps: [{at: 0, launch: python}]
            expect: [{app: python, state: active}]
            until: 1m
            """,
            to: "python.yaml"
        )
        for _ in 0..<2 {
            let run = try bench.run([
                "run", "python.yaml", "--apps", "apps", "--out", "out", "--quiet", "--force",
            ])
            #expect(run.code == 0, "\(run.errors)")
            #expect(
                try bench.lines(of: "out/apps/com.example.python.log") == [
                    "asyncio.sleep 1250000000", "threading.Timer 2000000000", "queue.get 3000000000",
                    "select 500000000", "Condition.wait 100000000", "time.sleep 20000000000",
                ]
            )
        }
    }

    // MARK: Static programs

    private func compile(_ text: String, _ more: [String] = [], to program: URL) throws {
        let source = program.appendingPathExtension("c").path
        try Data(text.utf8).write(to: URL(filePath: source))
        let support = BenchProgram.repository.appending(path: "Tests/Support/MisbehavingApp").path
        let arguments = ["clang", "-fuse-ld=lld", "-static", "-I\(support)", "-o", program.path, source] + more
        let compiler = ChildProcess("/usr/bin/env", arguments)
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
    }

    private func outcomes(_ bench: BenchProgram) throws -> [String] {
        try bench.write(
            """
            scenario: static
            apps: [{bundle: Static.app, name: static}]
            steps: [{at: 0, launch: static}]
            expect: [{app: static, state: active}]
            until: 1s
            """,
            to: "static.yaml"
        )
        let run = try bench.run(["run", "static.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        return try bench.lines(of: "out/outcomes.ndjson").map(String.init)
    }

    @Test("A static app runs on wall time, and a note says so")
    func staticApp() throws {
        let bench = try BenchProgram()
        try bench.makeApp("Static", "com.example.static")
        let program = bench.folder.appending(path: "apps/Static.app/program")
        let behaviour = BenchProgram.repository.appending(path: "Tests/Support/MisbehavingApp/behave.c").path
        let code = """
            #include "behave.h"
            int main(void) { behave(3, -1); }
            """
        try compile(code, [behaviour], to: program)
        let note = "com.example.static runs on wall time: its program loads no libraries"
        #expect(try outcomes(bench).filter { $0.contains(note) }.count == 1)
    }

    @Test("A static program that an app starts is waited for, and a note says so once")
    func staticChild() throws {
        let bench = try BenchProgram()
        let app = try BenchProgram.built("MisbehavingApp")
        try bench.makeApp(
            "Static",
            "com.example.static",
            text: "#!/bin/sh\n\"${0%/*}/tool\"; \"${0%/*}/tool\"; exec '\(app)' healthy\n"
        )
        let code = """
            #include <unistd.h>
            int main(void) { return usleep(100000); }
            """
        try compile(code, to: bench.folder.appending(path: "apps/Static.app/tool"))
        let note = "com.example.static has started a program that loads no libraries, and is waited for: thread "
        #expect(try outcomes(bench).filter { $0.contains(note) }.count == 1)
    }
}
