/// What YAML's tags and plain words say of a value, as far as trees of texts go.
enum YAMLTag {
    private static let prefix = "tag:yaml.org,2002:"

    private static func full(_ names: [String]) -> Set<String> { Set(names.map { prefix + $0 }) }

    /// Leaves a value to its shape, in which a scalar is text (YAML 1.2.2, section 6.9.1).
    private static let shape = "!"
    /// Those of scalars that are what they look like.
    private static let words = full([
        "null", "bool", "int", "float", "timestamp", "merge", "value", "python/none", "python/bool", "python/int",
        "python/long", "python/float",
    ])
    /// Those of scalars that are text whatever they look like.
    static let texts = full(["str", "python/str", "python/unicode"]).union([shape])
    static let scalars = words.union(texts)
    static let lists = full(["seq", "python/list", "python/tuple"]).union([shape])
    static let mappings = full(["map", "python/dict"]).union([shape])
    static let binary = prefix + "binary"

    /// A tag as it is written, such as `!!binary`.
    static func short(_ tag: String) -> String { tag.hasPrefix(prefix) ? "!!" + tag.dropFirst(prefix.utf8.count) : tag }

    /// The plain words for nothing (YAML 1.2.2, section 10.3.2).
    private static let nulls: Set = ["null", "Null", "NULL", "~"]

    /// A scalar without a tag, or with one that says what it looks like.
    static func plain(_ text: String, quoted: Bool) -> YAMLNode.Content {
        .scalar(!quoted && nulls.contains(text) ? "" : text, quoted: quoted)
    }

    /// Whether a text between quotes would be the same without them.
    static func isWord(_ text: String) -> Bool {
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: false
            }
        }
        if text.isEmpty || text == "~" { return true }
        return text.utf8.contains(where: isLetterOrDigit)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    }
}
