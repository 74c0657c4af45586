import CWakeShims
import Glibc
import WakeSystem

/// The bench's side of the process that carries transfers: it starts the process, or finds the one that an earlier bench
/// started for the same folder, and finds or starts it again whenever the connection breaks.
///
/// Commands that were not answered are said again then, and reports that come twice are told once.
package final class TransferClient {
    package struct Settings: Sendable {
        /// The folder of the transfers, an absolute path. It is made when it is missing.
        package var folder: String
        /// The program, see ``TransferProgram``.
        package var program: String
        /// What its command line has besides.
        package var arguments: [String]
        /// The first pause before the process is looked for again, in milliseconds. It doubles up to 5 s.
        package var firstPause: Int64 = 20

        package init(folder: String, program: String, arguments: [String] = []) {
            (self.folder, self.program, self.arguments) = (folder, program, arguments)
        }
    }

    package typealias Reply = (Result<[TransferSummary], TransferError>) -> Void

    private struct Command {
        var id: UInt64
        var packet: [UInt8]
        /// The transfer whose last report it acknowledges.
        var forgets: UInt64?
        var reply: Reply
    }

    /// Gets each report once. It is to be acknowledged when it needs not be told to another bench.
    package var reported: (TransferReport) -> Void = { _ in }
    /// The process cannot be had: told at the first try where it is known why, and when all have failed. The next command tries anew
    /// then.
    package var failed: (TransferError) -> Void = { _ in }

    private let settings: Settings
    private let loop: EventLoop
    private let spool: TransferSpool
    private let again: Timer
    private var connection: TransferConnection?
    private var commands: [Command] = []
    private var lastCommand: UInt64 = 0
    private var listed: [TransferSummary] = []
    /// The highest number that a transfer ever had, as far as the last list told.
    package private(set) var highest: UInt64 = 0
    /// The number of the last report of each transfer that the process has.
    private var told: [UInt64: (number: UInt64, isLast: Bool)] = [:]
    private var failures = 0
    private var lastError: TransferError?
    private var isOpen = false
    /// More than one only while one that was killed has not ended yet.
    private var children: [Child] = []

    /// The process, while it is a child of this one.
    private final class Child {
        let pid: Int32
        let descriptor: Descriptor
        var end: Watch?

        init(_ pid: Int32, _ descriptor: consuming Descriptor) {
            self.pid = pid
            self.descriptor = descriptor
        }
    }

    /// - Throws: ``TransferError`` of the kind `folder`.
    package init(_ settings: Settings, on loop: EventLoop) throws(TransferError) {
        (self.settings, self.loop) = (settings, loop)
        spool = try TransferSpool(settings.folder)
        do throws(SystemError) { again = try loop.timer(on: .monotonic) } catch {
            throw TransferError(.system, error.description)
        }
        again.handler = { [unowned self] in look() }
    }

    /// The path of a file that a report names.
    package func path(of file: String) -> String { "\(settings.folder)/\(file)" }

    /// Removes what was received for transfers that are over and that nobody will be told of.
    package func removeBody(_ transfer: UInt64) { spool.remove(transfer, .body) }

    /// The transfers whose bodies are in the folder.
    package func bodies() -> [UInt64] { spool.bodies() }

    /// Connects, so that reports come.
    package func open() {
        isOpen = true
        failures = 0
        if connection == nil { look() }
    }

    /// Lets the process go on without this bench.
    package func leave() {
        isOpen = false
        again.disarm()
        connection?.close()
        connection = nil
    }

    /// Ends the process too. What is under way is gone on with when it is started again.
    package func end() {
        lastCommand += 1
        connection?.send(TransferCommand.shutDown.packet(id: lastCommand))
        leave()
    }

    /// Says a command, and again until it is answered.
    package func send(_ command: TransferCommand, reply: @escaping Reply = { _ in }) {
        lastCommand += 1
        let packet = command.packet(id: lastCommand)
        guard packet.count <= TransferBounds.longestPacket else {
            return reply(.failure(TransferError(.badRequest, "a command of more than 64 KiB")))
        }
        commands.append(Command(id: lastCommand, packet: packet, forgets: end(acknowledgedBy: command), reply: reply))
        connection?.send(packet)
        if connection == nil, !isOpen || failures >= Self.mostFailures { open() }
    }

    private func end(acknowledgedBy command: TransferCommand) -> UInt64? {
        guard case .acknowledge(let transfer, let report) = command, let last = told[transfer], last.isLast else {
            return nil
        }
        return last.number == report ? transfer : nil
    }

    /// How many transfers it knows reports of: those that the process has not forgotten.
    package var remembered: Int { told.count }

    private static let mostFailures = 8

    private func look() {
        guard connection == nil, isOpen else { return }
        do throws(TransferError) {
            let found = try find()
            let socket = if let found { found } else { try start() }
            try connect(Descriptor(owning: socket))
        } catch { lost(because: error) }
    }

    /// - Returns: a connection to the process of an earlier bench; nil when there is none.
    private func find() throws(TransferError) -> Int32? {
        let number = unsafe wake_packets_connect(spool.place(Self.socketName))
        guard number >= 0 else {
            if errno == ENOENT || errno == ECONNREFUSED { return nil }
            throw TransferError(.system, SystemError(last: "connect", subject: settings.folder).description)
        }
        guard wake_peer_user(number) == Int32(bitPattern: geteuid()) else {
            close(number)
            throw TransferError(.folder, "another user's process listens in \(settings.folder)")
        }
        return number
    }

    package static let socketName = "socket"

    private func start() throws(TransferError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard unsafe wake_packet_pair(&ends) == 0 else {
            throw TransferError(.system, SystemError(last: "socketpair").description)
        }
        defer { close(ends[1]) }
        let words = ["WakebenchTransfers", "--folder", settings.folder, "--connected"] + settings.arguments
        var pid: Int32 = 0
        var pointers: [UnsafePointer<CChar>?] = unsafe words.map { unsafe UnsafePointer(strdup($0)) }
        unsafe pointers.append(nil)
        let code = unsafe wake_spawn_apart(settings.program, pointers, ends[1], &pid)
        for index in words.indices { unsafe free(UnsafeMutablePointer(mutating: pointers[index])) }
        guard code == 0 else {
            close(ends[0])
            throw TransferError(.program, SystemError("posix_spawn", code: code, subject: settings.program).description)
        }
        adopt(pid)
        return ends[0]
    }

    /// Reaps the process when it ends.
    private func adopt(_ pid: Int32) {
        let number = wake_pidfd_open(pid)
        guard number >= 0 else { return }
        let started = Child(pid, Descriptor(owning: number))
        started.end = try? loop.watch(number, for: .readable) { [unowned self] _ in
            var exit = wake_exit()
            guard unsafe wake_wait(number, &exit) != 0 else { return }
            wake_reaped(pid)
            children.removeAll { $0.pid == pid }
        }
        children.append(started)
    }

    private func connect(_ socket: consuming Descriptor) throws(TransferError) {
        do throws(SystemError) {
            let connection = try TransferConnection(socket, on: loop)
            connection.received = { [unowned self] in received($0) }
            connection.ended = { [unowned self] in lost(because: nil) }
            self.connection = connection
        } catch { throw TransferError(.system, error.description) }
        listed = []
        for command in commands { connection?.send(command.packet) }
    }

    private func lost(because error: TransferError?) {
        connection = nil
        lastError = error ?? lastError
        guard isOpen else { return }
        failures += 1
        if failures >= Self.mostFailures {
            let error = lastError ?? TransferError(.program, "\(settings.program) ends again and again")
            let unanswered = commands
            commands = []
            isOpen = false
            for command in unanswered { command.reply(.failure(error)) }
            return failed(error)
        }
        again.arm(after: min(settings.firstPause << Int64(failures - 1), 5_000))
        // What only its user can mend is said before the other tries have failed, too.
        if failures == 1, let lastError, lastError.kind == .folder || lastError.kind == .program { failed(lastError) }
    }

    private func received(_ packet: [UInt8]) {
        guard let message = TransferMessage(packet) else { return }
        if case .gaveUp(let error) = message {
            lastError = error
            return
        }
        failures = 0
        lastError = nil
        switch message {
        case .report(let report): received(report)
        case .listed(let summary): listed.append(summary)
        case .highest(let number): highest = max(highest, number)
        case .reply(let id, let error):
            guard let place = commands.firstIndex(where: { $0.id == id }) else { return }
            let command = commands.remove(at: place)
            let summaries = listed
            listed = []
            // It is not said again.
            if error == nil, let over = command.forgets { told[over] = nil }
            command.reply(error.map { .failure($0) } ?? .success(summaries))
        case .gaveUp: break
        }
    }

    private func received(_ report: TransferReport) {
        guard told[report.transfer]?.number ?? 0 < report.number else { return }
        told[report.transfer] = (report.number, report.isLast)
        reported(report)
    }
}

