import WakeDevices

/// A message of SIP (RFC 3261, section 7).
package struct SIPMessage: Hashable, Sendable {
    /// The first line and the headers, without the ends of lines.
    package private(set) var lines: [String]
    package private(set) var body: [UInt8]

    /// The longest head, and the longest body, that are believed: those of the largest message that is played.
    static let limit = 64 << 10

    /// What stands at the beginning of bytes.
    enum Found: Equatable {
        /// So many bytes are done with: a message, or what holds a connection open.
        case message(SIPMessage, length: Int)
        /// A message may be there when more has come.
        case incomplete
        case nothing
    }

    /// Whether bytes begin as a message does; nil when there are too few to tell.
    static func begins(_ bytes: some Collection<UInt8>) -> Bool? {
        let rest = bytes.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        let version = Array("SIP/2.0 ".utf8)
        if rest.starts(with: version) { return true }
        if rest.count < version.count, version.starts(with: rest) { return nil }
        let method = rest.prefix(32).prefix { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard (1...20).contains(method.count) || rest.isEmpty else { return false }
        let uri = rest.dropFirst(method.count).prefix(6).map { $0 | 0x20 }
        let schemes = [" sip:", " sips:", " tel:"].map { Array($0.utf8) }
        if schemes.contains(where: { uri.starts(with: $0) }) { return true }
        return schemes.contains { $0.starts(with: uri) } && uri.count < 6 ? nil : false
    }

    /// How many empty lines bytes are; nil where they are anything else.
    static func emptyLines(_ bytes: some Collection<UInt8>) -> Int? {
        bytes.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
            ? bytes.count { $0 == UInt8(ascii: "\n") } : nil
    }

    /// The first message of a stream, or the only one of a datagram.
    static func first(of bytes: [UInt8], isDatagram: Bool) -> Found {
        guard let start = bytes.firstIndex(where: { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }) else {
            return .incomplete
        }
        switch begins(bytes[start...]) {
        case nil: return isDatagram ? .nothing : .incomplete
        case false?: return .nothing
        case true?: break
        }
        guard let end = endOfHead(bytes, from: start) else {
            return isDatagram || bytes.count > limit ? .nothing : .incomplete
        }
        let lines = bytes[start..<end].split(separator: UInt8(ascii: "\n")).map { line in
            String(validating: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        guard !lines.contains(nil) else { return .nothing }
        var message = SIPMessage(lines: lines.compactMap(\.self).filter { !$0.isEmpty }, body: [])
        var length = isDatagram ? bytes.count - end : 0
        if let field = message.value("content-length") {
            guard let number = Int(field), (0...limit).contains(number) else { return .nothing }
            length = number
        }
        guard bytes.count - end >= length else { return isDatagram ? .nothing : .incomplete }
        message.body = Array(bytes[end..<end + length])
        return .message(message, length: end + length)
    }

    /// Behind the empty line that ends the headers.
    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        var line = start
        while let end = bytes[line...].firstIndex(of: UInt8(ascii: "\n")) {
            if end == line || end == line + 1 && bytes[line] == UInt8(ascii: "\r") { return end + 1 }
            line = end + 1
        }
        return nil
    }

    // MARK: What it says

    /// The number of an answer; nil of a request.
    package var status: Int? {
        guard lines[0].hasPrefix("SIP/2.0 ") else { return nil }
        return Int(lines[0].dropFirst(8).prefix(3))
    }

    /// The method of a request, or of the request that it answers.
    package var method: String {
        if lines[0].hasPrefix("SIP/2.0 ") { return value("cseq")?.split(separator: " ").last.map(String.init) ?? "" }
        return lines[0].split(separator: " ").first.map(String.init) ?? ""
    }

    package var isRequest: Bool { !lines[0].hasPrefix("SIP/2.0 ") }

    /// How its first line begins, as a plan awaits it.
    var beginning: String { isRequest ? method : String(lines[0].prefix(11)) }

    /// The value of the first header of a name in small letters, or of its short form.
    func value(_ name: String) -> String? { header(name)?.value }

    func header(_ name: String) -> (name: String, value: String)? {
        for line in lines.dropFirst() {
            if let header = Self.header(line), header.canonical == name { return (header.name, header.value) }
        }
        return nil
    }

    /// The parts of a header's line; nil for what goes on with the line before it.
    static func header(_ line: String) -> (name: String, canonical: String, value: String)? {
        guard let colon = line.firstIndex(of: ":"), line.first != " ", line.first != "\t" else { return nil }
        let name = line[..<colon].filter { $0 != " " && $0 != "\t" }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let small = name.lowercased()
        return (name, short[small] ?? small, String(value))
    }

    /// RFC 3261, section 7.3.3.
    private static let short = [
        "v": "via", "f": "from", "t": "to", "i": "call-id", "l": "content-length", "m": "contact",
    ]

    /// Whether it answers a request of the other's.
    func answers(_ request: SIPMessage) -> Bool {
        guard !isRequest, request.isRequest, let number = value("cseq") else { return false }
        return number == request.value("cseq") && value("call-id") == request.value("call-id")
    }
}
