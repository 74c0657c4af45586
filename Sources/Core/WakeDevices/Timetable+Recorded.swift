import WakeModel

// A stream that was recorded, a value a line: `recorded: |`, then lines of a pause and the value's bytes, such as `1s2ms 0048`; `-`
// is a value without bytes. It says the same as an entry for each, in a third of the text.
extension Timetable.Entry {
    /// The entries of a recorded stream; nil when the node is none.
    static func recorded(_ node: YAMLNode) throws(FileError) -> [Timetable.Entry]? {
        guard case .mapping(let entries) = node.content, entries.contains(where: { $0.key == "recorded" }) else {
            return nil
        }
        let value = try Fields(node, of: "a recorded stream", keys: ["recorded"]).required("recorded")
        var recorded: [Timetable.Entry] = []
        for (place, line) in try value.text(expecting: "lines such as 1s 0048").split(separator: "\n").enumerated() {
            guard let entry = Timetable.Entry(recordedLine: line) else {
                throw FileError(
                    file: value.file,
                    line: value.line + place + 1,
                    found: "'\(excerpt(String(line)))'",
                    expected: "a pause and a value of at most 512 bytes, such as '1s2ms 0048'"
                )
            }
            recorded.append(entry)
        }
        if recorded.isEmpty { throw value.error(found: "an empty recording", expected: "at least one value") }
        return recorded
    }

    private init?(recordedLine line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 2, let pause = DurationText.span(String(words[0])) else { return nil }
        guard let value = words[1] == "-" ? [] : hexBytes(String(words[1])), value.count <= 512 else { return nil }
        self.init(after: pause, every: .zero, values: .list([value]))
    }

    /// The line of a recorded stream that says the same; nil for what takes more than a line.
    var recordedLine: String? {
        guard every == .zero, case .list(let values) = values, values.count == 1 else { return nil }
        return "\(DurationText.text(after)) \(values[0].isEmpty ? "-" : values[0].hexadecimal)"
    }
}
