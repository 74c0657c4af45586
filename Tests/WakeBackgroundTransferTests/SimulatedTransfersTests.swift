import Foundation
import Testing
import WakeDevices
import WakeModel
import WakePorts

@testable import WakeBackgroundTransfer

/// A simulated end for one test, with a clock, and all that it reported.
private final class End {
    private static let file = """
        device: transfer-server
        host: example.com
        bandwidth: 1MB
        latency: 0s
        files:
          - {path: /plain, size: 40MB, resumable: true}
          - {path: /cut, size: 40MB, resumable: true, cuts: [10MB]}
          - {path: /once, size: 40MB, cuts: [10MB]}
          - {path: /stall, size: 40MB, stalls: [10MB]}
          - {path: /locked, size: 1MB, lock: {realm: club, user: anna, password: secret}}
          - {path: /empty}
        faults:
          - {name: tunnel, cut: true}
          - {name: jam, stall: true}
          - {name: crawl, bandwidth: 100kB}
        """

    let transfers: SimulatedTransfers
    private(set) var now = Instant.zero
    private(set) var reports: [(at: Instant, report: SourceReport)] = []

    init(folder: String? = nil) throws {
        guard case .transferServer(let server) = try DeviceFile.parse(Array(Self.file.utf8), file: "server.yaml") else {
            preconditionFailure("it is a server")
        }
        transfers = SimulatedTransfers(servers: [("server", server)], names: NameTable(), folder: folder)
        transfers.report = { [unowned self] in reports.append((now, $0)) }
    }

    func begin(
        _ path: String,
        _ transfer: TransferNumber = 1,
        resumes: Bool = false,
        kind: TransferKind = .download,
        after: UInt64? = nil
    ) {
        let url = path.hasPrefix("/") ? "https://example.com\(path)" : path
        let order = TransferOrder(kind, url: url, resumes: after)
        transfers.perform(
            .begin(
                AppID(0),
                transfer,
                task: 4,
                session: NameID(9),
                order,
                requestTimeout: .seconds(60),
                resumes: resumes
            ),
            at: now
        )
    }

    func wait(_ span: Instant.Span) {
        let target = now.advanced(by: span)
        while let next = transfers.nextDeadline, next <= target {
            now = max(now, next)
            transfers.timeReached(now)
        }
        now = target
    }

    /// When ends were reported, in seconds, and how they were meant.
    var ends: [(seconds: Int64, end: TransferEnd)] {
        reports.filter { $0.report.event.kind == .transferEnded }.map {
            ($0.at.nanoseconds / 1_000_000_000, $0.report.event.transferEnd)
        }
    }
}

