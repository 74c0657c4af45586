import CWakeShims
import ChildProcess
import Foundation
import Glibc
import Testing
import WakeTransfers

extension TransferTests {
    /// What outlives what.
    @Suite("The process that carries transfers")
    struct ProcessTests {
        private let folder: TestFolder

        init() throws { folder = try TestFolder() }

        @Test(
            "XFER-1: A download goes on while the bench is gone and its server starts anew, and another bench is told",
            .enabled(if: NginxServer.isThere, "needs nginx")
        )
        func benchGone() throws {
            let server = try NginxServer(folder, locations: "limit_rate 8m;")
            let data = TestFolder.bytes(8_000_000)
            try data.write(to: folder.url.appending(path: "files/data"))
            var bench: Bench? = try Bench(folder.path("transfers"), endsProcess: false)
            try bench?.begin(TransferRequest(number: 1, url: server.url + "/data"))
            try bench?.progress(of: 1, atLeast: 1_000_000)
            let process = try #require(bench?.process)
            bench = nil
            server.stop()
            try server.start()
            let next = try Bench(folder.path("transfers"))
            let response = try next.finished(1)
            #expect(next.process == process)
            #expect(try next.body(of: response) == data)
            // The first was cut off before it was logged.
            let ranges = server.log
            #expect(ranges.count == 1 && ranges[0].hasPrefix("GET 206 bytes="), "\(ranges)")
        }

