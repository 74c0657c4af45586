import Foundation

/// An input stream over a descriptor, with events on run loops.
///
/// A read with nothing there waits for the first byte, as it does on Apple's systems; everything else returns at once.
package final class DescriptorInputStream: InputStream {
    /// The longest packet that a channel carries.
    private static let packetBytes = 65_536

    let core: DescriptorStream
    private var kept: [UInt8] = []

    /// A stream that owns the descriptor from now on, which may be of a connection in the making.
    package init(descriptor: Int32, _ connection: StreamConnection? = nil) {
        core = DescriptorStream(.input, descriptor: descriptor, connection)
        super.init(data: Data())
        core.serve(self)
    }

    deinit {
        core.close()
    }

    package override var delegate: (any StreamDelegate)? {
        didSet { core.signal() }
    }

    package override var streamStatus: Stream.Status {
        core.currentStatus
    }

    package override var streamError: (any Error)? {
        core.currentError
    }

    package override func open() {
        core.open()
    }

    package override func close() {
        core.close()
    }

    package override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        core.schedule(in: aRunLoop, forMode: mode)
    }

    package override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        core.remove(from: aRunLoop, forMode: mode)
    }

    package override func property(forKey key: Stream.PropertyKey) -> AnyObject? {
        core.properties[key]
    }

    package override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool {
        core.set(property, forKey: key)
    }

    package override var hasBytesAvailable: Bool {
        guard let descriptor = core.openDescriptor() else {
            return false
        }
        if !kept.isEmpty {
            return true
        }
        guard core.readiness(of: descriptor, waiting: false) & Int16(POLLIN) != 0 else {
            return false
        }
        var byte: UInt8 = 0
        let flags = Int32(MSG_PEEK | MSG_DONTWAIT)
        return unsafe !core.isSocket || recv(descriptor, &byte, 1, flags) > 0
    }

    package override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    package override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard let descriptor = core.openDescriptor() else {
            return core.currentStatus == .atEnd ? 0 : -1
        }
        guard len > 0 else {
            return 0
        }
        let room = unsafe UnsafeMutableBufferPointer(start: buffer, count: len)
        let count =
            unsafe core.keepsPackets
            ? readPacket(descriptor, into: room) : readBytes(descriptor, into: room)
        if kept.isEmpty {
            core.arm()
        } else {
            core.tellReady()
        }
        return count
    }

    private func readBytes(_ descriptor: Int32, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        while true {
            let count = unsafe Glibc.read(descriptor, room.baseAddress, room.count)
            let cause = errno
            if count > 0 {
                return count
            }
            if count == 0 {
                core.end()
                return 0
            }
            guard waits(descriptor, after: cause) else {
                return -1
            }
        }
    }

    private func readPacket(_ descriptor: Int32, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        while kept.isEmpty {
            var packet = [UInt8](repeating: 0, count: Self.packetBytes)
            let count = unsafe recv(descriptor, &packet, packet.count, Int32(MSG_DONTWAIT))
            let cause = errno
            if count > 0 {
                kept = Array(packet[..<count])
            } else if count == 0, core.readiness(of: descriptor, waiting: false) & Int16(POLLHUP) != 0 {
                core.end()
                return 0
            } else if count < 0, !waits(descriptor, after: cause) {
                return -1
            }
        }
        let count = min(room.count, kept.count)
        _ = unsafe room.update(fromContentsOf: kept[..<count])
        kept.removeFirst(count)
        return count
    }

    /// Waits after a read that found nothing; false when it failed for good.
    private func waits(_ descriptor: Int32, after cause: Int32) -> Bool {
        switch cause {
        case EINTR:
            return true
        case EAGAIN:
            _ = core.readiness(of: descriptor, waiting: true)
            return core.openDescriptor() != nil
        default:
            core.fail(cause)
            return false
        }
    }
}
