import Foundation
import Testing
import TriedFreezers
import WakeProcesses

@testable import WakeBench

/// An app that is root moves a child of its own out of the control groups in which it is frozen and killed.
@Suite("Processes that leave their app's control groups", .serialized)
struct StrayTests {
    @Test(
        "A note tells of each once, and it is killed with its app",
        .enabled(
            if: BenchProgram.python && !TriedFreezers.groups.isEmpty,
            "needs python3 and a freezer of control groups"
        ),
        arguments: TriedFreezers.groups
    )
    func told(freezer: FreezerKind) throws {
        let roots = GroupRoots.ofThisProcess()
        let root = try #require(freezer == .cgroup2 ? roots.version2 : roots.version1)
        let program = try BenchProgram()
        let app = """
            #!/usr/bin/python3
            import json, os, signal, socket
            wire = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
            def send(**message): wire.send(json.dumps(message).encode())
            send(type="hello", version=1, client="python", pid=os.getpid())
            child = os.fork()
            if child == 0:
                wire.close()
                with open("\(root)/cgroup.procs", "w") as group: group.write(str(os.getpid()))
                open("moved", "w").close()
                while True: signal.pause()
            while not os.path.exists("moved"): pass
            print("child", child, flush=True)
            while packet := wire.recv(65536):
                message = json.loads(packet)
                if message["type"] == "welcome": send(type="launched")
                elif message["type"] in ("callback", "deliver"): send(type="ack", delivery=message["delivery"])

            """
        try program.makeApp("Leaver", "com.example.leaver", text: app)
        try program.write(
            """
            scenario: leaver
            apps: [{bundle: Leaver.app, name: leaver}]
            steps:
              - {at: 0, launch: leaver}
              - {at: 1s, home: leaver}
              - {when: {app: leaver, state: suspended}, note: asleep}
              - {after: 10s, launch: leaver}
              - {after: 1s, home: leaver}
              - {when: {app: leaver, state: suspended}, note: asleep again}
              - {after: 1s, terminate: leaver, cause: memory}
              - {after: 1s, note: the end}

            """,
            to: "scenario.yaml"
        )
        let words = ["run", "scenario.yaml", "--apps", "apps", "--out", "out", "--freezer", freezer.rawValue]
        let (code, errors) = try program.run(words)
        #expect(code == 0, "\(errors)")
        let said = try program.lines(of: "out/apps/com.example.leaver.log").first { $0.hasPrefix("child ") }
        let child = try #require(said.flatMap { Int32($0.dropFirst("child ".count)) })
        let notes = try program.records(of: "out/outcomes.ndjson").compactMap { $0["note"] as? String }
        let told = "its process \(child) has left its control groups, and is not suspended with it"
        #expect(notes.filter { $0.contains("control groups") } == [told])
        #expect(program.waitForTheDead() == [])
    }
}
