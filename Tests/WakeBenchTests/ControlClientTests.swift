import ChildProcess
import Foundation
import Testing

@testable import WakeBench

@Suite(
    "A client of the control socket",
    .timeLimit(.minutes(2)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs /usr/bin/python3")
)
struct ControlClientTests {
    /// What stands for a daemon: it says hello, or does not, and answers what it is asked for late or never.
    private static let script = """
        import json, socket, sys
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(sys.argv[1])
        listening.listen()
        print("listens", flush=True)
        client = listening.accept()[0]
        lines = client.makefile("rb")
        hello = json.loads(lines.readline())
        if sys.argv[2] != "mute":
            client.sendall(json.dumps({"ok": True, "version": sys.argv[3], "pid": 1}).encode() + b"\\n")
            asked = json.loads(lines.readline())
            if sys.argv[2] == "late":
                for _ in range(3):
                    assert json.loads(lines.readline()) == {"op": "hello", "request": -1}
                    client.sendall(b'{"request":-1,"ok":true}\\n')
                client.sendall(json.dumps({"ok": True, "late": asked["op"]}).encode() + b"\\n")
        lines.read()
        """

    /// What a client is answered that asks such a daemon for its phones.
    ///
    /// - Parameter user: the words that make the daemon another user's.
    private func answer(_ daemon: String, _ patience: ControlClient.Patience, as user: [String] = []) throws -> String?
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-control-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "c").path
        // Any user may make a socket in it, as in /tmp.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        let words = user + ["/usr/bin/python3", "-c", Self.script, path, daemon, wakebenchVersion]
        let process = ChildProcess(words[0], Array(words.dropFirst()))
        let output = Pipe()
        process.standardOutput = .pipe(output)
        try process.run()
        try #require(!output.fileHandleForReading.availableData.isEmpty)
        let client = try ControlClient(socket: path, patience)
        return try client.ask([.init(key: "op", value: .string("phones"))])["late"]?.string
    }

    @Test("An answer that takes long is waited for as long as the daemon gives signs of life")
    func late() throws {
        #expect(try answer("late", .init(work: 60_000, quiet: 20, look: 20)) == "phones")
    }

    @Test(
        "A daemon of another user is asked for nothing",
        .enabled(
            if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"),
            "needs root, and setpriv, to be another user"
        )
    )
    func strangersDaemon() throws {
        let user = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
        let failure = #expect(throws: CommandFailure.self) { try answer("late", .init(), as: user) }
        #expect(failure?.code == .environment)
        let message = "/c: a process of user 65534 serves there, and not of user 0"
        #expect(failure?.message.hasSuffix(message) == true, "\(String(describing: failure))")
        #expect(failure?.hint == "give another with --socket")
    }

    @Test("A daemon that is silent is given up, before its hello and after", arguments: ["mute", "silent"])
    func silent(_ daemon: String) throws {
        let failure = #expect(throws: CommandFailure.self) {
            try answer(daemon, .init(hello: daemon == "mute" ? 200 : 60_000, work: 200, quiet: 20, look: 20))
        }
        #expect(failure?.code == .daemonUnreachable)
        #expect(failure?.message.contains("/c has said nothing for ") == true, "\(String(describing: failure))")
        #expect(failure?.hint == "see its log; where it hangs, end its process and start it again")
    }
}
