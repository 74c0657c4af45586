import Glibc
import WakeModel
import WakePorts
import WakeRouter
import WakeSystem

/// The L2CAP channels, or the sessions with accessories, that apps hold: it gives their sockets away and keeps duplicates,
/// which it looks at while an app is suspended and cannot look itself (BTC-1, EA-2).
///
/// It never takes what an app has, and tells the first bytes that wait for it. A scripted app has no process to read, so for it
/// what comes is read and dropped.
package final class ChannelKeeper: BenchObserver {
    /// Which sockets it keeps.
    struct Kinds: Sendable {
        /// What records call who found that something is there.
        var origin: String
        /// The event that gives an app the socket.
        var opening: EventKind
        /// The event that says that bytes or the end wait for a suspended app.
        var holdsData: EventKind
        /// The event by which the source itself speaks of the end; nil when the end is one of the things that wait.
        var ended: EventKind?
        /// Which socket is closed by a command.
        var closed: @Sendable (SourceCommand) -> UInt32? = { _ in nil }
    }

    private final class Channel {
        let app: AppID
        let manager: ManagerNumber
        let opened: WakeEvent
        let descriptor: Int32
        let isRead: Bool
        var watch: Watch?
        /// It was said that something is there: since the app was suspended, or since it last had read all.
        var told = false
        /// Something was written to it since the last look.
        var written = false
        /// Its end is to be an error: it is looked after until the app has read all.
        var isFailed = false

        init(app: AppID, manager: ManagerNumber, opened: WakeEvent, descriptor: Int32, isRead: Bool) {
            self.app = app
            self.manager = manager
            self.opened = opened
            self.descriptor = descriptor
            self.isRead = isRead
        }

        /// Its app has ended. A simulated other end hears of it at this instant, and not when the descriptor gets closed.
        func end() {
            var domain: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0, domain == AF_UNIX else {
                return
            }
            shutdown(descriptor, Int32(SHUT_RDWR))
        }

        deinit {
            watch?.cancel()
            closeLater(descriptor)
        }
    }

    /// The most channels of one app; the oldest is let go for one more.
    static let limit = 64

    private let loop: EventLoop
    private let origin: NameID
    private let kinds: Kinds
    private let takeFromPort: (UInt32) -> Int32?
    private let report: (SourceReport) -> Void
    private var channels: [Channel] = []
    private var suspended: Set<AppID> = []

    /// Hears of an app that runs and has something to read on a channel of a manager, once until it has read it.
    package var tellRunning: ((AppID, ManagerNumber) -> Void)?

    /// The event that gives an app a socket that it keeps.
    var opening: EventKind { kinds.opening }

    /// - Parameters:
    ///   - take: takes a descriptor from the port that opened its channel.
    ///   - report: where it says that bytes or the end wait for a suspended app.
    init(
        _ kinds: Kinds,
        loop: EventLoop,
        names: NameTable,
        take: @escaping (UInt32) -> Int32?,
        report: @escaping (SourceReport) -> Void
    ) {
        self.loop = loop
        self.report = report
        takeFromPort = take
        self.kinds = kinds
        origin = names.intern(kinds.origin)
    }

    /// The socket of a channel that was opened for an app, to be sent to it; nil when there is none. It stays the
    /// keeper's.
    func hold(_ opened: WakeEvent, for app: AppID, manager: ManagerNumber, isRead: Bool) -> Int32? {
        if let known = channels.first(where: { $0.app == app && $0.opened.local == opened.local }) {
            return known.descriptor
        }
        guard let descriptor = takeFromPort(opened.local) else { return nil }
        if channels.count(where: { $0.app == app }) >= Self.limit,
            let oldest = channels.firstIndex(where: { $0.app == app })
        {
            channels.remove(at: oldest)
        }
        channels.append(Channel(app: app, manager: manager, opened: opened, descriptor: descriptor, isRead: isRead))
        return descriptor
    }

    package func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        if case .event(let event) = item.input, event.kind == kinds.ended, event.failed {
            for channel in channels where channel.opened.local == event.local { channel.isFailed = true }
        }
        for action in output.actions {
            switch action {
            case .moved(let app, _, .suspended):
                suspended.insert(app)
                for channel in channels where channel.app == app { arm(channel) }
            case .moved(let app, _, _): if suspended.remove(app) != nil { disarm(app) }
            case .exited(let record):
                for channel in channels where channel.app == record.app { channel.end() }
                channels.removeAll { $0.app == record.app }
                suspended.remove(record.app)
            case .command(let command):
                guard let closed = kinds.closed(command) else { continue }
                channels.removeAll { $0.opened.local == closed && !$0.isFailed }
            default: break
            }
        }
    }

    /// The handler need not do anything: the run looks in each turn of the loop.
    private func arm(_ channel: Channel) {
        channel.told = false
        channel.watch = try? loop.watch(channel.descriptor, for: .readable) { _ in }
    }

    private func disarm(_ app: AppID) {
        for channel in channels where channel.app == app { channel.watch = nil }
    }

    /// Something was written to a channel for the app.
    package func wrote(to number: UInt32) {
        for channel in channels where channel.opened.local == number { channel.written = true }
    }

    /// Looks at all channels; to be called in each turn.
    package func look() {
        guard !channels.isEmpty else { return }
        var ended: [Channel] = []
        for channel in channels {
            let state = Self.state(channel.descriptor)
            if suspended.contains(channel.app) {
                if !channel.told, state != 0 { tell(channel, state) }
                channel.written = false
                continue
            }
            let isOver = state & Int16(POLLHUP | POLLERR) != 0
            if channel.isRead {
                if state & Int16(POLLIN) != 0 { drop(channel.descriptor) }
                if isOver { ended.append(channel) }
                continue
            }
            let holdsBytes = state & Int16(POLLIN) != 0 && Self.holdsBytes(channel.descriptor)
            // What was written may be read by now, and the app at work on it.
            if channel.written || (holdsBytes || isOver) && !channel.told {
                tellRunning?(channel.app, channel.manager)
            }
            channel.written = false
            channel.told = holdsBytes
            if isOver, !holdsBytes { ended.append(channel) }
        }
        if !ended.isEmpty { channels.removeAll { channel in ended.contains { $0 === channel } } }
    }

    private func tell(_ channel: Channel, _ state: Int16) {
        channel.told = true
        channel.watch = nil
        // Of the end of a session its source speaks itself.
        if kinds.ended != nil, state & Int16(POLLHUP | POLLERR) != 0 { return }
        let opened = channel.opened
        let unread = UnreadBytes.peek(at: channel.descriptor)
        report(
            SourceReport(
                WakeEvent(
                    kind: kinds.holdsData,
                    peripheral: opened.peripheral,
                    local: opened.local,
                    subject: opened.subject,
                    client: opened.client,
                    services: opened.services,
                    origin: origin
                ),
                unread.isEmpty ? .none : .value(unread)
            )
        )
    }

    /// What a descriptor is ready for, in poll's bits.
    private static func state(_ descriptor: Int32) -> Int16 {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0 ? entry.revents : 0
    }

    /// Whether there is something to read other than the end.
    private static func holdsBytes(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(
            descriptor,
            &byte,
            1,
            Int32(truncatingIfNeeded: MSG_PEEK) | Int32(truncatingIfNeeded: MSG_DONTWAIT)
        ) > 0
    }

    /// Reads a little of what a scripted app would read.
    private func drop(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        _ = unsafe recv(descriptor, &buffer, buffer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
    }

    /// Lets go of all.
    package func stop() { channels.removeAll() }
}
