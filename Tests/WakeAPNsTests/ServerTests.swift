import ChildProcess
import Foundation
import Glibc
import Testing
import WakeSystem

@testable import WakeAPNs

/// A server of the test's own, and a folder for its files.
final class Bench {
    let loop: EventLoop
    let owner = Owner()
    let desk: APNsDesk
    let folder: String
    private(set) var server: APNsServer

    /// - Parameter user: whose a connection is; nil for what the kernel says.
    init(
        security: APNsServer.Security? = nil,
        limits: APNsLimits = APNsLimits(),
        user: (() -> UInt32?)? = nil
    ) throws {
        loop = try EventLoop()
        folder = FileManager.default.temporaryDirectory.path + "/apns-\(UUID())"
        owner.clock = WallClock.now() / 1_000_000_000
        owner.user = user.map { user in { _ in user() } }
        desk = owner.desk(limits)
        let identity = try TLSIdentity(in: folder, at: owner.clock)
        server = try APNsServer(desk, security: security ?? .tls(identity), port: 0, on: loop)
    }

    deinit {
        server.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var identity: TLSIdentity { TLSIdentity(folder: folder) }
    var authority: String { identity.authority }

    /// A provider's token of now.
    var token: String { WakeAPNsTests.token(iat: "\(owner.clock)") }

    /// Runs a program until it has said all, while the server serves.
    ///
    /// - Returns: what it said.
    func run(_ program: String, _ arguments: [String]) throws -> String {
        let child = ChildProcess(program, arguments)
        let pipe = Pipe()
        child.standardOutput = .pipe(pipe)
        child.standardError = .null
        try child.run()
        let number = pipe.fileHandleForReading.fileDescriptor
        var said: [UInt8] = []
        var isOver = false
        let watch = try loop.watch(number, for: .readable) { _ in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe Glibc.read(number, &buffer, buffer.count)
            said += buffer.prefix(max(count, 0))
            isOver = count <= 0
        }
        try turn { isOver }
        watch.cancel()
        child.waitUntilExit()
        return String(decoding: said, as: UTF8.self)
    }

    /// Serves until something is so; at most 20 seconds.
    func turn(until condition: () -> Bool) throws {
        let deadline = MonotonicClock.now() + 20_000_000_000
        while !condition(), MonotonicClock.now() < deadline {
            try loop.runOnce(timeout: deadline - MonotonicClock.now())
        }
        #expect(condition())
    }

    /// Pushes with curl.
    ///
    /// - Returns: what was answered: the status and the body.
    func curl(_ fields: [String: String] = [:], path: String = deviceToken, _ options: [String] = []) throws -> String {
        // What was made since, such as a certificate, is not of the future.
        owner.clock = WallClock.now() / 1_000_000_000
        var all = ["apns-topic": "com.example.app", "authorization": "bearer " + token]
        for (name, value) in fields { all[name] = value.isEmpty ? nil : value }
        let head = all.sorted { $0.key < $1.key }.flatMap { ["-H", "\($0.key): \($0.value)"] }
        return try run(
            "/usr/bin/curl",
            ["-s", "--http2", "--cacert", authority, "-d", "{\"aps\":{}}", "-w", " %{http_code} %{http_version}"] + head
                + options + ["https://localhost:\(server.port)/3/device/\(path)"]
        )
    }
}

/// A socket that a test connects by itself.
final class Plain {
    let number: Int32

    init(_ port: UInt16, address: UInt32 = 0x7f00_0001) {
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_port = port.bigEndian
        own.sin_addr.s_addr = address.bigEndian
        let number = number
        isConnected = unsafe withUnsafePointer(to: &own) { own in
            unsafe own.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    let isConnected: Bool

    deinit {
        close(number)
    }

    func say(_ bytes: [UInt8]) {
        let flags = Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT)
        _ = unsafe send(number, bytes, bytes.count, flags)
    }

    /// Whether the other end has closed, or ended, the connection; what it said before is left out.
    var isClosed: Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(number, &buffer, buffer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
            if count <= 0 { return count == 0 || errno != EAGAIN }
        }
    }