/// The program that carries transfers.
package enum TransferProgram {
    package static let name = "WakebenchTransfers"

    /// Where it is looked for: beside this program, or in the lib folder beside this program's own.
    ///
    /// - Returns: its path; nil when it is in neither.
    package static func path(beside folder: String? = nil) -> String? {
        guard let folder = folder ?? ownFolder else { return nil }
        return ["\(folder)/\(name)", "\(folder)/../lib/\(name)"].first { unsafe access($0, X_OK) == 0 }
    }

    /// The version of libcurl that the program at a path is linked with, as it says itself.
    ///
    /// - Throws: ``TransferError`` of kind program when it cannot be started, or says nothing within two seconds.
    package static func libraryVersion(of path: String) throws(TransferError) -> String {
        var ends: [Int32] = [-1, -1]
        guard unsafe wake_packet_pair(&ends) == 0 else {
            throw TransferError(.system, SystemError(last: "socketpair").description)
        }
        let own = Descriptor(owning: ends[0])
        var pid: Int32 = 0
        let words = [name, "--version"]
        var pointers: [UnsafePointer<CChar>?] = unsafe words.map { unsafe UnsafePointer(strdup($0)) }
        unsafe pointers.append(nil)
        let code = unsafe wake_spawn_apart(path, pointers, ends[1], &pid)
        for index in words.indices { unsafe free(UnsafeMutablePointer(mutating: pointers[index])) }
        Glibc.close(ends[1])
        guard code == 0 else {
            throw TransferError(.program, SystemError("posix_spawn", code: code, subject: path).description)
        }
        var asked = pollfd(fd: own.number, events: Int16(POLLIN), revents: 0)
        let answers = unsafe poll(&asked, 1, 2_000) == 1
        var said = [UInt8](repeating: 0, count: 64)
        let count = answers ? (try? own.read(into: &said)) ?? 0 : 0
        if !answers { kill(pid, SIGKILL) }
        var status: Int32 = 0
        _ = repeatingInterrupted { unsafe waitpid(pid, &status, 0) }
        guard count > 0 else { throw TransferError(.program, "\(path) does not say its version") }
        return String(decoding: said.prefix(count), as: UTF8.self)
    }

    private static var ownFolder: String? {
        guard let whole = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(whole) }
        let path = unsafe String(cString: whole)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }
}
