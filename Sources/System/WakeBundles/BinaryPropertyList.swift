import Foundation

/// Reads a binary property list within bounds: its objects may be shared, so that a few bytes can stand for more than
/// any memory holds.
struct BinaryPropertyList {
    /// Why a list is refused, in words that follow its name.
    struct Fault: Error {
        var found: String

        static let damaged = Fault(found: "a list that is damaged or cut off")
    }

    /// The deepest nesting.
    static let depthLimit = 64
    /// The most values, with each shared one counted wherever it is used.
    static let valueLimit = 100_000
    /// The most bytes of texts and data, counted in the same way.
    static let dataLimit = 8 << 20

    private let bytes: [UInt8]
    private var offsetSize = 0
    private var referenceSize = 0
    private var objectCount: UInt64 = 0
    private var offsetTable = 0
    private var values = 0
    private var data = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The value at the top, made of the types that `PropertyListSerialization` gives.
    static func parse(_ bytes: [UInt8]) throws(Fault) -> Any {
        var list = BinaryPropertyList(bytes)
        return try list.top()
    }

    /// The last 32 bytes say where the objects are.
    private mutating func top() throws(Fault) -> Any {
        let trailer = bytes.count - 32
        guard trailer >= 8 else { throw .damaged }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else { throw .damaged }
        objectCount = try number(at: trailer + 8, size: 8)
        offsetTable = try place(try number(at: trailer + 24, size: 8))
        guard objectCount <= UInt64((trailer - min(trailer, offsetTable)) / offsetSize) else { throw .damaged }
        return try object(try number(at: trailer + 16, size: 8), depth: 1)
    }

    private mutating func object(_ reference: UInt64, depth: Int) throws(Fault) -> Any {
        values += 1
        if depth > Self.depthLimit { throw Fault(found: "more than \(Self.depthLimit) levels of nesting") }
        if values > Self.valueLimit {
            throw Fault(found: "more than \(Self.valueLimit) values with shared ones expanded")
        }
        guard reference < objectCount else { throw .damaged }
        let start = try place(try number(at: offsetTable + Int(reference) * offsetSize, size: offsetSize))
        guard start >= 8, start < offsetTable else { throw .damaged }
        let low = Int(bytes[start] & 0x0f)
        switch bytes[start] >> 4 {
        case 0x0 where low == 0: return NSNull()
        case 0x0 where low == 8 || low == 9: return low == 9
        case 0x1 where low <= 4: return try integer(at: start + 1, size: 1 << low)
        case 0x2 where low == 2: return Float(bitPattern: UInt32(try number(at: start + 1, size: 4)))
        case 0x2 where low == 3: return Double(bitPattern: try number(at: start + 1, size: 8))
        case 0x3 where low == 3:
            return Date(timeIntervalSinceReferenceDate: Double(bitPattern: try number(at: start + 1, size: 8)))
        case 0x4:
            let (count, first) = try count(at: start)
            return Data(try piece(at: first, count: count))
        case 0x5: return try text(at: start)
        case 0x6: return try wideText(at: start)
        case 0x8 where low < 8: return NSNumber(value: try number(at: start + 1, size: low + 1))
        case 0xa, 0xc: return try array(at: start, depth: depth)
        case 0xd: return try dictionary(at: start, depth: depth)
        default: throw .damaged
        }
    }

    private mutating func array(at start: Int, depth: Int) throws(Fault) -> [Any] {
        let (count, first) = try count(at: start)
        try check(count, at: first, size: referenceSize)
        var members: [Any] = []
        for index in 0..<count {
            let reference = try number(at: first + index * referenceSize, size: referenceSize)
            members.append(try object(reference, depth: depth + 1))
        }
        return members
    }

    private mutating func dictionary(at start: Int, depth: Int) throws(Fault) -> [String: Any] {
        let (count, first) = try count(at: start)
        try check(count, at: first, size: 2 * referenceSize)
        var entries: [String: Any] = [:]
        for index in 0..<count {
            let key = try number(at: first + index * referenceSize, size: referenceSize)
            let value = try number(at: first + (count + index) * referenceSize, size: referenceSize)
            guard let name = try object(key, depth: depth + 1) as? String else { throw .damaged }
            entries[name] = try object(value, depth: depth + 1)
        }
        return entries
    }

    private mutating func text(at start: Int) throws(Fault) -> String {
        let (count, first) = try count(at: start)
        let bytes = try piece(at: first, count: count)
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw .damaged }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func wideText(at start: Int) throws(Fault) -> String {
        let (count, first) = try count(at: start)
        try check(count, at: first, size: 2)
        let bytes = Array(try piece(at: first, count: 2 * count))
        let units = (0..<count).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
        guard let text = String(validating: units, as: UTF16.self) else { throw .damaged }
        return text
    }

    private func integer(at start: Int, size: Int) throws(Fault) -> NSNumber {
        // Of sixteen bytes the lower eight hold every number that such a list has.
        let skipped = max(0, size - 8)
        let number = try number(at: start + skipped, size: size - skipped)
        return size < 8 ? NSNumber(value: number) : NSNumber(value: Int64(bitPattern: number))
    }

    /// The count of an object's members or bytes, and where they begin.
    private func count(at start: Int) throws(Fault) -> (count: Int, first: Int) {
        let low = Int(bytes[start] & 0x0f)
        if low < 15 { return (low, start + 1) }
        guard start + 1 < offsetTable, bytes[start + 1] >> 4 == 1, bytes[start + 1] & 0x0f <= 3 else { throw .damaged }
        let size = 1 << Int(bytes[start + 1] & 0x0f)
        return (try place(try number(at: start + 2, size: size)), start + 2 + size)
    }

    /// Refuses members that would reach into the table of offsets.
    private func check(_ count: Int, at first: Int, size: Int) throws(Fault) {
        guard first <= offsetTable, count <= (offsetTable - first) / size else { throw .damaged }
    }

    private mutating func piece(at first: Int, count: Int) throws(Fault) -> ArraySlice<UInt8> {
        try check(count, at: first, size: 1)
        data += count
        if data > Self.dataLimit { throw Fault(found: "more than \(Self.dataLimit) bytes with shared ones expanded") }
        return bytes[first..<first + count]
    }

    /// A number as a place in the file.
    private func place(_ number: UInt64) throws(Fault) -> Int {
        guard number <= UInt64(bytes.count) else { throw .damaged }
        return Int(number)
    }

    /// A number of at most eight bytes, the highest first.
    private func number(at start: Int, size: Int) throws(Fault) -> UInt64 {
        guard start >= 0, start <= bytes.count - size else { throw .damaged }
        return bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
