/// A value of a YAML file, and where it stands. Every scalar is text; the reader of a field says what it must be.
package struct YAMLNode: Hashable, Sendable {
    /// The three shapes of YAML.
    package enum Content: Hashable, Sendable {
        case scalar(String, quoted: Bool)
        case sequence([YAMLNode])
        case mapping([Entry])
    }

    /// One key of a mapping and its value, in the order of the file.
    package struct Entry: Hashable, Sendable {
        package var key: String
        package var keyLine: Int
        package var keyColumn = 0
        package var value: YAMLNode

        /// An error about the key.
        func error(found: String, expected: String) -> FileError {
            FileError(file: value.file, line: keyLine, column: keyColumn, found: found, expected: expected)
        }
    }

    /// The path of the file, as it was given.
    package let file: String
    /// Counted from 1.
    package let line: Int
    /// Counted from 1, in characters; 0 for a node that no file has.
    package let column: Int
    package let content: Content
    /// How many nodes this one holds, itself included and aliases expanded.
    let weight: Int
    /// How many levels this one has, itself included.
    let height: Int

    init(file: String, line: Int, column: Int = 0, content: Content) {
        self.file = file
        self.line = line
        self.column = column
        self.content = content
        var weight = 1
        var height = 0
        func add(_ node: YAMLNode) {
            weight += node.weight
            height = max(height, node.height)
        }
        switch content {
        case .scalar: break
        case .sequence(let nodes): nodes.forEach(add)
        case .mapping(let entries): entries.forEach { add($0.value) }
        }
        self.weight = weight
        self.height = height + 1
    }

    /// What stands here, in words for an error.
    package var summary: String {
        switch content {
        case .scalar(let text, let quoted):
            if text.isEmpty && !quoted { return "nothing" }
            return "'\(excerpt(text))'"
        case .sequence: return "a list"
        case .mapping: return "a mapping"
        }
    }

    /// An error about this place.
    package func error(found: String? = nil, expected: String) -> FileError {
        FileError(file: file, line: line, column: column, found: found ?? summary, expected: expected)
    }
}

/// A text made fit for one line of an error: printable and at most 60 characters.
package func excerpt(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(60).map { scalar -> Character in
        let printable = scalar.value >= 0x20 && scalar.value != 0x7f && !(0x80..<0xa0).contains(scalar.value)
        return printable ? Character(scalar) : "?"
    }
    return String(shown) + (text.unicodeScalars.count > 60 ? "…" : "")
}
