import WakeJSON
import WakeModel

/// A record of a log, or an object in one: its fields are named once, in the order of the line, to be written and to be read.
package protocol LogRecord: Sendable {
    /// What one that is read begins as: a field that its line does not have stays so.
    static var blank: Self { get }

    mutating func code(with coder: inout RecordCoder)
}

/// A record with a line of its own.
package protocol LogLine: LogRecord {
    /// What its lines say that they are, such as `wake.exit/1`.
    static var schema: String { get }
}

extension LogRecord {
    /// Reads an object; nil when it lacks a field that it must have.
    init?(_ object: JSONValue) {
        var coder = RecordCoder(reading: object)
        var record = Self.blank
        record.code(with: &coder)
        guard coder.isWhole else { return nil }
        self = record
    }
}

/// Writes the fields of a record, or reads them.
package struct RecordCoder {
    fileprivate var line = LineBuffer()
    /// What is read; nil where it is written.
    private let object: JSONValue?
    /// Whether no field is missing so far.
    fileprivate(set) var isWhole = true

    fileprivate init(reading object: JSONValue? = nil) { self.object = object }

    /// A field that may be missing.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    mutating func code<Field: RecordField>(_ key: StaticString, _ field: inout Field) -> Bool {
        if let object { return Self.set(&field, object[key.description].flatMap(Field.read)) }
        line.put(key, field)
        return true
    }

    /// The same of a field that a word stands for.
    @discardableResult
    mutating func code<Field>(
        _ key: StaticString,
        _ field: inout Field,
        _ word: (Field) -> String,
        _ read: (String) -> Field?
    ) -> Bool {
        if let object { return Self.set(&field, object[key.description]?.string.flatMap(read)) }
        line.put(key, word(field))
        return true
    }

    private static func set<Field>(_ field: inout Field, _ read: Field?) -> Bool {
        guard let read else { return false }
        field = read
        return true
    }

    /// A field without which a record is none.
    mutating func need<Field: RecordField>(_ key: StaticString, _ field: inout Field) {
        isWhole = code(key, &field) && isWhole
    }

    /// The same of a field that a word stands for.
    mutating func need<Field>(
        _ key: StaticString,
        _ field: inout Field,
        _ word: (Field) -> String,
        _ read: (String) -> Field?
    ) {
        isWhole = code(key, &field, word, read) && isWhole
    }

    /// A field that is left out where it is nil.
    mutating func code<Field: RecordField>(_ key: StaticString, ifKnown field: inout Field?) {
        if object != nil || field != nil { code(key, &field) }
    }

    /// The id of the record of an exit; null for 0.
    mutating func code(_ key: StaticString, exit number: inout UInt64) {
        guard let object else {
            line.key(key)
            return line.append(exit: number)
        }
        number = object[key.description]?.string.flatMap(LogTime.number) ?? 0
    }

    /// An object, or null.
    mutating func code<Part: LogRecord>(_ key: StaticString, object part: inout Part?) {
        guard let object else {
            line.key(key)
            if let part { return line.append(object: part) }
            return line.append("null")
        }
        part = object[key.description].flatMap(Part.init)
    }

    /// A list of objects.
    mutating func code<Part: LogRecord>(_ key: StaticString, objects parts: inout [Part]) {
        if let object {
            parts = object[key.description]?.array.compactMap(Part.init) ?? []
            return
        }
        line.key(key)
        line.append("[")
        for (position, part) in parts.enumerated() {
            if position > 0 { line.append(",") }
            line.append(object: part)
        }
        line.append("]")
    }

    /// What readers do not need.
    mutating func write(_ key: StaticString, _ write: (inout LineBuffer) -> Void) {
        if object == nil { line.put(key, write) }
    }
}

extension LineBuffer {
    mutating func append(line record: some LogLine) {
        begin(type(of: record).schema)
        append(fields: record)
    }

    fileprivate mutating func append(object record: some LogRecord) {
        append("{")
        append(fields: record)
    }

    private mutating func append(fields record: some LogRecord) {
        var (record, coder) = (record, RecordCoder())
        swap(&self, &coder.line)
        record.code(with: &coder)
        swap(&self, &coder.line)
        append("}")
    }
}

/// What a field of a record may be.
protocol RecordField {
    func write(into line: inout LineBuffer)

    /// Nil for a value of another type.
    static func read(_ value: JSONValue) -> Self?
}

extension RecordField where Self: FixedWidthInteger {
    func write(into line: inout LineBuffer) {
        if self < 0 { line.append(Int64(self)) } else { line.append(UInt64(self)) }
    }

    static func read(_ value: JSONValue) -> Self? {
        value.integer.map(Self.init(clamping:)) ?? value.unsigned.map(Self.init(clamping:))
    }
}

extension Int32: RecordField {}
extension Int64: RecordField {}
extension UInt32: RecordField {}
extension UInt64: RecordField {}

extension Bool: RecordField {
    func write(into line: inout LineBuffer) { line.append(self) }
    static func read(_ value: JSONValue) -> Bool? { value.bool }
}

extension String: RecordField {
    func write(into line: inout LineBuffer) { line.append(quoted: self) }
    static func read(_ value: JSONValue) -> String? { value.string }
}

extension Instant: RecordField {
    func write(into line: inout LineBuffer) { line.append(quoted: self) }
    static func read(_ value: JSONValue) -> Instant? { value.string.flatMap(LogTime.instant) }
}

extension EventID: RecordField {
    func write(into line: inout LineBuffer) { line.append(self) }
    static func read(_ value: JSONValue) -> EventID? { value.string.flatMap(LogTime.number).map(EventID.init) }
}

extension DecisionID: RecordField {
    func write(into line: inout LineBuffer) { line.append(self) }
    static func read(_ value: JSONValue) -> DecisionID? { value.string.flatMap(LogTime.number).map(DecisionID.init) }
}

extension Instant.Span: RecordField {
    /// Whole milliseconds; less than one in microseconds, as a fraction.
    func write(into line: inout LineBuffer) {
        let microseconds = nanoseconds / 1_000
        guard microseconds > 0, microseconds < 1_000 else { return line.append(milliseconds) }
        line.append("0.")
        line.append(UInt64(microseconds), width: 3)
    }

    static func read(_ value: JSONValue) -> Instant.Span? {
        if let milliseconds = value.integer {
            return Instant.Span(nanoseconds: milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue)
        }
        guard case .number(let fraction) = value, fraction > 0, fraction < 1 else { return nil }
        return Instant.Span(nanoseconds: Int64((fraction * 1_000).rounded()) * 1_000)
    }
}

extension Optional: RecordField where Wrapped: RecordField {
    func write(into line: inout LineBuffer) {
        if let self { self.write(into: &line) } else { line.append("null") }
    }

    static func read(_ value: JSONValue) -> Wrapped?? { Wrapped.read(value).map(Optional.some) }
}

extension [String: String]: RecordField {
    func write(into line: inout LineBuffer) {
        line.append("{")
        for member in sorted(by: { $0.key < $1.key }) {
            line.key(member.key)
            line.append(quoted: member.value)
        }
        line.append("}")
    }

    static func read(_ value: JSONValue) -> [String: String]? {
        let members = value.members.compactMap { member in member.value.string.map { (member.key, $0) } }
        return Dictionary(members, uniquingKeysWith: { first, _ in first })
    }
}
