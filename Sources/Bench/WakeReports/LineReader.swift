import Glibc

/// Reads a file line by line, in large pieces. A last line without an end is left out: it was cut.
@safe
struct LineReader: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var piece: [UInt8] = []
    private var position = 0
    /// Where the next line starts in the file.
    private(set) var offset = 0
    /// A line longer than this is nothing that we wrote.
    private static let longest = 8 << 20

    init(_ path: String) throws(ReportError) {
        self.path = path
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw ReportError.last("open", path: path) }
        descriptor = opened
    }

    deinit {
        close(descriptor)
    }

    /// The next line without its end; nil after the last.
    mutating func next() throws(ReportError) -> [UInt8]? {
        var search = position
        while true {
            if let end = piece[search...].firstIndex(of: 0x0a) {
                defer {
                    offset += end + 1 - position
                    position = end + 1
                }
                return Array(piece[position..<end])
            }
            search = piece.count - position
            guard search < Self.longest else { throw ReportError(.foreign("a line of more than 8 MiB"), path: path) }
            guard try fill() else { return nil }
        }
    }

    private mutating func fill() throws(ReportError) -> Bool {
        piece.removeFirst(position)
        position = 0
        let kept = piece.count
        let size = 256 << 10
        piece.append(contentsOf: repeatElement(0, count: size))
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { bytes in
                unsafe read(descriptor, bytes.baseAddress! + kept, size)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw ReportError.last("read", path: path)
            }
            piece.removeLast(size - count)
            return count > 0
        }
    }
}
