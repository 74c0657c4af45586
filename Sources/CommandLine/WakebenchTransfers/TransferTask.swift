import CCurl
import Glibc
import WakeSystem
import WakeTransfers

/// A transfer and what is under way for it: at most one exchange, the file that its body goes to, its timers.
final class TransferTask {
    private(set) var record: TransferRecord
    private unowned let engine: TransferEngine
    private var exchange: Exchange?
    private var plan: RequestPlan?
    private var reception: TransferRecord.Reception?
    private var body: Descriptor?
    /// The body's descriptor; -1 while none is open.
    private var bodyNumber: Int32 = -1
    /// The size of the body's file, as far as it was written.
    private var end: Int64
    /// The bytes that the last exchange with an upload sent.
    private var sent: Int64 = 0
    /// Bytes of a body that is of no use.
    private var dropped = 0
    /// Whether this attempt brought bytes that the next one goes on from.
    private var hasAdvanced = false
    private var movedAt: Int64 = 0
    /// Attempts in a row that brought nothing.
    private var failures = 0
    private var isPausing = false
    private var isProgressDue = false
    /// What a callback found, by which the transfer fails.
    private var fault: (code: TransferFailure, message: String)?
    /// Reports up to this number were told.
    private(set) var toldUpTo: UInt64 = 0

    private let idle: Timer
    private let pause: Timer
    private let progress: Timer
    private let deadline: Timer

    init(_ record: TransferRecord, of engine: TransferEngine) throws(SystemError) {
        (self.record, self.engine) = (record, engine)
        end = engine.spool.size(record.request.number, .body)
        toldUpTo = record.reports.last?.number ?? 0
        idle = try engine.loop.timer(on: .monotonic)
        pause = try engine.loop.timer(on: .monotonic)
        progress = try engine.loop.timer(on: .monotonic)
        deadline = try engine.loop.timer(on: .monotonic)
        idle.handler = { [unowned self] in idleTimeReached() }
        pause.handler = { [unowned self] in pauseOver() }
        progress.handler = { [unowned self] in tellProgress() }
        deadline.handler = { [unowned self] in deadlineReached() }
        armDeadline()
    }

    var number: UInt64 { record.request.number }
    var host: String { Origin(record.request.url)?.host ?? "" }
    var isUnderWay: Bool { exchange != nil }
    /// Whether it would begin an attempt if there was room for one.
    var wantsRoom: Bool { record.state == .active && exchange == nil && !isPausing }
    var received: Int64 { end }

    /// Keeps the record, and tells the reports that are new.
    func commit() {
        guard engine.keep(record, of: self) else { return }
        for report in record.reports where report.number > toldUpTo {
            toldUpTo = report.number
            engine.told(report)
        }
    }

    private func armDeadline() {
        guard let due = record.deadline, record.state != .over else { return deadline.disarm() }
        deadline.arm(after: max(due - WallClock.now(), 0) / 1_000_000 + 1)
    }
}

// What a bench wants.
extension TransferTask {
    func start() throws(TransferError) {
        try record.start(at: WallClock.now())
        armDeadline()
        failures = 0
        commit()
        engine.schedule()
    }

    func stop() throws(TransferError) {
        try record.pause()
        leaveExchange()
        commit()
        engine.schedule()
    }

    func cancel(keepingBytes: Bool) {
        guard record.state != .over else { return }
        leaveExchange()
        record.cancel(keepingBytes: keepingBytes, bytesThere: end)
        over()
    }

    func answer(report: UInt64, _ answer: TransferAnswer) {
        record.answer(report: report, answer)
        if record.state == .over { return over() }
        commit()
        engine.schedule()
    }

    func acknowledge(report: UInt64) {
        record.acknowledge(report: report)
        commit()
    }

    func discard() throws(TransferError) {
        try record.discard()
        commit()
        engine.spool.remove(number, .body)
    }

