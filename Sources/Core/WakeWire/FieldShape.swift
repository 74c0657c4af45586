import WakeJSON

/// How a field's value stands in a packet, for both directions. Only a reader refuses values.
struct FieldShape<Value> {
    let read: (FieldValue) throws(WireError) -> Value
    let write: (inout FieldCoder, Value) throws(WireError) -> Void
}

extension FieldShape where Value == Bool {
    static var bool: FieldShape {
        FieldShape { (found) throws(WireError) in
            try found.bool()
        } write: {
            $0.writer.bool($1)
        }
    }
}

// MARK: Texts

extension FieldShape where Value == String {
    /// Written as a text.
    static func string(_ read: @escaping (FieldValue) throws(WireError) -> Value) -> FieldShape {
        FieldShape(read: read) { $0.writer.string($1) }
    }

    /// Any text.
    static var text: FieldShape {
        .string { (found) throws(WireError) in
            try found.text()
        }
    }

    /// A text of at most so many bytes.
    static func text(atMost limit: Int) -> FieldShape {
        .string { (found) throws(WireError) in
            let text = try found.text()
            guard text.utf8.count <= limit else {
                throw found.bad("at most \(limit) bytes of text")
            }
            return text
        }
    }

    /// A 128-bit UUID in its 36-character form, in capitals.
    static var identifier: FieldShape {
        .string { (found) throws(WireError) in
            let text = try found.text()
            guard text.utf8.count == 36, let canonical = WireUUID.canonical(text) else {
                throw found.bad("a UUID of 36 characters")
            }
            return canonical
        }
    }
}

extension FieldShape where Value == [String] {
    /// Written as texts.
    static func strings(_ read: @escaping (FieldValue) throws(WireError) -> Value) -> FieldShape {
        FieldShape(read: read) { $0.writer.strings($1) }
    }

    static var texts: FieldShape {
        .strings { (found) throws(WireError) in
            try found.texts()
        }
    }
}

/// The words of a closed list, of the model's or of the wire's.
protocol WireWord: CaseIterable {
    /// What it is on the wire.
    var word: String { get }
}

extension WireWord where Self: RawRepresentable, RawValue == String {
    var word: String { rawValue }
}

extension FieldShape where Value: WireWord {
    /// A word of a closed list.
    static var word: FieldShape {
        FieldShape { (found) throws(WireError) in
            let text = try found.text()
            guard let word = Value.allCases.first(where: { $0.word == text }) else {
                throw found.bad("one of \(Value.allCases.map(\.word).joined(separator: ", "))")
            }
            return word
        } write: {
            $0.writer.string($1.word)
        }
    }
}

extension FieldShape where Value: FixedWidthInteger {
    /// Words that stand for bits, each of a closed list.
    static func bits(_ words: [(word: String, bit: Value)], example: String) -> FieldShape {
        FieldShape { (found) throws(WireError) in
            var bits: Value = 0
            for word in try found.texts() {
                guard let entry = words.first(where: { $0.word == word }) else {
                    throw found.bad("words such as \(example)")
                }
                bits |= entry.bit
            }
            return bits
        } write: { coder, bits in
            coder.writer.strings(words.filter { bits & $0.bit != 0 }.map(\.word))
        }
    }
}

// MARK: Numbers

extension FieldShape where Value: FixedWidthInteger {
    /// A whole number from 0 on: an id, a delivery, a handle; as far as the type goes, and every JSON library.
    static var whole: FieldShape {
        .whole(in: 0...Int64(clamping: min(UInt64(Value.max), WireLimits.largestInteger)))
    }

    /// A whole number in a range.
    static func whole(in range: ClosedRange<Int64>) -> FieldShape {
        FieldShape { (found) throws(WireError) in
            Value(try found.whole(in: range))
        } write: {
            $0.writer.whole($1)
        }
    }
}

extension FieldShape {
    /// Whole numbers, each at most as large as the type goes.
    static func wholes<Element: UnsignedInteger & FixedWidthInteger>(_ expected: String) -> FieldShape
    where Value == [Element] {
        FieldShape { (found) throws(WireError) in
            let numbers = try found.serials()
            guard numbers.allSatisfy({ $0 <= Element.max }) else {
                throw found.bad(expected)
            }
            return numbers.map { Element($0) }
        } write: { coder, numbers in
            coder.writer.openArray()
            for number in numbers {
                coder.writer.unsigned(UInt64(number))
            }
            coder.writer.closeArray()
        }
    }
}

extension FieldShape where Value == Double {
    /// Written as a number.
    static func number(_ read: @escaping (FieldValue) throws(WireError) -> Value) -> FieldShape {
        FieldShape(read: read) { $0.writer.number($1) }
    }

    /// A number, whole or with a fraction.
    static var seconds: FieldShape {
        .number { (found) throws(WireError) in
            try found.number()
        }
    }

    /// A number in a range.
    static func measure(in range: ClosedRange<Double>) -> FieldShape {
        .number { (found) throws(WireError) in
            let value = try found.number()
            guard range.contains(value) else {
                throw found.bad("a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }
    }
}

// MARK: Bytes

extension FieldShape where Value == [UInt8] {
    /// Written in base64.
    static func base64(_ read: @escaping (FieldValue) throws(WireError) -> Value) -> FieldShape {
        FieldShape(read: read) { $0.writer.base64($1) }
    }

    /// Bytes in base64.
    static var bytes: FieldShape {
        .base64 { (found) throws(WireError) in
            try found.bytes()
        }
    }

    /// The value of an attribute in base64.
    static var value: FieldShape {
        .base64 { (found) throws(WireError) in
            let bytes = try found.bytes()
            guard bytes.count <= WireLimits.valueBytes else {
                throw found.bad("at most \(WireLimits.valueBytes) bytes")
            }
            return bytes
        }
    }
}
