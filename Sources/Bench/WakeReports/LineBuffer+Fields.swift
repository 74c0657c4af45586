// Fields of an object, each with the comma that it needs.
extension LineBuffer {
    /// Opens an object whose first field is its schema.
    mutating func begin(_ schema: String) {
        append("{\"schema\":\"")
        append(raw: schema)
        append("\"")
    }

    /// Appends a field's name.
    mutating func key(_ name: StaticString) {
        // Byte by byte, where a text of one or two costs more to append.
        if bytes.last != 0x7b { append(byte: 0x2c) }
        append(byte: 0x22)
        append(name)
        append(byte: 0x22)
        append(byte: 0x3a)
    }

    /// Appends a field's name that is not ours, escaped.
    mutating func key(_ name: String) {
        if bytes.last != 0x7b { append(",") }
        append(quoted: name)
        append(":")
    }

    mutating func put(_ name: StaticString, _ value: some RecordField) {
        key(name)
        value.write(into: &self)
    }

    mutating func put(_ name: StaticString, _ write: (inout LineBuffer) -> Void) {
        key(name)
        write(&self)
    }
}
