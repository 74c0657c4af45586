import Foundation
import WakeWire

/// Why a fake bench gave up.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}

/// The bench's end of a socket, in the hands of a test.
struct BenchEnd {
    /// How long an app may take for what it must do, in milliseconds; only a failing test waits that long.
    static let patience: Int32 = 20_000
    static let belt = "5A1B4E6C-0D3F-4F7A-9C52-1E8A7B9D2C31"

    let descriptor: Int32

    /// The two ends of a socket; the first is the bench's.
    static func pair() throws -> (BenchEnd, Int32) {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw BenchFailure(description: "socketpair failed: \(errno)")
        }
        return (BenchEnd(descriptor: ends[0]), ends[1])
    }

    func send(_ message: BenchMessage) {
        send(bytes: message.encode())
    }

    /// Sends several messages in one packet.
    func send(_ messages: [BenchMessage]) {
        send(bytes: BenchEnd.packet(messages))
    }

    /// Several messages as one packet.
    static func packet(_ messages: [BenchMessage]) -> [UInt8] {
        var bytes: [UInt8] = []
        for message in messages {
            bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
            message.append(to: &bytes)
        }
        return bytes + [UInt8(ascii: "]")]
    }

    func send(bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Sends a packet that carries a descriptor.
    func send(_ message: BenchMessage, descriptor: Int32) {
        var bytes = message.encode()
        let header = MemoryLayout<cmsghdr>.size
        var control = [UInt8](repeating: 0, count: header + MemoryLayout<Int>.size)
        unsafe control.withUnsafeMutableBytes { control in
            unsafe control.storeBytes(of: header + MemoryLayout<Int32>.size, as: Int.self)
            unsafe control.storeBytes(of: SOL_SOCKET, toByteOffset: MemoryLayout<Int>.size, as: Int32.self)
            let type = Int32(SCM_RIGHTS)
            unsafe control.storeBytes(of: type, toByteOffset: MemoryLayout<Int>.size + 4, as: Int32.self)
            unsafe control.storeBytes(of: descriptor, toByteOffset: header, as: Int32.self)
            unsafe bytes.withUnsafeMutableBytes { bytes in
                var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                unsafe withUnsafeMutablePointer(to: &part) { part in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = part
                    unsafe message.msg_iovlen = 1
                    unsafe message.msg_control = control.baseAddress
                    unsafe message.msg_controllen = control.count
                    _ = unsafe sendmsg(self.descriptor, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }

    func deliver(_ number: UInt64, manager: UInt32 = 1, _ body: WireDeliveryBody) {
        send(.deliver(WireDelivery(delivery: number, manager: manager, body: body)))
    }

    func happen(_ number: UInt64, manager: UInt32 = 1, _ event: WirePeripheralEvent) {
        deliver(number, manager: manager, .peripheral(BenchEnd.belt, event))
    }

    /// The app's next packet.
    func next() throws -> AppMessage {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, BenchEnd.patience) > 0 else {
            throw BenchFailure(description: "the app sent nothing")
        }
        var buffer = [UInt8](repeating: 0, count: WireLimits.packetBytes)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else {
            throw BenchFailure(description: "the app closed the socket")
        }
        return try AppMessage(decoding: Array(buffer[..<count]))
    }

    /// The packets up to the first that fits, which comes last.
    @discardableResult
    func wait(until fits: (AppMessage) -> Bool) throws -> [AppMessage] {
        var all: [AppMessage] = []
        while true {
            let message = try next()
            all.append(message)
            if fits(message) {
                return all
            }
        }
    }

    /// The packets before the acknowledgement of a delivery.
    @discardableResult
    func untilAcknowledged(_ number: UInt64) throws -> [AppMessage] {
        Array(try wait { $0 == .acknowledge(delivery: number) }.dropLast())
    }
}

/// A process of an app, with a fake bench at the other end of its socket.
final class AppProcess {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
    static let swiftApp = [repository.appending(path: ".build/debug/HeartRate").path]
    static let pythonApp = [
        "/usr/bin/python3", repository.appending(path: "Sources/Examples/HeartRatePython/heart_rate.py").path,
    ]

    let bench: BenchEnd
    private let pid: pid_t
    private let output: FileHandle
    private let errors: FileHandle
    private var isClosed = false
    private var isReaped = false
    /// What it printed and was read before its end.
    private var printed = Data()

    /// - Parameter home: The app's own folder.
    init(_ command: [String], connected: Bool = true, home: String = "/") throws {
        let (bench, appEnd) = try BenchEnd.pair()
        self.bench = bench
        let output = Pipe()
        let errors = Pipe()
        for end in [output, errors].flatMap({ [$0.fileHandleForReading, $0.fileHandleForWriting] }) {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        self.output = output.fileHandleForReading
        self.errors = errors.fileHandleForReading
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors.fileHandleForWriting.fileDescriptor, 2)
        if connected {
            unsafe posix_spawn_file_actions_adddup2(&actions, appEnd, 3)
        }
        var environment = ["PATH=/usr/bin:/bin", "HOME=\(home)"]
        if connected {
            environment.append("\(WireLimits.socketVariable)=3")
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var child: pid_t = 0
        let result = unsafe posix_spawn(&child, command[0], &actions, nil, &arguments, &variables)
        pid = child
        close(appEnd)
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        guard result == 0 else {
            throw BenchFailure(description: "cannot start \(command[0]): \(result)")
        }
    }

    /// Waits until the process prints the line; false when it ends before.
    func waitForLine(_ line: String) throws -> Bool {
        while !String(decoding: printed, as: UTF8.self).split(separator: "\n").contains(Substring(line)) {
            var entry = pollfd(fd: output.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, BenchEnd.patience) > 0 else {
                throw BenchFailure(description: "the app never printed '\(line)'")
            }
            let part = output.availableData
            if part.isEmpty {
                return false
            }
            printed.append(part)
        }
        return true
    }

    /// What the process printed, and its status, once it has ended.
    func end() throws -> (lines: [String], errors: [String], status: Int32) {
        closeBench()
        let lines = try text(output, after: printed)
        let complaints = try text(errors, after: Data())
        var status: Int32 = 0
        unsafe waitpid(pid, &status, 0)
        isReaped = true
        return (lines, complaints, status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f))
    }

    private func text(_ handle: FileHandle, after start: Data) throws -> [String] {
        var bytes = start
        while true {
            var entry = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, BenchEnd.patience) > 0 else {
                kill(pid, SIGKILL)
                throw BenchFailure(description: "the app did not end")
            }
            let part = handle.availableData
            if part.isEmpty {
                return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            }
            bytes.append(part)
        }
    }

    private func closeBench() {
        if !isClosed {
            isClosed = true
            close(bench.descriptor)
        }
    }

    /// Nothing of the process is left: a dead child that nobody asks for would keep the exit tests waiting for theirs.
    deinit {
        closeBench()
        // One that could not be started has no number, and 0 is the whole group of the tests.
        if !isReaped, pid > 0 {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
    }
}
