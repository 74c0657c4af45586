import Glibc
import WakeSystem

/// A live process, its socket and its watches.
final class RunningApp {
    let app: UInt32
    let pid: Int32
    let enclosure: any Enclosure
    let socket: Int32
    /// The inode of the app's end of it.
    let peer: UInt64
    var processorTime = ProcessorCount()
    /// The entry of its environment by which its processes are known, unless they have another.
    let mark: String
    /// Whether one of its processes was seen outside of its groups.
    var hadStrays = false
    /// The sockets whose listening was ended, by inode: the kernel's table of local ones goes on to say that they listen.
    var closedListeners: Set<UInt64> = []
    private(set) var isOpen = true
    private let exitDescriptor: Int32
    private var socketWatch: Watch?
    private var exitWatch: Watch?

    init(
        _ app: UInt32,
        _ started: StartedProcess,
        socket: consuming Descriptor,
        peer: UInt64,
        mark: String,
        host: ProcessHost,
        loop: EventLoop
    ) throws(SystemError) {
        self.app = app
        pid = started.pid
        enclosure = started.enclosure
        exitDescriptor = started.exitDescriptor
        self.peer = peer
        self.mark = mark
        self.socket = socket.release()
        socketWatch = try loop.watch(self.socket, for: .readable) { [unowned host] readiness in
            host.ready(app, readiness)
        }
        exitWatch = try loop.watch(exitDescriptor, for: .readable, priority: .urgent) {
            [unowned self, unowned host] _ in
            host.ended(self)
        }
    }

    deinit {
        cancel()
        // Descriptors may lie in it that nobody has read.
        closeLater(socket)
    }

    func setWantsWritable(_ wants: Bool) {
        socketWatch?.setInterests(wants ? [.readable, .writable] : .readable)
    }

    /// A socket at its end would be ready for ever.
    func closeSocket() {
        isOpen = false
        socketWatch?.cancel()
    }

    func cancel() {
        socketWatch?.cancel()
        exitWatch?.cancel()
    }

    /// Waits for the end of a killed process, at most 5 s, and reaps it.
    func reapAtLast() {
        cancel()
        var ready = pollfd(fd: exitDescriptor, events: Int16(POLLIN), revents: 0)
        if repeatingInterrupted({ unsafe poll(&ready, 1, 5_000) }) == 1 { _ = enclosure.reap() }
    }
}
