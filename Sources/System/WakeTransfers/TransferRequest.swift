import WakeJSON

/// A field of an HTTP message's header, its name as it was written.
package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        (self.name, self.value) = (name, value)
    }

    /// How many bytes it takes in a packet.
    package var packetBytes: Int {
        var json = JSONWriter()
        json.strings([name, value])
        return json.bytes.count + 1
    }
}

extension [HeaderField] {
    /// The value of the first field of that name, in any case.
    package func value(of name: String) -> String? { first { $0.name.lowercased() == name }?.value }
}

/// A user and a password, for HTTP's basic and digest authentication.
package struct TransferCredential: Hashable, Sendable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
        (self.user, self.password) = (user, password)
    }
}

/// One transfer, as it is submitted: a download, or the upload of a file (XFER-9).
package struct TransferRequest: Hashable, Sendable {
    /// Higher than those of all transfers submitted before in the same folder.
    package var number: UInt64
    /// HTTP or HTTPS.
    package var url: String
    package var method: String
    package var headers: [HeaderField]
    /// The path of the file that an upload sends, which is copied when it is submitted; nil for a download.
    package var upload: String?
    /// After so many milliseconds without a byte in either direction an attempt is given up and made again. 60 s on iOS (XFER-7).
    package var requestTimeout: Int64 = 60_000
    /// So many milliseconds after it was first started the transfer fails. 7 days on iOS (XFER-7).
    package var resourceTimeout: Int64 = 7 * 24 * 3_600_000
    /// An earlier transfer, cancelled or failed with its bytes kept, whose bytes this one goes on from.
    package var predecessor: UInt64?

    package init(
        number: UInt64,
        url: String,
        method: String? = nil,
        headers: [HeaderField] = [],
        upload: String? = nil
    ) {
        (self.number, self.url, self.headers, self.upload) = (number, url, headers, upload)
        self.method = method ?? (upload == nil ? "GET" : "PUT")
    }
}

