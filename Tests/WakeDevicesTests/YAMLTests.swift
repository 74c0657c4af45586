import Testing
import WakeDevices
import WakeModel

private func read(_ text: String) throws(FileError) -> YAMLNode {
    try YAMLReader.read(Array(text.utf8), file: "a.yaml")
}

private func message(_ text: String) -> String {
    do {
        _ = try read(text)
        return "read"
    } catch {
        return "\(error)"
    }
}

@Suite("YAML")
struct YAMLTests {
    @Test("Every value knows its line")
    func lines() throws {
        let root = try read("a: 1\nb:\n  - x\n  - {c: y}\n")
        guard case .mapping(let entries) = root.content, case .sequence(let list) = entries[1].value.content else {
            Issue.record("another shape")
            return
        }
        #expect(entries.map(\.key) == ["a", "b"])
        #expect(entries.map(\.keyLine) == [1, 2])
        #expect(list.map(\.line) == [3, 4])
    }

    @Test("More directives than a file of ours can need are refused before any is compared with the others")
    func directives() {
        let lines = (0...100).map { "%TAG !a\($0)! tag:example.com,2026:\n" }.joined()
        let text = "a.yaml:101: more than 100 lines of %TAG; expected none: tags say nothing here"
        #expect(message(lines + "---\nname: a\n") == text)
    }

    @Test("A quoted empty text is a text, an unquoted one is nothing")
    func empty() throws {
        let root = try read("a: ''\nb:\n")
        guard case .mapping(let entries) = root.content else { return }
        #expect(entries.map(\.value.summary) == ["''", "nothing"])
    }

    @Test("Anchors and aliases stand for what they name")
    func aliases() throws {
        let root = try read("a: &x [1, 2]\nb: *x\n")
        guard case .mapping(let entries) = root.content else { return }
        #expect(entries[0].value.content == entries[1].value.content)
    }

    /// The keys and texts of a mapping, in order; nil for what is no text.
    private func pairs(_ node: YAMLNode?) -> [String] {
        (node?.entries ?? []).map { "\($0.key)=\($0.value.scalar ?? "-")" }
    }

    @Test(
        "A merge key takes over the entries of a mapping or of several, and what stands beside it goes before them",
        arguments: [
            ("a: &x {p: 1, q: 2}\nb: {<<: *x, r: 3}", ["p=1", "q=2", "r=3"]),
            ("a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x}", ["q=3", "p=1"]),
            ("a: [&x {p: 1}, &y {p: 2, q: 3}]\nb: {<<: [*x, *y]}", ["p=1", "q=3"]),
            ("a: &x {p: 1}\nc: &y {<<: *x, q: 2}\nb: {<<: *y}", ["p=1", "q=2"]),
            ("b: {<<: {p: 1}, <: 2}", ["p=1", "<=2"]), ("b: {<<: [], p: 1}", ["p=1"]),
            ("b: {'<<': 1}", ["<<=1"]), ("b: {!!str <<: 1}", ["<<=1"]),
        ]
    )
    func merge(text: String, entries: [String]) throws {
        #expect(pairs(try read(text)["b"]) == entries)
    }

    @Test("An entry that was taken over has the place where it stands in the file")
    func mergedPlace() throws {
        let entry = try #require(try read("a: &x\n  p: 1\nb:\n  <<: *x\n")["b"]?.entries.first)
        #expect((entry.keyLine, entry.value.line) == (2, 2))
    }

    @Test("A bomb of merge keys is refused, and merging does not nest")
    func mergeBomb() {
        var text = "a0: &a0 {k: [x, x, x, x, x, x, x, x, x, x]}\n"
        for level in 1...20 {
            let row = Array(repeating: "{<<: *a\(level - 1)}", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) {k\(level): [\(row)]}\n"
        }
        #expect(message(text).contains("with aliases expanded"))
        let chain = (1...500).map { "a\($0): &a\($0) {<<: *a\($0 - 1), k\($0): 1}\n" }.joined()
        #expect(message("a0: &a0 {k: 1}\n" + chain) == "read")
    }