    /// What the other end said until now.
    func heard() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(number, &buffer, buffer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
        return Array(buffer.prefix(max(count, 0)))
    }
}

private func exists(_ program: String) -> Bool { FileManager.default.isExecutableFile(atPath: program) }

@Suite("The server", .serialized)
struct ServerTests {
    @Test("curl pushes over TLS, at either address", .enabled(if: exists("/usr/bin/curl"), "needs Debian's curl"))
    func curl() throws {
        let bench = try Bench()
        #expect(try bench.curl() == " 200 2")
        #expect(try bench.curl(["apns-priority": "3"]) == "{\"reason\":\"BadPriority\"} 400 2")
        #expect(try bench.curl(["apns-topic": ""]) == "{\"reason\":\"MissingTopic\"} 400 2")
        #expect(try bench.curl(path: "") == "{\"reason\":\"MissingDeviceToken\"} 400 2")
        #expect(try bench.curl([:], ["-X", "PUT"]) == "{\"reason\":\"MethodNotAllowed\"} 405 2")
        #expect(try bench.curl([:], ["-4"]) == " 200 2")
        #expect(try bench.curl([:], ["--no-alpn", "--http2-prior-knowledge"]) == " 200 2")
        #expect(bench.owner.pushes.map(\.topic) == ["com.example.app", "com.example.app", "com.example.app"])
        #expect(bench.desk.counts.requests == 7 && bench.desk.counts.accepted == 3)
    }

    @Test("Without HTTP/2 nobody is let in", .enabled(if: exists("/usr/bin/curl"), "needs Debian's curl"))
    func noOtherProtocol() throws {
        let bench = try Bench()
        #expect(try bench.curl([:], ["--http1.1"]) == " 000 0")
        #expect(try bench.curl([:], ["--tls-max", "1.1"]) == " 000 0")
        #expect(try bench.curl() == " 200 2")
    }

