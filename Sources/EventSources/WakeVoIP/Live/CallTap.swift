import CWakeShims
import Glibc
import WakePorts
import WakeSystem

/// Stands between apps and a server: what either says goes on to the other, and is heard.
///
/// It listens on this machine's loopback interface alone.
package final class CallTap {
    /// What happened on a connection.
    package enum Moment: Hashable, Sendable {
        /// An app connected; both ends are of IP version 4, the app's first.
        case began(app: End, tap: End)
        case said(byApp: Bool, [UInt8])
        /// An end says nothing more; of a reset neither does.
        case ended(byApp: Bool, isReset: Bool)
    }

    /// An end of a connection.
    package struct End: Hashable, Sendable {
        /// 4 bytes, most significant first.
        package var address: [UInt8]
        package var port: UInt16
    }

    /// The most connections at once; further ones wait to be accepted.
    package static let mostConnections = 256
    private static let mostAtOnce = 16_384
    /// The most connections that are refused in a turn.
    private static let mostRefused = 16

    /// Takes what happened, on which connection, counted from 1, and when in nanoseconds of ``MonotonicClock``.
    package var heard: ((_ connection: Int, Moment, _ now: Int64) -> Void)?
    /// Told once, when a connection has to wait for the end of another.
    package var crowded: (() -> Void)?
    /// Told, once a user, that another user's connection was refused.
    package var note: ((String) -> Void)?
    /// Only processes of the owner of the bench and of root may connect: what they say goes on to the server in the owner's name.
    package var peers = PeerCheck()
    /// Where apps find the server.
    package let port: UInt16
    /// How many connections there were.
    package private(set) var accepted = 0
    /// How many connections the server did not take.
    package private(set) var refused = 0

    private let listener: Descriptor
    private let addresses: [StreamSocket.Address]
    private let loop: EventLoop
    private var watch: Watch?
    private var lines: [Int: Line] = [:]

    /// Listens, and finds out where the server is.
    ///
    /// - Parameter port: where apps are to find the server; 0 for any that is free.
    /// - Throws: ``SourceFailure`` with the remedy.
    package init(of host: String, port server: UInt16, listeningOn port: UInt16, on loop: EventLoop)
        throws(SourceFailure)
    {
        do throws(SystemError) { addresses = try StreamSocket.resolve(host: host, port: server) } catch {
            throw SourceFailure(.environment, "the host \(host) is not known; name another")
        }
        do throws(SystemError) { listener = try listenOnLoopback(port: port, backlog: 128) } catch {
            throw SourceFailure(.environment, "cannot listen on port \(port): \(error); name another with --listen")
        }
        self.port = SocketAddress.own(listener.number)?.port ?? port
        self.loop = loop
        do throws(SystemError) {
            watch = try loop.watch(listener.number, for: .readable) { [unowned self] _ in accept() }
        } catch {
            throw SourceFailure(.environment, "\(error)")
        }
    }

    deinit { watch?.cancel() }

    private func accept() {
        guard lines.count < Self.mostConnections else {
            // Who waits would wake the loop again and again.
            watch?.disable()
            crowded?()
            crowded = nil
            return
        }
        var turnedAway = 0
        while lines.count < Self.mostConnections, turnedAway < Self.mostRefused {
            let number = repeatingInterrupted { wake_accept(listener.number) }
            guard number >= 0 else { break }
            let app = StreamSocket(owning: number)
            if let stranger = peers.stranger(at: number) {
                turnedAway += 1
                if let line = peers.line(refusing: "a connection", of: stranger) { note?(line) }
                continue
            }
            // One that has gone already has no address, and nothing to say.
            guard let theirs = SocketAddress.peer(number)?.end, let own = SocketAddress.own(number)?.end else {
                continue
            }
            accepted += 1
            let connection = accepted
            heard?(connection, .began(app: theirs, tap: own), MonotonicClock.now())
            let line = Line(app, to: addresses, on: loop)
            line.heard = { [unowned self] in heard?(connection, $0, MonotonicClock.now()) }
            line.over = { [unowned self] wasRefused in
                if wasRefused { refused += 1 }
                lines[connection] = nil
                watch?.enable()
            }
            lines[connection] = line
            line.begin()
        }
    }

    // MARK: A connection

    /// An app's connection, and the one to the server that belongs to it.
    private final class Line {
        /// One of its two directions, named for who speaks.
        private struct Direction {
            var waiting: [UInt8] = []
            /// The speaker says nothing more.
            var isDone = false
            /// The other was told so.
            var isClosed = false
        }

        var heard: ((Moment) -> Void)?
        var over: ((_ wasRefused: Bool) -> Void)?

        private let app: StreamSocket
        private var server: StreamSocket?
        private var addresses: ArraySlice<StreamSocket.Address>
        private let loop: EventLoop
        private var appWatch: Watch?
        private var serverWatch: Watch?
        private var isConnected = false
        private var isOver = false
        private var fromApp = Direction()
        private var fromServer = Direction()
        private var buffer = [UInt8](repeating: 0, count: CallTap.mostAtOnce)

        init(_ app: StreamSocket, to addresses: [StreamSocket.Address], on loop: EventLoop) {
            (self.app, self.addresses, self.loop) = (app, addresses[...], loop)
        }

        deinit {
            appWatch?.cancel()
            serverWatch?.cancel()
        }

        /// Tries the server's next address.
        func begin() {
            serverWatch?.cancel()
            (serverWatch, server) = (nil, nil)
            while let address = addresses.popFirst() {
                guard let next = try? StreamSocket(connectingTo: address) else { continue }
                let watch = try? loop.watch(next.number, for: .writable) { [unowned self] ready in
                    serverMoved(ready)
                }
                guard let watch else { break }
                (server, serverWatch) = (next, watch)
                return
            }
            heard?(.ended(byApp: false, isReset: true))
            app.resetWhenClosed()
            finish(wasRefused: true)
        }

        private func finish(wasRefused: Bool = false) {
            guard !isOver else { return }
            isOver = true
            appWatch?.cancel()
            serverWatch?.cancel()
            (appWatch, serverWatch) = (nil, nil)
            over?(wasRefused)
        }

        private func serverMoved(_ ready: Readiness) {
            if !isConnected {
                guard server?.failure() == nil else { return begin() }
                isConnected = true
                appWatch = try? loop.watch(app.number, for: .readable) { [unowned self] _ in turn() }
                if appWatch == nil { return finish() }
            }
            turn()
        }

        /// Moves what can move in both directions.
        private func turn() {
            guard let server, !isOver else { return }
            move(from: app, to: server, &fromApp, byApp: true)
            if !isOver { move(from: server, to: app, &fromServer, byApp: false) }
            guard !isOver else { return }
            if fromApp.isClosed, fromServer.isClosed { return finish() }
            Self.watch(appWatch, reading: fromApp, writing: fromServer)
            Self.watch(serverWatch, reading: fromServer, writing: fromApp)
        }

        /// A descriptor of which nothing is wanted is left alone: the kernel would tell of its end again and again.
        private static func watch(_ watch: Watch?, reading: Direction, writing: Direction) {
            var wanted: Readiness = []
            if !reading.isDone, reading.waiting.isEmpty { wanted.insert(.readable) }
            if !writing.waiting.isEmpty { wanted.insert(.writable) }
            guard !wanted.isEmpty else { return watch?.disable() ?? () }
            watch?.setInterests(wanted)
            watch?.enable()
        }

        /// What waits for the other end holds its speaker, in the kernel.
        private func move(from: StreamSocket, to: StreamSocket, _ way: inout Direction, byApp: Bool) {
            do throws(SystemError) {
                while true {
                    while !way.waiting.isEmpty {
                        guard let count = try to.write(way.waiting) else { return }
                        way.waiting.removeFirst(count)
                    }
                    if way.isDone { break }
                    guard let count = try from.read(into: &buffer) else { return }
                    if count == 0 {
                        way.isDone = true
                        heard?(.ended(byApp: byApp, isReset: false))
                    } else {
                        way.waiting = Array(buffer[..<count])
                        heard?(.said(byApp: byApp, way.waiting))
                    }
                }
            } catch {
                // Whoever reset it, both ends are to know.
                heard?(.ended(byApp: error.call == "read" ? byApp : !byApp, isReset: true))
                app.resetWhenClosed()
                server?.resetWhenClosed()
                return finish()
            }
            if !way.isClosed {
                to.endWriting()
                way.isClosed = true
            }
        }
    }
}

extension SocketAddress {
    /// An end of a connection of IP version 4; nil of another.
    fileprivate var end: CallTap.End? {
        guard bytes.count == 8, let port else { return nil }
        return CallTap.End(address: Array(bytes[4..<8]), port: port)
    }
}
