import WakeModel

// Fields of an object, each with the comma that it needs.
extension LineBuffer {
    /// Opens an object whose first field is its schema.
    mutating func begin(_ schema: StaticString) {
        append("{\"schema\":\"")
        append(schema)
        append("\"")
    }

    /// Appends a field's name.
    mutating func key(_ name: StaticString) {
        append(bytes.last == 0x7b ? "\"" as StaticString : ",\"")
        append(name)
        append("\":")
    }

    /// Appends a field's name that is not ours, escaped.
    mutating func key(_ name: String) {
        if bytes.last != 0x7b { append(",") }
        append(quoted: name)
        append(":")
    }

    mutating func put(_ name: StaticString, _ text: String?) {
        key(name)
        append(quoted: text)
    }

    mutating func put(_ name: StaticString, _ instant: Instant) {
        key(name)
        append(quoted: instant)
    }

    mutating func put(_ name: StaticString, _ value: Bool) {
        key(name)
        append(value)
    }

    mutating func put(_ name: StaticString, _ value: Int64) {
        key(name)
        append(value)
    }

    mutating func put(_ name: StaticString, _ value: UInt64) {
        key(name)
        append(value)
    }

    mutating func put(_ name: StaticString, _ event: EventID) {
        key(name)
        append(event)
    }

    mutating func put(_ name: StaticString, _ decision: DecisionID) {
        key(name)
        append(decision)
    }

    /// The number of an exit; null for 0.
    mutating func put(_ name: StaticString, exit: UInt64) {
        key(name)
        guard exit != 0 else { return append("null") }
        append("\"x-")
        append(exit)
        append("\"")
    }

    mutating func put(_ name: StaticString, _ write: (inout LineBuffer) -> Void) {
        key(name)
        write(&self)
    }

    /// A list of objects, the fields of each put by `write`.
    mutating func put<Element>(
        _ name: StaticString,
        objects: [Element],
        _ write: (Element, inout LineBuffer) -> Void
    ) {
        key(name)
        append("[")
        for (position, element) in objects.enumerated() {
            append(position > 0 ? ",{" as StaticString : "{")
            write(element, &self)
            append("}")
        }
        append("]")
    }
}
