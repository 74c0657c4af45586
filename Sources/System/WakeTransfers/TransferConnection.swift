import CWakeShims
import Glibc
import WakeSystem

/// One end of the socket between a bench and the process that carries its transfers: packets of JSON, which arrive whole and
/// in order. It never waits.
package final class TransferConnection {
    private let socket: Descriptor
    private let watch: Watch
    private let mostWaiting: Int
    private var waiting: [[UInt8]] = []
    private var buffer = [UInt8](repeating: 0, count: TransferBounds.longestPacket + 1)

    /// Gets each packet.
    package var received: ([UInt8]) -> Void = { _ in }
    /// The other end has gone, or said something that is none of ours.
    package var ended: () -> Void = {}
    /// Everything that was sent has left.
    package var drained: () -> Void = {}

    /// Takes over a connected, non-blocking socket of packets.
    ///
    /// - Parameter mostWaiting: so many packets may wait before no more are read. Only one of two ends may have such a limit: the
    ///   other must always read, or each waits for the other.
    package init(
        _ socket: consuming Descriptor,
        mostWaiting: Int = .max,
        on loop: EventLoop
    ) throws(SystemError) {
        let number = socket.number
        self.socket = socket
        self.mostWaiting = mostWaiting
        let box = Box()
        watch = try loop.watch(number, for: .readable) { readiness in box.connection?.ready(readiness) }
        box.connection = self
    }

    private final class Box {
        weak var connection: TransferConnection?
    }

    /// Whether nothing waits to leave.
    package var isDrained: Bool { waiting.isEmpty }

    /// Sends a packet, after those that wait. For one that is too long the other end would leave, so that is not sent.
    package func send(_ packet: [UInt8]) {
        guard packet.count <= TransferBounds.longestPacket else { return }
        waiting.append(packet)
        flush()
    }

    /// Nothing is heard any more.
    package func close() {
        received = { _ in }
        ended = {}
        drained = {}
        watch.cancel()
        shutdown(socket.number, Int32(SHUT_RDWR))
    }

    private func flush() {
        var sent = 0
        while sent < waiting.count {
            let packet = waiting[sent]
            let code = unsafe packet.withUnsafeBytes {
                unsafe wake_send(socket.number, $0.baseAddress, $0.count, nil, 0)
            }
            // An end that has gone is told by the watch.
            if code != 1 { break }
            sent += 1
        }
        waiting.removeFirst(sent)
        watch.setInterests(
            waiting.isEmpty ? .readable : waiting.count > mostWaiting ? .writable : [.readable, .writable]
        )
    }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.writable), !waiting.isEmpty {
            flush()
            if waiting.isEmpty { drained() }
        }
        // As many as there may be in one turn of others.
        for _ in 0..<32 {
            let number = socket.number
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                repeatingInterrupted { unsafe recv(number, bytes.baseAddress, bytes.count, 0) }
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0, count <= TransferBounds.longestPacket else {
                let ended = ended
                close()
                return ended()
            }
            received(Array(buffer[..<count]))
            if waiting.count > mostWaiting { return }
        }
    }
}
