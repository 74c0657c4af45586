import WakeModel

/// The keys of a mapping whose set of keys is known.
package struct Fields {
    let node: YAMLNode
    private let entries: [YAMLNode.Entry]
    private let what: String

    /// - Parameters:
    ///   - what: the thing the mapping describes, with its article, for errors.
    ///   - keys: every key it may have.
    /// - Throws: ``FileError`` when the node is no mapping or has another key; it names the nearest known one.
    init(_ node: YAMLNode, of what: String, keys: [String]) throws(FileError) {
        guard case .mapping(let entries) = node.content else {
            throw node.error(expected: "a mapping, \(what)")
        }
        for entry in entries where !keys.contains(entry.key) {
            throw entry.error(
                found: "unknown key '\(excerpt(entry.key))' in \(what)",
                expected: suggestion(for: entry.key, among: keys)
            )
        }
        self.node = node
        self.entries = entries
        self.what = what
    }

    subscript(key: String) -> YAMLNode? { entries.first { $0.key == key }?.value }

    /// The keys present, in the order of the file.
    var present: [String] { entries.map(\.key) }

    func required(_ key: String) throws(FileError) -> YAMLNode {
        guard let value = self[key] else {
            throw node.error(found: "\(what) without '\(key)'", expected: "'\(key)'")
        }
        return value
    }

    /// What `read` makes of a key's value; nil without the key.
    func value<Value>(
        _ key: String,
        _ read: (YAMLNode) throws(FileError) -> Value
    ) throws(FileError) -> Value? {
        try self[key].map(read)
    }

    /// What `read` makes of each member of a key's list; empty without the key.
    func list<Value>(
        _ key: String,
        of what: String? = nil,
        limit: Int = 100_000,
        _ read: (YAMLNode) throws(FileError) -> Value
    ) throws(FileError) -> [Value] {
        try self[key]?.list(expecting: what ?? key, limit: limit).map(read) ?? []
    }

    /// The key `repeat`; a repetition that takes no time is refused.
    func repeats(takesTime: Bool, else expected: String) throws(FileError) -> Bool {
        guard let node = self["repeat"], try node.bool() else { return false }
        if !takesTime { throw node.error(found: "a repetition that takes no time", expected: expected) }
        return true
    }

    /// The one key of `choices` that is present, with its value.
    ///
    /// - Throws: ``FileError`` when there is none or more than one.
    func one(of choices: [String], called name: String) throws(FileError) -> (key: String, value: YAMLNode) {
        let found = entries.filter { choices.contains($0.key) }
        guard let first = found.first else {
            throw node.error(found: "\(what) without \(name)", expected: "one of \(choices.joined(separator: ", "))")
        }
        if found.count > 1 {
            throw found[1].error(
                found: "'\(found[1].key)' beside '\(first.key)' in \(what)",
                expected: "one of the two"
            )
        }
        return (first.key, first.value)
    }

    /// Refuses the keys that mean nothing beside what else is there.
    func refuse(_ keys: [String], beside other: String) throws(FileError) {
        for entry in entries where keys.contains(entry.key) {
            throw entry.error(
                found: "'\(entry.key)' beside '\(other)' in \(what)",
                expected: "one of the two"
            )
        }
    }
}

/// `'within'` when a word is near enough to be meant, else the whole list.
func suggestion(for word: String, among known: [String]) -> String {
    nearest(to: word, among: known) ?? "one of \(known.joined(separator: ", "))"
}

/// `'within'` when a word is near enough to be meant.
func nearest(to word: String, among known: [String]) -> String? {
    Suggestion.nearest(to: word, among: known).map { "'\($0)'" }
}

/// Finds what was probably meant.
package enum Suggestion {
    /// The candidate with the fewest changed letters; nil when none is near.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let typed = Array(word.lowercased().unicodeScalars.prefix(40))
        let nearest = known.map { (word: $0, distance: distance(typed, Array($0.lowercased().unicodeScalars))) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(2, typed.count / 3) else { return nil }
        return nearest.word
    }

    /// The number of letters to insert, remove or change to get from one word to the other.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var row = Array(0...right.count)
        for (i, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let substituted = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
            }
        }
        return row[right.count]
    }
}

