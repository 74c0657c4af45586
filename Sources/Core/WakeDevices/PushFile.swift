import WakeJSON
import WakeModel

/// A push as `xcrun simctl push` reads it: the payload as JSON, and in its `Simulator Target Bundle` whom it is for.
package struct PushFile: Hashable, Sendable {
    /// The bundle identifier of the app; nil where the file does not say.
    package var bundle: String?
    /// The payload without that, as APNs carries it.
    package var payload: [UInt8]

    /// The longest file, in bytes: more than any payload has.
    package static let byteLimit = 65_536
    private static let key = "Simulator Target Bundle"

    /// Reads the text of a file, whose path is for errors.
    ///
    /// - Throws: ``FileError`` where it holds no JSON object with `aps`.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> PushFile {
        func refused(_ found: String, _ expected: String) -> FileError {
            FileError(file: file, line: 0, found: found, expected: expected)
        }
        let expected = "a JSON object, as in {\"aps\": {\"alert\": \"Hello\"}}"
        guard let value = JSONValue(parsing: bytes) else { throw .notJSON(bytes, file: file, expected: expected) }
        guard case .object(let members) = value else { throw refused("something else", expected) }
        guard case .object? = value["aps"] else { throw refused("a push without 'aps'", "an object of that name") }
        if let bundle = value[key], bundle.string == nil {
            throw refused("a '\(key)' that is no text", "the bundle identifier of an app")
        }
        let payload = JSONValue.object(members.filter { $0.key != key })
        return PushFile(bundle: value[key]?.string, payload: payload.encoded)
    }

    package init(bundle: String? = nil, payload: [UInt8]) {
        self.bundle = bundle
        self.payload = payload
    }

    /// Whether the user sees or hears anything of it.
    var isVisible: Bool {
        guard let aps = JSONValue(parsing: payload)?["aps"] else { return false }
        return ["alert", "badge", "sound"].contains { aps[$0].map { $0 != .null } ?? false }
    }
}

extension PushFile {
    /// Reads a payload that stands in a scenario: what looks like a number of JSON's, `true` or `null` is that, and all else is text, as is
    /// what is quoted.
    init(_ node: YAMLNode) throws(FileError) {
        let value = try JSONValue(node)
        guard case .object? = value["aps"] else {
            throw node.error(expected: "a payload such as {aps: {content-available: 1}}")
        }
        let payload = value.encoded
        if JSONValue.fault(in: payload) != nil {
            throw node.error(found: "lists and mappings that nest too deep", expected: "a payload of at most 32 levels")
        }
        self.init(payload: payload)
    }
}

extension FileError {
    /// - Parameter bytes: what is not one value of JSON.
    fileprivate static func notJSON(_ bytes: [UInt8], file: String, expected: String) -> FileError {
        var (offset, found) = (0, "text that is no JSON")
        switch JSONValue.fault(in: bytes) {
        case .notJSON(let place)?: offset = place
        case .tooDeep(let place)?: (offset, found) = (place, "arrays and objects that nest too deep")
        case nil: break
        }
        let before = bytes.prefix(offset)
        let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
        return FileError(
            file: file,
            line: 1 + before.count { $0 == 0x0a },
            column: 1 + String(decoding: before[start...], as: UTF8.self).count,
            found: found,
            expected: expected
        )
    }
}

extension JSONValue {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        switch node.content {
        case .scalar(let text, quoted: true): self = .string(text)
        case .scalar(let text, quoted: false): self = Self.plain(text)
        case .sequence(let nodes):
            var values: [JSONValue] = []
            for node in nodes { values.append(try JSONValue(node)) }
            self = .array(values)
        case .mapping(let entries):
            var members: [Member] = []
            for entry in entries { members.append(Member(key: entry.key, value: try JSONValue(entry.value))) }
            self = .object(members)
        }
    }

    /// A plain word: what JSON's grammar has as a number (RFC 8259, section 6) is one, so that `0.5` is and `0180` and `+1` are not.
    private static func plain(_ text: String) -> JSONValue {
        if text.isEmpty { return .null }
        switch JSONValue(parsing: Array(text.utf8)) {
        case .string?, .array?, .object?, nil: return .string(text)
        case let value?: return value
        }
    }
}
