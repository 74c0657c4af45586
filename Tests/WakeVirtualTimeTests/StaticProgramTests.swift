import ChildProcess
import Foundation
import Testing

/// The library cannot be in a program that loads none.
@Suite("Static programs that an app in virtual time starts", .timeLimit(.minutes(10)))
struct StaticProgramTests {
    /// A program that waits in ways that are trapped, and says how long it took on the wall.
    private static let source = """
        #include <poll.h>
        #include <stdio.h>
        #include <time.h>
        #include <unistd.h>
        int main(void) {
            struct timespec began, end;
            clock_gettime(CLOCK_MONOTONIC, &began);
            poll(0, 0, 20);
            usleep(20000);
            clock_gettime(CLOCK_MONOTONIC, &end);
            long spent = (end.tv_sec - began.tv_sec) * 1000 + (end.tv_nsec - began.tv_nsec) / 1000000;
            printf("static %d\\n", spent >= 40 && time(0) > 1000);
            return 0;
        }
        """

    private let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-static-\(UUID())")

    private func compiled(_ option: String) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (source, program) = (folder.appending(path: "main.c").path, folder.appending(path: "program").path)
        try Data(Self.source.utf8).write(to: URL(filePath: source))
        let compiler = ChildProcess("/usr/bin/env", ["clang", "-fuse-ld=lld", option, "-o", program, source])
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return program
    }

    @Test(
        "One is not killed but lives on wall time, however it was started; what is started with it lives in virtual time",
        arguments: ["-static", "-static-pie"]
    )
    func lives(option: String) throws {
        let program = try compiled(option)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = folder.appending(path: "script").path
        try Data("#! \(program) x\n".utf8).write(to: URL(filePath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let body = """
            import os, subprocess, sys, time
            program, script = sys.argv[1:]
            began = time.monotonic_ns()
            def passed(what): print(what, time.monotonic_ns() - began, flush=True)
            def ends(child): assert os.waitpid(child, 0)[1] == 0
            time.sleep(1)
            for path in program, script: subprocess.run([path], check=True)
            subprocess.run(["program"], check=True, env={"PATH": "/nowhere:" + os.path.dirname(program)})
            ends(os.posix_spawn(program, [program], {}))
            os.environ["PATH"] += ":" + os.path.dirname(program)
            ends(os.posix_spawnp("program", ["program"], os.environ))
            assert os.system(program) == 0
            child = os.fork()
            if child == 0: os.execve(os.open(program, os.O_RDONLY), [program], {})
            ends(child)
            child = os.fork()
            if child == 0:
                try: os.execv("/nowhere/program", ["program"])
                except FileNotFoundError: os.execv(sys.executable, ["python3", "-c", "import time; time.sleep(5)"])
            ends(child)
            passed("all")
            """
        var run = try TimedProgramTests.Run("/usr/bin/python3", "-c", body, program, script)
        let (lines, status) = try run.end()
        #expect(lines == Array(repeating: "static 1", count: 7) + ["all 6000000000"])
        #expect(status == 0)
    }

    @Test("A program that a static one starts lives in virtual time, if it can")
    func inherited() throws {
        let program = try compiled("-static-pie")
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "main.c").path
        try Data(
            """
            #include <unistd.h>
            int main(int count, char **arguments) { return execv(arguments[1], arguments + 1); }
            """.utf8
        ).write(to: URL(filePath: source))
        let compiler = ChildProcess("/usr/bin/env", ["clang", "-fuse-ld=lld", "-static-pie", "-o", program, source])
        try compiler.run()
        compiler.waitUntilExit()
        let body = "\(program) \(program) /usr/bin/python3 -c 'import time; time.sleep(1000)'; echo slept"
        var run = try TimedProgramTests.Run("/bin/sh", "-c", body)
        let (lines, status) = try run.end()
        #expect(lines == ["slept"])
        #expect(status == 0)
        #expect(run.now == 1_000_000_000_000)
    }
}