    /// Lets go of the connection and of the file; the record says the same as before.
    func leaveExchange() {
        if let exchange { engine.multi.remove(exchange) }
        letGo()
        isPausing = false
        pause.disarm()
    }

    private func letGo() {
        exchange = nil
        plan = nil
        reception = nil
        body = nil
        bodyNumber = -1
        idle.disarm()
        progress.disarm()
        isProgressDue = false
    }

    /// Its last report was made.
    private func over() {
        letGo()
        deadline.disarm()
        commit()
        if case .failed = record.reports.last?.kind, !record.keepsBytes { engine.spool.remove(number, .body) }
        engine.spool.remove(number, .upload)
        engine.schedule()
    }
}

// Attempts.
extension TransferTask {
    /// There is room for an attempt.
    func begin() {
        end = engine.spool.size(number, .body)
        guard let plan = record.plan(bytesThere: end) else { return finish() }
        begin(plan)
    }

    private func begin(_ plan: RequestPlan) {
        letGo()
        (hasAdvanced, dropped, fault) = (false, 0, nil)
        var upload: Descriptor?
        do throws(SystemError) {
            if plan.sendsFile { upload = try engine.spool.openUpload(number) }
        } catch { return fail(.fileDoesNotExist, "its upload cannot be read: \(error.reason)") }
        let made = Exchange(
            plan,
            upload: upload,
            certificates: engine.settings.certificates,
            timeout: record.request.requestTimeout
        )
        guard let made else { return again(.unknown, "no memory for an exchange") }
        made.owner = self
        (self.plan, exchange) = (plan, made)
        movedAt = MonotonicClock.now()
        idle.arm(after: record.request.requestTimeout)
        engine.multi.add(made)
    }

    private func moved() {
        movedAt = MonotonicClock.now()
        if !isProgressDue {
            isProgressDue = true
            progress.arm(after: engine.settings.progressInterval)
        }
    }

    private func idleTimeReached() {
        let silence = (MonotonicClock.now() - movedAt) / 1_000_000
        if silence < record.request.requestTimeout { return idle.arm(after: record.request.requestTimeout - silence) }
        if let exchange { engine.multi.remove(exchange) }
        again(.timedOut, "no byte for \(record.request.requestTimeout) ms")
    }

    private func deadlineReached() {
        guard record.state != .over else { return }
        leaveExchange()
        fail(.timedOut, "not done in \(record.request.resourceTimeout) ms")
    }

    private func tellProgress() {
        guard let exchange else { return }
        isProgressDue = false
        record.progressed(received: end, sent: exchange.uploaded, toSend: exchange.uploadSize)
        commit()
    }

    /// The attempt failed in a way that another one may mend.
    private func again(_ code: TransferFailure, _ message: String) {
        failures = hasAdvanced ? 1 : failures + 1
        letGo()
        isPausing = true
        let settings = engine.settings
        pause.arm(after: min(settings.firstPause << Int64(min(failures - 1, 30)), settings.longestPause))
        // A handshake that is broken off looks like one that both ends cannot agree on.
        if code == .secureConnectionFailed, failures > 3 { return fail(code, message) }
        engine.schedule()
    }

    private func pauseOver() {
        isPausing = false
        if engine.spool.isGone { return engine.folderGone() }
        engine.schedule()
    }

    private func fail(_ code: TransferFailure, _ message: String) {
        record.fail(code, message, keepsBytes: record.canResume && end > 0)
        isPausing = false
        pause.disarm()
        over()
    }

    private func finish() {
        // A body of nothing has a file, too.
        if bodyNumber < 0 { _ = try? engine.spool.openBody(number) }
        record.finish(file: TransferSpool.name(number, .body), bytes: end, sent: sent)
        over()
    }
}

