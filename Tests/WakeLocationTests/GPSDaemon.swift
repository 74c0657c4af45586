import ChildProcess
import Foundation
import Glibc
import Testing
import WakeSystem

/// The machine's true gpsd on a port of its own, with a terminal as its receiver.
final class GPSDaemon {
    static let program = "/usr/sbin/gpsd"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    private let process: ChildProcess
    private let errors = Pipe()
    private var watch: Watch?
    private var log: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// Starts gpsd and waits until it listens and has opened its receiver.
    init(receiver: String, port: UInt16, loop: EventLoop) throws {
        // In the foreground, reading at once, writing nothing to the receiver, with a log that tells how far it is.
        process = ChildProcess(Self.program, ["-N", "-n", "-b", "-D", "3", "-S", "\(port)", receiver])
        process.standardOutput = .null
        process.standardError = .pipe(errors)
        try process.run()
        let number = errors.fileHandleForReading.fileDescriptor
        watch = try loop.watch(number, for: .readable) { [weak self] _ in self?.read(number) }
        // The last of its beginning, in all versions: what its command line names is open then.
        try turn(loop) { [self] in contains("startup at") }
    }

    deinit {
        stop()
    }

    private func read(_ number: Int32) {
        let count = unsafe Glibc.read(number, &buffer, buffer.count)
        guard count > 0 else { return watch?.cancel() ?? () }
        // Only its beginning is looked at; the rest is read so that gpsd can go on.
        if log.count < 65_536 { log += buffer[..<count] }
    }

    private func contains(_ text: String) -> Bool { !log.ranges(of: Array(text.utf8)).isEmpty }

    /// Ends gpsd and waits until it is gone.
    func stop() {
        guard process.isRunning else { return }
        watch?.cancel()
        // gpsd must not wait for somebody who reads what it has to say.
        try? errors.fileHandleForReading.close()
        process.terminate()
        process.waitUntilExit()
    }
}

/// A port of the loopback that nobody listens on.
func freePort() throws -> UInt16 {
    let socket = try loopbackSocket()
    return try portNumber(of: socket)
}

/// A TCP socket bound to a free port of the loopback.
private func loopbackSocket() throws -> Descriptor {
    let descriptor = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = descriptor.number
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, size) }
    }
    try #require(code == 0)
    return descriptor
}

private func portNumber(of descriptor: borrowing Descriptor) throws -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = descriptor.number
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(number, $0, &size) }
    }
    try #require(code == 0)
    return UInt16(bigEndian: address.sin_port)
}

/// Something that listens where gpsd is looked for, and says what the test tells it to.
final class RecordedGPSD {
    static let greeting = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#

    let port: UInt16
    private(set) var heard = ""
    private(set) var connections = 0
    private let listener: Descriptor
    private var peer: Descriptor?
    private var watches: [Watch] = []
    private let words: String
    private let loop: EventLoop

    /// - Parameter words: what it says to whoever connects.
    init(saying words: String = greeting + "\r\n", on loop: EventLoop) throws {
        let descriptor = try loopbackSocket()
        try #require(listen(descriptor.number, 8) == 0)
        port = try portNumber(of: descriptor)
        self.words = words
        self.loop = loop
        listener = descriptor
        watches.append(try loop.watch(listener.number, for: .readable) { [weak self] _ in self?.accept() })
    }

    private func accept() {
        let number = Glibc.accept(listener.number, nil, nil)
        guard number >= 0 else { return }
        connections += 1
        peer = Descriptor(owning: number)
        say(words)
        let watch = try? loop.watch(number, for: .readable) { [weak self] _ in self?.hear() }
        if let watch { watches.append(watch) }
    }

    private func hear() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        guard let count = try? peer?.read(into: &buffer) ?? 0, count > 0 else { return drop() }
        heard += String(decoding: buffer[..<count], as: UTF8.self)
    }

    func say(_ text: String) { say(Array(text.utf8)) }

    func say(_ bytes: [UInt8]) { _ = try? peer?.write(bytes) }

    /// Closes the connection, and goes on listening.
    func drop() {
        while watches.count > 1 { watches.removeLast().cancel() }
        peer = nil
    }
}
