import ChildProcess
import Foundation
import Glibc
import Testing
import WakeSystem
import WakeTransfers

/// A folder of a test, removed with the value.
final class TestFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "wakebench-transfers-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Bytes that do not repeat, the same for a seed.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed
        var data = Data(capacity: count + 8)
        while data.count < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            unsafe withUnsafeBytes(of: state) { unsafe data.append(contentsOf: $0) }
        }
        return data.prefix(count)
    }
}

/// A bench's end, with the process that it starts, which ends with the value.
final class Bench {
    let loop: EventLoop
    let client: TransferClient
    let folder: String
    private(set) var reports: [TransferReport] = []
    private(set) var errors: [TransferError] = []
    /// Everything but progress is acknowledged at once.
    var acknowledges = false
    private let endsProcess: Bool

    /// - Parameters:
    ///   - firstPause: before the process is looked for again, in milliseconds.
    ///   - endsProcess: whether the process ends with this bench's end.
    init(
        _ folder: String,
        program: String? = nil,
        options: [String] = [],
        firstPause: Int64 = 20,
        endsProcess: Bool = true
    ) throws {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] { unsafe unsetenv(name) }
        loop = try EventLoop()
        self.folder = folder
        self.endsProcess = endsProcess
        let usual = ["--first-pause", "20", "--longest-pause", "200", "--progress", "20", "--linger", "20000"]
        var settings = TransferClient.Settings(
            folder: folder,
            program: try program ?? built("WakebenchTransfers"),
            arguments: usual + options
        )
        settings.firstPause = firstPause
        client = try TransferClient(settings, on: loop)
        client.reported = { [unowned self] report in
            reports.append(report)
            if acknowledges, !report.isProgress { acknowledge(report) }
        }
        client.failed = { [unowned self] in errors.append($0) }
        client.open()
    }

    deinit {
        if endsProcess { killProcess() }
        client.leave()
    }

    /// The process that has the folder now.
    var process: pid_t? {
        let text = try? String(contentsOfFile: folder + "/lock", encoding: .utf8)
        guard let pid = text.flatMap({ pid_t($0.trimmingCharacters(in: .newlines)) }), kill(pid, 0) == 0 else {
            return nil
        }
        let name = try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)
        return name?.hasPrefix("WakebenchTransf") == true ? pid : nil
    }

    func killProcess() {
        if let process { kill(process, SIGKILL) }
    }

    func acknowledge(_ report: TransferReport) {
        client.send(.acknowledge(report.transfer, report: report.number))
    }

    /// Says a command and waits for what is answered.
    @discardableResult
    func say(_ command: TransferCommand) throws -> Result<[TransferSummary], TransferError> {
        var answer: Result<[TransferSummary], TransferError>?
        client.send(command) { answer = $0 }
        try wait("an answer to \(command)") { answer != nil }
        return try #require(answer)
    }

    /// Submits and starts.
    func begin(_ request: TransferRequest) throws {
        _ = try say(.submit(request)).get()
        _ = try say(.start(request.number)).get()
    }

    func wait(_ what: String, for seconds: Int64 = 20, until isSo: () -> Bool) throws {
        let end = MonotonicClock.now() + seconds * 1_000_000_000
        while !isSo() {
            try #require(MonotonicClock.now() < end, "\(what) did not come; reports \(reports), errors \(errors)")
            try loop.runOnce(timeout: 20_000_000)
        }
    }

    /// Waits for the first report of a transfer that fits.
    @discardableResult
    func report(
        of number: UInt64,
        _ what: String,
        where fits: (TransferReport.Kind) -> Bool
    ) throws -> TransferReport {
        func found() -> TransferReport? { reports.first { $0.transfer == number && fits($0.kind) } }
        try wait(what) { found() != nil }
        return try #require(found())
    }

    func finished(_ number: UInt64) throws -> TransferResponse {
        let last = try report(of: number, "the end of \(number)") { TransferReport(number, $0).isLast }
        guard case .finished(let response) = last.kind else { throw Unexpected(last) }
        return response
    }

    func failed(_ number: UInt64) throws -> TransferFailure {
        let last = try report(of: number, "the failure of \(number)") { TransferReport(number, $0).isLast }
        guard case .failed(let code, _, _) = last.kind else { throw Unexpected(last) }
        return code
    }

    func challenge(_ number: UInt64, failures: Int) throws -> (report: UInt64, challenge: TransferChallenge) {
        let report = try self.report(of: number, "a challenge of \(number)") { kind in
            if case .challenged(let challenge) = kind { challenge.failures == failures } else { false }
        }
        guard case .challenged(let challenge) = report.kind else { throw Unexpected(report) }
        return (report.number, challenge)
    }

    /// Waits until so many bytes were received, or sent.
    func progress(of number: UInt64, atLeast bytes: Int64) throws {
        try wait("progress of \(number)") {
            reports.contains { report in
                guard case .progress(let progress) = report.kind else { return false }
                return report.transfer == number && max(progress.received, progress.sent) >= bytes
            }
        }
    }

    func body(of response: TransferResponse) throws -> Data {
        try Data(contentsOf: URL(filePath: client.path(of: response.file)))
    }

    struct Unexpected: Error {
        var report: TransferReport
        init(_ report: TransferReport) { self.report = report }
    }
}

extension TransferReport {
    /// One whose number does not matter.
    init(_ transfer: UInt64, _ kind: Kind) { self.init(transfer: transfer, number: 1, kind: kind) }

    var isProgress: Bool { if case .progress = kind { true } else { false } }
}

/// A program that the package built.
func built(_ name: String) throws -> String {
    for path in [Bundle.main.executablePath ?? ""] + CommandLine.arguments {
        let folder = URL(filePath: path).deletingLastPathComponent()
        for place in [folder, folder.appending(path: "../../..").standardized] {
            let file = place.appending(path: name).path
            if FileManager.default.fileExists(atPath: file) { return file }
        }
    }
    throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
}
