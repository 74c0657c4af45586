import WakeModel

/// A record of a log in the making, in two parts: its shape, which many records share, and its own values.
///
/// Words from closed lists belong to the shape; names, numbers, instants and ids are values. The shape is the record as JSON with
/// `"$0"`, `"$1"` and so on in the places of the values, in their order. Most records have a shape that was seen before, so its
/// parts are only counted into a signature unless the text is asked for.
struct ShapedRecord {
    /// The text of the shape; empty when only the signature was asked for.
    private(set) var shape = LineBuffer()
    /// The values as JSON, commas between them.
    private(set) var values = LineBuffer()
    /// What the parts of the shape are, in 64 bits: different for different shapes, as far as 64 bits can tell, and of no meaning
    /// outside of this process.
    private(set) var signature: UInt64 = 0
    private var count = 0
    private var writesShape = false

    /// Begins a record, with the text of its shape or its signature.
    mutating func begin(writingShape: Bool) {
        writesShape = writingShape
        shape.removeAll()
        values.removeAll()
        signature = 0
        count = 0
    }

    private mutating func sign(_ part: UInt64) {
        let mixed = (signature ^ part) &* 0x9e37_79b9_7f4a_7c15
        signature = mixed ^ mixed >> 32
    }

    // MARK: What the shape says

    mutating func append(_ text: StaticString) {
        if writesShape { return shape.append(text) }
        // A literal stays where it is.
        sign(UInt64(unsafe UInt(bitPattern: text.utf8Start)) ^ UInt64(text.utf8CodeUnitCount) << 48)
    }

    mutating func append(_ fragment: Fragment) {
        if writesShape { return shape.append(fragment.bytes) }
        sign(fragment.number)
    }

    /// A word from a closed list.
    mutating func append(raw word: String) {
        if writesShape { return shape.append(raw: word) }
        for byte in word.utf8 { sign(UInt64(byte)) }
        sign(0x100)
    }

    mutating func append(_ value: Bool) {
        append(value ? "true" as StaticString : "false")
    }

    // MARK: Values

    private mutating func beginValue() {
        if writesShape {
            shape.append("\"$")
            shape.append(UInt64(count))
            shape.append(byte: 0x22)
        } else {
            sign(0x101)
        }
        if count > 0 { values.append(byte: 0x2c) }
        count += 1
    }

    mutating func append(_ value: UInt64) {
        beginValue()
        values.append(value)
    }

    mutating func append(_ value: Int64) {
        beginValue()
        values.append(value)
    }

    /// A number as text.
    mutating func append(quoted value: UInt64) {
        beginValue()
        values.append(byte: 0x22)
        values.append(value)
        values.append(byte: 0x22)
    }

    /// A distance from 0 m, to the tenth.
    mutating func append(metres: Double) {
        beginValue()
        values.append(metres: metres)
    }

    mutating func append(quoted instant: Instant) {
        beginValue()
        values.append(quoted: instant)
    }

    /// A name, quoted and escaped already.
    mutating func append(name: [UInt8]) {
        beginValue()
        values.append(name)
    }

    /// An event id, or null.
    mutating func append(_ event: EventID) {
        guard event != .none else { return append("null") }
        beginValue()
        values.append(event)
    }

    /// A decision id, or null.
    mutating func append(_ decision: DecisionID) {
        guard decision != .none else { return append("null") }
        beginValue()
        values.append(decision)
    }

    /// The id of an exit record, such as `x-17`.
    mutating func append(exit number: UInt64) {
        beginValue()
        values.append("\"x-")
        values.append(number)
        values.append(byte: 0x22)
    }
}

/// A part of records from a closed list, made once.
struct Fragment {
    /// No other fragment has it.
    let number: UInt64
    let bytes: [UInt8]
}

/// The shapes that a log has so far, each written once, before the first record that has it.
struct ShapeIndex {
    /// The most shapes of a log: records of other shapes are written in full, so that neither memory nor the log grows
    /// without bound.
    static let limit = 4096
    private var bySignature: [UInt64: Int] = [:]
    private var byText: [[UInt8]: Int] = [:]

    /// The number of a shape that was seen before; nil for another.
    func number(of signature: UInt64) -> Int? { bySignature[signature] }

    /// Takes in a shape.
    ///
    /// - Returns: its number, and whether the log lacks it; nil when there is no room for another.
    mutating func number(of text: [UInt8], signature: UInt64) -> (number: Int, isNew: Bool)? {
        if let number = byText[text] {
            bySignature[signature] = number
            return (number, false)
        }
        guard byText.count < Self.limit else { return nil }
        bySignature[signature] = byText.count
        byText[text] = byText.count
        return (byText.count - 1, true)
    }

    /// The shapes, in the order of their numbers.
    var texts: [[UInt8]] { byText.sorted { $0.value < $1.value }.map(\.key) }

    /// Takes over a shape that a log has already.
    mutating func insert(_ text: [UInt8]) {
        byText[text] = byText.count
    }
}
