import Testing
import WakeTransfers

/// What is decided without a process.
@Suite("A transfer's record")
struct RecordTests {
    private static let request = TransferRequest(
        number: 7,
        url: "https://host/a",
        headers: [HeaderField("Accept", "a/\"b\"")]
    )

    /// A record in which everything is said.
    private static func full() throws -> TransferRecord {
        var record = TransferRecord(request)
        try record.start(at: 5)
        let plan = try #require(record.plan(bytesThere: 0))
        let next = try record.redirected(plan, status: 302, to: "https://other/b")
        _ = record.responded(
            next,
            status: 200,
            headers: [HeaderField("ETag", "\"one\""), HeaderField("Content-Length", "9")]
        )
        record.progressed(received: 3, sent: 0, toSend: nil)
        let offer = HeaderField("WWW-Authenticate", "Negotiate, Basic realm=\"In \u{130} There\"")
        guard case .challenge(let challenge) = record.responded(next, status: 401, headers: [offer]) else {
            Issue.record("no challenge")
            return record
        }
        record.challenged(next, challenge)
        return record
    }

    @Test("It is read as it was written")
    func roundTrip() throws {
        let record = try Self.full()
        #expect(TransferRecord(file: record.file) == record)
        #expect(record.challenge?.challenge.realm == "In \u{130} There")
        #expect(record.reports.map(\.number) == [1, 2, 3])
    }

    @Test("Cut off at any byte it is none")
    func cut() throws {
        let file = try Self.full().file
        for count in file.indices { #expect(TransferRecord(file: Array(file[..<count])) == nil) }
    }

    @Test("Commands are read as they were written, and cut off are none")
    func commands() throws {
        // The packet is made by the client alone, so what a server hears is proved by the process's tests; nonsense is here.
        for text in ["", "{}", "[]", #"{"id":1}"#, #"{"id":1,"command":"start"}"#, #"{"id":-1,"command":"list"}"#] {
            #expect(throws: TransferError(.badCommand, "a packet that is no command"), "\(text)") {
                try TransferCommand.read(Array(text.utf8))
            }
        }
        let list = try TransferCommand.read(Array(#"{"id":3,"command":"list"}"#.utf8))
        #expect(list.id == 3 && list.command == .list)
    }

    @Test("A name of the folder leads nowhere else", arguments: ["1.body", "12.json", "3.upload"])
    func names(name: String) { #expect(TransferSpool.isName(name)) }

    @Test(
        "What is no name of the folder is not taken for one",
        arguments: ["", "body", "1.", "../1.body", "1.body/", "/1.body", "01.body", "1.body.new", "-1.body", "1.sock"]
    )
    func noNames(name: String) { #expect(!TransferSpool.isName(name)) }

    @Test(
        "Whom a credential is for is read from a URL",
        arguments: [
            ("http://Host/x", "http host 80"), ("https://host:8443?x", "https host 8443"),
            ("http://user:p@host", "http host 80"), ("http://[::1]:81/", "http ::1 81"),
            ("http://host:/", "http host 80"),
        ]
    )
    func origins(url: String, text: String) {
        #expect(Origin(url).map { "\($0.scheme) \($0.host) \($0.port)" } == text)
    }

    @Test(
        "A URL without a host has nobody",
        arguments: ["http://", "host", "http://:80/", "http://h:99999/", "http://h:x"]
    )
    func noOrigin(url: String) { #expect(Origin(url) == nil) }

    @Test("A redirect turns a POST into a GET where HTTP says so", arguments: [301, 302, 303, 307, 308])
    func methods(status: Int) throws {
        var record = TransferRecord(TransferRequest(number: 1, url: "http://a/", method: "POST", upload: "/file"))
        let plan = try #require(record.plan(bytesThere: 0))
        let next = try record.redirected(plan, status: status, to: "http://a/b")
        #expect(next.method == (status < 304 ? "GET" : "POST"))
        #expect(next.sendsFile == (status >= 304))
    }

    @Test("A redirect is told once, however often it is followed")
    func redirects() throws {
        var record = TransferRecord(Self.request)
        let plan = try #require(record.plan(bytesThere: 0))
        for _ in 0..<3 { _ = try record.redirected(plan, status: 302, to: "http://a/b") }
        #expect(record.reports.count == 1)
        _ = try record.redirected(plan, status: 302, to: "http://a/c")
        #expect(record.reports.map(\.number) == [2])
    }

    @Test("A record stays short enough to be read back, whatever a server says")
    func longest() throws {
        var record = TransferRecord(Self.request)
        try record.start(at: 5)
        // Each takes two bytes in a file.
        let quotes = String(repeating: "\"", count: 8_000)
        for attempt in 0..<5 {
            var plan = try #require(record.plan(bytesThere: 0))
            for hop in 0..<TransferBounds.mostRedirects {
                plan = try record.redirected(plan, status: 302, to: "http://host/\(attempt)/\(hop)/\(quotes)")
            }
        }
        #expect(record.hops.count == TransferBounds.mostRedirects)
        #expect(record.file.count <= TransferBounds.longestRecord)
    }

    @Test("A body that is there in full is not asked for")
    func whole() throws {
        var record = TransferRecord(Self.request)
        let plan = try #require(record.plan(bytesThere: 0))
        let fields = [HeaderField("ETag", "\"one\""), HeaderField("Content-Length", "9")]
        #expect(record.responded(plan, status: 200, headers: fields) == .keep(from: 0))
        #expect(record.plan(bytesThere: 8)?.offset == 8)
        #expect(record.plan(bytesThere: 9) == nil)
    }

    @Test("An answer to a challenge that does not wait any more changes nothing")
    func lateAnswer() throws {
        var record = try Self.full()
        let report = try #require(record.challenge?.report)
        record.acknowledge(report: report)
        record.answer(report: report + 1, .cancel)
        #expect(record.state == .challenged)
        record.answer(report: report, .useCredential(TransferCredential(user: "ü", password: "\"")))
        #expect(TransferRecord(file: record.file) == record)
        #expect(record.state == .active && record.authorization?.origin == Origin("https://other"))
        let before = record
        record.answer(report: report, .cancel)
        #expect(record == before)
    }
}
