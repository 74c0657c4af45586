import Foundation
import Glibc
import Testing
import WakeBackgroundTransfer
import WakeModel
import WakePorts
import WakeSystem

/// A bench's port for one test, with all that it reported.
private final class PortEnd {
    let transfers: CurlTransfers
    private let loop: EventLoop
    private let folder: String
    private(set) var reports: [SourceReport] = []
    private(set) var notes: [String] = []

    init(_ folder: TestFolder, standing: @escaping (TransferNumber) -> CurlTransfers.Standing = { _ in .underWay })
        throws
    {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] { unsafe unsetenv(name) }
        loop = try EventLoop()
        self.folder = folder.path("transfers")
        transfers = CurlTransfers(names: NameTable(), loop: loop)
        transfers.report = { [unowned self] in reports.append($0) }
        transfers.standing = standing
        transfers.failed = { [unowned self] in notes.append($0) }
        try transfers.start(at: .zero)
        try transfers.open(in: self.folder)
    }

    func begin(_ transfer: TransferNumber, _ order: TransferOrder) {
        transfers.perform(
            .begin(
                AppID(0),
                transfer,
                task: 4,
                session: NameID(9),
                order,
                requestTimeout: .seconds(60),
                resumes: true
            ),
            at: .zero
        )
    }

    func begin(_ transfer: TransferNumber, _ url: String) { begin(transfer, TransferOrder(.download, url: url)) }

    func wait(_ what: String, until isSo: () throws -> Bool) throws {
        let end = MonotonicClock.now() + 20_000_000_000
        while try !isSo() {
            try #require(MonotonicClock.now() < end, "\(what) did not come; reports \(reports)")
            try loop.runOnce(timeout: 20_000_000)
        }
    }

    /// Waits for the end of a transfer.
    func end(of transfer: TransferNumber) throws -> TransferReport {
        func found() -> SourceReport? {
            reports.first { $0.event.kind == .transferEnded && $0.event.transfer == transfer }
        }
        try wait("the end of \(transfer)") { found() != nil }
        guard case .transfer(let report)? = found()?.payload else { throw CocoaError(.fileReadUnknown) }
        return report
    }

    /// Waits for a challenge.
    func challenge() throws -> SourceReport {
        func found() -> SourceReport? { reports.first { $0.event.kind == .transferChallenged } }
        try wait("a challenge") { found() != nil }
        return try #require(found())
    }

    func response(_ transfer: TransferNumber) throws -> TransferResponse {
        guard case .finished(let response) = try end(of: transfer) else { throw CocoaError(.fileReadUnknown) }
        return response
    }

    /// The most bytes of a body that progress told of.
    var received: UInt64 {
        reports.compactMap { report in
            if case .transfer(.progress(_, let received, _)) = report.payload { received } else { nil }
        }.max() ?? 0
    }

    /// How many transfers the process keeps a record of.
    var records: Int { files(".json") }

    /// How many files of what was received there are.
    var bodies: Int { files(".body") }

    private func files(_ end: String) -> Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.count { $0.hasSuffix(end) }
    }
}

extension TransferTests {
    @Suite("Transfers of a bench")
    struct PortTests {
        private let folder: TestFolder
        private let hello = Data("hello".utf8)

        init() throws { folder = try TestFolder() }