@Suite("Simulated transfers")
struct SimulatedTransfersTests {
    @Test("A download takes the time that its bandwidth gives it, tells of its quarters, and ends once")
    func download() throws {
        let end = try End()
        end.begin("/plain")
        end.wait(.seconds(39))
        #expect(end.ends.isEmpty)
        #expect(
            end.reports.map(\.report.event.kind) == [.transferProgressed, .transferProgressed, .transferProgressed]
        )
        end.wait(.seconds(100))
        #expect(end.ends.map(\.seconds) == [40])
        let last = try #require(end.reports.last?.report)
        #expect(last.event.transferTask == 4)
        #expect(last.event.subject == NameID(9))
        guard case .transfer(.finished(let response)) = last.payload else {
            Issue.record("\(last.payload)")
            return
        }
        #expect((response.status, response.received, response.sent) == (200, 40_000_000, 0))
    }

    @Test("XFER-9: what broke goes on where it stopped, and from the beginning where the server does not allow it")
    func cuts() throws {
        for (path, resumes, seconds) in [("/cut", true, 40 as Int64), ("/once", false, 50), ("/cut", false, 50)] {
            let end = try End()
            end.begin(path)
            end.wait(.seconds(10))
            #expect(end.ends.map(\.end) == [path == "/cut" ? .interruptedResumable : .interrupted])
            end.begin(path, resumes: resumes)
            end.wait(.seconds(100))
            #expect(end.ends.map(\.seconds) == [10, seconds])
            #expect(end.ends.last?.end == .finished)
        }
    }

    @Test("XFER-7: a stillstand is an interruption after the request's time-out")
    func stall() throws {
        let end = try End()
        end.begin("/stall")
        end.wait(.seconds(69))
        #expect(end.ends.isEmpty)
        end.wait(.seconds(1))
        #expect(end.ends.map(\.end) == [.interrupted])
    }

    @Test("A suspended transfer stands still, and goes on with what there is of it")
    func suspended() throws {
        let end = try End()
        end.begin("/plain")
        end.wait(.seconds(15))
        end.transfers.perform(.suspend(1), at: end.now)
        end.wait(.seconds(100))
        #expect(end.ends.isEmpty)
        end.begin("/plain", resumes: true)
        end.begin("/plain", resumes: true)
        end.wait(.seconds(24))
        #expect(end.ends.isEmpty)
        end.wait(.seconds(1))
        #expect(end.ends.map(\.seconds) == [140])
    }

    @Test("A cancelled transfer says nothing any more")
    func cancelled() throws {
        let end = try End()
        end.begin("/plain")
        end.transfers.perform(.cancel(1), at: end.now)
        end.wait(.seconds(100))
        #expect(end.reports.isEmpty)
    }

    @Test(
        "XFER-9: a download that is cancelled with its bytes kept leaves them to another where its server gives parts",
        arguments: [("/plain", 10_000_000 as UInt64?, Int64(40)), ("/once", nil, 50)]
    )
    func cancelledKeepingBytes(path: String, bytes: UInt64?, seconds: Int64) throws {
        let end = try End()
        end.begin(path)
        end.wait(.seconds(10))
        if path == "/once" { end.begin(path) }
        end.transfers.perform(.cancelKeepingBytes(1), at: end.now)
        let payload = try #require(end.reports.last?.report.payload)
        #expect(payload == .transfer(.failed(TransferFailure(code: -999, message: "cancelled", resumes: bytes))))
        end.begin("/plain", 2, after: bytes)
        end.wait(.seconds(100))
        #expect(end.ends.last?.seconds == seconds)
    }

    @Test("XFER-4: a server with a lock asks, again after a wrong answer, and opens for the right one")
    func challenge() throws {
        let end = try End()
        end.begin("/locked")
        end.wait(.seconds(1))
        let first = try #require(end.reports.last?.report)
        #expect(first.event.kind == .transferChallenged)
        end.transfers.perform(
            .answer(1, challenge: first.event.challenge, .credential(user: "anna", password: "guess")),
            at: end.now
        )
        end.wait(.seconds(1))
        let second = try #require(end.reports.last?.report)
        #expect(second.event.challenge != first.event.challenge)
        #expect(
            second.payload
                == .transfer(
                    .challenge(
                        AuthenticationChallenge(host: "example.com", realm: "club", scheme: "basic", failures: 1)
                    )
                )
        )
        let right = ChallengeAnswer.credential(user: "anna", password: "secret")
        // An answer to a challenge that is over is none.
        end.transfers.perform(.answer(1, challenge: first.event.challenge, right), at: end.now)
        end.wait(.seconds(10))
        #expect(end.ends.isEmpty)
        end.transfers.perform(.answer(1, challenge: second.event.challenge, right), at: end.now)
        end.wait(.seconds(10))
        #expect(end.ends.map(\.end) == [.finished])
    }

    @Test("XFER-4: without a credential the server's refusal is the answer, and a cancelled challenge is a failure")
    func declined() throws {
        for (answer, meant) in [(ChallengeAnswer.defaultHandling, TransferEnd.finished), (.cancel, .failed)] {
            let end = try End()
            end.begin("/locked")
            end.wait(.seconds(1))
            end.transfers.perform(.answer(1, challenge: 1, answer), at: end.now)
            #expect(end.ends.map(\.end) == [meant])
        }
    }

    @Test("What no server has is 404, and a host that nobody answers for is a failure")
    func missing() throws {
        let end = try End()
        end.begin("/nothing", 1)
        end.begin("https://elsewhere.example/", 2)
        end.wait(.seconds(1))
        #expect(end.ends.map(\.end) == [.finished, .failed])
        #expect(end.reports[0].report.payload == .transfer(.finished(TransferResponse(status: 404))))
    }

    @Test("Faults break, hold up and slow down the connections that there are")
    func faults() throws {
        let end = try End()
        end.begin("/plain")
        end.wait(.seconds(10))
        try end.transfers.arm(fault: "tunnel", device: "server", at: end.now)
        end.wait(.seconds(1))
        #expect(end.ends.map(\.end) == [.interruptedResumable])
        end.begin("/plain", resumes: true)
        try end.transfers.arm(fault: "crawl", device: "server", at: end.now)
        end.wait(.seconds(299))
        #expect(end.ends.count == 1)
        try end.transfers.arm(fault: "jam", device: "server", at: end.now)
        end.wait(.seconds(60))
        #expect(end.ends.map(\.end) == [.interruptedResumable, .interruptedResumable])
        #expect(throws: SourceFailure.noFault("rain", of: "server server", among: ["tunnel", "jam", "crawl"])) {
            try end.transfers.arm(fault: "rain", device: "server", at: end.now)
        }
        #expect(throws: SourceFailure.noDevice("server 'other'", among: ["server"])) {
            try end.transfers.arm(fault: "jam", device: "other", at: end.now)
        }
    }

    @Test("A pipe in the place of the file that a transfer brings is not waited for: the transfer fails")
    func pipe() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-files-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(unsafe mkfifo(folder.path + "/7.download", 0o600) == 0)
        let files = TransferFiles(folder: folder.path)
        #expect(files.write(10, of: 7) == nil)
        #expect(files.write(10, of: 8) != nil)
        let end = try End(folder: folder.path)
        end.begin("/plain", 7)
        end.wait(.seconds(60))
        #expect(end.ends.map(\.end) == [.failed])
        #expect(end.reports.last?.report.payload == .transfer(.failed(.cannotWriteToFile)))
    }

    @Test("SYS-2: from a snapshot it goes on as it would have")
    func snapshot() throws {
        let (end, other) = (try End(), try End())
        end.begin("/plain")
        end.begin("/locked", 2)
        end.wait(.seconds(15))
        var coder = SnapshotCoder()
        try end.transfers.code(with: &coder)
        var reader = SnapshotCoder(reading: coder.bytes)
        try other.transfers.code(with: &reader)
        other.wait(.seconds(15))
        end.wait(.seconds(30))
        other.wait(.seconds(30))
        #expect(end.ends.map(\.seconds) == [40])
        #expect(other.ends.map(\.seconds) == [40])
    }
}
