/// Writes a tree as the text of a YAML document, which ``YAMLReader`` reads as the same tree but for its places.
///
/// What fits on a line and is plain stands in one, as `{at: 3s, home: heart}`; the rest is indented.
package struct YAMLWriter {
    private var text = ""
    /// A mapping or list in one line is at most so long, with what is before it.
    private static let width = 120
    /// A longer key needs a mark of its own (libyaml takes at most 1024 characters for a simple one).
    private static let simpleKey = 1_000

    /// - Parameter comments: lines that stand before the document.
    package static func text(_ root: YAMLNode, comments: [String] = []) -> String {
        var writer = YAMLWriter()
        for line in comments { writer.text += "# \(line.split(whereSeparator: \.isNewline).joined(separator: " "))\n" }
        writer.write(root, indent: 0, after: "")
        return writer.text
    }

    /// Writes a value behind what stands on its line already; `lead` is what a line needs before a value on it.
    private mutating func write(_ node: YAMLNode, indent: Int, after lead: String) {
        if let line = Self.line(node, room: Self.width - 2 * indent) {
            text += line.isEmpty ? "\n" : lead + line + "\n"
            return
        }
        switch node.content {
        case .scalar(let scalar, let quoted):
            text += lead + (quoted ? Self.quoted(scalar) : Self.plainLines(scalar, indent: indent)) + "\n"
        case .sequence(let nodes):
            if !lead.isEmpty { text += "\n" }
            for node in nodes {
                text += String(repeating: "  ", count: indent) + "-"
                write(node, indent: indent + 1, after: " ")
            }
        case .mapping(let entries):
            if !lead.isEmpty { text += "\n" }
            for entry in entries {
                let key = Self.key(entry.key)
                let margin = String(repeating: "  ", count: indent)
                text += key.count > Self.simpleKey ? "\(margin)? \(key)\n\(margin):" : "\(margin)\(key):"
                write(entry.value, indent: indent + 1, after: " ")
            }
        }
    }

    // MARK: One line

    /// A value as it can stand in one line of so many characters; nil for one that cannot.
    private static func line(_ node: YAMLNode, room: Int) -> String? {
        switch node.content {
        case .scalar(let scalar, let quoted):
            if quoted { return self.quoted(scalar) }
            return scalar.contains("\n") ? nil : scalar
        case .sequence(let nodes):
            if nodes.isEmpty { return "[]" }
            // Each of several things has a line of its own.
            if nodes.count > 1, !nodes[0].entries.isEmpty { return nil }
            return flow(nodes.lazy.map { inFlow($0, room: room) }, "[", "]", room: room)
        case .mapping(let entries):
            if entries.isEmpty { return "{}" }
            let members = entries.lazy.map { entry in inFlow(entry.value, room: room).map { "\(key(entry.key)): \($0)" }
            }
            return flow(members, "{", "}", room: room)
        }
    }

    private static func flow(_ members: some Sequence<String?>, _ open: String, _ close: String, room: Int) -> String? {
        var line = open
        for member in members {
            guard let member, line.utf8.count + member.utf8.count + 3 <= room else { return nil }
            line += (line.utf8.count == 1 ? "" : ", ") + member
        }
        return line + close
    }

    /// The same between brackets, where fewer texts may be plain.
    private static func inFlow(_ node: YAMLNode, room: Int) -> String? {
        if case .scalar(let scalar, false) = node.content, !isSimple(scalar) { return nil }
        return line(node, room: room)
    }

    // MARK: Scalars

    /// Whether a text is plain wherever it stands.
    private static func isSimple(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetterOrDigit(first) else { return false }
        var last: UInt8 = 0
        for byte in text.utf8 {
            guard isLetterOrDigit(byte) || "_-./+%@ ".utf8.contains(byte) else { return false }
            last = byte
        }
        return last != UInt8(ascii: " ")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func key(_ text: String) -> String { isSimple(text) ? text : quoted(text) }

    /// A plain text of several lines: an empty line stands for the end of one.
    private static func plainLines(_ text: String, indent: Int) -> String {
        let margin = String(repeating: "  ", count: indent + 1)
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset == 0 || $0.element.isEmpty ? String($0.element) : margin + $0.element }
            .joined(separator: "\n")
            .replacing("\n" + margin, with: "\n\n" + margin)
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case "\u{20}"..."\u{7e}", "\u{a1}"..."\u{2027}", "\u{202a}"..."\u{d7ff}", "\u{e000}"..."\u{fefe}",
                "\u{10000}"..."\u{10ffff}":
                quoted.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return quoted + "\""
    }
}
