import ChildProcess
import Foundation
import Glibc
import Testing

/// Real apps in virtual time for a bench that may do less than root's, and on a kernel that can do less.
@Suite("Virtual time with less")
struct LesserTimeTests {
    private static let words = [
        "run", "hops.yaml", "--apps", "apps", "--out", "out", "--force", "--freezer", "sigstop",
    ]

    private static let nobody = [
        "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--",
    ]
    private static let mayBeNobody = getuid() == 0 && FileManager.default.isExecutableFile(atPath: nobody[0])

    /// What an app of a run printed, and what was decided; each in an order that no thread decides.
    private struct Story: Equatable {
        var log: [String]
        var verdicts: [[String]]
    }

    private func story(_ bench: BenchProgram, hop: String, as prefix: [String] = []) throws -> Story {
        try? FileManager.default.removeItem(at: bench.folder.appending(path: "out"))
        let words = Self.words + ["--quiet"]
        let run = try bench.run(words, as: prefix, environment: ["WAKEBENCH_APP_HOP": hop])
        #expect(run.code == 0, "\(run.errors)")
        let decisions = try bench.records(of: "out/decisions.ndjson").filter { $0["seq"] != nil }
        return Story(
            log: try bench.lines(of: "out/apps/com.example.hopping.log").map(String.init).sorted(),
            verdicts: decisions.map { decision in
                let event = decision["event"] as? [String: Any] ?? [:]
                return ["\(decision["time"] ?? "")", "\(event["kind"] ?? "")", "\(decision["verdict"] ?? "")"]
            }
        )
    }

    @Test(
        "An ordinary user's apps see the values, times and verdicts that root's see, however they hop",
        .enabled(if: mayBeNobody, "needs root, and setpriv, to be somebody else"),
        .enabled(if: othersReach(BenchProgram.repository.path + "/.build"), "needs a checkout that all can reach"),
        arguments: ["main", "global", "task", "mainActor"]
    )
    func ordinary(kind: String) throws {
        let bench = try AppTimeTests().bench()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: bench.folder.path)
        let root = try story(bench, hop: "inline")
        #expect(root.log.count { $0.hasPrefix("value") } == 40)
        #expect(root.verdicts.count >= 40)
        for _ in 0..<2 { #expect(try story(bench, hop: kind, as: Self.nobody) == root) }
    }

    #if arch(x86_64)
        private static let seccomp = 317
    #else
        private static let seccomp = 277
    #endif

    /// Before a program that is to run on a kernel which answers a system call with an error.
    private func refusing(_ call: String, _ code: Int32) throws -> [String] {
        [try BenchProgram.built("TimedProgram"), "refused", call, "\(code)"]
    }

    @Test(
        "On a kernel that lacks what virtual time needs, apps run on wall time as they are, a line says so, and the doctor too",
        arguments: [("449", "futex_waitv"), ("\(seccomp)", "seccomp")]
    )
    func lacking(call: String, name: String) throws {
        let bench = try AppTimeTests().bench()
        let prefix = try refusing(call, ENOSYS)
        let run = try bench.run(Self.words + ["--quiet"], as: prefix)
        let reason = "this kernel has no \(name): Function not implemented"
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.errors.contains("note: \(reason): apps' own clocks and timers run on wall time"))
        try expectWallTime(bench)
        #expect(try bench.run(["doctor"], as: prefix).code == 0)
        let finding = "no   virtual time in apps: \(reason); apps' own clocks and timers run on wall time"
        #expect(try bench.lines(of: "stdout").contains(finding[...]))
    }

    @Test("Where only an app's filter is refused, it runs on wall time as it is, and a note says so once")
    func filterRefused() throws {
        let bench = try AppTimeTests().bench()
        // SECCOMP_SET_MODE_FILTER; what the bench asks the kernel before is answered.
        let run = try bench.run(Self.words, as: try refusing("\(Self.seccomp)/1", EPERM))
        #expect(run.code == 0, "\(run.errors)")
        let note = "com.example.hopping runs on wall time: this kernel cannot hold its waits: Operation not permitted"
        #expect(try bench.lines(of: "out/outcomes.ndjson").filter { $0.contains(note) }.count == 1)
        try expectWallTime(bench)
    }

    /// The app has had its values, and the machine's date.
    private func expectWallTime(_ bench: BenchProgram) throws {
        let log = try bench.lines(of: "out/apps/com.example.hopping.log")
        #expect(log.count { $0.hasPrefix("value") } == 40)
        let date = log.first { $0.hasPrefix("date ") }.map { try? Date(String($0.dropFirst(5)), strategy: .iso8601) }
        #expect(abs((date ?? nil)?.timeIntervalSinceNow ?? .infinity) < BenchProgram.patience)
    }
}
