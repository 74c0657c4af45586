import Glibc
import WakeModel

/// The descriptors of channels that were opened and not taken yet, by number.
///
/// The central and the peripheral role share one, so that a number means one channel.
package final class ChannelTable {
    /// The most channels that wait to be taken; the oldest is closed for one more.
    static let limit = 256

    /// Hears of each channel that a simulated device has written to.
    package var written: ((UInt32) -> Void)?

    private var last: UInt32 = 0
    private var waiting: [(number: UInt32, descriptor: Int32)] = []

    package init() {}

    /// The next number, for a channel that has its descriptor elsewhere.
    package func next() -> UInt32 {
        last += 1
        return last
    }

    /// Takes over a descriptor.
    ///
    /// - Returns: the channel's number.
    package func add(_ descriptor: Int32) -> UInt32 {
        if waiting.count >= Self.limit { close(waiting.removeFirst().descriptor) }
        waiting.append((next(), descriptor))
        return last
    }

    /// Gives a descriptor away; the caller closes it. Nil when there is none of the number, or it was taken.
    package func take(_ number: UInt32) -> Int32? {
        guard let place = waiting.firstIndex(where: { $0.number == number }) else { return nil }
        return waiting.remove(at: place).descriptor
    }

    /// The number of the last channel; the descriptors themselves end with the bench.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) { try coder.code(&last) }

    /// Closes what nobody took.
    package func closeAll() {
        for (_, descriptor) in waiting { close(descriptor) }
        waiting.removeAll()
    }

    deinit { closeAll() }
}
