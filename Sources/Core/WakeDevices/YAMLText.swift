import WakeModel

/// The text of a YAML file in the making: lines, each so many levels deep.
package struct YAMLText {
    package private(set) var text = ""

    package init() {}

    /// A line of text at a level.
    package mutating func line(_ level: Int, _ words: String) {
        for _ in 0..<level { text += "  " }
        text += words
        text += "\n"
    }

    /// A comment of a line; what has no place in a line is left out.
    package mutating func comment(_ words: String) {
        let plain = words.unicodeScalars.filter { Self.isPlain($0) }
        text += "# "
        text.unicodeScalars.append(contentsOf: plain)
        text += "\n"
    }

    /// What has a short escape between quotes.
    static let escapes: [Unicode.Scalar: String] = [
        "\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    ]

    /// A text between quotes, so that it is read as it is.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case _ where escapes[scalar] != nil: quoted += escapes[scalar]!
            case _ where isPlain(scalar): quoted.unicodeScalars.append(scalar)
            case _ where scalar.value <= 0xff: quoted += "\\x\(UInt8(scalar.value).hexadecimal)"
            case _ where scalar.value <= 0xffff: quoted += "\\u\(UInt16(scalar.value).hexadecimal)"
            default: quoted += "\\U\(scalar.value.hexadecimal)"
            }
        }
        return quoted + "\""
    }

    /// Whether a character may stand in a YAML file as it is, and shows.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        default: scalar.value != 0xfeff
        }
    }

    /// The text that bytes are; nil for what shows badly as one.
    static func text(of bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return text.unicodeScalars.allSatisfy { isPlain($0) || escapes[$0] != nil } ? text : nil
    }

    /// Bytes between quotes.
    package static func quoted(_ bytes: [UInt8]) -> String { "\"\(bytes.hexadecimal)\"" }
}
