/// Whether the provider at the other end of a connection may push: by its certificate, or by the token of each request.
package struct ProviderTrust {
    /// How old a provider's token may be, in seconds: "APNs rejects any request whose token contains a timestamp that is
    /// more than one hour old".
    package static let tokenLifetime: Int64 = 3_600
    /// A token may be changed once in so many seconds: "no more than once every 20 minutes".
    package static let tokenChange: Int64 = 1_200

    /// The certificate that the client showed; then no token is looked at.
    package let certificate: ClientCertificate?
    private let isSigned: ((ProviderToken) -> Bool)?
    private var text = ""
    /// The token that was believed last.
    package private(set) var token: ProviderToken?
    private var changedAt: Int64?

    /// - Parameter isSigned: whether a token's signature is right; without it no signature is checked.
    package init(certificate: ClientCertificate? = nil, isSigned: ((ProviderToken) -> Bool)? = nil) {
        self.certificate = certificate
        self.isSigned = isSigned
    }

    /// Whether the provider has identified itself.
    package var isTrusted: Bool { certificate != nil || token != nil }

    /// A request came with this authorization.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: the reason of a refusal.
    mutating func admit(_ authorization: String?, at now: Int64) throws(APNsReason) {
        if let certificate {
            guard certificate.topic != nil, certificate.validity.contains(now) else { throw .badCertificate }
            return
        }
        guard let given = authorization.flatMap(Self.bearer) else { throw .missingProviderToken }
        if let token, given == text { return try Self.checkAge(of: token, at: now) }
        guard let new = ProviderToken(given) else { throw .invalidProviderToken }
        try Self.checkAge(of: new, at: now)
        guard isSigned?(new) ?? true else { throw .invalidProviderToken }
        if let token {
            // "APNs doesn't support authentication tokens from multiple developer accounts over a single connection."
            guard token.teamID == new.teamID else { throw .invalidProviderToken }
            if let changedAt, now - changedAt < Self.tokenChange { throw .tooManyProviderTokenUpdates }
            changedAt = now
        }
        text = given
        token = new
    }

    private static func checkAge(of token: ProviderToken, at now: Int64) throws(APNsReason) {
        guard token.issuedAt <= now else { throw .invalidProviderToken }
        guard now - token.issuedAt <= tokenLifetime else { throw .expiredProviderToken }
    }

    /// The token behind the word `bearer`, which may be in any case; nil for another scheme, or for none.
    private static func bearer(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}

/// What a provider's certificate says.
///
/// Its issuer is not checked: on the bench it may be signed by itself.
package struct ClientCertificate: Equatable, Sendable {
    /// The UID of its subject, or its common name, of which only what follows a colon counts:
    /// `Apple Push Services: com.example.app`. Nil when it has neither.
    package var topic: String?
    /// Whether Apple's extension with a list of topics is there, so that each request must name one.
    package var hasManyTopics: Bool
    /// Seconds since 1970.
    package var validity: ClosedRange<Int64>

    package init(topic: String?, hasManyTopics: Bool = false, validity: ClosedRange<Int64>) {
        self.topic = topic
        self.hasManyTopics = hasManyTopics
        self.validity = validity
    }

    /// Whether it is for the topic: the app's own, or one that belongs to it, such as `com.example.app.complication`.
    func covers(_ other: String) -> Bool {
        guard let topic else { return false }
        return other == topic
            || APNsPushType.allCases.contains { type in type.topicSuffix.map { other == topic + $0 } ?? false }
    }
}
