import Foundation
import Synchronization

/// A descriptor that came with a packet; closed with the object unless somebody takes it.
package final class ReceivedDescriptor: Sendable {
    private let number: Mutex<Int32?>

    /// Takes over an open descriptor.
    package init(_ descriptor: Int32) {
        number = Mutex(descriptor)
    }

    deinit {
        if let descriptor = take() {
            close(descriptor)
        }
    }

    /// The descriptor, from now on the caller's own; nil when it was taken before.
    package func take() -> Int32? {
        number.withLock { $0.take() }
    }
}

/// The descriptors in the control data of a received packet.
enum ControlData {
    /// Room for this many descriptors; the kernel closes those beyond.
    static let mostDescriptors = 4
    /// The bytes that so many descriptors take.
    static let size = headerSize + aligned(mostDescriptors * MemoryLayout<Int32>.size)

    private static let headerSize = aligned(MemoryLayout<cmsghdr>.size)

    private static func aligned(_ count: Int) -> Int {
        let word = MemoryLayout<Int>.size
        return (count + word - 1) / word * word
    }

    /// Writes one SCM_RIGHTS part with one descriptor.
    ///
    /// - Returns: how many bytes it takes.
    static func write(_ descriptor: Int32, to bytes: UnsafeMutableRawBufferPointer) -> Int {
        let length = headerSize + MemoryLayout<Int32>.size
        unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe bytes.storeBytes(of: length, as: Int.self)
        unsafe bytes.storeBytes(of: SOL_SOCKET, toByteOffset: MemoryLayout<Int>.size, as: Int32.self)
        unsafe bytes.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: MemoryLayout<Int>.size + 4, as: Int32.self)
        unsafe bytes.storeBytes(of: descriptor, toByteOffset: headerSize, as: Int32.self)
        return aligned(length)
    }

    /// The descriptors of every SCM_RIGHTS part.
    static func descriptors(in bytes: UnsafeRawBufferPointer) -> [Int32] {
        var found: [Int32] = []
        var start = 0
        while start + headerSize <= bytes.count {
            let length = unsafe bytes.loadUnaligned(fromByteOffset: start, as: Int.self)
            let level = unsafe bytes.loadUnaligned(
                fromByteOffset: start + MemoryLayout<Int>.size,
                as: Int32.self
            )
            let type = unsafe bytes.loadUnaligned(
                fromByteOffset: start + MemoryLayout<Int>.size + 4,
                as: Int32.self
            )
            guard length >= headerSize, start + length <= bytes.count else {
                return found
            }
            if level == SOL_SOCKET, type == Int32(SCM_RIGHTS) {
                for place in stride(
                    from: start + headerSize,
                    to: start + length,
                    by: MemoryLayout<Int32>.size
                ) {
                    unsafe found.append(bytes.loadUnaligned(fromByteOffset: place, as: Int32.self))
                }
            }
            start += aligned(length)
        }
        return found
    }
}