        @Test("XFER-1: A download brings the server's answer, and the file with its body")
        func downloads() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "404 Not Found", ["X-Test: yes"], body: hello)
            }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, server.url)
            let response = try bench.response(1)
            #expect(response.status == 404)
            #expect(response.received == 5)
            #expect(response.fields.contains(HTTPField("X-Test", "yes")))
            #expect(try Data(contentsOf: URL(filePath: response.file)) == hello)
            let event = try #require(bench.reports.last?.event)
            #expect(event.transferEnd == .finished)
            #expect((event.app, event.transferTask, event.subject) == (AppID(0), 4, NameID(9)))
        }

        @Test(
            "XFER-7, XFER-9: A broken connection is gone on with by the process, and the router hears of the end alone"
        )
        func goesOn() throws {
            let data = TestFolder.bytes(1_000)
            let server = try StandInServer { index, _ in
                index == 0
                    ? Data(status: "200 OK", ["ETag: \"one\""], body: data.prefix(400), length: 1_000)
                    : Data(
                        status: "206 Partial Content",
                        ["ETag: \"one\"", "Content-Range: bytes 400-999/1000"],
                        body: data.dropFirst(400)
                    )
            }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, server.url)
            let response = try bench.response(1)
            #expect(try Data(contentsOf: URL(filePath: response.file)) == data)
            #expect(bench.reports.count { $0.event.kind == .transferEnded } == 1)
            #expect(server.requests.count == 2)
        }

        @Test(
            "SYS-2, XFER-3: What was not accepted the next bench is told, and no bench after one that has accepted it"
        )
        func nextBench() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, server.url)
            _ = try bench?.response(1)
            bench = nil
            let second = try PortEnd(folder)
            second.begin(1, server.url)
            #expect(try second.response(1).received == 5)
            second.transfers.accepted(endOf: 1)
            try second.wait("the acknowledgement") { second.records == 0 }
            second.transfers.stop()
            let third = try PortEnd(folder)
            defer { third.transfers.stop() }
            third.begin(2, server.url)
            _ = try third.end(of: 2)
            #expect(third.reports.allSatisfy { $0.event.transfer == 2 })
            #expect(server.requests.count == 2)
        }

        @Test("SYS-2: A journal that has an end whose acknowledgement was lost is not told it again")
        func lostAcknowledgement() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, server.url)
            let response = try #require(try bench?.response(1))
            bench = nil
            let second = try PortEnd(folder)
            defer { second.transfers.stop() }
            second.transfers.accepted(endOf: 1)
            try second.wait("the acknowledgement") { second.records == 0 }
            #expect(second.reports.isEmpty)
            #expect(FileManager.default.fileExists(atPath: response.file))
        }

        @Test("SYS-2: What the router does not have any more is cancelled when the bench comes back")
        func unwanted() throws {
            let server = try StandInServer { _, _ in nil }
            defer { server.stop() }
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, server.url)
            try bench?.wait("a request") { server.requests.count == 1 }
            bench = nil
            let second = try PortEnd(folder) { _ in .unwanted }
            defer { second.transfers.stop() }
            try second.wait("its end") { second.records == 0 }
            #expect(second.reports.isEmpty)
        }

        @Test("XFER-9: What a server says to an upload leaves no file")
        func uploadsBody() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "201 Created", body: hello) }
            defer { server.stop() }
            try hello.write(to: URL(filePath: folder.path("file")))
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, TransferOrder(.upload, url: server.url, method: "PUT", file: folder.path("file")))
            _ = try bench.response(1)
            bench.transfers.accepted(endOf: 1)
            try bench.wait("the acknowledgement") { bench.records == 0 }
            #expect(bench.bodies == 0)
        }

        @Test("What a cancelled download has brought is removed")
        func cancelledBody() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, server.url)
            _ = try bench.response(1)
            try #require(bench.bodies == 1)
            bench.transfers.perform(.cancel(1), at: .zero)
            try bench.wait("the acknowledgement") { bench.records == 0 }
            #expect(bench.bodies == 0)
        }

        @Test("What a download has brought for an app that is gone is removed, when its end was accepted, too")
        func goneApp() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, server.url)
            bench.begin(2, server.url)
            _ = try bench.response(1)
            _ = try bench.response(2)
            for transfer in [1, 2] as [TransferNumber] { bench.transfers.accepted(endOf: transfer) }
            bench.transfers.perform(.cancel(1), at: .zero)
            #expect(bench.bodies == 1)
        }

        @Test("SYS-2: The file of a download whose app is still to be told stays when the bench comes back")
        func keptBody() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, server.url)
            _ = try bench?.response(1)
            bench = nil
            let second = try PortEnd(folder) { _ in .over }
            defer { second.transfers.stop() }
            try second.wait("the acknowledgement") { second.records == 0 }
            #expect(second.bodies == 1)
        }

        @Test("XFER-3: What a download has brought is removed once its app has taken it", arguments: [true, false])
        func takenBody(byLaterBench: Bool) throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, server.url)
            _ = try bench?.response(1)
            bench?.transfers.accepted(endOf: 1)
            try bench?.wait("the acknowledgement") { bench?.records == 0 }
            #expect(bench?.bodies == 1)
            if byLaterBench {
                bench = nil
                bench = try PortEnd(folder) { _ in .over }
            }
            let last = try #require(bench)
            defer { last.transfers.stop() }
            last.transfers.perform(.release(1), at: .zero)
            try last.wait("the removal") { last.bodies == 0 }
        }

        @Test("XFER-3, SYS-2: A body whose app took it just before the bench died is removed by the next bench")
        func leftBody() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, server.url)
            _ = try bench?.response(1)
            bench?.transfers.accepted(endOf: 1)
            try bench?.wait("the acknowledgement") { bench?.records == 0 }
            bench = nil
            let second = try PortEnd(folder) { _ in .unwanted }
            defer { second.transfers.stop() }
            try second.wait("the removal") { second.bodies == 0 }
        }

        @Test("No process is started before there is something to carry")
        func idle() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            #expect(!FileManager.default.fileExists(atPath: folder.path("transfers")))
            bench.begin(1, server.url)
            #expect(try bench.response(1).status == 200)
        }

        @Test("A process that cannot be had is said once, and gets the transfers when it can")
        func notToBeHad() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            // A folder that others may use is not taken.
            try #require(unsafe mkdir(folder.path("transfers"), 0o755) == 0)
            for transfer in [1, 2] as [TransferNumber] { bench.begin(transfer, server.url) }
            #expect(bench.notes.count == 1)
            #expect(bench.reports.isEmpty)
            try #require(unsafe chmod(folder.path("transfers"), 0o700) == 0)
            bench.transfers.timeReached(try #require(bench.transfers.nextDeadline))
            for transfer in [1, 2] as [TransferNumber] { #expect(try bench.response(transfer).status == 200) }
        }

        @Test("Transfers are begun in any order of their numbers")
        func anyOrder() throws {
            let server = try StandInServer { [hello] _, _ in Data(status: "200 OK", body: hello) }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            for transfer in [5, 3] as [TransferNumber] { bench.begin(transfer, server.url) }
            for transfer in [5, 3] as [TransferNumber] { #expect(try bench.response(transfer).status == 200) }
        }

        @Test("A cancelled transfer is heard of no more, and one that was suspended goes on when it is begun again")
        func suspended() throws {
            let server = try StandInServer { [hello] index, _ in index == 0 ? nil : Data(status: "200 OK", body: hello)
            }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, server.url)
            try bench.wait("a request") { server.requests.count == 1 }
            bench.transfers.perform(.suspend(1), at: .zero)
            bench.begin(1, server.url)
            #expect(try bench.response(1).status == 200)
            bench.begin(2, "http://127.0.0.1:1/")
            bench.transfers.perform(.cancel(2), at: .zero)
            try bench.wait("its end") { bench.records == 1 }
            #expect(bench.reports.allSatisfy { $0.event.transfer == 1 })
        }

        private func lockedServer() throws -> StandInServer {
            try StandInServer { [hello] _, head in
                head.contains("Authorization: Basic")
                    ? Data(status: "200 OK", body: hello)
                    : Data(status: "401 Unauthorized", ["WWW-Authenticate: Basic realm=\"club\""])
            }
        }

        /// Answers the challenge that a bench was told.
        private func open(_ bench: PortEnd) throws {
            let told = try bench.challenge()
            bench.transfers.perform(
                .answer(1, challenge: told.event.challenge, .credential(user: "anna", password: "secret")),
                at: .zero
            )
        }

        @Test("XFER-4: A challenge is told with a number, and its answer opens the server")
        func challenged() throws {
            let server = try lockedServer()
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, server.url)
            let challenge = AuthenticationChallenge(host: "127.0.0.1", realm: "club", scheme: "basic", failures: 0)
            #expect(try bench.challenge().payload == .transfer(.challenge(challenge)))
            try open(bench)
            #expect(try bench.response(1).status == 200)
        }

        @Test("A response has the URL that redirects led to, and none where there were none")
        func redirected() throws {
            let server = try StandInServer { [hello] index, _ in
                index == 0
                    ? Data(status: "302 Found", ["Location: /there?a=b"]) : Data(status: "200 OK", body: hello)
            }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            bench.begin(1, server.url)
            #expect(try bench.response(1).url == server.url + "/there?a=b")
            bench.begin(2, server.url)
            #expect(try bench.response(2).url == nil)
        }

        /// A download of nginx that is cancelled in its middle with its bytes kept; gives what it failed with.
        private func cancelled(_ bench: PortEnd, _ url: String) throws -> TransferFailure {
            bench.begin(1, url)
            try bench.wait("its first megabyte") { bench.received >= 1_000_000 }
            bench.transfers.perform(.cancelKeepingBytes(1), at: .zero)
            guard case .failed(let failure) = try bench.end(of: 1) else { throw CocoaError(.fileReadUnknown) }
            bench.transfers.accepted(endOf: 1)
            return failure
        }

        @Test(
            "XFER-9: A download goes on from what a cancelled one left, and only the rest is fetched; once",
            .enabled(if: NginxServer.isThere, "needs nginx")
        )
        func resumeData() throws {
            let server = try NginxServer(folder, locations: "limit_rate 4m;")
            let data = TestFolder.bytes(6_000_000)
            try data.write(to: folder.url.appending(path: "files/data"))
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            let failure = try cancelled(bench, server.url + "/data")
            #expect(failure.code == -999)
            let kept = try #require(failure.resumes)
            let order = TransferOrder(.download, url: server.url + "/data", resumes: kept)
            for transfer in [2, 3] as [TransferNumber] {
                bench.begin(transfer, order)
                #expect(try Data(contentsOf: URL(filePath: bench.response(transfer).file)) == data)
            }
            let log = server.log.map { $0.split(separator: " ") }
            #expect(log.count == 3 && log[1].starts(with: ["GET", "206"]), "\(server.log)")
            let sent = try #require(Int(log[1][3]))
            #expect(sent <= 5_000_000 && log[1][2] == "bytes=\(6_000_000 - sent)-", "\(server.log)")
            #expect(log[2].starts(with: ["GET", "200"]), "\(server.log)")
        }

        @Test(
            "XFER-9: Where a server has nothing to know a file by, a cancelled download leaves nothing",
            .enabled(if: NginxServer.isThere, "needs nginx")
        )
        func noResumeData() throws {
            let server = try NginxServer(folder, locations: "limit_rate 4m; etag off; add_header Last-Modified \"\";")
            try TestFolder.bytes(6_000_000).write(to: folder.url.appending(path: "files/data"))
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            #expect(try cancelled(bench, server.url + "/data").resumes == nil)
        }

        @Test("XFER-4, SYS-2: A challenge that waits is told the next bench, whose answer opens the server")
        func challengedBefore() throws {
            let server = try lockedServer()
            defer { server.stop() }
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, server.url)
            _ = try bench?.challenge()
            bench = nil
            let second = try PortEnd(folder)
            defer { second.transfers.stop() }
            second.begin(1, server.url)
            try open(second)
            #expect(try second.response(1).status == 200)
            #expect(second.reports.count { $0.event.kind == .transferChallenged } == 1)
        }

        @Test("XFER-9: The end of an upload says how many bytes were sent, to a bench that did not see them leave, too")
        func sentBytes() throws {
            let server = try StandInServer(readsBodies: true) { _, _ in Data(status: "201 Created") }
            defer { server.stop() }
            try hello.write(to: URL(filePath: folder.path("file")))
            let order = TransferOrder(.upload, url: server.url, method: "PUT", file: folder.path("file"))
            var bench: PortEnd? = try PortEnd(folder)
            bench?.begin(1, order)
            #expect(try bench?.response(1).sent == 5)
            bench = nil
            let second = try PortEnd(folder)
            defer { second.transfers.stop() }
            second.begin(1, order)
            #expect(try second.response(1).sent == 5)
        }

        @Test("XFER-9: An upload sends its file; one without fails at once")
        func uploads() throws {
            let server = try StandInServer { _, _ in Data(status: "201 Created") }
            defer { server.stop() }
            let bench = try PortEnd(folder)
            defer { bench.transfers.stop() }
            try hello.write(to: URL(filePath: folder.path("file")))
            let there = TransferOrder(.upload, url: server.url, method: "PUT", file: folder.path("file"))
            bench.begin(1, there)
            #expect(try bench.response(1).status == 201)
            #expect(server.requests.first?.contains("Content-Length: 5") == true)
            var missing = there
            missing.file = folder.path("missing")
            bench.begin(2, missing)
            guard case .failed(let failure) = try bench.end(of: 2) else { throw CocoaError(.fileReadUnknown) }
            #expect(failure.code == -1_100)
        }
    }
}
