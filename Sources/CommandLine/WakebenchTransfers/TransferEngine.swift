import Glibc
import WakeSystem
import WakeTransfers

/// All transfers of a folder: what is asked of them, and which are under way.
final class TransferEngine {
    struct Settings {
        /// The first pause between two attempts, in milliseconds. It doubles while nothing comes.
        var firstPause: Int64 = 1_000
        var longestPause: Int64 = 300_000
        /// At least so many milliseconds lie between two reports of progress.
        var progressInterval: Int64 = 500
        var mostExchanges = 16
        /// httpMaximumConnectionsPerHost of a phone.
        var mostExchangesPerHost = 4
        /// A file of authorities that are trusted besides the system's.
        var certificates: String?
    }

    let settings: Settings
    let loop: EventLoop
    let spool: TransferSpool
    let multi: CurlMulti
    /// Gets each report, once it is kept.
    var told: (TransferReport) -> Void = { _ in }
    /// Something began or ended.
    var changed: () -> Void = {}
    /// The folder was removed: there is nothing left to do.
    var folderGone: () -> Void = {}

    private(set) var tasks: [UInt64: TransferTask] = [:]
    private var copies: [UInt64: UploadCopy] = [:]
    private(set) var highest: UInt64
    /// Those whose records the disk had no room for.
    private var unkept: Set<UInt64> = []
    private let keepAgain: Timer
    private let soon: Timer

    typealias Reply = (TransferError?) -> Void

    /// Takes up all transfers that the folder has.
    init(_ settings: Settings, spool: TransferSpool, on loop: EventLoop) throws(SystemError) {
        (self.settings, self.spool, self.loop) = (settings, spool, loop)
        multi = try CurlMulti(on: loop)
        keepAgain = try loop.timer(on: .monotonic)
        soon = try loop.timer(on: .monotonic)
        highest = spool.highest()
        let records = try spool.records()
        try spool.sweep(keeping: records)
        keepAgain.handler = { [unowned self] in keepUnkept() }
        soon.handler = { [unowned self] in beginNext() }
        for record in records {
            tasks[record.request.number] = try TransferTask(record, of: self)
            highest = max(highest, record.request.number)
        }
        schedule()
    }

    /// Whether nothing is under way or about to be.
    var isIdle: Bool { copies.isEmpty && unkept.isEmpty && !tasks.values.contains { $0.record.state == .active } }

    /// In order of their numbers.
    var inOrder: [TransferTask] { tasks.values.sorted { $0.number < $1.number } }

    /// Carries out a command.
    func carryOut(_ command: TransferCommand, reply: @escaping Reply) {
        if let number = command.transfer, let copy = copies[number] {
            // What follows a submission waits until it is kept.
            return copy.waiting.append { [unowned self] in carryOut(command, reply: reply) }
        }
        do throws(TransferError) {
            switch command {
            case .submit(let request): return try submit(request, reply: reply)
            case .start(let number): try task(number).start()
            case .pause(let number): try task(number).stop()
            case .cancel(let number, let keepingBytes): try task(number).cancel(keepingBytes: keepingBytes)
            case .answer(let number, let report, let answer): try task(number).answer(report: report, answer)
            // What is forgotten was acknowledged, and discarded.
            case .acknowledge(let number, let report): tasks[number]?.acknowledge(report: report)
            case .discard(let number): try tasks[number]?.discard()
            case .list, .shutDown: break
            }
            reply(nil)
        } catch { reply(error) }
    }

    private func task(_ number: UInt64) throws(TransferError) -> TransferTask {
        guard let task = tasks[number] else { throw TransferError(.unknown, "there is no transfer \(number)") }
        return task
    }
}

