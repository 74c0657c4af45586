/// Text of apps and devices made fit for a terminal.
package enum TerminalText {
    /// The text with every character visible that a terminal would obey instead of showing: control characters, line ends
    /// and tabs, and those that turn the direction of writing or have no width. `\n` and the like are written as in a
    /// program, the others as `\u{1B}`.
    ///
    /// It is for one line, or one cell of a table: what a region or a device is called never begins a line of its own.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": shown += "\\n"
            case "\r": shown += "\\r"
            case "\t": shown += "\\t"
            case _ where isObeyed(scalar): shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// Whether a terminal obeys the character instead of showing it.
    static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        // The joiner makes one sign of several, such as a family.
        if scalar == "\u{200D}" { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return false
        }
    }
}
