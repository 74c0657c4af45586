import Glibc
import WakeModel
import WakePorts
import WakeSystem
import WakeTransfers

/// Transfers from and to true servers: a process of its own carries them with libcurl, and goes on when the bench is gone.
///
/// The process tries again by itself after a broken connection or a request's time-out (XFER-7), and goes on where it stopped
/// when the server lets it (XFER-9): a bench that is dead could not. The router hears of the end alone. How long a transfer may
/// take in all is the router's to say.
package final class CurlTransfers: TransferPort {
    package let backend = "curl"
    package var report: ((SourceReport) -> Void)?

    /// What is to become of a transfer that the process has.
    package enum Standing: Sendable {
        case underWay
        /// It waits, and is begun again some time.
        case held
        /// Its end is accepted, and its app may not have been told.
        case over
        /// Nobody wants it.
        case unwanted
    }

    /// How a transfer stands with the router; asked for those that an earlier bench left to the process.
    package var standing: (TransferNumber) -> Standing = { _ in .underWay }
    /// The process cannot be had; in one line.
    package var failed: (String) -> Void = { _ in }

    private let loop: EventLoop
    private let origin: NameID
    private let certificates: String?
    private var folder = ""
    /// Nil before there is anything to carry.
    private var client: TransferClient?
    /// What the router has begun.
    private var begun: [TransferNumber: CurlTransfer] = [:]
    /// The process's numbers for transfers, those that it had before this bench included.
    private var numbers: [TransferNumber: UInt64] = [:]
    /// The last report of a transfer that waits until it is begun again, or until it is accepted.
    private var ends: [TransferNumber: WakeTransfers.TransferReport] = [:]
    /// The challenge of a transfer that waits for an answer. A router that has just come back begins the transfer after it was said.
    private var challenges: [TransferNumber: WakeTransfers.TransferReport] = [:]
    /// The process's numbers for transfers that are over, and whose bodies their apps may not have taken.
    private var bodies: [TransferNumber: UInt64] = [:]
    /// Those whose end the journal has, and has yet to come here.
    private var accepted: Set<TransferNumber> = []
    /// Those that nobody wants any more, and whose end has yet to come here.
    private var unwanted: Set<TransferNumber> = []
    /// Commands that came before the process has told what it has.
    private var early: [WakeModel.TransferCommand] = []
    private var isListed = false
    /// What the process's numbers begin with, so that each is higher than those before.
    private var series: UInt64 = 1
    private var looksAgain: Instant?
    private var now = Instant.zero

    /// - Parameter certificates: a file of authorities that are trusted besides the system's; nil for none.
    package init(names: NameTable, loop: EventLoop, certificates: String? = nil) {
        self.loop = loop
        self.certificates = certificates
        origin = names.intern(backend)
    }

    /// - Throws: ``SourceFailure`` of kind environment when the program is missing that carries transfers.
    package func start(at now: Instant) throws(SourceFailure) {
        guard TransferProgram.path() == nil else { return }
        throw SourceFailure(
            .environment,
            "transfer=curl needs the program \(TransferProgram.name) beside wakebench; build or install it"
        )
    }

    /// Says where the process has its folder. Where there is one an earlier bench has started the process, which is found or
    /// started again; otherwise it is started for the first transfer.
    ///
    /// - Parameter folder: an absolute path.
    /// - Throws: ``SourceFailure`` of kind environment when the folder cannot be used.
    package func open(in folder: String) throws(SourceFailure) {
        self.folder = folder
        guard unsafe access(folder, F_OK) == 0 else {
            isListed = true
            return
        }
        do throws(TransferError) {
            try connect()
            list()
        } catch { throw SourceFailure(.environment, error.message) }
    }

    private func connect() throws(TransferError) {
        var settings = TransferClient.Settings(folder: folder, program: TransferProgram.path() ?? TransferProgram.name)
        settings.arguments = ["--progress", "1000"]
        if let certificates { settings.arguments += ["--ca", certificates] }
        let client = try TransferClient(settings, on: loop)
        client.reported = { [unowned self] in heard($0) }
        client.failed = { [unowned self] in lost($0) }
        self.client = client
        client.open()
    }

    /// The run is over: nobody will ask for what is still under way.
    package func stop() {
        report = nil
        client?.end()
        client = nil
    }

    // MARK: The process

    private func lost(_ error: TransferError) {
        // Each command that was given up says the same.
        guard looksAgain == nil else { return }
        failed("transfers stand still: \(error.message)")
        looksAgain = now.advanced(by: .seconds(30))
    }

    package var nextDeadline: Instant? { looksAgain }

    package func timeReached(_ now: Instant) {
        self.now = max(self.now, now)
        guard let due = looksAgain, due <= now else { return }
        looksAgain = nil
        guard isListed else { return list() }
        client?.open()
        for transfer in begun.values.sorted(by: { $0.number < $1.number }) where numbers[transfer.number] == nil {
            begin(transfer)
        }
    }

    private func list() { client?.send(.list) { [unowned self] in listed($0) } }

    /// What the process has, from before this bench.
    private func listed(_ answer: Result<[TransferSummary], TransferError>) {
        guard case .success(let summaries) = answer, !isListed else { return }
        isListed = true
        series = (client?.highest ?? 0) >> 32 + 1
        for summary in summaries {
            let transfer = TransferNumber(truncatingIfNeeded: summary.number)
            numbers[transfer] = summary.number
            switch standing(transfer) {
            case .underWay: break
            case .held:
                challenges[transfer] = nil
                if summary.state != .over { client?.send(.pause(summary.number)) }
            case .over: close(transfer, keepingFile: true)
            case .unwanted: close(transfer, keepingFile: false)
            }
        }
        for number in client?.bodies() ?? [] {
            let transfer = TransferNumber(truncatingIfNeeded: number)
            guard numbers[transfer] == nil else { continue }
            bodies[transfer] = number
            // Its app took it just before the bench died.
            if standing(transfer) == .unwanted { removeBody(of: transfer) }
        }
        // The process has none of these any more, if it ever had.
        accepted.formIntersection(numbers.keys)
        let commands = early
        early = []
        for command in commands { carryOut(command) }
    }

    // MARK: Commands

    package func perform(_ command: WakeModel.TransferCommand, at now: Instant) {
        self.now = max(self.now, now)
        if isListed { carryOut(command) } else { early.append(command) }
    }

    private func carryOut(_ command: WakeModel.TransferCommand) {
        switch command {
        case .begin(let app, let transfer, let task, let session, let order, let requestTimeout, _):
            begin(
                CurlTransfer(
                    app: app,
                    number: transfer,
                    task: task,
                    session: session,
                    order: order,
                    requestTimeout: requestTimeout
                )
            )
        case .suspend(let transfer):
            // The server asks again.
            challenges[transfer] = nil
            if let number = numbers[transfer] { client?.send(.pause(number)) } else { begun[transfer] = nil }
        case .cancel(let transfer):
            begun[transfer] = nil
            close(transfer, keepingFile: false)
        case .release(let transfer): removeBody(of: transfer)
        case .cancelKeepingBytes(let transfer):
            if let number = numbers[transfer] { client?.send(.cancel(number, keepingBytes: true)) }
        case .answer(let transfer, let challenge, let answer):
            challenges[transfer] = nil
            guard let number = numbers[transfer] else { return }
            client?.send(.answer(number, report: UInt64(challenge), TransferAnswer(answer)))
        }
    }

    private func begin(_ transfer: CurlTransfer) {
        begun[transfer.number] = transfer
        do throws(TransferError) { if client == nil { try connect() } } catch { return refused(transfer, error) }
        if let number = numbers[transfer.number] {
            // It may be over, or wait for an answer, which its report says.
            client?.send(.start(number))
            if let report = ends[transfer.number] ?? challenges[transfer.number] { tell(report, of: transfer) }
            return
        }
        let number = series << 32 | UInt64(transfer.number)
        series += 1
        numbers[transfer.number] = number
        submit(transfer, transfer.request(number))
    }

    private func submit(_ transfer: CurlTransfer, _ request: WakeTransfers.TransferRequest) {
        client?.send(.submit(request)) { [unowned self] answer in
            guard case .failure(let error) = answer else { return }
            guard request.predecessor != nil, error.kind == .notNow || error.kind == .unknown else {
                return refused(transfer, error)
            }
            // What it was to go on from is gone, or was gone on from: it begins from nothing.
            var whole = request
            whole.predecessor = nil
            submit(transfer, whole)
        }
        client?.send(.start(request.number))
    }

    /// The process does not take a transfer, or cannot be had.
    private func refused(_ transfer: CurlTransfer, _ error: TransferError) {
        guard begun[transfer.number] != nil else { return }
        numbers[transfer.number] = nil
        // It may be had again, and takes the transfer then.
        if [.program, .folder, .taken].contains(error.kind) { return lost(error) }
        begun[transfer.number] = nil
        report?(transfer.report(.failed, .failed(.init(code: error.code, message: error.message)), origin))
    }

    /// Nothing is heard of it any more.
    ///
    /// - Parameter keepingFile: whether its app may still be told of its file.
    private func close(_ transfer: TransferNumber, keepingFile: Bool) {
        guard let number = numbers[transfer] else {
            if !keepingFile { removeBody(of: transfer) }
            return
        }
        challenges[transfer] = nil
        if let end = ends.removeValue(forKey: transfer) { return forget(end, keepingFile: keepingFile) }
        if keepingFile { accepted.insert(transfer) } else { unwanted.insert(transfer) }
        client?.send(.cancel(number, keepingBytes: false))
    }

    private func removeBody(of transfer: TransferNumber) {
        if let number = bodies.removeValue(forKey: transfer) { client?.removeBody(number) }
    }

    // MARK: Reports

    private func heard(_ report: WakeTransfers.TransferReport) {
        let transfer = TransferNumber(truncatingIfNeeded: report.transfer)
        numbers[transfer] = report.transfer
        challenges[transfer] = nil
        guard report.isLast else {
            if let begun = begun[transfer] { tell(report, of: begun) }
            // What a challenge asks is kept until it is answered.
            if case .challenged = report.kind { return challenges[transfer] = report }
            client?.send(.acknowledge(report.transfer, report: report.number))
            return
        }
        if unwanted.remove(transfer) != nil { return forget(report, keepingFile: false) }
        if accepted.remove(transfer) != nil { return forget(report, keepingFile: true) }
        ends[transfer] = report
        if let begun = begun[transfer] { tell(report, of: begun) }
    }

    private func tell(_ report: WakeTransfers.TransferReport, of transfer: CurlTransfer) {
        if let told = transfer.report(of: report, at: { [client] in client?.path(of: $0) ?? "" }, origin) {
            self.report?(told)
        }
    }

    /// The end of a transfer survives the bench from now on, and the process need not keep it.
    package func accepted(endOf transfer: TransferNumber) {
        begun[transfer] = nil
        if let end = ends.removeValue(forKey: transfer) {
            forget(end, keepingFile: true)
        } else if !isListed || numbers[transfer] != nil {
            accepted.insert(transfer)
        }
    }

    /// The process need not tell it again.
    ///
    /// - Parameter keepingFile: whether its file stays, or the bytes that another download may go on from.
    private func forget(_ end: WakeTransfers.TransferReport, keepingFile: Bool) {
        numbers[TransferNumber(truncatingIfNeeded: end.transfer)] = nil
        // Before the acknowledgement: a bench that dies between both hears of the end again, and so does the next.
        if keepingFile {
            bodies[TransferNumber(truncatingIfNeeded: end.transfer)] = end.transfer
        } else {
            client?.removeBody(end.transfer)
        }
        client?.send(.acknowledge(end.transfer, report: end.number))
        if !keepingFile, case .failed(_, _, true) = end.kind { client?.send(.discard(end.transfer)) }
    }
}
