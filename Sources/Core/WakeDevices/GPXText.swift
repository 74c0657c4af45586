/// The text of a GPX file as the XML parser may have it: UTF-8, without a byte order mark and without its XML declaration.
///
/// libxml2 reads a file in any encoding that its first line names, UTF-7 among them, in which a declaration of entities
/// is spelt so that no search finds it. It ends the process at text that is no UTF-8, and expands entities whatever they
/// grow to. XMLParser ends the process at a processing instruction of one word. GPX needs no other encoding than UTF-8 and
/// UTF-16, no declarations and no instructions.
enum GPXText {
    /// Decodes a file; lines stay where they were.
    static func decode(_ bytes: [UInt8], file: String) throws(FileError) -> [UInt8] {
        func error(line: Int = 1, found: String, expected: String = "a GPX 1.1 file in UTF-8 or UTF-16") -> FileError {
            FileError(file: file, line: line, found: found, expected: expected)
        }
        let (text, name) = try characters(bytes, error: { error(found: $0) })
        var utf8 = Array(text.utf8)
        if let place = utf8.firstIndex(of: 0) {
            throw error(line: line(of: place, in: utf8), found: "a zero byte", expected: "text")
        }
        if let declaration = declaration(utf8) {
            let declared = encoding(String(decoding: utf8[declaration], as: UTF8.self))
            if let declared, declared != name {
                throw error(found: "the encoding '\(excerpt(declared))' in a file that is \(name)")
            }
            for place in declaration where utf8[place] != UInt8(ascii: "\n") { utf8[place] = UInt8(ascii: " ") }
        }
        blankInstructions(&utf8)
        for word in ["<!DOCTYPE", "<!ENTITY"] {
            if let place = utf8.firstRange(of: Array(word.utf8))?.lowerBound {
                throw error(
                    line: line(of: place, in: utf8),
                    found: "a declaration \(word)",
                    expected: "GPX without declarations of its own"
                )
            }
        }
        return utf8
    }

