import Glibc

/// An address and port of IPv4 or IPv6.
package struct NetworkEndpoint: Hashable, Sendable {
    /// 4 or 16 bytes, most significant first.
    package var address: [UInt8]
    package var port: UInt16

    package init(address: [UInt8], port: UInt16) { (self.address, self.port) = (address, port) }

    /// As people write it: `192.0.2.1:5060`, `[2001:db8::1]:5060`.
    package var text: String { address.count == 4 ? "\(addressText):\(port)" : "[\(addressText)]:\(port)" }

    /// The address alone; of IPv6 in its short form (RFC 5952).
    package var addressText: String {
        if address.count == 4 { return address.map(String.init).joined(separator: ".") }
        let groups = stride(from: 0, to: address.count, by: 2).map {
            UInt16(address[$0]) << 8 | UInt16(address[$0 + 1])
        }
        var longest = 0..<0
        for start in groups.indices {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(longest.count, 1) { longest = start..<end }
        }
        let words = groups.map { String($0, radix: 16) }
        if longest.isEmpty { return words.joined(separator: ":") }
        return words[..<longest.lowerBound].joined(separator: ":") + "::"
            + words[longest.upperBound...].joined(separator: ":")
    }

    /// Whether it orders before another, by address and then port.
    func isBefore(_ other: NetworkEndpoint) -> Bool {
        address == other.address ? port < other.port : address.lexicographicallyPrecedes(other.address)
    }
}

/// An address that somebody wrote, with or without a port.
package struct NetworkPlace: Hashable, Sendable {
    private let address: [UInt8]
    private let port: UInt16?

    /// Reads `192.0.2.1`, `192.0.2.1:5060`, `2001:db8::1` or `[2001:db8::1]:5060`; nil for anything else.
    package init?(_ text: String) {
        var host = text[...]
        var digits: Substring?
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            if !rest.isEmpty { digits = rest.dropFirst() }
        } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            digits = text[text.index(after: colon)...]
        }
        guard let address = Self.bytes(String(host)) else { return nil }
        self.address = address
        port = digits.flatMap { UInt16($0) }
        if digits != nil && port == nil { return nil }
    }

    package func holds(_ endpoint: NetworkEndpoint) -> Bool {
        endpoint.address == address && (port == nil || port == endpoint.port)
    }

    private static func bytes(_ host: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if unsafe inet_pton(family, host, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
