/// A signpost of an app: a moment, or an end of a span. It is for a trace alone; nothing is decided by it.
package struct WireSignpost: Equatable, Sendable {
    /// What a signpost marks.
    package enum Mark: String, CaseIterable, Sendable, WireWord {
        case event, begin, end
    }

    package let mark: Mark
    /// What it is called.
    package let name: String
    /// Tells spans of one name apart that overlap; nil where they do not.
    package let span: String?
    /// The part of the program that marks, such as a bundle identifier; empty for none.
    package let subsystem: String
    /// The part of that part; empty for none.
    package let category: String
    /// What it says beside its name; empty for nothing.
    package let message: String
    /// When it was, in seconds of the process's monotonic clock; nil for the moment of its arrival.
    package let time: Double?

    /// A signpost; a text longer than ``WireLimits/signpostTextBytes`` is cut.
    package init(
        _ mark: Mark,
        name: String,
        span: String? = nil,
        subsystem: String = "",
        category: String = "",
        message: String = "",
        time: Double? = nil
    ) {
        self.mark = mark
        self.name = Self.cut(name)
        self.span = span.map(Self.cut)
        self.subsystem = Self.cut(subsystem)
        self.category = Self.cut(category)
        self.message = Self.cut(message)
        self.time = time
    }

    /// The text as far as the wire carries it, without half a character at its end.
    private static func cut(_ text: String) -> String {
        guard text.utf8.count > WireLimits.signpostTextBytes else {
            return text
        }
        var end = text.utf8.index(text.startIndex, offsetBy: WireLimits.signpostTextBytes)
        while end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return String(text[..<end])
    }
}

extension WireSignpost {
    static let blank = WireSignpost(.event, name: "")

    /// The same, written; or the one that is read.
    func coded(_ coder: inout FieldCoder) throws(WireError) -> WireSignpost {
        let text = FieldShape.text(atMost: WireLimits.signpostTextBytes)
        return try WireSignpost(
            coder.field("mark", mark, .word),
            name: coder.field("name", name, text),
            span: coder.field("span", span, text),
            subsystem: coder.field("subsystem", subsystem, text, omitted: ""),
            category: coder.field("category", category, text, omitted: ""),
            message: coder.field("message", message, text, omitted: ""),
            time: coder.field("time", time, .measure(in: 0...WireLimits.largestDistance))
        )
    }
}

extension WireLimits {
    /// The longest text in a signpost, in bytes.
    package static let signpostTextBytes = 256
}
