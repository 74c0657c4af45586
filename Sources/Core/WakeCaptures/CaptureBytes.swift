import Glibc
import WakeDevices

/// The bytes of a capture, read in order through a window of fixed size: a file of any length takes the same memory.
///
/// What gzip packed is unpacked as it is read, and its bytes are counted as they are unpacked.
package struct CaptureBytes: ~Copyable {
    /// The longest run of bytes that can be asked for at once.
    static let windowSize = 1 << 20

    /// The path as it was given.
    package let file: String
    /// What is in memory; a record's payload is a range of it until the next record is asked for.
    private(set) var window: [UInt8]
    /// Where the next byte stands in the window.
    private(set) var position = 0
    private var end: Int
    /// Where the window's first byte stands in the file.
    private var origin = 0
    /// Negative when all bytes are in the window.
    private let descriptor: Int32
    private var isAtEnd: Bool
    /// What stands where no more can be read; nil as long as that can.
    package private(set) var failure: String?
    /// What unpacks it; nil for a file that is not packed, and before that is known.
    private var unpacking: Unpacking?
    /// How much may be unpacked of a packed file; nil to read it as it is, and once it is known to be none.
    private var unpackLimit: Int?

    /// Opens a capture.
    ///
    /// - Throws: ``FileError`` with line 0 when there is no such file, or when it is no ordinary file.
    package init(file: String) throws(FileError) { try self.init(file: file, unpackLimit: Unpacking.limit) }

    /// - Parameter unpackLimit: the most bytes that are unpacked of a packed file; nil to read it as it is.
    init(file: String, unpackLimit: Int?) throws(FileError) {
        self.file = file
        self.unpackLimit = unpackLimit
        descriptor = try InputFile.open(file)
        window = [UInt8](repeating: 0, count: Self.windowSize)
        end = 0
        isAtEnd = false
    }

    /// A capture that is in memory already.
    package init(_ bytes: [UInt8], file: String) {
        self.file = file
        descriptor = -1
        window = bytes
        end = bytes.count
        isAtEnd = true
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether it is unpacked as it is read.
    package var isPacked: Bool { unpacking != nil }

    /// Where the next byte stands in the file.
    package var offset: Int { origin + position }

    /// Whether so many bytes follow; they are then in the window.
    mutating func has(_ count: Int) -> Bool { end - position >= count || fill(count) }

    /// The first bytes that follow, at most `count` of them.
    mutating func peek(_ count: Int) -> Int {
        _ = has(count)
        return min(count, end - position)
    }

    /// Goes on by so many bytes; false when the capture ends before.
    mutating func skip(_ count: Int) -> Bool {
        var rest = count
        while true {
            let step = min(rest, end - position)
            position += step
            rest -= step
            if rest == 0 { return true }
            if !has(1) { return false }
        }
    }

    /// The next so many bytes, which ``has(_:)`` has found, as a range of the window; goes on behind them.
    mutating func take(_ count: Int) -> Range<Int> {
        let start = position
        position += count
        return start..<position
    }

    private mutating func fill(_ count: Int) -> Bool {
        if isAtEnd || count > window.count { return false }
        origin += position
        let rest = end - position
        if rest > 0 {
            for index in 0..<rest { window[index] = window[position + index] }
        }
        (position, end) = (0, rest)
        while end < count && !isAtEnd { readMore() }
        return end >= count
    }

    private mutating func readMore() {
        if let unpacking {
            do throws(Unpacking.Failure) { try unpackMore(unpacking) } catch { fail(error.rawValue) }
            return
        }
        let (start, descriptor) = (end, descriptor)
        let count = unsafe window.withUnsafeMutableBytes { room in
            unsafe Glibc.read(descriptor, room.baseAddress! + start, room.count - start)
        }
        if count < 0, errno == EINTR { return }
        if count < 0 { return fail(refusal) }
        if count == 0 { isAtEnd = true } else { end += count }
        guard let limit = unpackLimit else { return }
        unpackLimit = nil
        if window.span.extracting(0..<end).starts(Unpacking.magic) { unpack(limit) }
    }

    private mutating func fail(_ found: String) {
        failure = found
        isAtEnd = true
    }

    /// What stands where the system gives no more.
    private var refusal: String { unsafe "what the system cannot read (\(String(cString: strerror(errno))))" }

    /// Unpacks from now on; what was read is the beginning of what is packed.
    private mutating func unpack(_ limit: Int) {
        do throws(Unpacking.Failure) {
            let unpacking = try Unpacking(limit: limit)
            unpacking.give(window[..<end])
            self.unpacking = unpacking
        } catch {
            fail(error.rawValue)
        }
        end = 0
    }

    private mutating func unpackMore(_ unpacking: Unpacking) throws(Unpacking.Failure) {
        if unpacking.wantsMore {
            var piece = [UInt8](repeating: 0, count: 64 << 10)
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { return }
            if count < 0 { return fail(refusal) }
            if count == 0 {
                isAtEnd = true
                if !unpacking.isWhole { throw .cut }
                return
            }
            unpacking.give(piece[..<count])
        }
        end += try unpacking.unpack(into: &window, from: end)
    }
}

extension Span<UInt8> {
    /// Two bytes, the lower first.
    func little16(_ at: Int) -> UInt16 { UInt16(self[at]) | UInt16(self[at + 1]) << 8 }

    /// Four bytes, the lowest first.
    func little32(_ at: Int) -> UInt32 { UInt32(little16(at)) | UInt32(little16(at + 2)) << 16 }

    /// Two bytes, the higher first.
    func big16(_ at: Int) -> UInt16 { little16(at).byteSwapped }

    /// Four bytes, the highest first.
    func big32(_ at: Int) -> UInt32 { little32(at).byteSwapped }

    /// Eight bytes, the highest first.
    func big64(_ at: Int) -> UInt64 { UInt64(big32(at)) << 32 | UInt64(big32(at + 4)) }

    /// Four bytes in either order.
    func word32(_ at: Int, isBig: Bool) -> UInt32 { isBig ? big32(at) : little32(at) }

    /// Two bytes in either order.
    func word16(_ at: Int, isBig: Bool) -> UInt16 { isBig ? big16(at) : little16(at) }

    /// A device address, which goes over the air lowest byte first, as a number.
    func address(_ at: Int) -> UInt64 { UInt64(little32(at)) | UInt64(little16(at + 4)) << 32 }

    /// The bytes in an array of their own.
    func copied(limit: Int = .max) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Swift.min(count, limit))
        for index in 0..<Swift.min(count, limit) { bytes.append(self[index]) }
        return bytes
    }
}

extension CaptureBytes {
    /// The first bytes of a file as it is, at most 4 096.
    ///
    /// - Throws: ``FileError`` with line 0 when there is no such file, or when it is no ordinary file.
    package static func beginning(of file: String) throws(FileError) -> [UInt8] {
        var source = try CaptureBytes(file: file, unpackLimit: nil)
        let count = source.peek(4096)
        return Array(source.window[source.position..<source.position + count])
    }
}