// Submission.
extension TransferEngine {
    private func submit(_ request: TransferRequest, reply: @escaping Reply) throws(TransferError) {
        let number = request.number
        if let task = tasks[number] {
            guard task.record.request == request else {
                throw TransferError(.over, "another transfer has the number \(number)")
            }
            return reply(nil)
        }
        if let copy = copies[number] { return copy.replies.append(reply) }
        guard number > highest else { throw TransferError(.over, "the transfer \(number) was here before") }
        try request.check()
        guard tasks.count + copies.count < TransferBounds.mostTransfers else {
            throw TransferError(.tooMany, "there are \(TransferBounds.mostTransfers) transfers already")
        }
        guard let upload = request.upload else { return reply(try keepNew(request)) }
        let copy = try UploadCopy(of: upload, as: number, in: spool, on: loop)
        copies[number] = copy
        copy.replies = [reply]
        copy.ended = { [unowned self] error in copied(request, error) }
    }

    private func copied(_ request: TransferRequest, _ failure: SystemError?) {
        guard let copy = copies.removeValue(forKey: request.number) else { return }
        var answer: TransferError?
        if let failure {
            answer = Self.refusal(failure)
        } else {
            do throws(TransferError) { answer = try keepNew(request) } catch { answer = error }
        }
        if answer != nil { spool.remove(request.number, .upload) }
        for reply in copy.replies { reply(answer) }
        for command in copy.waiting { command() }
        changed()
    }

    /// - Returns: nil when it is kept; what the disk said otherwise.
    private func keepNew(_ request: TransferRequest) throws(TransferError) -> TransferError? {
        let number = request.number
        var predecessor: TransferTask?
        if let earlier = request.predecessor {
            let found = try task(earlier)
            guard found.record.keepsBytes, found.record.request.url == request.url else {
                throw TransferError(.notNow, "the transfer \(earlier) keeps no bytes of \(request.url) to go on from")
            }
            predecessor = found
        }
        let record = TransferRecord(request, resuming: predecessor?.record)
        do throws(SystemError) {
            if let predecessor { try spool.share(body: predecessor.number, with: number) }
            try spool.save(record)
            try spool.setHighest(number)
            tasks[number] = try TransferTask(record, of: self)
        } catch {
            spool.remove(number, .record)
            spool.remove(number, .body)
            return Self.refusal(error)
        }
        highest = number
        try predecessor?.discard()
        return nil
    }

    private static func refusal(_ error: SystemError) -> TransferError {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.code)
        return TransferError(isFull ? .diskFull : .system, "it cannot be kept: \(error.reason)")
    }
}

// Records.
extension TransferEngine {
    /// Keeps what is known of a transfer, or forgets it.
    ///
    /// - Returns: false when the disk has no room; it is tried again until it has.
    func keep(_ record: TransferRecord, of task: TransferTask) -> Bool {
        let number = record.request.number
        defer { changed() }
        if record.isForgotten {
            if record.request.upload != nil { spool.remove(number, .body) }
            spool.remove(number, .record)
            unkept.remove(number)
            tasks[number] = nil
            return true
        }
        do throws(SystemError) {
            try spool.save(record)
            unkept.remove(number)
            return true
        } catch {
            if spool.isGone { folderGone() }
            unkept.insert(number)
            keepAgain.arm(after: settings.firstPause)
            return false
        }
    }

    private func keepUnkept() {
        for number in unkept.sorted() { tasks[number]?.commit() }
    }
}

// Room.
extension TransferEngine {
    /// Begins what there is room for, after what is being done now.
    func schedule() {
        soon.arm(at: 1)
        changed()
    }

    private func beginNext() {
        var hosts: [String: Int] = [:]
        for task in tasks.values where task.isUnderWay { hosts[task.host, default: 0] += 1 }
        var room = settings.mostExchanges - hosts.values.reduce(0, +)
        for task in inOrder where task.wantsRoom {
            guard room > 0 else { break }
            guard hosts[task.host, default: 0] < settings.mostExchangesPerHost else { continue }
            task.begin()
            guard task.isUnderWay else { continue }
            hosts[task.host, default: 0] += 1
            room -= 1
        }
    }

    /// Lets go of all connections and files.
    func stop() {
        for task in tasks.values { task.leaveExchange() }
    }
}
