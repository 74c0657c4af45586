import Foundation
import Testing
import WakeTransfers

extension TransferTests {
    /// What servers want before they answer.
    @Suite("Challenges and redirects", .enabled(if: NginxServer.isThere, "needs nginx"))
    struct ServerTests {
        private let folder: TestFolder

        init() throws { folder = try TestFolder() }

        private func protected() throws -> NginxServer {
            try "user:{PLAIN}secret\n".write(toFile: folder.path("users"), atomically: true, encoding: .utf8)
            let server = try NginxServer(
                folder,
                locations: "location /safe { auth_basic \"The Safe\"; auth_basic_user_file \(folder.path("users")); }"
            )
            try Data("treasure".utf8).write(to: folder.url.appending(path: "files/safe"))
            return server
        }

        @Test("XFER-4: A challenge waits for its answer, comes again after a wrong one, and the right one is kept")
        func challenge() throws {
            let server = try protected()
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: server.url + "/safe"))
            let first = try bench.challenge(1, failures: 0)
            #expect(first.challenge.scheme == .basic)
            #expect(first.challenge.realm == "The Safe")
            #expect(first.challenge.host == "127.0.0.1")
            #expect(first.challenge.port == Int(server.port))
            #expect(try bench.say(.list).get().map(\.state) == [.challenged])
            let wrong = TransferCredential(user: "user", password: "guess")
            _ = try bench.say(.answer(1, report: first.report, .useCredential(wrong))).get()
            let second = try bench.challenge(1, failures: 1)
            let right = TransferCredential(user: "user", password: "secret")
            _ = try bench.say(.answer(1, report: second.report, .useCredential(right))).get()
            let response = try bench.finished(1)
            #expect(response.status == 200)
            #expect(try bench.body(of: response) == Data("treasure".utf8))
            #expect(server.log.map { $0.prefix(7) } == ["GET 401", "GET 401", "GET 200"])
        }

        @Test("A challenge left to its default finishes with the response 401, a cancelled one fails")
        func declined() throws {
            let server = try protected()
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: server.url + "/safe"))
            try bench.begin(TransferRequest(number: 2, url: server.url + "/safe"))
            let report = try bench.challenge(1, failures: 0).report
            _ = try bench.say(.answer(1, report: report, .performDefaultHandling)).get()
            #expect(try bench.finished(1).status == 401)
            let other = try bench.challenge(2, failures: 0).report
            _ = try bench.say(.answer(2, report: other, .cancel)).get()
            #expect(try bench.failed(2) == .cancelled)
        }

        @Test("XFER-4: A credential answers a challenge of digest authentication")
        func digest() throws {
            let server = try StandInServer { _, head in
                head.contains("Authorization: Digest username=\"user\"")
                    ? Data(status: "200 OK", body: Data("yes".utf8))
                    : Data(status: "401 No", ["WWW-Authenticate: Digest realm=\"R\", nonce=\"n\", qop=\"auth\""])
            }
            defer { server.stop() }
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: server.url))
            let asked = try bench.challenge(1, failures: 0)
            #expect(asked.challenge.scheme == .digest)
            let credential = TransferCredential(user: "user", password: "secret")
            _ = try bench.say(.answer(1, report: asked.report, .useCredential(credential))).get()
            #expect(try bench.finished(1).status == 200)
        }

        @Test(
            "A redirect of any kind is followed, and the response says where it came from",
            arguments: [301, 302, 303, 307, 308]
        )
        func followed(status: Int) throws {
            let server = try NginxServer(
                folder,
                locations: "location /first { return \(status) /second; } location /second { return \(status) /data; }"
            )
            try Data("there".utf8).write(to: folder.url.appending(path: "files/data"))
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: server.url + "/first"))
            let response = try bench.finished(1)
            #expect(response.status == 200)
            #expect(response.url == server.url + "/data")
            #expect(try bench.body(of: response) == Data("there".utf8))
            #expect(server.log.map { $0.prefix(7) } == ["GET \(status)", "GET \(status)", "GET 200"])
        }

        @Test("An upload that is sent elsewhere with its method sends its file there, from its beginning")
        func uploadFollows() throws {
            let server = try NginxServer(
                folder,
                locations: "dav_methods PUT; location /first { return 307 /target; }"
            )
            let data = TestFolder.bytes(300_000)
            try data.write(to: folder.url.appending(path: "source"))
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: server.url + "/first", upload: folder.path("source")))
            let response = try bench.finished(1)
            #expect(response.status == 201)
            #expect(response.url == server.url + "/target")
            #expect(try Data(contentsOf: folder.url.appending(path: "files/target")) == data)
        }

        @Test("Redirects are told and followed, and no credential goes along to another server")
        func redirect() throws {
            let other = try StandInServer { _, _ in Data(status: "200 OK", body: Data("there".utf8)) }
            defer { other.stop() }
            let target = other.url + "/target"
            let first = try StandInServer { _, head in
                head.contains("Authorization: Basic")
                    ? Data(status: "302 Found", ["Location: \(target)"])
                    : Data(status: "401 No", ["WWW-Authenticate: Basic realm=\"R\""])
            }
            defer { first.stop() }
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: first.url))
            let credential = TransferCredential(user: "user", password: "secret")
            let report = try bench.challenge(1, failures: 0).report
            _ = try bench.say(.answer(1, report: report, .useCredential(credential))).get()
            let response = try bench.finished(1)
            #expect(response.url == target)
            #expect(try bench.body(of: response) == Data("there".utf8))
            #expect(bench.reports.map(\.kind).contains(.redirected(status: 302, url: target)))
            #expect(!other.requests[0].contains("Authorization:"))
        }

        @Test("A field with a credential does not go along to another server")
        func redirectedField() throws {
            let other = try StandInServer { _, _ in Data(status: "200 OK") }
            defer { other.stop() }
            let target = other.url
            let first = try StandInServer { _, _ in Data(status: "302 Found", ["Location: \(target)"]) }
            defer { first.stop() }
            let bench = try Bench(folder.path("transfers"))
            let field = HeaderField("Authorization", "Bearer 1")
            try bench.begin(TransferRequest(number: 1, url: first.url, headers: [field]))
            _ = try bench.finished(1)
            #expect(first.requests[0].contains("Authorization: Bearer 1"))
            #expect(!other.requests[0].contains("Authorization:"))
        }

        @Test(
            "A server that sends the client in circles fails the transfer; so does one that sends it elsewhere than HTTP"
        )
        func circle() throws {
            let server = try NginxServer(
                folder,
                locations: "location /circle { return 302 /circle; } location /away { return 302 ftp://localhost/; }"
            )
            let bench = try Bench(folder.path("transfers"))
            try bench.begin(TransferRequest(number: 1, url: server.url + "/circle"))
            #expect(try bench.failed(1) == .httpTooManyRedirects)
            #expect(server.log.count == TransferBounds.mostRedirects + 1)
            try bench.begin(TransferRequest(number: 2, url: server.url + "/away"))
            #expect(try bench.failed(2) == .unsupportedURL)
        }
    }
}
