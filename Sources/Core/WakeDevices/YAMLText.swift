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

    /// A text between quotes, so that it is read as it is.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where isPlain(scalar): quoted.unicodeScalars.append(scalar)
            case _ where scalar.value <= 0xff: quoted += "\\x\(UInt8(scalar.value).hexadecimal)"
            case _ where scalar.value <= 0xffff: quoted += "\\u\(UInt16(scalar.value).hexadecimal)"
            default: quoted += "\\U\(scalar.value.hexadecimal)"
            }
        }
        return quoted + "\""
    }

    /// Whether a character may stand in a YAML file as it is, and shows.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        default: scalar.value != 0xfeff
        }
    }

    /// Bytes between quotes.
    package static func quoted(_ bytes: [UInt8]) -> String { "\"\(bytes.hexadecimal)\"" }
}