    @Test(
        "A plain null is nothing, a quoted one is a text, and a key of that name is a name",
        arguments: [
            ("null", "nothing"), ("~", "nothing"), ("Null", "nothing"), ("NULL", "nothing"), ("", "nothing"),
            ("\"null\"", "'null'"), ("'~'", "'~'"), ("!!str null", "'null'"), ("!!null ''", "nothing"),
            ("!!null \"null\"", "nothing"), ("nULL", "'nULL'"), ("nullable", "'nullable'"), ("~/a", "'~/a'"),
        ]
    )
    func null(text: String, summary: String) throws {
        let root = try read("null: \(text)\n")
        #expect(root["null"]?.summary == summary)
        #expect(pairs(try read("~: 1\nnull: 2\n")) == ["~=1", "null=2"])
    }

    @Test(
        "A tag that says what a value looks like anyway is read, and one that makes a text makes a text",
        arguments: [
            ("!!int 1", YAMLNode.Content.scalar("1", quoted: false)), ("!!int \"1\"", .scalar("1", quoted: false)),
            ("!!float \"-0.5\"", .scalar("-0.5", quoted: false)), ("!!str 1", .scalar("1", quoted: true)),
            ("!!bool 'true'", .scalar("true", quoted: false)), ("!!int \"a: b\"", .scalar("a: b", quoted: true)),
            ("!!python/unicode 'x'", .scalar("x", quoted: true)), ("! x", .scalar("x", quoted: true)),
            ("!!timestamp 2026-01-01", .scalar("2026-01-01", quoted: false)), ("!!seq []", .sequence([])),
            ("!!python/tuple []", .sequence([])), ("!!map {}", .mapping([])),
        ]
    )
    func tags(text: String, content: YAMLNode.Content) throws {
        #expect(try read("a: \(text)")["a"]?.content == content)
    }

    @Test("An alias bomb is refused")
    func aliasBomb() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...20 {
            let row = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(row)]\n"
        }
        #expect(message(text).contains("with aliases expanded"))
    }

    @Test("An alias inside its own anchor is refused")
    func recursiveAlias() {
        #expect(message("a: &x [*x]").contains("an anchor &x before it"))
    }

    @Test("Too deep nesting is refused, in flow and in block, and by aliases")
    func depth() {
        #expect(message(String(repeating: "[", count: 100_000)).contains("levels of nesting"))
        #expect(message(String(repeating: "- ", count: 1000) + "x").contains("levels of nesting"))
        let half = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let nested = String(repeating: "[", count: 40) + "*x" + String(repeating: "]", count: 40)
        #expect(message("a: &x \(half)\nb: \(nested)").contains("levels of nesting"))
        #expect(message("a: &x \(half)\nb: *x") == "read")
    }

    @Test("Too large a file is refused")
    func size() {
        let error = #expect(throws: FileError.self) {
            try YAMLReader.read(Array(repeating: 0x20, count: YAMLReader.byteLimit + 1), file: "a.yaml")
        }
        #expect(error?.found == "8388609 bytes")
    }

    @Test(
        "What is no YAML is one line with its place",
        arguments: [
            ("", "a.yaml:1: an empty file"), ("# only words\n", "an empty file"),
            ("a: 1\n---\nb: 2\n", "a second document"),
            ("a: [1, 2", "a.yaml:"), ("a: 1\na: 2\n", "a.yaml:2: a second key 'a'; expected it once, as on line 1"),
            ("a: {b: 1\nc", "well-formed YAML"), ("a: \u{1}", "well-formed YAML"), ("{\n\ta: @x}", "well-formed YAML"),
            ("\tx: 1", "a.yaml:1: a tab; expected spaces: YAML takes no tab before a key, a value or a '-'"),
            ("a:\n\tb: 1", "a.yaml:2: a tab; expected spaces"), ("a:\n  b: 1\n \tc: 2", "a.yaml:3: a tab;"),
            ("a: 1\n  \tb: 2", "a.yaml:2: a tab;"), ("a:\n-\tb", "a.yaml:2: a tab;"), ("a: |\n\tb", "a.yaml:2: a tab;"),
            ("a: {<<: b}", "'b'; expected a mapping to take over, as in '<<: *base'"),
            ("a: {<<: {p: 1}, <<: {q: 1}}", "a second key '<<'; expected one, as in '<<: [*first, *second]'"),
            ("a: {p: 1, <<: {q: 1}, p: 2}", "a second key 'p'; expected it once"),
            (
                "a: !!binary |\n  AFE=\n",
                "a.yaml:1: the tag !!binary; expected no tag: bytes are pairs of hexadecimal digits such as \"0048\""
            ),
            ("a: !include b.yaml", "the tag !include; expected no tag: a text, a list or a mapping"),
            ("a: !!set {b}", "the tag !!set; expected no tag"), ("a: !!str [b]", "the tag !!str; expected no tag"),
            ("[a]: b", "a word as key"), ("a: *b", "an anchor &b before it"), ("a: \"x", "well-formed YAML"),
        ]
    )
    func malformed(text: String, part: String) {
        #expect(message(text).contains(part), "\(message(text))")
        #expect(!message(text).contains("\n"))
    }

    @Test("Bytes that are no UTF-8 are refused")
    func notUTF8() {
        let error = #expect(throws: FileError.self) {
            try YAMLReader.read([0x61, 0x3a, 0x20, 0xff, 0xc0], file: "a.yaml")
        }
        #expect(error?.description == "a.yaml:1: invalid leading UTF-8 octet; expected well-formed YAML")
    }

    @Test("A long line of brackets, of keys and of anchors is read or refused in time", .timeLimit(.minutes(1)))
    func longLines() {
        for text in ["[", "{a: ", "a: ", "&a ", "? ", "- - ", "\"", "!!", "*a ", "| ", "%YAML ", "[a, "] {
            let said = message(String(repeating: text, count: 200_000))
            #expect(said == "read" || said.hasPrefix("a.yaml:1: "), "\(said)")
        }
    }
}

