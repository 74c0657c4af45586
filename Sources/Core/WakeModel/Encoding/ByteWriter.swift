/// Appends values to a buffer of bytes that is used again and again.
///
/// Whole numbers take one byte for each seven bits they need; the counterpart is ``ByteReader``.
package struct ByteWriter: Sendable {
    /// What has been written.
    package private(set) var bytes: [UInt8]

    package init(reserving capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// How many bytes have been written.
    package var count: Int { bytes.count }

    /// Forgets what has been written and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends one byte as it is.
    package mutating func write(byte: UInt8) {
        bytes.append(byte)
    }

    package mutating func write(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    package mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func write(_ value: UInt32) {
        write(UInt64(value))
    }

    package mutating func write(_ value: UInt16) {
        write(UInt64(value))
    }

    /// Appends a number that is small whether positive or negative in few bytes.
    package mutating func write(_ value: Int64) {
        write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    package mutating func write(_ value: Int32) {
        write(Int64(value))
    }

    package mutating func write(_ value: Int16) {
        write(Int64(value))
    }

    /// Appends a count or an index; a negative one is a precondition failure.
    package mutating func write(_ value: Int) {
        write(UInt64(value))
    }

    /// Appends the eight bytes of a floating-point number, lowest first.
    package mutating func write(_ value: Double) {
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value.bitPattern >> shift))
        }
    }

    /// Appends the four bytes of a floating-point number, lowest first.
    package mutating func write(_ value: Float) {
        for shift in stride(from: 0 as UInt32, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value.bitPattern >> shift))
        }
    }

    package mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            write(UInt64(utf8.count))
            unsafe bytes.append(contentsOf: utf8)
        }
    }

    /// Appends a count and that many bytes.
    package mutating func write(_ data: [UInt8]) {
        write(UInt64(data.count))
        bytes.append(contentsOf: data)
    }

    @inlinable
    package mutating func write(_ value: some ByteCoded) {
        value.encode(into: &self)
    }

    /// Appends a count and the elements.
    @inlinable
    package mutating func write(_ values: [some ByteCoded]) {
        write(UInt64(values.count))
        for value in values { value.encode(into: &self) }
    }

    /// Appends whether there is a value, and the value.
    @inlinable
    package mutating func write(optional value: (some ByteCoded)?) {
        write(value != nil)
        value?.encode(into: &self)
    }
}
