/// Appends one JSON object to a byte buffer that its owner reuses.
package struct JSONWriter {
    package private(set) var bytes: [UInt8]
    fileprivate var needsComma = false

    package init(reusing buffer: consuming [UInt8] = []) {
        bytes = buffer
    }

    package mutating func openObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    package mutating func closeObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func openArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    package mutating func closeArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes a key; its value comes next.
    package mutating func key(_ name: StaticString) {
        let needsComma = needsComma
        let count = name.utf8CodeUnitCount
        bytes.append(addingCapacity: count + 4) { output in
            if needsComma {
                output.append(UInt8(ascii: ","))
            }
            output.append(UInt8(ascii: "\""))
            for index in 0..<count {
                unsafe output.append(name.utf8Start[index])
            }
            output.append(UInt8(ascii: "\""))
            output.append(UInt8(ascii: ":"))
        }
        self.needsComma = false
    }

    package mutating func string(_ text: String) {
        if !plain(text) {
            escaped(text)
        }
        needsComma = true
    }

    /// Writes a text that needs no escapes; false where it needs some, and then nothing is written.
    private mutating func plain(_ text: String) -> Bool {
        let needsComma = needsComma
        let content = text.utf8.span
        var isPlain = true
        bytes.append(addingCapacity: content.count + 3) { output in
            if needsComma {
                output.append(UInt8(ascii: ","))
            }
            output.append(UInt8(ascii: "\""))
            for index in content.indices {
                let byte = content[index]
                guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                    output.removeAll()
                    isPlain = false
                    return
                }
                output.append(byte)
            }
            output.append(UInt8(ascii: "\""))
        }
        return isPlain
    }

    private mutating func escaped(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            appendEscaped(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func integer(_ value: Int64) {
        separate()
        if value < 0 {
            bytes.append(UInt8(ascii: "-"))
        }
        appendDigits(value.magnitude)
        needsComma = true
    }

    package mutating func unsigned(_ value: UInt64) {
        separate()
        appendDigits(value)
        needsComma = true
    }

    package mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
        needsComma = true
    }

    /// Writes a number with a fraction; what JSON cannot say (infinity, not a number) becomes null.
    package mutating func number(_ value: Double) {
        separate()
        if value.isFinite {
            bytes.append(contentsOf: value.description.utf8)
        } else {
            bytes.append(contentsOf: "null".utf8)
        }
        needsComma = true
    }

    package mutating func base64(_ value: [UInt8]) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        Base64.append(value, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma {
            bytes.append(UInt8(ascii: ","))
        }
    }

    private mutating func appendDigits(_ value: UInt64) {
        bytes.append(addingCapacity: 20) { output in
            var divisor: UInt64 = 1
            var rest = value / 10
            while rest > 0 {
                divisor *= 10
                rest /= 10
            }
            rest = value
            while divisor > 0 {
                output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
                rest %= divisor
                divisor /= 10
            }
        }
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0A:
            bytes.append(contentsOf: "\\n".utf8)
        case 0..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(hexDigit(byte >> 4))
            bytes.append(hexDigit(byte & 15))
        default:
            bytes.append(byte)
        }
    }

    private func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension JSONWriter {
    package mutating func whole(_ value: some FixedWidthInteger) {
        if value < 0 {
            integer(Int64(value))
        } else {
            unsigned(UInt64(value))
        }
    }

    package mutating func strings(_ values: [String]) {
        openArray()
        for value in values {
            string(value)
        }
        closeArray()
    }

    /// Writes a key that is data, and its bytes.
    package mutating func pair(_ name: String, _ value: [UInt8]) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
        base64(value)
    }
}

extension JSONWriter {
    /// Writes a key that is data; its value comes next.
    package mutating func key(text name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a value that is JSON already.
    package mutating func encoded(_ value: [UInt8]) {
        separate()
        bytes += value
        needsComma = true
    }

    /// Writes any value, with the keys of objects in their order.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null:
            separate()
            bytes += Array("null".utf8)
            needsComma = true
        case .bool(let flag): bool(flag)
        case .integer(let number): integer(number)
        case .large(let number): unsigned(number)
        case .number(let number): self.number(number)
        case .string(let text): string(text)
        case .array(let values):
            openArray()
            for value in values { self.value(value) }
            closeArray()
        case .object(let members):
            openObject()
            for member in members {
                key(text: member.key)
                self.value(member.value)
            }
            closeObject()
        }
    }
}

extension JSONValue {
    /// The value as text, without white space.
    package var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}
