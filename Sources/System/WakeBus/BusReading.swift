import CSystemd
import Glibc

/// Reads a message's values in order, within bounds: whoever sent it is not trusted.
@safe struct BusReading {
    /// How deep values may be nested. D-Bus itself allows 64.
    static let depthLimit = 16
    /// How many values one message may hold. The largest that BlueZ sends, all its objects, is some thousands.
    static let countLimit = 1 << 18
    /// How many bytes of text and byte arrays one message may hold.
    static let byteLimit = 16 << 20

    private let message: OpaquePointer
    private var count = 0
    private var byteCount = 0

    init(_ message: OpaquePointer) {
        unsafe self.message = message
    }

    /// All values from here to the end of the message or container.
    mutating func all(depth: Int = 0) throws(BusError) -> [BusValue] {
        var values: [BusValue] = []
        while let value = try next(depth: depth) { values.append(value) }
        return values
    }

    /// The next value; nil at the end of the message or container.
    private mutating func next(depth: Int) throws(BusError) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>? = nil
        let found = unsafe sd_bus_message_peek_type(message, &type, &contents)
        if found == 0 { return nil }
        try Self.check(found, "sd_bus_message_peek_type")
        count += 1
        if count > Self.countLimit { throw .tooLarge("a message of more than \(Self.countLimit) values") }
        if depth > Self.depthLimit { throw .tooLarge("values nested deeper than \(Self.depthLimit)") }
        guard let contents = unsafe contents else { return try basic(UInt8(bitPattern: type)) }
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "a"): return try unsafe array(of: contents, depth: depth)
        case UInt8(ascii: "r"): return .structure(try unsafe container("r", contents, depth: depth))
        default:
            try unsafe enter("v", contents)
            guard let value = try next(depth: depth + 1) else { throw .malformed("an empty variant") }
            try leave()
            return .variant(value)
        }
    }

    private mutating func container(
        _ type: Unicode.Scalar,
        _ contents: UnsafePointer<CChar>,
        depth: Int
    ) throws(BusError) -> [BusValue] {
        try unsafe enter(type, contents)
        let values = try all(depth: depth + 1)
        try leave()
        return values
    }

    /// - Parameter element: lies in the message until the next value is looked at.
    private mutating func array(of element: UnsafePointer<CChar>, depth: Int) throws(BusError) -> BusValue {
        if unsafe element[0] == CChar(UInt8(ascii: "y")) { return .bytes(try byteArray()) }
        let signature = unsafe String(cString: element)
        guard signature.utf8.first == UInt8(ascii: "{") else {
            return .array(try unsafe container("a", element, depth: depth), of: signature)
        }
        let pair = String(signature.dropFirst().dropLast())
        var entries: [BusEntry] = []
        try unsafe enter("a", element)
        while true {
            let entered = unsafe sd_bus_message_enter_container(message, CChar(UInt8(ascii: "e")), pair)
            if entered == 0 { break }
            try Self.check(entered, "sd_bus_message_enter_container")
            guard let key = try next(depth: depth + 1), let value = try next(depth: depth + 1) else {
                throw .malformed("half a dictionary entry")
            }
            entries.append(BusEntry(key, value))
            try leave()
        }
        try leave()
        return .dictionary(entries, key: String(pair.prefix(1)), value: String(pair.dropFirst()))
    }

    private func enter(_ type: Unicode.Scalar, _ contents: UnsafePointer<CChar>) throws(BusError) {
        let letter = CChar(UInt8(ascii: type))
        try Self.check(
            unsafe sd_bus_message_enter_container(message, letter, contents),
            "sd_bus_message_enter_container"
        )
    }

    private func leave() throws(BusError) {
        try Self.check(unsafe sd_bus_message_exit_container(message), "sd_bus_message_exit_container")
    }

    private mutating func byteArray() throws(BusError) -> [UInt8] {
        var start: UnsafeRawPointer? = nil
        var size = 0
        let read = unsafe sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &start, &size)
        try Self.check(read, "sd_bus_message_read_array")
        try spend(size)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: size))
    }

    private mutating func spend(_ bytes: Int) throws(BusError) {
        byteCount += bytes
        if byteCount > Self.byteLimit { throw .tooLarge("a message of more than \(Self.byteLimit) bytes") }
    }

    private mutating func basic(_ letter: UInt8) throws(BusError) -> BusValue {
        switch letter {
        case UInt8(ascii: "y"): .byte(try number(letter, UInt8(0)))
        // D-Bus has its booleans as C's int here.
        case UInt8(ascii: "b"): .bool(try number(letter, Int32(0)) != 0)
        case UInt8(ascii: "n"): .int16(try number(letter, Int16(0)))
        case UInt8(ascii: "q"): .uint16(try number(letter, UInt16(0)))
        case UInt8(ascii: "i"): .int32(try number(letter, Int32(0)))
        case UInt8(ascii: "u"): .uint32(try number(letter, UInt32(0)))
        case UInt8(ascii: "x"): .int64(try number(letter, Int64(0)))
        case UInt8(ascii: "t"): .uint64(try number(letter, UInt64(0)))
        case UInt8(ascii: "d"): .double(try number(letter, 0.0))
        case UInt8(ascii: "s"): .string(try text(letter))
        case UInt8(ascii: "o"): .objectPath(try text(letter))
        case UInt8(ascii: "g"): .signature(try text(letter))
        case UInt8(ascii: "h"): .descriptor(try descriptor())
        default: throw .malformed("a value of type '\(Unicode.Scalar(letter))'")
        }
    }

    private func number<Number: BitwiseCopyable>(_ letter: UInt8, _ zero: Number) throws(BusError) -> Number {
        var value = zero
        try Self.check(unsafe sd_bus_message_read_basic(message, CChar(letter), &value), "sd_bus_message_read_basic")
        return value
    }

    private mutating func text(_ letter: UInt8) throws(BusError) -> String {
        var start: UnsafePointer<CChar>? = nil
        try Self.check(unsafe sd_bus_message_read_basic(message, CChar(letter), &start), "sd_bus_message_read_basic")
        guard let start = unsafe start else { throw .malformed("a missing string") }
        let text = unsafe String(cString: start)
        try spend(text.utf8.count)
        return text
    }

    /// The message closes its own descriptor, so this is a second one.
    private func descriptor() throws(BusError) -> BusDescriptor {
        let own = fcntl(try number(UInt8(ascii: "h"), Int32(-1)), F_DUPFD_CLOEXEC, 3)
        guard own >= 0 else { throw BusError(call: "fcntl(F_DUPFD_CLOEXEC)", code: -errno) }
        return BusDescriptor(owning: own)
    }

    private static func check(_ code: Int32, _ call: String) throws(BusError) {
        if code < 0 { throw BusError(call: call, code: code) }
    }
}
