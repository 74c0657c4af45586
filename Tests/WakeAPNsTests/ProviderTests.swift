import COpenSSL
import Testing

@testable import WakeAPNs

@Suite("Who may push")
struct ProviderTests {
    @Test("A token says which key and which team it is of, and when it was made")
    func token() throws {
        let text = WakeAPNsTests.token()
        let token = try #require(ProviderToken(text))
        #expect(token.keyID == "ABC123DEFG" && token.teamID == "DEF123GHIJ" && token.issuedAt == noon)
        #expect(token.signed == Array(text.utf8.prefix { $0 != 0 }.dropLast(87)))
        #expect(token.signature == [UInt8](repeating: 0, count: 64))
        #expect(ProviderToken(WakeAPNsTests.token(iat: "1700000000.5"))?.issuedAt == noon)
    }

    @Test("A token whose iat is a text of digits is taken, and known for it")
    func textDate() throws {
        let token = try #require(ProviderToken(WakeAPNsTests.token(iat: "\"\(noon)\"")))
        #expect(token.issuedAt == noon && token.hasTextDate)
        #expect(ProviderToken(WakeAPNsTests.token())?.hasTextDate == false)
        var trust = ProviderTrust()
        #expect(throws: APNsReason.expiredProviderToken) {
            try admit(&trust, WakeAPNsTests.token(iat: "\"\(noon)\""), at: noon + 3_601)
        }
    }

    static let noTokens: [String] = [
        "", ".", "..", "a.b.c", "....", WakeAPNsTests.token(alg: "HS256"), WakeAPNsTests.token(alg: "none"),
        WakeAPNsTests.token(kid: "ABC123DEF"), WakeAPNsTests.token(kid: "ABC123DEFGH"),
        WakeAPNsTests.token(kid: "ABC 23DEFG"), WakeAPNsTests.token(iss: "short"), WakeAPNsTests.token(iat: "\"now\""),
        WakeAPNsTests.token(iat: "\"\""), WakeAPNsTests.token(iat: "\"1700000000.5\""),
        WakeAPNsTests.token(iat: "\"-1\""),
        WakeAPNsTests.token(iat: "\" 1700000000\""), WakeAPNsTests.token(iat: "\"9999999999999999\""),
        WakeAPNsTests.token(iat: "-1"), WakeAPNsTests.token(iat: "1e300"), WakeAPNsTests.token(iat: "null"),
        WakeAPNsTests.token(signature: [1, 2, 3]), WakeAPNsTests.token() + "=", WakeAPNsTests.token() + ".",
        WakeAPNsTests.token().replacing("_", with: "/") + "/",
        encoded(Array("[]".utf8)) + "." + encoded(Array("1".utf8)) + "." + encoded([UInt8](repeating: 0, count: 64)),
        String(repeating: "A", count: 5_000) + "." + WakeAPNsTests.token(),
    ]

    @Test("What is no token of that form is none", arguments: noTokens)
    func noToken(text: String) {
        #expect(ProviderToken(text) == nil)
    }

    @Test("A token that is cut anywhere is none")
    func cut() {
        let text = WakeAPNsTests.token()
        for count in 0..<text.count where count != text.count {
            #expect(ProviderToken(String(text.prefix(count))) == nil)
        }
    }

    private func admit(_ trust: inout ProviderTrust, _ token: String, at now: Int64 = noon) throws(APNsReason) {
        try trust.admit("Bearer " + token, at: now)
    }

    @Test("A token is good for an hour, and then it has expired")
    func hour() throws {
        var trust = ProviderTrust()
        #expect(!trust.isTrusted)
        try admit(&trust, WakeAPNsTests.token())
        #expect(trust.isTrusted)
        try admit(&trust, WakeAPNsTests.token(), at: noon + 3_600)
        #expect(throws: APNsReason.expiredProviderToken) { try admit(&trust, WakeAPNsTests.token(), at: noon + 3_601) }
    }

    @Test("A token may be changed once within 20 minutes, and not twice")
    func changes() throws {
        var trust = ProviderTrust()
        try admit(&trust, WakeAPNsTests.token())
        try admit(&trust, WakeAPNsTests.token(iat: "\(noon + 1)"), at: noon + 1)
        #expect(throws: APNsReason.tooManyProviderTokenUpdates) {
            try admit(&trust, WakeAPNsTests.token(iat: "\(noon + 2)"), at: noon + 1_200)
        }
        try admit(&trust, WakeAPNsTests.token(iat: "\(noon + 2)"), at: noon + 1_201)
    }

    @Test("A connection is one team's")
    func teams() throws {
        var trust = ProviderTrust()
        try admit(&trust, WakeAPNsTests.token())
        #expect(throws: APNsReason.invalidProviderToken) { try admit(&trust, WakeAPNsTests.token(iss: "KLM456NOPQ")) }
        try admit(&trust, WakeAPNsTests.token())
    }

    @Test("A token whose signature is wrong is refused, and is asked about once while it is right")
    func signatures() throws {
        var asked = 0
        var trust = ProviderTrust { token in
            asked += 1
            return token.keyID == "ABC123DEFG"
        }
        #expect(throws: APNsReason.invalidProviderToken) { try admit(&trust, WakeAPNsTests.token(kid: "OTHER12345")) }
        for _ in 0..<3 { try admit(&trust, WakeAPNsTests.token()) }
        #expect(asked == 2)
    }

    @Test("A signature is checked with the public key and with the private one, and another key refuses it")
    func keys() throws {
        let (first, other) = (try TestKey(), try TestKey())
        let text = try first.token()
        let token = try #require(ProviderToken(text))
        #expect(try ProviderKey(pem: first.publicPEM).isSigned(token))
        #expect(try ProviderKey(pem: first.privatePEM).isSigned(token))
        #expect(try !ProviderKey(pem: other.publicPEM).isSigned(token))
        let changed = try #require(
            ProviderToken(text.replacing(text.prefix(80), with: WakeAPNsTests.token().prefix(80)))
        )
        #expect(try ProviderKey(pem: first.publicPEM).isSigned(changed) == (changed.signed == token.signed))
        var scrambled = token
        scrambled.signature[7] ^= 1
        #expect(try !ProviderKey(pem: first.publicPEM).isSigned(scrambled))
        scrambled.signature = [UInt8](repeating: 0, count: 64)
        #expect(try !ProviderKey(pem: first.publicPEM).isSigned(scrambled))
    }

    @Test("What is no key of that kind is refused by name")
    func noKeys() throws {
        for text in ["none", ""] {
            let error = #expect(throws: TLSError.self) { try ProviderKey(pem: Array(text.utf8)) }
            // The reason is OpenSSL's, and differs from version to version.
            #expect(error?.call == "PEM_read_bio_PUBKEY")
        }
        let error = #expect(throws: TLSError.self) { try ProviderKey(pem: TestKey("secp384r1").publicPEM) }
        #expect(error?.description.contains("secp384r1; ES256 needs prime256v1") == true)
    }

    private func topic(_ certificate: ClientCertificate, _ topic: String?) throws(APNsReason) -> String {
        var trust = ProviderTrust(certificate: certificate)
        #expect(trust.isTrusted)
        let check = RequestCheck(request(["authorization": nil, "apns-topic": topic]), body: [1])
        return try check.notification(id: "", trust: &trust, at: noon).topic
    }

    @Test("A certificate is good for its topic, which need not be said, and for those that belong to it")
    func certificate() throws {
        let certificate = ClientCertificate(topic: "com.example.app", validity: 0...noon)
        #expect(try topic(certificate, nil) == "com.example.app")
        #expect(try topic(certificate, "com.example.app") == "com.example.app")
        #expect(try topic(certificate, "com.example.app.voip") == "com.example.app.voip")
        #expect(throws: APNsReason.topicDisallowed) { try topic(certificate, "com.example.app.other") }
        #expect(throws: APNsReason.topicDisallowed) { try topic(certificate, "com.example") }
        let many = ClientCertificate(topic: "com.example.app", hasManyTopics: true, validity: 0...noon)
        #expect(throws: APNsReason.missingTopic) { try topic(many, nil) }
    }

    @Test("A certificate that names no topic, or is not valid now, is bad")
    func badCertificate() {
        for certificate in [
            ClientCertificate(topic: nil, validity: 0...noon),
            ClientCertificate(topic: "com.example.app", validity: 0...(noon - 1)),
            ClientCertificate(topic: "com.example.app", validity: (noon + 1)...(noon + 2)),
        ] {
            #expect(throws: APNsReason.badCertificate) { try topic(certificate, "com.example.app") }
        }
    }
}
