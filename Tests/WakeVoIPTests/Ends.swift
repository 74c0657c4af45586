import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

@testable import WakeVoIP

/// A TCP connection on this machine, both ends of which the test has.
final class Connection {
    private(set) var app: Int32
    private(set) var peer: Int32

    /// Connects to a port, or to one of its own.
    init(port: UInt16? = nil) {
        var listener: Int32 = -1
        var target = port
        if target == nil {
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(0)
            _ = unsafe Self.with(&address) { unsafe bind(listener, $0, $1) }
            _ = listen(listener, 1)
            target = SocketAddress.own(listener)?.port
        }
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(target ?? 0)
        let connected = unsafe Self.with(&address) { unsafe connect(number, $0, $1) }
        precondition(connected == 0, "connect: \(errno)")
        app = number
        peer = -1
        if listener >= 0 {
            peer = accept(listener, nil, nil)
            close(listener)
        }
    }

    deinit {
        closeApp()
        closePeer()
    }

    /// A duplicate of the app's end, as an app sends it.
    var duplicate: Int32 { dup(app) }

    func say(_ text: String) { _ = unsafe send(peer, text, text.utf8.count, 0) }

    func answer(_ text: String) { _ = unsafe send(app, text, text.utf8.count, 0) }

    /// What the app can read now, or once there is something.
    func read() -> String {
        let (bytes, code) = receive()
        return bytes.isEmpty ? code == 0 ? "end" : "error \(code)" : String(decoding: bytes, as: UTF8.self)
    }

    /// The same as it is; nothing at the end, or after an error.
    func bytes() -> [UInt8] { receive().bytes }

    private func receive() -> (bytes: [UInt8], code: Int32) {
        var entry = pollfd(fd: app, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, 10_000)
        var buffer = [UInt8](repeating: 0, count: 100_000)
        let count = unsafe recv(app, &buffer, buffer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
        return count >= 0 ? (Array(buffer[..<count]), 0) : ([], errno)
    }

    func closePeer() {
        if peer >= 0 { close(peer) }
        peer = -1
    }

    func resetPeer() {
        Self.resetWhenClosed(peer)
        closePeer()
    }

    func resetApp() {
        Self.resetWhenClosed(app)
        closeApp()
    }

    private static func resetWhenClosed(_ number: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    func closeApp() {
        if app >= 0 { close(app) }
        app = -1
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func with(
        _ address: inout sockaddr_in,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// Keeps what a port reports.
final class Listener {
    private(set) var events: [WakeEvent] = []
    private(set) var payloads: [EventPayload] = []
    let loop: EventLoop
    let names = NameTable()

    init() throws { loop = try EventLoop() }

    func listen(to port: any VoIPPort) throws {
        port.report = { [unowned self] in
            events.append($0.event)
            payloads.append($0.payload)
        }
        try port.start(at: .zero)
    }

    var kinds: [EventKind] { events.map(\.kind) }

    /// Runs the loop until there are so many events; a failure limit of ten seconds.
    func wait(for count: Int) throws {
        let deadline = MonotonicClock.now() + 10_000_000_000
        while events.count < count, MonotonicClock.now() < deadline { try loop.runOnce(timeout: 1_000_000_000) }
    }

    /// Lets the loop do all that there is to do now.
    func settle() throws { while try loop.runOnce(timeout: 0) {} }
}

/// Which open file a descriptor is of: its duplicates are of the same one.
struct OpenFile: Hashable {
    private let device: UInt64
    private let inode: UInt64

    init?(_ descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// How many descriptors this process has open of these files.
func openDescriptors(of files: Set<OpenFile>) -> Int {
    guard let folder = unsafe opendir("/proc/self/fd") else { return -1 }
    defer { unsafe closedir(folder) }
    var count = 0
    while let entry = unsafe readdir(folder) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
            unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if let number = Int32(name), let file = OpenFile(number), files.contains(file) { count += 1 }
    }
    return count
}

/// How many descriptors this process has open of these files, once there are so many or ten seconds have passed: duplicates of
/// sockets are closed on other threads.
func openDescriptors(of files: Set<OpenFile>, reaching count: Int) -> Int {
    let end = MonotonicClock.now() + 10_000_000_000
    while openDescriptors(of: files) != count, MonotonicClock.now() < end { sched_yield() }
    return openDescriptors(of: files)
}
