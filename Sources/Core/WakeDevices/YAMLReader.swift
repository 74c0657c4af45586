import CYAML

/// Reads one YAML document into a tree, within bounds that keep any input harmless.
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
        let outcome: Result<YAMLNode, FileError> = unsafe bytes.withUnsafeBufferPointer { buffer in
            let parser = YAMLParser(file: file)
            unsafe parser.setInput(buffer)
            do throws(FileError) {
                return .success(try parser.document())
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

/// Owns a libyaml parser, which points into itself and so must not move.
@safe
private final class YAMLParser {
    private let file: String
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var anchors: [String: YAMLNode] = [:]
    private var nodes = 0

    init(file: String) {
        self.file = file
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
        case .scalar(let text, let quoted, let anchor):
            return try finish(.scalar(text, quoted: quoted), event, anchor)
        case .sequenceStart(let anchor):
            return try finish(.sequence(try sequence(depth: depth)), event, anchor)
        case .mappingStart(let anchor):
            return try finish(.mapping(try mapping(depth: depth)), event, anchor)
        case .documentStart, .end, .other:
            throw error(at: event.mark, found: "an unfinished document", expected: "a value")
        }
    }

    private func finish(_ content: YAMLNode.Content, _ event: Event, _ anchor: String?) throws(FileError) -> YAMLNode {
        try count(1, at: event.mark)
        let node = YAMLNode(file: file, line: event.mark.line, column: event.mark.column, content: content)
        if let anchor { anchors[anchor] = node }
        return node
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
        while true {
            let event = try next()
            if case .end = event.kind { return entries }
            let key = try node(from: event, depth: depth + 1)
            guard case .scalar(let text, _) = key.content else { throw key.error(expected: "a word as key") }
            if let earlier = lines.updateValue(key.line, forKey: text) {
                throw key.error(
                    found: "a second key '\(excerpt(text))'",
                    expected: "it once, as on line \(earlier)"
                )
            }
            let value = try node(from: try next(), depth: depth + 1)
            entries.append(YAMLNode.Entry(key: text, keyLine: key.line, keyColumn: key.column, value: value))
        }
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
            case scalar(String, quoted: Bool, anchor: String?)
            case sequenceStart(anchor: String?)
            case mappingStart(anchor: String?)
            case alias(String)
            /// The end of a sequence or mapping.
            case end
            /// The start and end of the stream, and the end of a document.
            case other
        }

        var kind: Kind
        var mark: Mark
    }

    private func next() throws(FileError) -> Event {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
        let copy = unsafe Event(kind: Self.kind(of: event), mark: Mark(event.start_mark))
        unsafe yaml_event_delete(&event)
        return copy
    }

    private static func kind(of event: yaml_event_t) -> Event.Kind {
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_ALIAS_EVENT: return unsafe .alias(text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return unsafe .scalar(
                String(decoding: bytes, as: UTF8.self),
                quoted: scalar.style != YAML_PLAIN_SCALAR_STYLE,
                anchor: text(scalar.anchor)
            )
        case YAML_SEQUENCE_START_EVENT: return unsafe .sequenceStart(anchor: text(event.data.sequence_start.anchor))
        case YAML_MAPPING_START_EVENT: return unsafe .mappingStart(anchor: text(event.data.mapping_start.anchor))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .end
        default: return .other
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
        let mark = unsafe isReading ? parser.pointee.mark : parser.pointee.problem_mark
        return error(at: Mark(mark), found: "\(problem)\(context)", expected: "well-formed YAML")
    }
}
