import WakeDevices

/// The bytes that an app has sent, as messages.
struct CallMessages {
    /// What began to come and is not whole; beyond it the oldest bytes go.
    static let limit = 1 << 20

    private let framing: CallServer.Framing
    private var bytes: [UInt8] = []

    init(_ framing: CallServer.Framing) {
        self.framing = framing
    }

    mutating func add(_ more: some Sequence<UInt8>) {
        bytes += more
        if bytes.count > Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }

    /// Takes the next whole message.
    mutating func next() -> CallMessage? {
        switch framing {
        case .lines:
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { bytes.removeFirst(end + 1) }
            return CallMessage(head: bytes[..<end])
        case .sip: return nextWithHead()
        }
    }

    private mutating func nextWithHead() -> CallMessage? {
        // Empty lines between messages keep a connection open (RFC 5626, section 3.5.1).
        let start = bytes.firstIndex { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") } ?? bytes.count
        bytes.removeFirst(start)
        var end: Int?
        var lineStart = 0
        for place in bytes.indices where bytes[place] == UInt8(ascii: "\n") {
            let line = bytes[lineStart..<place]
            if line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) {
                end = place + 1
                break
            }
            lineStart = place + 1
        }
        guard let end else { return nil }
        let message = CallMessage(head: bytes[..<end])
        let body = Int(message.header("Content-Length") ?? "") ?? 0
        guard body >= 0, body <= Self.limit else {
            bytes.removeFirst(end)
            return message
        }
        guard bytes.count - end >= body else { return nil }
        bytes.removeFirst(end + body)
        return message
    }
}

/// A message: its first line, and its headers.
struct CallMessage: Equatable {
    private(set) var lines: [String]

    init(head: some Collection<UInt8>) {
        lines = String(decoding: head, as: UTF8.self).split(omittingEmptySubsequences: true) { $0.isNewline }
            .map(String.init)
    }

    func begins(with prefix: String) -> Bool { lines.first?.hasPrefix(prefix) == true }

    /// The value of the first header of that name, whose case does not matter.
    func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            guard line[..<colon].lowercased().filter({ $0 != " " && $0 != "\t" }) == wanted else { continue }
            return String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
        }
        return nil
    }

    /// A text with `${Name}` replaced by that header, as lines that end in CR and LF.
    func filled(_ text: String) -> [UInt8] {
        var filled = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            filled += rest[..<start.lowerBound]
            filled += header(String(rest[start.upperBound..<end])) ?? ""
            rest = rest[rest.index(after: end)...]
        }
        filled += rest
        var bytes: [UInt8] = []
        for byte in filled.utf8 {
            if byte == UInt8(ascii: "\n"), bytes.last != UInt8(ascii: "\r") { bytes.append(UInt8(ascii: "\r")) }
            bytes.append(byte)
        }
        return bytes
    }
}
