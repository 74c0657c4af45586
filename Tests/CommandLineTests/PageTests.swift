import Foundation
import Testing

@Suite(
    "The door of the page",
    .timeLimit(.minutes(2)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs /usr/bin/python3")
)
struct PageTests {
    @Test("Whoever lacks the token, or comes from the page or by the name of somebody else, is refused")
    func strangers() throws {
        let said = try served(
            """
            print(status(question))
            wrong = [(token, token[::-1] + "0"), (token, ""), (f"Host: 127.0.0.1:{port}", f"Host: evil.example:{port}"),
                ("Content-Type", "Origin: http://evil.example\\r\\nContent-Type")]
            for part, other in wrong:
                print(status(question.replace(part.encode(), other.encode())))
            """
        )
        #expect(said == "200\n403\n403\n403\n403\n0\n")
    }

    @Test(
        "A process of another user's is refused, whatever token it shows, and the daemon says so once",
        .enabled(
            if: Program.isRoot && FileManager.default.isExecutableFile(atPath: Program.setpriv),
            "needs root and setpriv"
        )
    )
    func anotherUser() throws {
        let said = try served(
            """
            ask = "import socket, sys\\nc = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 20)\\n"
            ask += "c.sendall(sys.stdin.buffer.read())\\ndata = b''\\n"
            ask += "while b'yours' not in data and (more := c.recv(65536)): data += more\\nprint(data.decode())"
            another = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3"]
            for _ in range(2):
                said = subprocess.run(another + ["-c", ask, port], input=question, stdout=subprocess.PIPE)
                lines = [line for line in said.stdout.decode().splitlines() if line]
                print(lines[0].split()[1], lines[-1])
            print(status(question))
            print(daemon.stderr.readline().strip())
            """
        )
        #expect(
            said == """
                403 this bench is user 0's, and not yours
                403 this bench is user 0's, and not yours
                200
                wakebench: page: a request of user 65534 was refused, as this bench is user 0's
                0

                """
        )
    }

    @Test("Half requests that stay take nobody's place")
    func halves() throws {
        let said = try served(
            """
            halves = [connect(b"POST /ask HTTP/1.1\\r\\n" + (head if number % 2 else b"")) for number in range(200)]
            print(status(question))
            """
        )
        #expect(said == "200\n0\n")
    }

    @Test("When too many listen the next is refused, and questions are answered")
    func listeners() throws {
        let said = try served(
            """
            follow = b"GET /events?phone= HTTP/1.1\\r\\n" + head + b"\\r\\n"
            streams = [connect(follow) for _ in range(24)]
            for stream in streams:
                assert stream.recv(65536).startswith(b"HTTP/1.1 200 ")
            print(status(follow), status(question))
            streams.pop().close()
            while status(question) == 200 and (last := connect(follow)).recv(12)[9:] != b"200":
                pass
            print("let in")
            """
        )
        #expect(said == "503 200\nlet in\n0\n")
    }

    @Test("A daemon to whose page somebody listens ends in peace")
    func ending() throws {
        let said = try served(
            """
            stream = connect(b"GET /events?phone= HTTP/1.1\\r\\n" + head + b"\\r\\n")
            print(stream.recv(12)[9:].decode())
            """
        )
        #expect(said == "200\n0\n")
    }

    /// What a script prints that a daemon serves meanwhile, and then the exit code of the daemon.
    private func served(_ script: String) throws -> String {
        let program = try Program()
        defer { program.clean() }
        let start = """
            import re, signal, socket, subprocess, sys
            line = [sys.argv[1], "serve", "--state", "s", "--socket", "c", "--http"]
            daemon = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            port, token = re.search(r":(\\d+)/\\?token=(\\w+)", daemon.stderr.readline()).groups()
            head = f"Host: 127.0.0.1:{port}\\r\\nAuthorization: Bearer {token}\\r\\n".encode()
            body = b'{"op":"phones"}'
            question = b"POST /ask HTTP/1.1\\r\\n" + head + b"Content-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body
            def connect(said):
                client = socket.create_connection(("127.0.0.1", int(port)), 20)
                client.sendall(said)
                return client
            def status(said):
                return int(connect(said).recv(12)[9:])
            try:

            """
        let body = script.split(separator: "\n").map { "    \($0)\n" }.joined()
        let end = """
            finally:
                daemon.send_signal(signal.SIGTERM)
                print(daemon.wait())
            """
        let outcome = try program.run("/usr/bin/python3", ["-c", start + body + end, Program.path])
        #expect(outcome.errors == "")
        return outcome.output
    }
}