    @Test(
        "A provider's certificate stands for a token, and for its topic",
        .enabled(if: exists("/usr/bin/curl") && exists("/usr/bin/openssl"), "needs Debian's curl and openssl")
    )
    func clientCertificate() throws {
        let bench = try Bench()
        func made(_ name: String, _ subject: String, _ options: [String] = []) throws -> [String] {
            let (key, file) = ("\(bench.folder)/\(name).key", "\(bench.folder)/\(name).pem")
            _ = try bench.run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    key,
                    "-out", file, "-subj", subject,
                ] + options
            )
            return ["--cert", file, "--key", key]
        }
        let apple = try made("uid", "/UID=com.example.app/CN=Apple Push Services: com.example.other")
        let none = ["authorization": "", "apns-topic": ""]
        #expect(try bench.curl(none, apple) == " 200 2")
        #expect(bench.owner.pushes.last?.topic == "com.example.app")
        let voip = ["authorization": "", "apns-topic": "com.example.app.voip"]
        #expect(try bench.curl(voip, apple) == " 200 2")
        let another = ["authorization": "", "apns-topic": "com.example.b"]
        #expect(try bench.curl(another, apple) == "{\"reason\":\"TopicDisallowed\"} 400 2")
        let named = try made("cn", "/CN=Apple Push Services: com.example.other")
        #expect(try bench.curl(none, named) == " 200 2")
        #expect(bench.owner.pushes.last?.topic == "com.example.other")
        let nameless = try made("o", "/O=Example")
        #expect(try bench.curl(none, nameless) == "{\"reason\":\"BadCertificate\"} 403 2")
        let topics = try made(
            "many",
            "/UID=com.example.app",
            ["-addext", "1.2.840.113635.100.6.3.6=ASN1:UTF8String:a"]
        )
        #expect(try bench.curl(none, topics) == "{\"reason\":\"MissingTopic\"} 400 2")
    }

    @Test(
        "nghttp pushes without TLS where the owner wants it so",
        .enabled(if: exists("/usr/bin/nghttp"), "needs Debian's nghttp2-client")
    )
    func clearText() throws {
        let bench = try Bench(security: APNsServer.Security.none)
        let body = bench.folder + "/body"
        try "{\"aps\":{}}".write(toFile: body, atomically: false, encoding: .utf8)
        let said = try bench.run(
            "/usr/bin/nghttp",
            [
                "-v", "-d", body, "-H", "apns-topic: com.example.app", "-H", "authorization: bearer " + bench.token,
                "http://127.0.0.1:\(bench.server.port)/3/device/\(deviceToken)",
            ]
        )
        #expect(said.contains(":status: 200"))
        #expect(bench.owner.pushes.count == 1)
    }

    @Test(
        "h2load pushes 5000 times over 8 connections, and none is lost",
        .enabled(if: exists("/usr/bin/h2load"), "needs Debian's nghttp2-client")
    )
    func load() throws {
        let bench = try Bench()
        let body = bench.folder + "/body"
        try "{\"aps\":{}}".write(toFile: body, atomically: false, encoding: .utf8)
        let said = try bench.run(
            "/usr/bin/h2load",
            [
                "-n", "5000", "-c", "8", "-m", "100", "-t", "1", "-d", body, "-H", "apns-topic: com.example.app", "-H",
                "authorization: bearer " + bench.token,
                "https://127.0.0.1:\(bench.server.port)/3/device/\(deviceToken)",
            ]
        )
        #expect(said.contains("5000 done, 5000 succeeded, 0 failed, 0 errored"))
        #expect(bench.owner.pushes.count == 5_000 && bench.desk.counts.accepted == 5_000)
        #expect(bench.desk.counts.connections == 8)
        try bench.turn { bench.server.connectionCount == 0 }
    }

    @Test("The port is this machine's alone")
    func loopback() throws {
        let bench = try Bench()
        var addresses: [String] = []
        for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
            for line in (try? readSmallFile(file, limit: 1 << 20))?.split(separator: "\n") ?? [] {
                let columns = line.split(separator: " ")
                guard columns.count > 3, columns[3] == "0A", let colon = columns[1].lastIndex(of: ":"),
                    UInt16(columns[1][columns[1].index(after: colon)...], radix: 16) == bench.server.port
                else { continue }
                addresses.append(String(columns[1][..<colon]))
            }
        }
        #expect(addresses.first == "0100007F")
        #expect(addresses.dropFirst().allSatisfy { $0 == "00000000000000000000000001000000" })
        #expect(addresses.count <= 2)
    }

    @Test("A port that is taken is refused by name")
    func takenPort() throws {
        let bench = try Bench()
        let error = #expect(throws: SystemError.self) {
            _ = try APNsServer(bench.desk, security: .none, port: bench.server.port, on: bench.loop)
        }
        #expect(error?.description == "127.0.0.1:\(bench.server.port): bind: Address already in use")
    }

    @Test("Who says nothing, or half of something, or nonsense, keeps nobody waiting")
    func hostile() throws {
        let bench = try Bench()
        let silent = (0..<20).map { _ in Plain(bench.server.port) }
        for (offset, plain) in silent.enumerated() where offset % 3 == 1 { plain.say([22, 3, 1, 2, 0, 1]) }
        let nonsense = Plain(bench.server.port)
        nonsense.say(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        try bench.turn { nonsense.isClosed }
        #expect(try bench.curl() == " 200 2")
        #expect(silent.allSatisfy { !$0.isClosed })
    }

    @Test("Who is silent too long is closed")
    func silent() throws {
        var limits = APNsLimits()
        limits.beginning = .milliseconds(20)
        let bench = try Bench(limits: limits)
        let plain = Plain(bench.server.port)
        try bench.turn { plain.isClosed }
        try bench.turn { bench.server.connectionCount == 0 }
    }

    /// A connection on which a provider has pushed, and was answered.
    private func pushed(to bench: Bench) throws -> (plain: Plain, answer: Provider.Answer) {
        let (plain, provider) = (Plain(bench.server.port), Provider())
        let stream = provider.push(request(["authorization": "bearer " + bench.token]))
        plain.say(provider.output())
        try bench.turn {
            provider.receive(plain.heard())
            return provider.answered.contains(stream)
        }
        return (plain, provider.answers[stream] ?? .init())
    }

    @Test("One connection too many is closed at once, and there is place again when one has ended")
    func tooMany() throws {
        var limits = APNsLimits()
        limits.connections = 2
        let bench = try Bench(security: APNsServer.Security.none, limits: limits)
        var first: Plain? = try pushed(to: bench).plain
        let second = try pushed(to: bench).plain
        let third = Plain(bench.server.port)
        try bench.turn { third.isClosed }
        #expect(first?.isClosed == false && !second.isClosed)
        #expect(bench.desk.counts == .init(requests: 2, accepted: 2, connections: 2, turnedAway: 1))
        first = nil
        try bench.turn { bench.server.connectionCount == 1 }
        let fourth = Plain(bench.server.port)
        try bench.turn { bench.server.connectionCount == 2 }
        #expect(!fourth.isClosed)
    }

    @Test("Connections that have not finished their handshake keep no provider out: the oldest of them gives way")
    func halfOpen() throws {
        let bench = try Bench()
        let silent = (0..<bench.desk.limits.connections).map { _ in Plain(bench.server.port) }
        for (offset, plain) in silent.enumerated() where offset % 2 == 1 { plain.say([22, 3, 1, 2, 0, 1]) }
        try bench.turn { bench.server.connectionCount == silent.count }
        #expect(try bench.curl() == " 200 2")
        #expect(silent[0].isClosed)
        #expect(silent.dropFirst().allSatisfy { !$0.isClosed })
        #expect(bench.desk.counts.turnedAway == 1)
    }

    @Test(
        "A push of another user is refused with the reason, and the connection ends",
        arguments: [65_533, nil] as [UInt32?]
    )
    func stranger(user: UInt32?) throws {
        let bench = try Bench(security: APNsServer.Security.none, user: { user })
        let (plain, answer) = try pushed(to: bench)
        let whose = user == nil ? "and whose this connection is cannot be found" : "and not yours"
        #expect(answer.status == 403)
        #expect(
            answer.body == "{\"reason\":\"Forbidden\",\"message\":\"this bench is user \(geteuid())'s, \(whose)\"}"
        )
        #expect(bench.owner.pushes.isEmpty && bench.desk.counts.accepted == 0)
        #expect(bench.owner.strangers == [user.map { .user($0) } ?? .unknown])
        try bench.turn { plain.isClosed }
    }

    @Test("Other users have a few places of their own for a short time, and take none of the owner's")
    func strangers() throws {
        var limits = APNsLimits()
        (limits.connections, limits.stranger) = (1, .milliseconds(500))
        var isStranger = true
        let bench = try Bench(security: APNsServer.Security.none, limits: limits) { isStranger ? 65_534 : geteuid() }
        let silent = (0..<20).map { _ in Plain(bench.server.port) }
        try bench.turn { bench.desk.counts.connections == silent.count }
        #expect(bench.desk.counts.turnedAway >= silent.count - limits.strangers)
        isStranger = false
        #expect(try pushed(to: bench).answer.status == 200)
        try bench.turn { silent.allSatisfy(\.isClosed) }
    }

    @Test(
        "The kernel tells another user's push from the owner's",
        .enabled(
            if: geteuid() == 0 && exists("/usr/bin/curl") && exists("/usr/bin/setpriv"),
            "needs root, Debian's curl and setpriv of util-linux"
        )
    )
    func anotherUser() throws {
        let bench = try Bench()
        let said = try bench.run(
            "/usr/bin/setpriv",
            [
                "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/curl", "-k", "-s", "--http2", "-d",
                "{\"aps\":{}}", "-H", "apns-topic: com.example.app", "-H", "authorization: bearer " + bench.token, "-w",
                " %{http_code}", "https://localhost:\(bench.server.port)/3/device/\(deviceToken)",
            ]
        )
        #expect(said == "{\"reason\":\"Forbidden\",\"message\":\"this bench is user 0's, and not yours\"} 403")
        #expect(bench.owner.strangers == [.user(65_534)])
        #expect(try bench.curl() == " 200 2")
        #expect(bench.owner.pushes.count == 1)
    }

    @Test("A client that does not read its answers is not read either, and is given up")
    func doesNotRead() throws {
        var limits = APNsLimits()
        limits.reading = .milliseconds(50)
        limits.ending = .milliseconds(50)
        let bench = try Bench(security: APNsServer.Security.none, limits: limits)
        let plain = Plain(bench.server.port)
        var small: Int32 = 2_048
        _ = unsafe setsockopt(plain.number, SOL_SOCKET, SO_RCVBUF, &small, socklen_t(MemoryLayout<Int32>.size))
        let provider = Provider()
        plain.say(provider.output())
        try bench.turn {
            for _ in 0..<1_000 { provider.ping() }
            plain.say(provider.output())
            return bench.server.connectionCount == 0 && bench.desk.counts.connections == 1
        }
    }

    @Test("Over a socket, too, frames that are cut or scrambled do no harm")
    func scrambled() throws {
        // Who has gone is nobody to the kernel.
        let bench = try Bench(security: APNsServer.Security.none, user: { geteuid() })
        let other = Provider()
        other.push()
        other.push()
        let bytes = other.output()
        for count in stride(from: 1, to: bytes.count, by: 29) {
            let plain = Plain(bench.server.port)
            var cut = Array(bytes.prefix(count))
            if count % 2 == 0 { cut[count - 1] ^= 0xff }
            plain.say(cut)
        }
        try bench.turn { bench.server.connectionCount == 0 && bench.desk.counts.connections >= bytes.count / 29 }
        let plain = Plain(bench.server.port)
        let provider = Provider()
        let stream = provider.push(request(["authorization": "bearer " + bench.token]))
        plain.say(provider.output())
        try bench.turn {
            provider.receive(plain.heard())
            return provider.answers[stream] != nil
        }
        #expect(provider.answers[stream]?.status == 200)
    }

    @Test("At the end clients are told, and their connections end")
    func shutDown() throws {
        let bench = try Bench(security: APNsServer.Security.none)
        let plain = Plain(bench.server.port)
        let provider = Provider()
        plain.say(provider.output())
        try bench.turn {
            provider.receive(plain.heard())
            return provider.streams == 1_000
        }
        bench.server.shutDown()
        try bench.turn {
            provider.receive(plain.heard())
            return !provider.farewells.isEmpty
        }
        #expect(provider.farewells == ["{\"reason\":\"Shutdown\"}"])
        #expect(plain.isClosed)
        #expect(!Plain(bench.server.port).isConnected)
    }
}
