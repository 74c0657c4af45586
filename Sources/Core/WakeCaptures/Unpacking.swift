import CZlib

/// Unpacks what gzip packed (RFC 1952), piece by piece: one file, or several one behind the other.
@safe final class Unpacking {
    /// What a packed file begins with: the mark of gzip, and its only method.
    static let magic: [UInt8] = [0x1f, 0x8b, 8]
    /// How much is unpacked of one file: a few bytes may say that they are any number.
    static let limit = 4 << 30

    /// Why nothing more can be unpacked: what stands there, for a message.
    enum Failure: String, Error {
        case damaged = "what cannot be unpacked: it is damaged"
        case cut = "what cannot be unpacked: it is cut short"
        case tooMuch = "more than 4 GiB when it is unpacked"
        case memory = "what cannot be unpacked: there is no memory for it"
    }

    /// Stays where it is: zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let limit: Int
    private var count = 0
    /// Packed bytes that are not unpacked yet.
    private var packed: [UInt8] = []
    private var position = 0
    /// Whether the last place was filled: there may be more of what was given.
    private var isFull = false
    /// Whether a packed file is whole.
    private(set) var isWhole = false
    /// What ended it; what was unpacked before is given first.
    private var failure: Failure?

    init(limit: Int = Unpacking.limit) throws(Failure) {
        self.limit = limit
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 15 bits of window, and 16 more for the form of gzip.
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, size) == Z_OK else { throw .memory }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Whether all that was given is unpacked.
    var wantsMore: Bool { failure == nil && position == packed.count && !isFull }

    /// Gives it more packed bytes; what it had must be unpacked.
    func give(_ bytes: ArraySlice<UInt8>) {
        packed.replaceSubrange(0..., with: bytes)
        position = 0
    }

    /// Unpacks to the end of a window, as far as there is something and room for it.
    ///
    /// - Returns: how many bytes it wrote.
    func unpack(into window: inout [UInt8], from start: Int) throws(Failure) -> Int {
        if let failure { throw failure }
        if isWhole {
            // Another may follow; anything else behind the end is not the file's.
            guard position < packed.count, packed[position] == Self.magic[0] else {
                position = packed.count
                return 0
            }
            _ = unsafe inflateReset(stream)
            isWhole = false
        }
        let (room, given) = (window.count - start, packed.count - position)
        let code = unsafe window.withUnsafeMutableBufferPointer { window in
            unsafe packed.withUnsafeMutableBufferPointer { packed in
                unsafe stream.pointee.next_in = packed.baseAddress! + position
                unsafe stream.pointee.avail_in = UInt32(given)
                unsafe stream.pointee.next_out = window.baseAddress! + start
                unsafe stream.pointee.avail_out = UInt32(room)
                return unsafe inflate(stream, Z_NO_FLUSH)
            }
        }
        let (left, free) = unsafe (Int(stream.pointee.avail_in), Int(stream.pointee.avail_out))
        position += given - left
        count += room - free
        isFull = free == 0
        switch code {
        case Z_STREAM_END: (isWhole, isFull) = (true, false)
        // Nothing to do until there is more.
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR: failure = .memory
        default: failure = .damaged
        }
        if count > limit { failure = .tooMuch }
        return room - free
    }
}
