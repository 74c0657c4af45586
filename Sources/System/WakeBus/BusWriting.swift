import CSystemd
import Glibc

/// Appends values to a message that is being made.
@safe struct BusWriting {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) {
        unsafe self.message = message
    }

    func append(_ values: [BusValue]) throws(BusError) {
        for value in values { try append(value) }
    }

    private func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .byte(let number): try basic("y", number)
        case .bool(let flag): try basic("b", Int32(flag ? 1 : 0))
        case .int16(let number): try basic("n", number)
        case .uint16(let number): try basic("q", number)
        case .int32(let number): try basic("i", number)
        case .uint32(let number): try basic("u", number)
        case .int64(let number): try basic("x", number)
        case .uint64(let number): try basic("t", number)
        case .double(let number): try basic("d", number)
        case .string(let text): try self.text("s", text)
        case .objectPath(let text): try self.text("o", text)
        case .signature(let text): try self.text("g", text)
        case .descriptor(let descriptor): try basic("h", descriptor.borrowed)
        case .bytes(let bytes): try byteArray(bytes)
        case .array(let elements, let element):
            try container("a", element) { () throws(BusError) in try append(elements) }
        case .dictionary(let entries, let key, let value):
            try container("a", "{\(key)\(value)}") { () throws(BusError) in
                for entry in entries {
                    try container("e", key + value) { () throws(BusError) in try append([entry.key, entry.value]) }
                }
            }
        case .structure(let fields):
            try container("r", fields.map(\.signature).joined()) { () throws(BusError) in try append(fields) }
        case .variant(let inner):
            try container("v", inner.signature) { () throws(BusError) in try append(inner) }
        }
    }

    private func basic<Number: BitwiseCopyable>(_ type: Unicode.Scalar, _ number: Number) throws(BusError) {
        let code = unsafe withUnsafePointer(to: number) { number in
            unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: type)), number)
        }
        try check(code, "sd_bus_message_append_basic")
    }

    /// D-Bus strings end at a zero byte, and paths and signatures have a grammar: libsystemd refuses what breaks it.
    private func text(_ type: Unicode.Scalar, _ text: String) throws(BusError) {
        guard !text.utf8.contains(0) else { throw .malformed("a string with a zero byte") }
        let code = unsafe text.withCString { start in
            unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: type)), start)
        }
        try check(code, "sd_bus_message_append_basic")
    }

    private func byteArray(_ bytes: [UInt8]) throws(BusError) {
        let code = unsafe bytes.withUnsafeBytes { bytes in
            unsafe sd_bus_message_append_array(message, CChar(UInt8(ascii: "y")), bytes.baseAddress, bytes.count)
        }
        try check(code, "sd_bus_message_append_array")
    }

    private func container(
        _ type: Unicode.Scalar,
        _ contents: String,
        _ fill: () throws(BusError) -> Void
    ) throws(BusError) {
        let code = unsafe sd_bus_message_open_container(message, CChar(UInt8(ascii: type)), contents)
        try check(code, "sd_bus_message_open_container")
        try fill()
        try check(unsafe sd_bus_message_close_container(message), "sd_bus_message_close_container")
    }

    private func check(_ code: Int32, _ call: String) throws(BusError) {
        if code < 0 { throw BusError(call: call, code: code) }
    }
}
