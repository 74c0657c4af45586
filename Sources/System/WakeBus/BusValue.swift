import Glibc
import Synchronization

/// A D-Bus value with its type, as it stands in a message.
package indirect enum BusValue: Hashable, Sendable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// A file descriptor that travels with the message.
    case descriptor(BusDescriptor)
    /// An array of bytes (`ay`), in one piece.
    case bytes([UInt8])
    /// An array of anything but bytes. The signature of its elements is written down, since it may be empty.
    case array([BusValue], of: String)
    /// A dictionary, in the order of the message.
    case dictionary([BusEntry], key: String, value: String)
    case structure([BusValue])
    case variant(BusValue)
}

/// One pair of a dictionary.
package struct BusEntry: Hashable, Sendable {
    package var key: BusValue
    package var value: BusValue

    package init(_ key: BusValue, _ value: BusValue) {
        self.key = key
        self.value = value
    }
}

extension BusValue {
    /// A dictionary of options or properties (`a{sv}`).
    package static func properties(_ pairs: [(String, BusValue)]) -> BusValue {
        .dictionary(pairs.map { BusEntry(.string($0.0), .variant($0.1)) }, key: "s", value: "v")
    }

    /// A list of strings (`as`).
    package static func strings(_ strings: [String]) -> BusValue {
        .array(strings.map { .string($0) }, of: "s")
    }

    /// The type in D-Bus's own notation, such as `a{sv}`.
    package var signature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .bytes: "ay"
        case .array(_, let element): "a" + element
        case .dictionary(_, let key, let value): "a{\(key)\(value)}"
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }

    /// What is in a variant, however deep; any other value is itself.
    package var plain: BusValue {
        if case .variant(let inner) = self { inner.plain } else { self }
    }

    /// A string or an object path.
    package var text: String? {
        switch plain {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    package var bool: Bool? {
        if case .bool(let value) = plain { value } else { nil }
    }

    /// Any whole number that fits.
    package var integer: Int? {
        switch plain {
        case .byte(let number): Int(number)
        case .int16(let number): Int(number)
        case .uint16(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        case .int64(let number): Int(number)
        case .uint64(let number): Int(exactly: number)
        default: nil
        }
    }

    package var bytes: [UInt8]? {
        if case .bytes(let bytes) = plain { bytes } else { nil }
    }

    package var descriptor: BusDescriptor? {
        if case .descriptor(let descriptor) = plain { descriptor } else { nil }
    }

    /// The elements of an array, or the fields of a structure.
    package var elements: [BusValue]? {
        switch plain {
        case .array(let elements, _), .structure(let elements): elements
        default: nil
        }
    }

    /// The elements of an array that are text.
    package var texts: [String]? {
        elements?.compactMap(\.text)
    }

    /// The pairs of a dictionary, in the order of the message.
    package var entries: [BusEntry]? {
        if case .dictionary(let entries, _, _) = plain { entries } else { nil }
    }

    /// What a dictionary holds under a text key, out of its variant.
    package subscript(key: String) -> BusValue? {
        entries?.first { $0.key.text == key }?.value.plain
    }
}

/// A file descriptor that came in a message or is to go out in one. Closed with its last owner, unless taken.
package final class BusDescriptor: Hashable, Sendable {
    private let number: Atomic<Int32>

    /// Takes ownership of an open descriptor.
    package init(owning number: Int32) {
        self.number = Atomic(number)
    }

    /// The number, still owned here; -1 once taken.
    package var borrowed: Int32 { number.load(ordering: .relaxed) }

    /// Hands the descriptor over: whoever takes it closes it. -1 when somebody did before.
    package func take() -> Int32 { number.exchange(-1, ordering: .relaxed) }

    package static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    deinit {
        let last = take()
        if last >= 0 { close(last) }
    }
}