    /// The text of a file of another program's, as it can be had: what are no characters of XML become spaces, declarations of
    /// its own are left out, and it is inside an element that is not closed.
    ///
    /// So a second `<gpx>` behind the first is read too.
    static func decodeLeniently(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8]
        if bytes.starts(with: [0xfe, 0xff]) || bytes.starts(with: [0, 0x3c]) {
            text = Array(String(decoding: units(bytes, big: true), as: UTF16.self).utf8)
        } else if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0x3c, 0]) {
            text = Array(String(decoding: units(bytes, big: false), as: UTF16.self).utf8)
        } else {
            text = Array(String(decoding: bytes, as: UTF8.self).utf8)
        }
        text.removeFirst(text.firstIndex(of: UInt8(ascii: "<")) ?? text.count)
        for place in text.indices where text[place] < 0x20 && !white.contains(text[place]) { text[place] = 0x20 }
        blankInstructions(&text)
        blankDeclarations(&text)
        return Array("<places>".utf8) + text
    }

    private static let white: Set<UInt8> = [0x09, 0x0a, 0x0d]

    /// Makes spaces of every document type, with the entities that it declares.
    private static func blankDeclarations(_ text: inout [UInt8]) {
        var place = text.startIndex
        while let start = nextMarkup(in: text, from: &place) {
            guard text[place...].starts(with: "!DOCTYPE".utf8) else { continue }
            var end = text[start...].firstIndex(of: UInt8(ascii: ">")) ?? text.endIndex
            if text[start..<end].contains(UInt8(ascii: "[")) {
                let inside = text[start...].firstIndex(of: UInt8(ascii: "]")) ?? text.endIndex
                end = text[inside...].firstIndex(of: UInt8(ascii: ">")) ?? text.endIndex
            }
            for inside in start..<min(end + 1, text.endIndex) where text[inside] != UInt8(ascii: "\n") {
                text[inside] = UInt8(ascii: " ")
            }
            place = end
        }
    }

    /// How often elements of a name begin, with any prefix.
    static func count(_ name: String, in text: [UInt8]) -> Int {
        var (count, place) = (0, text.startIndex)
        while nextMarkup(in: text, from: &place) != nil {
            let word = text[place...].prefix { $0 > 0x20 && !ofMarkup.contains($0) }
            if word.split(separator: UInt8(ascii: ":")).last?.elementsEqual(name.utf8) == true { count += 1 }
        }
        return count
    }

    private static let ofMarkup = Set("<>/".utf8)

    /// Where the next `<` is that begins no comment and no CDATA; `place` is behind it then.
    private static func nextMarkup(in text: [UInt8], from place: inout Int) -> Int? {
        while place < text.endIndex, let start = text[place...].firstIndex(of: UInt8(ascii: "<")) {
            guard let end = endOfComment(text, at: start) else {
                place = start + 1
                return start
            }
            place = end
        }
        return nil
    }

    /// Behind the comment or CDATA that begins at a `<`, the end of the text where it has none; nil where neither begins.
    private static func endOfComment(_ text: [UInt8], at start: Int) -> Int? {
        for (opening, end) in [("<!--", "-->"), ("<![CDATA[", "]]>")] where text[start...].starts(with: opening.utf8) {
            let inside = text[(start + opening.utf8.count)...]
            return inside.firstRange(of: Array(end.utf8))?.upperBound ?? text.endIndex
        }
        return nil
    }

    /// The characters, and the encoding that they were in.
    private static func characters(
        _ bytes: [UInt8],
        error: (String) -> FileError
    ) throws(FileError) -> (text: String, encoding: String) {
        let big = bytes.starts(with: [0xfe, 0xff])
        guard big || bytes.starts(with: [0xff, 0xfe]) else {
            let marked = bytes.starts(with: [0xef, 0xbb, 0xbf])
            guard let text = String(validating: bytes.dropFirst(marked ? 3 : 0), as: UTF8.self) else {
                throw error("bytes that are no UTF-8")
            }
            return (text, "utf-8")
        }
        let units = units(bytes.dropFirst(2), big: big)
        guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
            throw error("bytes that are no UTF-16")
        }
        return (text, "utf-16")
    }

    /// Pairs of bytes; a last one without another is left out.
    private static func units(_ bytes: some RandomAccessCollection<UInt8>, big: Bool) -> [UInt16] {
        let bytes = Array(bytes)
        return stride(from: 0, to: bytes.count - 1, by: 2).map { place in
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return big ? first << 8 | second : second << 8 | first
        }
    }

    /// Where the XML declaration stands; nil when there is none.
    private static func declaration(_ text: [UInt8]) -> Range<Int>? {
        guard text.starts(with: Array("<?xml".utf8)), let end = text.firstRange(of: Array("?>".utf8)) else {
            return nil
        }
        return 0..<end.upperBound
    }

    /// Makes spaces of every processing instruction, and of its first two characters in comments and CDATA, which may end before it.
    private static func blankInstructions(_ text: inout [UInt8]) {
        var place = 0
        while let start = text[place...].firstIndex(of: UInt8(ascii: "<")) {
            place = start + 1
            if let end = endOfComment(text, at: start) {
                while let open = text[place..<end].firstRange(of: Array("<?".utf8)) {
                    text.replaceSubrange(open, with: repeatElement(UInt8(ascii: " "), count: open.count))
                    place = open.upperBound
                }
                place = end
            } else if place < text.endIndex, text[place] == UInt8(ascii: "?") {
                guard let end = text[start...].firstRange(of: Array("?>".utf8))?.upperBound else { return }
                for inside in start..<end where text[inside] != UInt8(ascii: "\n") { text[inside] = UInt8(ascii: " ") }
                place = end
            }
        }
    }

    /// The encoding that an XML declaration names, in small letters; nil when it names none.
    private static func encoding(_ declaration: String) -> String? {
        guard let match = declaration.firstMatch(of: /encoding\s*=\s*(?:"([^"]*)"|'([^']*)')/) else {
            // What stands there and is not understood is no encoding that we know.
            return declaration.contains("encoding") ? "" : nil
        }
        return (match.output.1 ?? match.output.2 ?? "").lowercased()
    }

    private static func line(of place: Int, in text: [UInt8]) -> Int {
        1 + text[..<place].count { $0 == UInt8(ascii: "\n") }
    }
}