/// What everything here is held to.
package enum TransferBounds {
    /// Transfers that are not over, or whose last report is not acknowledged, in one folder.
    package static let mostTransfers = 1_000
    package static let longestURL = 8_192
    package static let mostHeaders = 64
    /// The bytes of all names and values of a request.
    package static let longestHeaders = 16_384
    /// What all fields of a response take in a packet, which has room for its URL besides.
    package static let longestResponseHeaders = 32_768
    /// Why a transfer failed, in bytes.
    package static let longestMessage = 1_024
    package static let longestPacket = 65_536
    /// Ten years, in milliseconds.
    package static let longestTimeout: Int64 = 3_650 * 24 * 3_600_000
    /// As many as CFNetwork follows before it fails with httpTooManyRedirects (assumed).
    package static let mostRedirects = 20
    /// A record is never longer: it has a request, a response twice, twenty places that redirects led to and four reports.
    package static let longestRecord = 1 << 20

    /// Fields that the process itself writes, in lower case.
    package static let ownHeaders: Set<String> = [
        "connection", "content-length", "expect", "host", "if-range", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension TransferRequest {
    /// Holds the request to what can be carried.
    ///
    /// - Throws: ``TransferError`` of the kinds `unsupportedURL`, `badURL` and `badRequest`.
    package func check() throws(TransferError) {
        try checkURL()
        guard !method.isEmpty, method.utf8.count <= 32, method.utf8.allSatisfy(Self.isToken) else {
            throw TransferError(.badRequest, "'\(method)' is no HTTP method")
        }
        guard headers.count <= TransferBounds.mostHeaders,
            headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= TransferBounds.longestHeaders
        else {
            throw TransferError(
                .badRequest,
                "more than \(TransferBounds.mostHeaders) header fields, or \(TransferBounds.longestHeaders) bytes of them"
            )
        }
        for field in headers { try Self.check(field) }
        guard [requestTimeout, resourceTimeout].allSatisfy((1...TransferBounds.longestTimeout).contains) else {
            throw TransferError(.badRequest, "a timeout of 0, or of more than ten years")
        }
        if let upload, !upload.hasPrefix("/") || upload.utf8.contains(0) {
            throw TransferError(.noFile, "'\(upload)' is no absolute path")
        }
    }

    private func checkURL() throws(TransferError) {
        guard url.utf8.count <= TransferBounds.longestURL else {
            throw TransferError(.badURL, "a URL of more than \(TransferBounds.longestURL) bytes")
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw TransferError(.badURL, "a URL with spaces or control characters")
        }
        guard let scheme = url.firstRange(of: "://").map({ url[..<$0.lowerBound].lowercased() }) else {
            throw TransferError(.badURL, "'\(url)' is no URL")
        }
        guard scheme == "http" || scheme == "https" else {
            throw TransferError(.unsupportedURL, "only http and https are carried, not \(scheme)")
        }
        guard Origin(url) != nil else { throw TransferError(.badURL, "'\(url)' has no host") }
    }

    private static func check(_ field: HeaderField) throws(TransferError) {
        guard !field.name.isEmpty, field.name.utf8.allSatisfy(isToken),
            field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
        else { throw TransferError(.badRequest, "'\(field.name)' is no header field") }
        if TransferBounds.ownHeaders.contains(field.name.lowercased()) {
            throw TransferError(.badRequest, "the header field \(field.name) is written by the process itself")
        }
    }

    /// A character of a token, as RFC 9110 section 5.6.2 has it.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// Scheme, host and port: whom a credential is for.
package struct Origin: Hashable, Sendable {
    /// Lower case.
    package var scheme: String
    /// Lower case, an IPv6 address without its brackets.
    package var host: String
    package var port: Int

    /// Nil for a URL without a host, or with a port that is none.
    package init?(_ url: String) {
        guard let colon = url.firstRange(of: "://") else { return nil }
        scheme = url[..<colon.lowerBound].lowercased()
        var authority = url[colon.upperBound...].prefix { !"/?#\\".contains($0) }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        var name = authority
        var digits: Substring?
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            name = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            digits = rest.isEmpty ? nil : rest.dropFirst()
        } else if let mark = authority.lastIndex(of: ":") {
            name = authority[..<mark]
            digits = authority[authority.index(after: mark)...]
        }
        guard !name.isEmpty else { return nil }
        host = name.lowercased()
        let usual = scheme == "https" ? 443 : 80
        guard let digits, !digits.isEmpty else {
            port = usual
            return
        }
        guard let number = UInt16(digits), number > 0 else { return nil }
        port = Int(number)
    }
}

extension TransferRequest {
    /// Writes one object.
    func write(to json: inout JSONWriter) {
        json.openObject()
        json.key("number")
        json.unsigned(number)
        json.key("url")
        json.string(url)
        json.key("method")
        json.string(method)
        json.key("headers")
        headers.write(to: &json)
        json.optional("upload", upload)
        json.key("requestTimeout")
        json.integer(requestTimeout)
        json.key("resourceTimeout")
        json.integer(resourceTimeout)
        if let predecessor {
            json.key("predecessor")
            json.unsigned(predecessor)
        }
        json.closeObject()
    }

    init?(_ json: JSONValue?) {
        guard let json, let number = json["number"]?.unsigned, let url = json["url"]?.string,
            let method = json["method"]?.string, let headers = [HeaderField](json["headers"]),
            let request = json["requestTimeout"]?.integer, let resource = json["resourceTimeout"]?.integer
        else { return nil }
        self.init(number: number, url: url, method: method, headers: headers, upload: json["upload"]?.string)
        (requestTimeout, resourceTimeout) = (request, resource)
        predecessor = json["predecessor"]?.unsigned
    }
}

extension TransferCredential {
    func write(to json: inout JSONWriter) { json.strings([user, password]) }

    init?(_ json: JSONValue?) {
        guard let words = json?.array, words.count == 2, let user = words[0].string, let password = words[1].string
        else { return nil }
        self.init(user: user, password: password)
    }
}

extension [HeaderField] {
    func write(to json: inout JSONWriter) {
        json.openArray()
        for field in self { json.strings([field.name, field.value]) }
        json.closeArray()
    }

    init?(_ json: JSONValue?) {
        guard case .array(let fields) = json else { return nil }
        self = []
        for field in fields {
            guard field.array.count == 2, let name = field.array[0].string, let value = field.array[1].string else {
                return nil
            }
            append(HeaderField(name, value))
        }
    }
}

extension JSONWriter {
    /// A member with a text; none where there is no text.
    mutating func optional(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }

    /// A member with a number; none where there is no number.
    mutating func optional(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        key(name)
        integer(number)
    }
}