@Suite("Words of files")
struct FileWordTests {
    @Test(
        "Times",
        arguments: [
            ("0", 0), ("250ms", 250), ("30s", 30_000), ("15m", 900_000), ("2h", 7_200_000), ("1d", 86_400_000),
            ("1h30m", 5_400_000), ("T+01:02:03", 3_723_000), ("T+00:00:01.250", 1250), ("T+100:00:00", 360_000_000),
            ("1.5s", 1500), ("0.25h", 900_000), ("1m0.001s", 60_001),
        ]
    )
    func times(text: String, milliseconds: Int64) {
        #expect(DurationText.span(text) == .milliseconds(milliseconds))
    }

    @Test(
        "What is no time",
        arguments: [
            "", "5", "s", "-1s", "1 s", "1S", "1x", "T+1:2", "T+00:60:00", "T+00:00:00.5", "T+", "1.s", ".5s", "1.5",
            "1..5s", "0.0000001ms", "1.0000000000s",
            "99999999999999999999s", "999999999999999h", "٣s", "1s2", "T+00:00:00x",
        ]
    )
    func noTimes(text: String) {
        #expect(DurationText.span(text) == nil)
    }

    @Test(
        "UUIDs have one spelling",
        arguments: [
            ("180d", "180D"), ("0000180d", "180D"), ("0000180D-0000-1000-8000-00805f9b34fb", "180D"),
            ("12345678", "12345678-0000-1000-8000-00805F9B34FB"),
            ("6e400001-b5a3-f393-e0a9-e50e24dcca9e", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"),
        ]
    )
    func uuids(text: String, canonical: String) {
        #expect(BluetoothUUID.canonical(text) == canonical)
        #expect(BluetoothUUID.canonical(BluetoothUUID.long(canonical)) == canonical)
    }

    @Test(
        "What is no UUID",
        arguments: [
            "", "18", "180G", "180D0", "6e400001b5a3f393e0a9e50e24dcca9e", "6e400001-b5a3-f393-e0a9-e50e24dcca9",
            "１８0D",
        ]
    )
    func noUUIDs(text: String) {
        #expect(BluetoothUUID.canonical(text) == nil)
    }
}
