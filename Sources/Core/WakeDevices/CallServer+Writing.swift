import WakeModel

extension CallServer {
    /// The device file that says this: reading it gives the same again, but for ``file``.
    ///
    /// - Parameter comments: lines for people, at the beginning.
    package func text(comments: [String] = []) -> String {
        var file = YAMLText()
        for comment in comments { file.comment(comment) }
        file.line(0, "device: \(Self.kind)")
        if port != 0 { file.line(0, "port: \(port)") }
        if framing != .sip { file.line(0, "messages: \(framing.rawValue)") }
        if !plan.isEmpty { file.line(0, "plan:") }
        for step in plan { file.add(step.entry, 1, "- ") }
        if !answers.isEmpty { file.line(0, "answers:") }
        for answer in answers {
            file.line(1, "- to: \(YAMLText.quoted(answer.prefix))")
            file.add(("send", .message(answer.text)), 2)
        }
        if !faults.isEmpty { file.line(0, "faults:") }
        for fault in faults {
            file.line(1, "- name: \(YAMLText.quoted(fault.name))")
            file.add(fault.effect.entry, 2)
        }
        return file.text
    }
}

extension CallServer.Step {
    /// What stands behind a step's key.
    fileprivate enum Value {
        case word(String)
        case message(String)
    }

    fileprivate var entry: (key: String, value: Value) {
        switch self {
        case .send(let text): ("send", .message(text))
        case .pour(let bytes): ("pour", .word("\(bytes)"))
        case .await(let prefix): ("await", .word(YAMLText.quoted(prefix)))
        case .pause(let span): ("pause", .word(DurationText.text(span)))
        case .stall(let span): ("stall", .word(DurationText.text(span)))
        case .garbage(let bytes): ("garbage", .word("\(bytes)"))
        case .halfClose: ("half-close", .word("true"))
        case .close: ("close", .word("true"))
        case .reset: ("reset", .word("true"))
        }
    }
}

extension YAMLText {
    /// A key and what stands behind it: a message in lines of its own where these show what it is.
    fileprivate mutating func add(
        _ entry: (key: String, value: CallServer.Step.Value),
        _ level: Int,
        _ mark: String = ""
    ) {
        switch entry.value {
        case .word(let word): line(level, "\(mark)\(entry.key): \(word)")
        case .message(let text):
            guard Self.isBlock(text) else { return line(level, "\(mark)\(entry.key): \(Self.quoted(text))") }
            let ends = text.hasSuffix("\n")
            line(level, "\(mark)\(entry.key): |\(ends ? "+" : "-")")
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for each in ends ? lines.dropLast() : lines {
                line(each.isEmpty ? 0 : level + (mark.isEmpty ? 1 : 2), String(each))
            }
        }
    }

    /// Whether a text can stand as it is, in lines: the first begins with no space, and nothing in it is to be escaped.
    private static func isBlock(_ text: String) -> Bool {
        guard let first = text.first, first != " ", first != "\n", first != "\t" else { return false }
        return text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || isPlain($0) }
    }
}
