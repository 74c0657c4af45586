import WakeJSON

/// The JSON Web Token with which a provider identifies itself, correct in form (RFC 7519; Apple's "Establishing a token-based
/// connection to APNs").
package struct ProviderToken: Equatable, Sendable {
    /// The identifier of the key that it says it is signed with: 10 letters and digits.
    package var keyID: String
    /// The team: 10 letters and digits.
    package var teamID: String
    /// When it was made, in seconds since 1970.
    package var issuedAt: Int64
    /// Whether `iat` is a text of digits, as a client that is published for Apple's servers has it, and not the number of RFC 7519.
    package var hasTextDate: Bool
    /// What is signed: the first two parts.
    package var signed: [UInt8]
    /// The two numbers of an ES256 signature, 32 bytes each.
    package var signature: [UInt8]

    /// The most bytes of a token; those in use have about 200.
    static let limit = 4_096

    /// Nil for what is no such token.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.limit else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let head = Self.decode(parts[0]).flatMap(JSONValue.init(parsing:)),
            let claims = Self.decode(parts[1]).flatMap(JSONValue.init(parsing:)),
            let signature = Self.decode(parts[2]), signature.count == 64,
            head["alg"]?.string == "ES256",
            let keyID = head["kid"]?.string, Self.isIdentifier(keyID),
            let teamID = claims["iss"]?.string, Self.isIdentifier(teamID),
            let issuedAt = Self.seconds(claims["iat"])
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
        hasTextDate = claims["iat"]?.string != nil
        signed = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0)) }
    }

    /// A moment; a fraction of a second is allowed (RFC 7519, section 2: NumericDate) and left out. A text of at most 15 digits is taken.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        if let text = value?.string {
            guard text.utf8.count <= 15, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int64(text)
        }
        guard let number = value?.double, number >= 0, number < 1e15 else { return nil }
        return value?.integer ?? Int64(number)
    }

    /// Base64 with the letters of RFC 4648, section 5, without padding.
    private static func decode(_ text: Substring.UTF8View) -> [UInt8]? {
        guard !text.isEmpty else { return nil }
        var letters: [UInt8] = []
        for letter in text {
            switch letter {
            case UInt8(ascii: "-"): letters.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): letters.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: letters.append(letter)
            }
        }
        while !letters.count.isMultiple(of: 4) { letters.append(UInt8(ascii: "=")) }
        // One letter alone is no byte, and would leave three signs of padding.
        return text.count % 4 == 1 ? nil : Base64.decode(letters.span)
    }
}
