import ChildProcess
import Foundation
import Glibc
import Testing
import TriedFreezers
import WakeProcesses

/// What is left of virtual time inside apps when their bench is gone, or they are.
@Suite("The end of virtual time")
struct KilledTimeTests {

    /// Waits for something that must happen; whether it has.
    private func waits(while isRunning: () -> Bool = { true }, until isSo: () throws -> Bool) rethrows -> Bool {
        let end = Date().addingTimeInterval(BenchProgram.patience)
        while try !isSo() {
            guard isRunning(), Date() < end else { return try isSo() }
            moment(milliseconds: 5)
        }
        return true
    }

    @Test(
        "A bench killed with -9 leaves nothing of its apps' virtual time: no process, descriptor, memory or control group",
        .timeLimit(.minutes(5)),
        arguments: TriedFreezers.names
    )
    func killed(freezer: String) throws {
        let bench = try BenchProgram()
        // Each has a child and a grandchild that sleep, and timers and threads in timed waits.
        for (name, timers) in [("Suspended", "TIMERS"), ("Running", "MINUTES")] {
            let app = try BenchProgram.built("HoppingApp")
            let text = "#!/bin/sh\nsleep 100000000 &\n(sleep 100000000; :) &\n\(timers)=1 exec '\(app)'\n"
            try bench.makeApp(name, "com.example.\(name.lowercased())", text: text)
        }
        try bench.write(
            """
            scenario: killed
            apps: [{bundle: Suspended.app, name: suspended}, {bundle: Running.app, name: running}]
            steps:
              - {at: 0, launch: suspended}
              - {at: 100ms, launch: running}
            until: 10000h
            """,
            to: "killed.yaml"
        )
        let objects = sharedObjects()
        let process = try bench.start([
            "run", "killed.yaml", "--apps", "apps", "--out", "out", "--quiet", "--freezer", freezer,
        ])
        let number = process.processIdentifier
        let runs = try waits(while: { process.isRunning }) {
            try bench.lines(of: "out/apps/com.example.running.log").count { $0.hasPrefix("minute") } >= 3
        }
        let errors = try bench.lines(of: "stderr")
        #expect(runs, "\(errors)")
        let asleep = try bench.lines(of: "out/apps/com.example.suspended.log")
        #expect(asleep.contains { $0.hasPrefix("began") })
        #expect(!asleep.contains { $0.contains(" off ") }, "it has not been suspended")

        let pages = Page.ofBench(number)
        #expect(pages.count == 2)
        // The bench, the apps, their children and grandchildren.
        let holders = Page.holders(of: pages)
        #expect(holders.count >= 9, "\(holders)")
        #expect(Set(holders).isSubset(of: bench.left()))
        let groups = "bench-\(number)"
        #expect(bench.groups(of: groups).isEmpty == (freezer == "sigstop"))

        kill(number, SIGKILL)
        process.waitUntilExit()
        #expect(bench.waitForTheDead() == [])
        #expect(Page.holders(of: pages) == [])
        // Empty ones are the next run's, or the doctor's, to remove.
        for list in bench.groups(of: groups) where list.hasSuffix("/cgroup.procs") {
            #expect((FileManager.default.contents(atPath: list) ?? Data()).isEmpty, "\(list)")
        }
        // Others on this machine may make some and remove them again.
        #expect(waits { sharedObjects().isSubset(of: objects) }, "\(sharedObjects().subtracting(objects))")
    }

