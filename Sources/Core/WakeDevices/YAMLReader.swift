import CYAML

/// Reads one YAML document into a tree, within bounds that keep any input harmless.
///
/// Of YAML 1.1's types it knows what a tree of texts needs: a plain `null` or `~` is nothing, `!!str` makes a text of any scalar, and
/// `<<` takes over the entries of other mappings.
package enum YAMLReader {
    /// The largest file, in bytes.
    package static let byteLimit = 8 << 20
    /// The deepest nesting.
    package static let depthLimit = 64
    /// The most nodes, with every alias counted as what it stands for.
    package static let nodeLimit = 1_000_000

    /// The version of the libyaml in use, such as `0.2.5`.
    package static var libraryVersion: String { unsafe String(cString: yaml_get_version_string()) }

    /// The tree of the one document in `bytes`.
    ///
    /// - Throws: ``FileError`` when the text is no YAML, is empty, holds two documents, repeats a key or passes a limit.
    package static func read(_ bytes: [UInt8], file: String) throws(FileError) -> YAMLNode {
        guard bytes.count <= byteLimit else {
            throw FileError(
                file: file,
                line: 0,
                found: "\(bytes.count) bytes",
                expected: "at most \(byteLimit) bytes"
            )
        }
        try checkDirectives(bytes, file: file)
        let outcome: Result<YAMLNode, FileError> = unsafe bytes.withUnsafeBufferPointer { buffer in
            let parser = YAMLParser(file: file, bytes: bytes)
            unsafe parser.setInput(buffer)
            do throws(FileError) {
                return .success(try parser.document())
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// libyaml compares each directive `%TAG` with all before it, so that a file of nothing else would take an hour.
    private static func checkDirectives(_ bytes: [UInt8], file: String) throws(FileError) {
        let directive = Array("%TAG".utf8)
        // Where a line begins, of which UTF-16 has zeros in between; such lines stand in no text of a file of ours.
        var (count, line, matched) = (0, 1, 0)
        for byte in bytes where byte != 0 {
            if byte == 0x0a || byte == 0x0d {
                line += byte == 0x0a ? 1 : 0
                matched = 0
            } else if matched < directive.count {
                matched = byte == directive[matched] ? matched + 1 : .max
                if matched == directive.count { count += 1 }
            }
            if count > directiveLimit {
                let found = "more than \(directiveLimit) lines of %TAG"
                throw FileError(file: file, line: line, found: found, expected: "none: tags say nothing here")
            }
        }
    }

    /// The most directives `%TAG`.
    private static let directiveLimit = 100
}

/// Owns a libyaml parser, which points into itself and so must not move.
@safe
private final class YAMLParser {
    private let file: String
    /// What is read, for errors.
    private let bytes: [UInt8]
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var anchors: [String: YAMLNode] = [:]
    private var nodes = 0

    init(file: String, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
        unsafe parser = .allocate(capacity: 1)
        let initialized = unsafe yaml_parser_initialize(parser)
        precondition(initialized == 1, "no memory for a YAML parser")
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
    }

    /// The buffer must outlive the parser's last event.
    @unsafe
    func setInput(_ buffer: UnsafeBufferPointer<UInt8>) {
        unsafe yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
    }

    func document() throws(FileError) -> YAMLNode {
        var event = try next()
        if case .other = event.kind { event = try next() }
        if case .documentStart = event.kind { event = try next() } else { throw empty(event) }
        let root = try node(from: event, depth: 1)
        _ = try next()
        let after = try next()
        guard case .other = after.kind else {
            throw error(at: after.mark, found: "a second document", expected: "one document a file")
        }
        return root
    }

    private func empty(_ event: Event) -> FileError {
        error(at: event.mark, found: "an empty file", expected: "a mapping such as 'scenario: night'")
    }

    private func error(at mark: Mark, found: String, expected: String) -> FileError {
        FileError(file: file, line: mark.line, column: mark.column, found: found, expected: expected)
    }

    private func node(from event: Event, depth: Int) throws(FileError) -> YAMLNode {
        if depth > YAMLReader.depthLimit { throw tooDeep(event.mark) }
        switch event.kind {
        case .alias(let name):
            return try alias(name, at: event.mark, depth: depth)
        case .scalar(let text, let quoted):
            return try finish(try scalar(text, quoted: quoted, event), event)
        case .sequenceStart:
            try check(event, among: YAMLTag.lists)
            return try finish(.sequence(try sequence(depth: depth)), event)
        case .mappingStart:
            try check(event, among: YAMLTag.mappings)
            return try finish(.mapping(try mapping(depth: depth)), event)
        case .documentStart, .end, .other:
            throw error(at: event.mark, found: "an unfinished document", expected: "a value")
        }
    }

    private func finish(_ content: YAMLNode.Content, _ event: Event) throws(FileError) -> YAMLNode {
        try count(1, at: event.mark)
        let node = YAMLNode(file: file, line: event.mark.line, column: event.mark.column, content: content)
        if let anchor = event.anchor { anchors[anchor] = node }
        return node
    }

    private func scalar(_ text: String, quoted: Bool, _ event: Event) throws(FileError) -> YAMLNode.Content {
        try check(event, among: YAMLTag.scalars)
        guard let tag = event.tag else { return YAMLTag.plain(text, quoted: quoted) }
        if YAMLTag.texts.contains(tag) { return .scalar(text, quoted: true) }
        // PyYAML's canonical style puts all scalars between quotes, and says by tags which of them are plain.
        return YAMLTag.plain(text, quoted: quoted && !YAMLTag.isWord(text))
    }

    /// Refuses a tag that says more of a value than its shape.
    private func check(_ event: Event, among known: Set<String>) throws(FileError) {
        guard let tag = event.tag, !known.contains(tag) else { return }
        let isBinary = tag == YAMLTag.binary
        throw error(
            at: event.mark,
            found: "the tag \(excerpt(YAMLTag.short(tag)))",
            expected: isBinary
                ? "no tag: bytes are pairs of hexadecimal digits such as \"0048\", and base64 is not read"
                : "no tag: a text, a list or a mapping is read by its shape"
        )
    }

    private func sequence(depth: Int) throws(FileError) -> [YAMLNode] {
        var nodes: [YAMLNode] = []
        while true {
            let event = try next()
            if case .end = event.kind { return nodes }
            nodes.append(try node(from: event, depth: depth + 1))
        }
    }

    private func mapping(depth: Int) throws(FileError) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var lines: [String: Int] = [:]
        var merged: (place: Int, line: Int, entries: [YAMLNode.Entry])?
        while true {
            let event = try next()
            if case .end = event.kind { break }
            let key = try node(from: event, depth: depth + 1)
            guard case .scalar(var text, _) = key.content else { throw key.error(expected: "a word as key") }
            let merges = key.content == .scalar("<<", quoted: false)
            // A key is a name: `null` is one, too.
            if case .scalar(let spelled, _) = event.kind { text = spelled }
            let earlier = merges ? merged?.line : lines.updateValue(key.line, forKey: text)
            if let earlier {
                throw key.error(
                    found: "a second key '\(excerpt(text))'",
                    expected: merges ? "one, as in '<<: [*first, *second]'" : "it once, as on line \(earlier)"
                )
            }
            let value = try node(from: try next(), depth: depth + 1)
            if merges {
                merged = (entries.count, key.line, try mergedEntries(of: value))
            } else {
                entries.append(YAMLNode.Entry(key: text, keyLine: key.line, keyColumn: key.column, value: value))
            }
        }
        // A mapping's own entries go before those that it takes over.
        if let merged { entries.insert(contentsOf: merged.entries.filter { lines[$0.key] == nil }, at: merged.place) }
        return entries
    }

    /// What `<<` takes over (https://yaml.org/type/merge.html): the entries of a mapping, or of each in a list, the first of a key.
    private func mergedEntries(of value: YAMLNode) throws(FileError) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var keys: Set<String> = []
        let mappings: [YAMLNode] = if case .sequence(let nodes) = value.content { nodes } else { [value] }
        for mapping in mappings {
            guard case .mapping(let members) = mapping.content else {
                throw mapping.error(expected: "a mapping to take over, as in '<<: *base'")
            }
            for member in members where keys.insert(member.key).inserted { entries.append(member) }
        }
        return entries
    }

    private func alias(_ name: String, at mark: Mark, depth: Int) throws(FileError) -> YAMLNode {
        guard let node = anchors[name] else {
            throw error(at: mark, found: "*\(excerpt(name))", expected: "an anchor &\(excerpt(name)) before it")
        }
        if depth + node.height - 1 > YAMLReader.depthLimit { throw tooDeep(mark) }
        try count(node.weight, at: mark)
        return node
    }

    private func count(_ more: Int, at mark: Mark) throws(FileError) {
        nodes += more
        if nodes > YAMLReader.nodeLimit {
            throw error(
                at: mark,
                found: "more than \(YAMLReader.nodeLimit) values with aliases expanded",
                expected: "fewer"
            )
        }
    }

    private func tooDeep(_ mark: Mark) -> FileError {
        error(
            at: mark,
            found: "more than \(YAMLReader.depthLimit) levels of nesting",
            expected: "at most \(YAMLReader.depthLimit)"
        )
    }

    /// A place in the text, counted from 1.
    private struct Mark {
        let line: Int
        let column: Int

        init(_ mark: yaml_mark_t) { (line, column) = (Int(mark.line) + 1, Int(mark.column) + 1) }
    }

    /// An event of libyaml, copied out of its memory.
    private struct Event {
        enum Kind {
            case documentStart
            case scalar(String, quoted: Bool)
            case sequenceStart
            case mappingStart
            case alias(String)
            /// The end of a sequence or mapping.
            case end
            /// The start and end of the stream, and the end of a document.
            case other
        }

        var kind: Kind
        var mark: Mark
        var anchor: String?
        /// In full, such as `tag:yaml.org,2002:str`.
        var tag: String?
    }

    private func next() throws(FileError) -> Event {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
        let copy = unsafe Self.copy(event)
        unsafe yaml_event_delete(&event)
        return copy
    }

    private static func copy(_ event: yaml_event_t) -> Event {
        let mark = unsafe Mark(event.start_mark)
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT: return Event(kind: .documentStart, mark: mark)
        case YAML_ALIAS_EVENT: return unsafe Event(kind: .alias(text(event.data.alias.anchor) ?? ""), mark: mark)
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let kind = unsafe Event.Kind.scalar(
                String(decoding: bytes, as: UTF8.self),
                quoted: scalar.style != YAML_PLAIN_SCALAR_STYLE
            )
            return unsafe Event(kind: kind, mark: mark, anchor: text(scalar.anchor), tag: text(scalar.tag))
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            return unsafe Event(kind: .sequenceStart, mark: mark, anchor: text(start.anchor), tag: text(start.tag))
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            return unsafe Event(kind: .mappingStart, mark: mark, anchor: text(start.anchor), tag: text(start.tag))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return Event(kind: .end, mark: mark)
        default: return Event(kind: .other, mark: mark)
        }
    }

    @safe
    private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe String(cString: pointer)
    }

    private func syntaxError() -> FileError {
        let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "the text cannot be read"
        let context = unsafe parser.pointee.context.map { unsafe " (\(String(cString: $0)))" } ?? ""
        let isReading = unsafe parser.pointee.error == YAML_READER_ERROR
        let mark = unsafe Mark(isReading ? parser.pointee.mark : parser.pointee.problem_mark)
        if !isReading, let column = columnOfTab(at: mark, problem) {
            return FileError(
                file: file,
                line: mark.line,
                column: column,
                found: "a tab",
                expected: "spaces: YAML takes no tab before a key, a value or a '-'"
            )
        }
        return error(at: mark, found: "\(problem)\(context)", expected: "well-formed YAML")
    }

    /// Where the tab stands that a problem is about; nil where it is about none.
    private func columnOfTab(at mark: Mark, _ problem: String) -> Int? {
        let lines = bytes.split(separator: 0x0a, maxSplits: mark.line, omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1) else { return nil }
        let line = String(decoding: lines[mark.line - 1], as: UTF8.self).unicodeScalars
        if ["tab character", "cannot start any token"].contains(where: { problem.contains($0) }) {
            return line.dropFirst(mark.column - 1).first == "\t" ? mark.column : nil
        }
        // Behind enough of white space a text goes on, and what is no place for a colon is where the next key ends.
        guard problem.hasPrefix("mapping values are not allowed") else { return nil }
        let indentation = line.prefix { $0 == " " || $0 == "\t" }
        return indentation.firstIndex(of: "\t").map { indentation.distance(from: indentation.startIndex, to: $0) + 1 }
    }
}