extension TransferTask: ExchangeOwner {
    func responded(_ exchange: Exchange, status: Int, headers: [HeaderField]) -> Bool {
        guard let plan else { return false }
        movedAt = MonotonicClock.now()
        let found = record.responded(plan, status: status, headers: headers)
        reception = found
        guard case .keep(let first) = found else { return true }
        do throws(SystemError) {
            let opened = try engine.spool.openBody(number)
            guard ftruncate(opened.number, Int(first)) == 0, lseek(opened.number, Int(first), SEEK_SET) >= 0 else {
                throw SystemError(last: "ftruncate")
            }
            bodyNumber = opened.number
            body = consume opened
            end = first
            // Which representation the bytes are of is known before the first of them is there.
            try engine.spool.save(record)
            return true
        } catch {
            fault = (.cannotWriteToFile, "its file cannot be written: \(error.reason)")
            return false
        }
    }

    func received(_ exchange: Exchange, _ bytes: UnsafeRawBufferPointer) -> Bool {
        moved()
        let number = bodyNumber
        guard case .keep = reception, number >= 0 else {
            // Reading a little further spares a connection.
            dropped += bytes.count
            return dropped <= 65_536
        }
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = repeatingInterrupted { unsafe write(number, rest.baseAddress, rest.count) }
            guard count > 0 else {
                fault = (.cannotWriteToFile, "its file cannot be written: \(SystemError(last: "write").reason)")
                return false
            }
            end += Int64(count)
            written += count
        }
        hasAdvanced = record.canResume
        return true
    }

    func sent(_ exchange: Exchange) { moved() }

    func ended(_ exchange: Exchange, _ result: CURLcode) {
        let (plan, reception) = (plan, reception)
        if exchange.uploadSize != nil { sent = exchange.uploaded }
        if let fault { return fail(fault.code, fault.message) }
        if exchange.isHeaderTooLong { return fail(.badServerResponse, "a header of more than 32 KiB") }
        switch reception {
        case .redirect?: redirect(exchange, plan)
        case .challenge(let challenge)?:
            guard let plan else { return }
            letGo()
            record.challenged(plan, challenge)
            commit()
            engine.schedule()
        case .beginAnew?:
            record.beginAnew()
            again(.badServerResponse, "the server has no part that goes on from \(end)")
        case .tryLater?: again(.badServerResponse, "the server cannot go on now")
        case .keep?, nil:
            // A part may end before the whole does.
            let isWhole = record.representation?.length.map { end >= $0 } ?? true
            if result == CURLE_OK, reception != nil {
                return isWhole ? finish() : again(.networkConnectionLost, "the body ended after \(end) bytes")
            }
            // The same answer would come again.
            if result == CURLE_OK { return fail(.badServerResponse, "an answer without a response") }
            let (code, isFinal) = meaning(of: result)
            let words = Exchange.words(result)
            if isFinal { fail(code, words) } else { again(code, words) }
        }
    }

    private func redirect(_ exchange: Exchange, _ plan: RequestPlan?) {
        guard let plan, let url = exchange.redirectURL else { return fail(.badServerResponse, "a redirect to nowhere") }
        do throws(TransferFailure) {
            let next = try record.redirected(plan, status: exchange.status, to: url)
            commit()
            begin(next)
        } catch { fail(error, error == .httpTooManyRedirects ? "too many redirects" : "a redirect to \(url)") }
    }

    /// What a result of libcurl means for the transfer, and whether another attempt would come to the same.
    private func meaning(of result: CURLcode) -> (TransferFailure, isFinal: Bool) {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.cannotFindHost, false)
        case CURLE_COULDNT_CONNECT: (.cannotConnectToHost, false)
        case CURLE_OPERATION_TIMEDOUT: (.timedOut, false)
        case CURLE_SSL_CONNECT_ERROR: (.secureConnectionFailed, false)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE:
            (.serverCertificateUntrusted, true)
        case CURLE_URL_MALFORMAT: (.badURL, true)
        case CURLE_UNSUPPORTED_PROTOCOL: (.unsupportedURL, true)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: (.badServerResponse, true)
        case CURLE_READ_ERROR, CURLE_ABORTED_BY_CALLBACK: (.fileDoesNotExist, true)
        default: (.networkConnectionLost, false)
        }
    }
}