    /// Shared memory with names, and what System V has for processes to share.
    private func sharedObjects() -> Set<String> {
        var found = Set((try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? [])
        for kind in ["shm", "msg", "sem"] {
            let table = FileManager.default.contents(atPath: "/proc/sysvipc/\(kind)") ?? Data()
            for line in String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst() {
                found.insert("\(kind) \(line.split(separator: " ").prefix(2).joined(separator: " "))")
            }
        }
        return found
    }

    /// Tells of each of its lives how many descriptors the bench has, how many of them are pages, and how many pages it maps.
    private static let counter = """
        #!/usr/bin/python3 -IS
        import json, os, socket
        bench = "/proc/" + os.environ["WAKEBENCH_TIME_PAGE"].split("/")[2]
        def links():
            for name in os.listdir(f"{bench}/fd"):
                # The bench may close one while they are listed.
                try: yield os.readlink(f"{bench}/fd/{name}")
                except FileNotFoundError: pass
        def pages(lines): return sum("memfd:wakebench-time" in line for line in lines)
        connection = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        def send(**message): connection.send(json.dumps(message).encode())
        send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := connection.recv(65536):
            message = json.loads(packet)
            if message["type"] == "welcome":
                found = list(links())
                print(len(found), pages(found), pages(open(f"{bench}/maps")), flush=True)
                send(type="launched")
            if "delivery" in message: send(type="ack", delivery=message["delivery"])

        """

    @Test(
        "However often an app is launched, the bench has one page for it, and no more descriptors in the end than at first",
        .enabled(if: BenchProgram.python, "/usr/bin/python3 is missing"),
        .timeLimit(.minutes(5)),
        arguments: TriedFreezers.names
    )
    func relaunched(freezer: String) throws {
        let bench = try BenchProgram()
        try bench.makeApp("Counter", "com.example.counter", text: Self.counter)
        let steps = (0..<200).map {
            "  - {at: \($0)s, launch: counter}\n  - {at: \($0 * 1_000 + 500)ms, force-quit: counter}"
        }
        try bench.write(
            """
            scenario: relaunched
            apps: [{bundle: Counter.app, name: counter}]
            steps:
            \(steps.joined(separator: "\n"))
            until: 200s
            """,
            to: "relaunched.yaml"
        )
        let run = try bench.run([
            "run", "relaunched.yaml", "--apps", "apps", "--out", "out", "--quiet", "--freezer", freezer,
        ])
        #expect(run.code == 0, "\(run.errors)")
        let lives = try bench.lines(of: "out/apps/com.example.counter.log").map { line in
            line.split(separator: " ").compactMap { Int($0) }
        }
        #expect(lives.count == 200)
        #expect(lives.allSatisfy { $0.count == 3 && $0[1] == 1 && $0[2] == 1 }, "\(lives.last ?? [])")
        let counts = lives.compactMap(\.first)
        // What the bench opens for a moment while it looks at the app comes on top, now and then.
        #expect((counts.suffix(50).min() ?? .max) <= (counts.prefix(50).max() ?? 0), "\(counts)")
        #expect(bench.waitForTheDead() == [])
    }
}

/// The memory that a bench shares with the processes of one app.
private enum Page {
    private static let name = "memfd:wakebench-time"

    private static func descriptors(of process: Int32) -> [UInt64] {
        let folder = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { number in
            let path = "\(folder)/\(number)"
            var status = stat()
            guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path), link.contains(name),
                unsafe stat(path, &status) == 0
            else { return nil }
            return UInt64(status.st_ino)
        }
    }

    private static func mapped(by process: Int32) -> [UInt64] {
        // In as many pieces as it takes, unlike FileManager's.
        let maps = FileHandle(forReadingAtPath: "/proc/\(process)/maps").map { file in
            var text = Data()
            while let piece = try? file.read(upToCount: 65_536), !piece.isEmpty { text += piece }
            return String(decoding: text, as: UTF8.self)
        }
        return (maps ?? "").split(separator: "\n").filter { $0.contains(name) }.compactMap { line in
            line.split(separator: " ").dropFirst(4).first.flatMap { UInt64($0) }
        }
    }

    /// The pages that a bench has made.
    static func ofBench(_ process: Int32) -> Set<UInt64> { Set(descriptors(of: process)) }

    /// The processes that have one of them open, or in their memory.
    static func holders(of pages: Set<UInt64>) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { process in
            !pages.isDisjoint(with: descriptors(of: process) + mapped(by: process))
        }
    }
}