        @Test(
            "A download goes on where it was after the process itself was killed",
            .enabled(if: NginxServer.isThere, "needs nginx")
        )
        func killed() throws {
            let server = try NginxServer(folder, locations: "limit_rate 8m;")
            let data = TestFolder.bytes(8_000_000)
            try data.write(to: folder.url.appending(path: "files/data"))
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: server.url + "/data"))
            try bench.progress(of: 1, atLeast: 1_000_000)
            let process = try #require(bench.process)
            kill(process, SIGKILL)
            let response = try bench.finished(1)
            #expect(bench.process != process)
            #expect(try bench.body(of: response) == data)
            #expect(server.log.count == 2)
            #expect(server.log.last?.hasPrefix("GET 206 bytes=") == true, "\(server.log)")
            #expect(bench.reports.count { $0.isLast } == 1)
        }

        @Test(
            "An upload is made anew after the process was killed in it",
            .enabled(if: NginxServer.isThere, "needs nginx")
        )
        func upload() throws {
            let server = try NginxServer(folder, locations: "dav_methods PUT;")
            let data = TestFolder.bytes(24_000_000)
            let source = folder.path("source")
            try data.write(to: URL(filePath: source))
            let bench = try Bench(folder.path("transfers"))
            _ = try bench.say(.submit(TransferRequest(number: 1, url: server.url + "/target", upload: source))).get()
            // Whatever the app does to its file now, the transfer has its own.
            try Data("changed".utf8).write(to: URL(filePath: source))
            server.send(SIGSTOP)
            _ = try bench.say(.start(1)).get()
            try bench.progress(of: 1, atLeast: 1)
            kill(try #require(bench.process), SIGKILL)
            server.send(SIGCONT)
            let response = try bench.finished(1)
            #expect(response.status == 201)
            #expect(try Data(contentsOf: folder.url.appending(path: "files/target")) == data)
            #expect(!FileManager.default.fileExists(atPath: folder.path("transfers/1.upload")))
        }

        @Test("A command that comes while an upload is copied waits until it is kept")
        func saidAtOnce() throws {
            let server = try StandInServer { _, _ in Data(status: "201 Created") }
            defer { server.stop() }
            let source = folder.path("source")
            try TestFolder.bytes(8_000_000).write(to: URL(filePath: source))
            let bench = try Bench(folder.path("transfers"))
            bench.client.send(.submit(TransferRequest(number: 1, url: server.url, upload: source)))
            _ = try bench.say(.start(1)).get()
            #expect(try bench.finished(1).status == 201)
        }

        @Test("Reports are said again to each bench until they are acknowledged, and then the transfer is forgotten")
        func acknowledged() throws {
            let server = try StandInServer { _, _ in Data(status: "200 OK", body: Data("once".utf8)) }
            defer { server.stop() }
            var bench: Bench? = try Bench(folder.path("transfers"), endsProcess: false)
            try bench?.begin(TransferRequest(number: 1, url: server.url))
            _ = try bench?.finished(1)
            let told = try #require(bench?.reports.last)
            bench = nil
            var second: Bench? = try Bench(folder.path("transfers"), endsProcess: false)
            _ = try second?.finished(1)
            #expect(second?.reports.filter(\.isLast) == [told])
            _ = try second?.say(.acknowledge(1, report: told.number)).get()
            second = nil
            let third = try Bench(folder.path("transfers"))
            #expect(try third.say(.list).get() == [])
            #expect(third.reports == [])
            // The file is the bench's.
            #expect(try Data(contentsOf: folder.url.appending(path: "transfers/1.body")) == Data("once".utf8))
            // What is said again has no effect.
            _ = try third.say(.acknowledge(1, report: told.number)).get()
            let again = try third.say(.submit(TransferRequest(number: 1, url: server.url)))
            #expect(throws: TransferError(.over, "the transfer 1 was here before")) { try again.get() }
            #expect(server.requests.count == 1)
        }

        @Test("A bench remembers nothing of a transfer whose last report it has acknowledged")
        func forgotten() throws {
            let server = try StandInServer { _, _ in Data(status: "200 OK", body: Data("once".utf8)) }
            defer { server.stop() }
            let bench = try Bench(folder.path("transfers"))
            for number in [1, 2] as [UInt64] {
                try bench.begin(TransferRequest(number: number, url: server.url))
                _ = try bench.finished(number)
            }
            #expect(bench.client.remembered == 2)
            let last = try #require(bench.reports.last { $0.isLast && $0.transfer == 1 })
            _ = try bench.say(.acknowledge(1, report: last.number)).get()
            #expect(bench.client.remembered == 1)
        }

        @Test("A bench whose connection breaks between two commands says them again, and nothing happens twice")
        func saidAgain() throws {
            let server = try StandInServer { _, _ in Data(status: "200 OK", body: Data("once".utf8)) }
            defer { server.stop() }
            let bench = try Bench(folder.path("transfers"))
            _ = try bench.say(.list)
            for number in 1...20 {
                bench.client.send(.submit(TransferRequest(number: UInt64(number), url: server.url)))
                bench.client.send(.start(UInt64(number)))
                if number == 7 || number == 14, let process = bench.process { kill(process, SIGKILL) }
            }
            for number in 1...20 { _ = try bench.finished(UInt64(number)) }
            let last = bench.reports.filter(\.isLast)
            #expect(Set(last.map(\.transfer)).count == 20 && last.count == 20)
            #expect(bench.errors == [])
        }

        @Test("Commands that come faster than their replies are read are all answered")
        func manyCommands() throws {
            let bench = try Bench(folder.path("transfers"))
            _ = try bench.say(.list)
            var answers = 0
            for _ in 0..<6_000 { bench.client.send(.acknowledge(1, report: 1)) { _ in answers += 1 } }
            try bench.wait("the last answer") { answers == 6_000 }
        }

        @Test("What cannot be carried is refused", arguments: Refused.all)
        func refused(request: Refused) throws {
            let bench = try Bench(folder.path("transfers"))
            let answer = try bench.say(.submit(request.request))
            let error = #expect(throws: TransferError.self) { try answer.get() }
            #expect(error?.kind == request.kind, "\(error?.message ?? "")")
            #expect(try bench.say(.list).get() == [])
        }

        struct Refused: CustomTestStringConvertible, Sendable {
            var testDescription: String
            var kind: TransferError.Kind
            var request: TransferRequest

            static let all = [
                Refused(testDescription: "ftp", kind: .unsupportedURL, request: .init(number: 1, url: "ftp://host/")),
                Refused(
                    testDescription: "a file",
                    kind: .unsupportedURL,
                    request: .init(number: 1, url: "file:///etc")
                ),
                Refused(testDescription: "no host", kind: .badURL, request: .init(number: 1, url: "http://")),
                Refused(testDescription: "a space", kind: .badURL, request: .init(number: 1, url: "http://host/a b")),
                Refused(
                    testDescription: "a long URL",
                    kind: .badURL,
                    request: .init(number: 1, url: "http://host/" + String(repeating: "a", count: 9_000))
                ),
                Refused(
                    testDescription: "a field with a line end",
                    kind: .badRequest,
                    request: .init(number: 1, url: "http://host/", headers: [HeaderField("A", "b\r\nC: d")])
                ),
                Refused(
                    testDescription: "a field that is the process's own",
                    kind: .badRequest,
                    request: .init(number: 1, url: "http://host/", headers: [HeaderField("Content-Length", "1")])
                ),
                Refused(
                    testDescription: "an endless timeout",
                    kind: .badRequest,
                    request: {
                        var request = TransferRequest(number: 1, url: "http://host/")
                        request.requestTimeout = .max
                        return request
                    }()
                ),
                Refused(
                    testDescription: "a missing file",
                    kind: .noFile,
                    request: .init(number: 1, url: "http://host/", upload: "/nowhere/at/all")
                ),
                Refused(
                    testDescription: "a folder",
                    kind: .noFile,
                    request: .init(number: 1, url: "http://host/", upload: "/tmp")
                ),
            ]
        }

        @Test("Only its owner may use the socket, however long its path is")
        func socket() throws {
            let deep = folder.path(String(repeating: "d", count: 120))
            try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
            let bench = try Bench(deep + "/transfers")
            _ = try bench.say(.list)
            let attributes = try FileManager.default.attributesOfItem(atPath: deep + "/transfers/socket")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let own = try FileManager.default.attributesOfItem(atPath: deep + "/transfers")
            #expect(own[.posixPermissions] as? Int == 0o700)
        }

        /// Connects to a socket as another user; what is said there, and then nothing.
        private func connectAsAnother(_ path: String) throws -> String {
            let script = """
                import socket, sys
                end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                try:
                    end.connect(sys.argv[1])
                    print(end.recv(65536).decode())
                    print(end.recv(65536).decode())
                except PermissionError: print("kept out")
                """
            let another = ChildProcess("/usr/bin/setpriv")
            another.arguments = ["--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script, path]
            let said = Pipe()
            another.standardOutput = .pipe(said)
            try another.run()
            let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            another.waitUntilExit()
            return text
        }

        private static let canBeAnother =
            geteuid() == 0
            && ["/usr/bin/setpriv", "/usr/bin/python3"].allSatisfy(FileManager.default.isExecutableFile(atPath:))

        @Test(
            "Another user cannot use the socket, and is told so",
            .enabled(if: canBeAnother, "needs root, setpriv and python3")
        )
        func anotherUser() throws {
            let bench = try Bench(folder.path("transfers"))
            _ = try bench.say(.list)
            #expect(try connectAsAnother(folder.path("transfers/socket")) == "kept out\n")
            // Whoever made them open: the process looks at whom it has before it.
            unsafe chmod(folder.path("transfers"), 0o755)
            unsafe chmod(folder.path("transfers/socket"), 0o666)
            let reason = #"{"gaveUp":"folder","message":"these transfers are user 0's, and not yours"}"#
            #expect(try connectAsAnother(folder.path("transfers/socket")) == reason + "\n\n")
            _ = try bench.say(.list).get()
        }

        @Test("A folder that others may use is refused")
        func openFolder() throws {
            let path = folder.path("transfers")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            unsafe chmod(path, 0o777)
            let error = #expect(throws: TransferError.self) { try Bench(path) }
            #expect(error?.kind == .folder)
        }

        @Test("The process has a session of its own, ends by itself without a bench and work, and when it is told")
        func ends() throws {
            var bench: Bench? = try Bench(folder.path("transfers"), options: ["--linger", "50"], endsProcess: false)
            _ = try bench?.say(.list)
            let process = try #require(bench?.process)
            #expect(getsid(process) == process)
            let end = try #require(ProcessEnd(process))
            bench = nil
            #expect(end.comes(within: 10))
            let next = try Bench(folder.path("transfers"))
            _ = try next.say(.list)
            let second = try #require(next.process)
            let other = try #require(ProcessEnd(second))
            next.client.send(.shutDown) { _ in next.client.leave() }
            try next.wait("its end") { other.comes(within: 0) }
        }

        @Test("A second process leaves a folder to the first")
        func locked() throws {
            let bench = try Bench(folder.path("transfers"))
            _ = try bench.say(.list)
            let second = ChildProcess(try built("WakebenchTransfers"), ["--folder", folder.path("transfers")])
            let said = Pipe()
            second.standardError = .pipe(said)
            try second.run()
            let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            second.waitUntilExit()
            #expect(second.terminationStatus == 12)
            #expect(text == "WakebenchTransfers: another process has \(folder.path("transfers"))\n")
        }

        @Test("A process that cannot start says why at its first try, and is had once it can")
        func cannotStart() throws {
            let lock = folder.path("transfers/lock")
            for path in [folder.path("transfers"), lock] { try #require(unsafe mkdir(path, 0o700) == 0) }
            // With these pauses all tries would take longer than the test waits.
            let bench = try Bench(folder.path("transfers"), firstPause: 5_000)
            try bench.wait("the reason") { !bench.errors.isEmpty }
            #expect(bench.errors == [TransferError(.folder, "\(lock): it is no file; remove it")])
            try #require(unsafe rmdir(lock) == 0)
            bench.client.open()
            _ = try bench.say(.list).get()
        }

        @Test("The number of a process that was started apart is spared until the process has been reaped")
        func reaped() throws {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe wake_packet_pair(&ends) == 0)
            defer { for end in ends { close(end) } }
            let texts = ["sleep", "60"]
            var words: [UnsafePointer<CChar>?] = unsafe texts.map { unsafe UnsafePointer(strdup($0)) }
            unsafe words.append(nil)
            defer { for index in unsafe words.indices { unsafe free(UnsafeMutablePointer(mutating: words[index])) } }
            var pid: pid_t = 0
            let code = unsafe wake_spawn_apart("/bin/sleep", words, ends[1], &pid)
            try #require(code == 0)
            let since = wake_start_time(pid)
            let before = wake_kill_orphans(since, nil, 0)
            #expect(before == 0)
            // As if another process had its number now.
            wake_reaped(pid)
            let after = wake_kill_orphans(since, nil, 0)
            #expect(after == 1)
        }

        @Test("A program that is missing is told, not tried for ever")
        func missing() throws {
            let bench = try Bench(folder.path("transfers"), program: "/nowhere/WakebenchTransfers")
            let answer = try bench.say(.list)
            let error = #expect(throws: TransferError.self) { try answer.get() }
            #expect(error?.kind == .program)
            #expect(error?.message.contains("No such file or directory") == true)
        }

        @Test("The program says which libcurl it is linked with")
        func version() throws {
            let version = try TransferProgram.libraryVersion(of: try built("WakebenchTransfers"))
            let numbers = version.split(separator: ".").prefix(2).compactMap { Int($0) }
            #expect(numbers.count == 2, "\(version)")
        }

        @Test("Another program, which says no version, is told from it")
        func noVersion() {
            let error = #expect(throws: TransferError.self) { try TransferProgram.libraryVersion(of: "/bin/true") }
            #expect(error == TransferError(.program, "/bin/true does not say its version"))
        }
    }
}

/// The end of any process, seen by the descriptor of it.
final class ProcessEnd {
    private let descriptor: Int32

    init?(_ pid: pid_t) {
        descriptor = wake_pidfd_open(pid)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    func comes(within seconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, seconds * 1_000) == 1
    }
}
