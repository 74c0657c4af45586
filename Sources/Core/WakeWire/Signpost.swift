/// A signpost of an app: a moment, or an end of a span. It is for a trace alone; nothing is decided by it.
package struct WireSignpost: Equatable, Sendable {
    /// What a signpost marks.
    package enum Mark: String, CaseIterable, Sendable {
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
    init(_ fields: Fields) throws(WireError) {
        guard let name = try fields.signpostText("name") else {
            throw .missing(key: "name")
        }
        self.init(
            try fields.word("mark", as: Mark.self),
            name: name,
            span: try fields.signpostText("span"),
            subsystem: try fields.signpostText("subsystem") ?? "",
            category: try fields.signpostText("category") ?? "",
            message: try fields.signpostText("message") ?? "",
            time: try fields.optionalMeasure("time", in: 0...WireLimits.largestDistance)
        )
    }

    func write(to writer: inout JSONWriter) {
        writer.field("type", "signpost")
        writer.field("mark", mark.rawValue)
        writer.field("name", name)
        writer.field("span", span)
        writer.field("subsystem", subsystem.isEmpty ? nil : subsystem)
        writer.field("category", category.isEmpty ? nil : category)
        writer.field("message", message.isEmpty ? nil : message)
        writer.field("time", time)
    }
}

extension Fields {
    /// A text of at most ``WireLimits/signpostTextBytes``.
    fileprivate func signpostText(_ key: StaticString) throws(WireError) -> String? {
        let text = try optionalString(key)
        guard text?.utf8.count ?? 0 <= WireLimits.signpostTextBytes else {
            throw .badValue(key: key.description, expected: "at most \(WireLimits.signpostTextBytes) bytes of text")
        }
        return text
    }
}

extension WireLimits {
    /// The longest text in a signpost, in bytes.
    package static let signpostTextBytes = 256
}
