import CWakeShims
import Glibc
import WakeSystem
import WakeTransfers

/// The bench's end of the process: at most one bench at a time, the one that came last.
final class TransferServer {
    private let engine: TransferEngine
    private let loop: EventLoop
    private let linger: Int64
    private let listener: Descriptor
    private let path: String
    private var arrivals: Watch?
    private let lonely: Timer
    private var connection: TransferConnection?
    /// The last report of each transfer that this bench was told.
    private var said: [UInt64: UInt64] = [:]

    /// Replies that wait before no more commands are read.
    private static let mostWaiting = 256

    /// - Parameter linger: how long it stays without a bench when nothing is under way, in milliseconds.
    init(_ engine: TransferEngine, linger: Int64, on loop: EventLoop) throws(SystemError) {
        (self.engine, self.linger, self.loop) = (engine, linger, loop)
        path = engine.spool.place(TransferClient.socketName)
        // The lock says that whoever made it has ended.
        unsafe unlink(path)
        let number = unsafe wake_packets_listen(path)
        guard number >= 0 else { throw SystemError(last: "bind", subject: "\(engine.spool.path)/socket") }
        listener = Descriptor(owning: number)
        lonely = try loop.timer(on: .monotonic)
        lonely.handler = { [unowned self] in aloneForLong() }
        arrivals = try loop.watch(number, for: .readable) { [unowned self] _ in arrived() }
        engine.told = { [unowned self] in say($0) }
        engine.changed = { [unowned self] in considerEnd() }
        engine.folderGone = { [unowned self] in end() }
        considerEnd()
    }

    /// Ends the process. What is under way is taken up by the next.
    func end() {
        engine.stop()
        unsafe unlink(path)
        loop.exit()
    }

    private func arrived() {
        let number = wake_accept(listener.number)
        guard number >= 0 else { return }
        guard wake_peer_user(number) == Int32(bitPattern: geteuid()) else {
            let reason = TransferError(.folder, "these transfers are user \(geteuid())'s, and not yours")
            let packet = TransferMessage.gaveUp(reason).packet
            _ = unsafe packet.withUnsafeBytes { unsafe wake_send(number, $0.baseAddress, $0.count, nil, 0) }
            close(number)
            return
        }
        take(Descriptor(owning: number))
    }

    /// A bench is there; one before it is left.
    func take(_ socket: consuming Descriptor) {
        connection?.close()
        connection = nil
        said = [:]
        guard let taken = try? TransferConnection(socket, mostWaiting: Self.mostWaiting, on: loop) else {
            return considerEnd()
        }
        taken.received = { [unowned self] in received($0) }
        taken.ended = { [unowned self] in
            connection = nil
            considerEnd()
        }
        taken.drained = { [unowned self] in sayAll() }
        connection = taken
        considerEnd()
        sayAll()
    }

    private func received(_ packet: [UInt8]) {
        let asking = connection
        do throws(TransferError) {
            let (id, command) = try TransferCommand.read(packet)
            if command == .list { list() }
            engine.carryOut(command) { [weak asking] error in
                asking?.send(TransferMessage.reply(id, error).packet)
            }
            // The last report may have been acknowledged.
            if let number = command.transfer, engine.tasks[number] == nil { said[number] = nil }
            if command == .shutDown { end() }
        } catch {
            asking?.send(TransferMessage.reply(0, error).packet)
        }
    }

    private func list() {
        connection?.send(TransferMessage.highest(engine.highest).packet)
        for task in engine.inOrder {
            let summary = TransferSummary(
                number: task.number,
                state: task.record.state,
                received: task.received,
                reports: task.record.reports.count
            )
            connection?.send(TransferMessage.listed(summary).packet)
        }
    }

    private func say(_ report: TransferReport) {
        // What has no room now is said when there is some, if it is still of use then.
        guard let connection, connection.isDrained, said[report.transfer, default: 0] < report.number else { return }
        said[report.transfer] = report.number
        connection.send(TransferMessage.report(report).packet)
    }

    private func sayAll() {
        for task in engine.inOrder {
            for report in task.record.reports where report.number <= task.toldUpTo { say(report) }
        }
    }

    private func considerEnd() {
        guard connection == nil, engine.isIdle else { return lonely.disarm() }
        lonely.arm(after: linger)
    }

    private func aloneForLong() {
        if connection == nil, engine.isIdle { end() }
    }
}
