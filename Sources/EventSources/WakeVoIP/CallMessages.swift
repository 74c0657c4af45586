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

    private static let ping = Array("\r\n\r\n".utf8)
    /// What a ping is answered with.
    static let pong = Array("\r\n".utf8)

    /// Takes the empty lines before the next message, and says how many pings they are: two lines keep a connection open, and the other
    /// end answers them with one (RFC 5626, section 3.5.1). None where lines are messages.
    mutating func takePings() -> Int {
        guard framing == .sip else { return 0 }
        var (place, count) = (0, 0)
        while place < bytes.count, bytes[place] == Self.ping[0] || bytes[place] == Self.ping[1] {
            let rest = bytes[place...].prefix(Self.ping.count)
            if rest.elementsEqual(Self.ping) {
                count += 1
                place += Self.ping.count
            } else if rest.count < Self.ping.count, Self.ping.starts(with: rest) {
                // The rest of it may come.
                break
            } else {
                place += 1
            }
        }
        bytes.removeFirst(place)
        return count
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
        guard let start = bytes.firstIndex(where: { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }) else {
            return nil
        }
        var end: Int?
        var lineStart = start
        for place in start..<bytes.count where bytes[place] == UInt8(ascii: "\n") {
            let line = bytes[lineStart..<place]
            if line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) {
                end = place + 1
                break
            }
            lineStart = place + 1
        }
        guard let end else { return nil }
        let message = CallMessage(head: bytes[start..<end])
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
