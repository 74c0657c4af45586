import Foundation
import Synchronization

/// An output stream over a descriptor, with events on run loops.
///
/// A write with no space waits until some of it fits, as it does on Apple's systems; everything else returns at once.
package final class DescriptorOutputStream: OutputStream {
    let core: DescriptorStream

    /// A stream that owns the descriptor from now on, which may be of a connection in the making.
    package init(descriptor: Int32, _ connection: StreamConnection? = nil) {
        core = DescriptorStream(.output, descriptor: descriptor, connection)
        super.init(toMemory: ())
        core.serve(self)
    }

    /// A stream without a descriptor; it cannot be opened.
    package required init(toMemory: ()) {
        core = DescriptorStream(.output, descriptor: -1)
        super.init(toMemory: ())
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

    package override var hasSpaceAvailable: Bool {
        guard let descriptor = core.openDescriptor() else {
            return false
        }
        return core.readiness(of: descriptor, waiting: false) == Int16(POLLOUT)
    }

    package override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard let descriptor = core.openDescriptor() else {
            return -1
        }
        guard len > 0 else {
            return 0
        }
        let count = unsafe push(descriptor, UnsafeBufferPointer(start: buffer, count: len))
        core.arm()
        return count
    }

    private func push(_ descriptor: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var length = bytes.count
        while true {
            let count = unsafe send(descriptor, bytes.baseAddress, length)
            let cause = errno
            if count >= 0 {
                return count
            }
            switch cause {
            case EINTR:
                continue
            case EMSGSIZE where length > 1:
                // A packet of the channel holds less: the rest is a write of its own.
                length /= 2
            case EAGAIN:
                _ = core.readiness(of: descriptor, waiting: true)
                guard core.openDescriptor() != nil else {
                    return -1
                }
            default:
                core.fail(cause)
                return -1
            }
        }
    }

    private func send(_ descriptor: Int32, _ start: UnsafePointer<UInt8>?, _ count: Int) -> Int {
        guard core.isSocket else {
            return unsafe Glibc.write(descriptor, start, count)
        }
        return unsafe Glibc.send(descriptor, start, count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
}

/// The two streams of one connection.
package enum DescriptorStreams {
    /// Streams over a connected descriptor, which they own from now on; nil when no second descriptor can be had.
    ///
    /// The connection ends when both are closed. When the other end is gone both come to their end. Of a connection in the
    /// making that has no descriptor both fail when they are opened.
    package static func pair(
        over descriptor: Int32,
        _ connection: StreamConnection? = nil
    ) -> (input: DescriptorInputStream, output: DescriptorOutputStream)? {
        let isWithout = connection != nil && descriptor < 0
        let second = isWithout ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard isWithout || second >= 0 else {
            close(descriptor)
            return nil
        }
        let input = DescriptorInputStream(descriptor: descriptor, connection)
        let output = DescriptorOutputStream(descriptor: second, connection)
        input.core.serve(input, twin: output.core)
        output.core.serve(output, twin: input.core)
        readers.withLock { readers in
            readers.removeAll { $0.object == nil }
            readers.append(Weak(input.core))
        }
        return (input, output)
    }

    /// What tells a pair that bytes were lost: its output fails at once, its input after what has come.
    package static func failing(
        _ streams: (input: DescriptorInputStream, output: DescriptorOutputStream)
    ) -> @Sendable (Int32) -> Void {
        let input = Weak(streams.input.core)
        let output = Weak(streams.output.core)
        return { code in
            output.object?.fail(code)
            input.object?.failAtEnd(code)
        }
    }

    /// The input streams of all connections.
    private static let readers = Mutex<[Weak<DescriptorStream>]>([])

    /// Tells the apps' delegates of what is there to read, and calls the handler when all have been told.
    package static func tellAll(_ handler: @escaping @Sendable () -> Void) {
        let told = DispatchGroup()
        for core in readers.withLock({ $0.compactMap(\.object) }) {
            told.enter()
            core.tell { told.leave() }
        }
        told.notify(queue: .global(), execute: handler)
    }
}