extension YAMLNode {
    /// The text of a scalar.
    func text(expecting what: String) throws(FileError) -> String {
        guard case .scalar(let text, let quoted) = content, quoted || !text.isEmpty else { throw error(expected: what) }
        return text
    }

    /// A text of letters, digits and a few marks.
    func identifier(_ expected: String, marks: String, length: ClosedRange<Int>) throws(FileError) -> String {
        let text = try text(expecting: expected)
        let plain = text.unicodeScalars.allSatisfy { scalar in
            let letter = Character(scalar)
            return scalar.isASCII && (letter.isLetter || letter.isNumber || marks.contains(letter))
        }
        guard plain, length.contains(text.utf8.count) else { throw error(expected: expected) }
        return text
    }

    /// The members of a list, at most `limit`.
    func list(expecting what: String, limit: Int = 100_000) throws(FileError) -> [YAMLNode] {
        guard case .sequence(let nodes) = content else { throw error(expected: "a list of \(what)") }
        if nodes.count > limit {
            throw error(found: "\(nodes.count) entries", expected: "at most \(limit) \(what)")
        }
        return nodes
    }

    func bool() throws(FileError) -> Bool {
        let expected = "true or false"
        let word = SettingText.word(try text(expecting: expected), among: ["on", "off"])
        guard let word else { throw error(expected: expected) }
        return word == "on"
    }

    func integer(in range: ClosedRange<Int>) throws(FileError) -> Int {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let text = try text(expecting: expected)
        guard let number = Int(text), range.contains(number) else { throw error(expected: expected) }
        return number
    }

    func duration() throws(FileError) -> Instant.Span {
        let expected = "a time such as 250ms, 30s, 15m, 2h, 1h30m, T+01:30:00 or 0"
        guard let span = DurationText.span(try text(expecting: expected)) else { throw error(expected: expected) }
        return span
    }

    /// A time longer than 0.
    func interval() throws(FileError) -> Instant.Span {
        let span = try duration()
        if span <= .zero { throw error(expected: "a time longer than 0") }
        return span
    }

    func hex(limit: Int = 512) throws(FileError) -> [UInt8] {
        let expected = "pairs of hexadecimal digits such as \"0048\", at most \(limit)"
        let text = try text(expecting: expected)
        guard let bytes = hexBytes(text), bytes.count <= limit else {
            // Such as a block of text makes, whose lines nobody sees in an error of one line.
            let found = text.utf8.contains(UInt8(ascii: "\n")) ? "a text with line ends" : nil
            throw error(found: found, expected: expected)
        }
        return bytes
    }

    /// A word of a closed list.
    func word<Value>(
        _ what: String,
        among known: [String],
        _ value: (String) -> Value?
    ) throws(FileError) -> Value {
        let text = try text(expecting: what)
        guard let value = value(text) else {
            throw error(found: "unknown \(what) '\(excerpt(text))'", expected: suggestion(for: text, among: known))
        }
        return value
    }

    /// The member of a closed list that a word stands for.
    func word<Value>(_ what: String, of all: [Value], _ name: (Value) -> String) throws(FileError) -> Value {
        try word(what, among: all.map(name)) { word in all.first { name($0) == word } }
    }

    /// Any member of a list whose members have words.
    func word<Value: Worded>(_ what: String) throws(FileError) -> Value {
        try word(what, of: Array(Value.allCases), \.word)
    }
}

/// The bytes of hexadecimal text; spaces between pairs are let through.
package func hexBytes(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for scalar in text.unicodeScalars {
        if scalar == " " && high == nil { continue }
        guard scalar.isASCII, let digit = Character(scalar).hexDigitValue else { return nil }
        if let first = high {
            bytes.append(first << 4 | UInt8(digit))
            high = nil
        } else {
            high = UInt8(digit)
        }
    }
    return high == nil ? bytes : nil
}
