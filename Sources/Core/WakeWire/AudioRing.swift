import Glibc
import Synchronization

/// Sound in memory that the bench shares with one app: a ring of frames in one direction, Float32 and interleaved.
///
/// One side writes and the other reads, each from one thread. Positions count frames from the start of the stream and never
/// go back; each side keeps its own and believes the other's only when it makes sense, so that a broken or hostile peer can
/// spoil its own sound and nothing else. The memory's layout is in WIRE.md.
@safe package final class AudioRing: @unchecked Sendable {
    package struct Layout: Hashable, Sendable {
        /// Samples of one frame, 1 to 8.
        package var channels: Int
        /// Frames that fit: a power of two from 256 to 65 536.
        package var capacity: Int

        package init(channels: Int, capacity: Int) {
            self.channels = channels
            self.capacity = capacity
        }

        /// The size of the memory.
        package var bytes: Int { Place.samples + capacity * channels * 4 }

        var makesSense: Bool {
            (1...8).contains(channels) && (256...65_536).contains(capacity) && capacity & (capacity - 1) == 0
        }
    }

    /// Which end of the ring this is.
    package enum Side: Sendable {
        case writer
        case reader
    }

    /// Byte offsets in the memory. What different sides write is on different cache lines.
    private enum Place {
        static let magic = 0
        static let version = 4
        static let channels = 8
        static let capacity = 12
        static let written = 64
        static let read = 128
        static let wanted = 192
        static let bufferFrames = 200
        static let ended = 208
        static let underruns = 216
        static let silence = 224
        static let samples = 4_096
    }

    /// "WKAR" in memory.
    private static let magic: UInt32 = 0x5241_4b57
    private static let version: UInt32 = 1

    package let layout: Layout
    private let side: Side
    private let memory: UnsafeMutableRawPointer
    /// How far this side has written or read, in frames.
    package private(set) var position: UInt64

    /// Maps the memory behind a descriptor, which stays the caller's.
    ///
    /// - Parameter fresh: The memory is new: its header is written. Otherwise the header must fit the layout.
    package init(_ descriptor: Int32, _ layout: Layout, side: Side, fresh: Bool) throws(AudioRingFault) {
        guard layout.makesSense else { throw .badLayout }
        let address = unsafe mmap(nil, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .notMapped(errno) }
        self.layout = layout
        self.side = side
        unsafe memory = address
        position = 0
        if fresh {
            setWord(Place.channels, UInt32(layout.channels))
            setWord(Place.capacity, UInt32(layout.capacity))
            setWord(Place.version, Self.version)
            setWord(Place.magic, Self.magic)
        } else if word(Place.magic) != Self.magic || word(Place.version) != Self.version
            || word(Place.channels) != UInt32(layout.channels) || word(Place.capacity) != UInt32(layout.capacity)
        {
            throw .badLayout
        } else {
            position = load(side == .writer ? Place.written : Place.read)
        }
    }

    deinit {
        unsafe munmap(memory, layout.bytes)
    }

    // MARK: Frames

    /// The frames that may be read now.
    ///
    /// - Throws: ``AudioRingFault/badPosition(written:read:)`` when the writer's position makes no sense.
    package func readable() throws(AudioRingFault) -> Int {
        let written = load(Place.written)
        let count = written &- position
        guard count <= UInt64(layout.capacity) else { throw .badPosition(written: written, read: position) }
        return Int(count)
    }

    /// The frames for which there is room now.
    ///
    /// - Throws: ``AudioRingFault/badPosition(written:read:)`` when the reader's position makes no sense.
    package func writable() throws(AudioRingFault) -> Int {
        let read = load(Place.read)
        let filled = position &- read
        guard filled <= UInt64(layout.capacity) else { throw .badPosition(written: position, read: read) }
        return layout.capacity - Int(filled)
    }

    /// Reads at most so many frames, in one or two pieces, oldest first.
    ///
    /// - Parameters:
    ///   - take: Gets the samples of a piece, and how many frames came before it.
    /// - Returns: The frames read.
    package func read(
        _ frames: Int,
        _ take: (UnsafeBufferPointer<Float>, Int) -> Void
    ) throws(AudioRingFault) -> Int {
        let count = min(frames, try readable())
        unsafe forEachPiece(count) { piece, before in unsafe take(UnsafeBufferPointer(piece), before) }
        position &+= UInt64(count)
        store(Place.read, position)
        return count
    }

    /// Writes at most so many frames, in one or two pieces.
    ///
    /// - Parameters:
    ///   - fill: Fills the samples of a piece, and is told how many frames came before it.
    /// - Returns: The frames written.
    package func write(
        _ frames: Int,
        _ fill: (UnsafeMutableBufferPointer<Float>, Int) -> Void
    ) throws(AudioRingFault) -> Int {
        let count = min(frames, try writable())
        unsafe forEachPiece(count) { piece, before in unsafe fill(piece, before) }
        position &+= UInt64(count)
        store(Place.written, position)
        return count
    }

    private func forEachPiece(_ count: Int, _ body: (UnsafeMutableBufferPointer<Float>, Int) -> Void) {
        let start = Int(position & UInt64(layout.capacity - 1))
        let first = min(count, layout.capacity - start)
        unsafe body(piece(start, first), 0)
        if count > first { unsafe body(piece(0, count - first), first) }
    }

    private func piece(_ start: Int, _ count: Int) -> UnsafeMutableBufferPointer<Float> {
        let samples = unsafe (memory + Place.samples).assumingMemoryBound(to: Float.self)
        return unsafe UnsafeMutableBufferPointer(
            start: samples + start * layout.channels,
            count: count * layout.channels
        )
    }

    // MARK: What the bench says to the app

    /// Up to where the app is to have written; of an input ring, up to where it may read.
    package var wanted: UInt64 {
        get { load(Place.wanted) }
        set { store(Place.wanted, newValue) }
    }

    /// The frames of one render callback (AUD-9).
    package var bufferFrames: UInt32 {
        get { word(Place.bufferFrames) }
        set { setWord(Place.bufferFrames, newValue) }
    }

    /// Whether the stream is over: nothing is read or written any more.
    package var hasEnded: Bool {
        get { word(Place.ended) != 0 }
        set { setWord(Place.ended, newValue ? 1 : 0) }
    }

    /// Buffers that came late, so far (AUD-11).
    package var underruns: UInt64 {
        get { load(Place.underruns) }
        set { store(Place.underruns, newValue) }
    }

    /// The frames of silence since the last sound, as the bench counts them (AUD-4).
    package var silence: UInt64 {
        get { load(Place.silence) }
        set { store(Place.silence, newValue) }
    }

    // MARK: Words

    private func load(_ place: Int) -> UInt64 {
        unsafe (memory + place).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
    }

    private func store(_ place: Int, _ value: UInt64) {
        unsafe (memory + place).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(value, ordering: .releasing)
    }

    private func word(_ place: Int) -> UInt32 {
        unsafe (memory + place).assumingMemoryBound(to: Atomic<UInt32>.self).pointee.load(ordering: .acquiring)
    }

    private func setWord(_ place: Int, _ value: UInt32) {
        unsafe (memory + place).assumingMemoryBound(to: Atomic<UInt32>.self).pointee.store(value, ordering: .releasing)
    }
}

/// Shared memory cannot be used.
package enum AudioRingFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// mmap(2) said no; the errno.
    case notMapped(Int32)
    /// The memory is not a ring of this version and size.
    case badLayout
    /// The other side's position cannot be.
    case badPosition(written: UInt64, read: UInt64)

    package var description: String {
        switch self {
        case .notMapped(let code): "the memory of a sound ring cannot be mapped (errno \(code))"
        case .badLayout: "the memory is not a sound ring of this version and size"
        case .badPosition(let written, let read):
            "a sound ring's positions cannot be: \(written) written, \(read) read"
        }
    }
}
