import WakeJSON

/// What is kept of one transfer, and what is decided by it: no file and no connection is touched here.
package struct TransferRecord: Hashable, Sendable {
    package enum State: String, Sendable {
        /// Submitted, and never started. Valid transitions to: `active`, `over`.
        case waiting
        /// Under way, or about to be tried again. Valid transitions to: `paused`, `challenged`, `over`.
        case active
        /// Valid transitions to: `active`, `over`.
        case paused
        /// Waits for the answer to a challenge. Valid transitions to: `active`, `paused`, `over`.
        case challenged
        /// Its last report was made.
        case over
    }

    /// The response whose body is in the transfer's file, whole or in part.
    package struct Representation: Hashable, Sendable {
        package var status: Int
        package var headers: [HeaderField]
        package var url: String
        /// The size of the whole body; nil where the server does not say.
        package var length: Int64?
    }

    /// A credential, and for whom it is.
    package struct Authorization: Hashable, Sendable {
        package var credential: TransferCredential
        package var origin: Origin
        /// What the server has asked for.
        package var scheme: TransferChallenge.Scheme
    }

    /// A challenge, and the report that told it.
    package struct Question: Hashable, Sendable {
        package var report: UInt64
        package var challenge: TransferChallenge
        /// The URL that was asked for, for whose origin the credential will be.
        package var url: String
    }

    package let request: TransferRequest
    package internal(set) var state = State.waiting
    /// When it fails, in nanoseconds since 1970; nil before the first start.
    package internal(set) var deadline: Int64?
    package internal(set) var representation: Representation?
    /// Where the redirects that were told led to, in order.
    package internal(set) var hops: [String] = []
    package internal(set) var authorization: Authorization?
    /// Credentials that were refused.
    package internal(set) var refusals = 0
    /// Whether a response 401 finishes the transfer.
    package internal(set) var takesUnauthorized = false
    /// The challenge that waits for an answer, and the report that told it.
    package internal(set) var challenge: Question?
    /// Whether the file is kept for a successor after the last report.
    package internal(set) var keepsBytes = false
    /// Those that are not acknowledged, oldest first.
    package internal(set) var reports: [TransferReport] = []
    var lastReport: UInt64 = 0

    package init(_ request: TransferRequest, resuming predecessor: TransferRecord? = nil) {
        self.request = request
        representation = predecessor?.representation
    }

    /// Whether an interrupted body can go on where it stopped: a download in full, of which the server said how to tell that
    /// it is still the same, and did not say that it gives no parts.
    package var canResume: Bool {
        guard request.upload == nil, request.method == "GET", request.headers.value(of: "range") == nil,
            let representation, representation.status == 200, validator != nil
        else { return false }
        return representation.headers.value(of: "accept-ranges")?.lowercased() != "none"
    }

    /// A strong entity tag or a date of modification: what If-Range may say (RFC 9110 section 13.1.5).
    private var validator: String? {
        guard let headers = representation?.headers else { return nil }
        if let tag = headers.value(of: "etag"), tag.hasPrefix("\"") { return tag }
        return headers.value(of: "last-modified")
    }

    private mutating func tell(_ kind: TransferReport.Kind) {
        lastReport += 1
        reports.append(TransferReport(transfer: request.number, number: lastReport, kind: kind))
    }
}

// What a bench wants.
extension TransferRecord {
    /// - Parameter now: nanoseconds since 1970.
    /// - Throws: ``TransferError`` of the kind `notNow` when it is over.
    package mutating func start(at now: Int64) throws(TransferError) {
        switch state {
        case .waiting, .paused:
            state = .active
            deadline = deadline ?? now + request.resourceTimeout * 1_000_000
        case .active, .challenged: break
        case .over: throw TransferError(.notNow, "transfer \(request.number) is over")
        }
    }

    /// - Throws: ``TransferError`` of the kind `notNow` when it is over.
    package mutating func pause() throws(TransferError) {
        switch state {
        case .active, .challenged:
            state = .paused
            // The server asks again.
            leaveChallenge()
        case .waiting, .paused: break
        case .over: throw TransferError(.notNow, "transfer \(request.number) is over")
        }
    }

    /// Harmless when it is over.
    package mutating func cancel(keepingBytes: Bool, bytesThere: Int64) {
        guard state != .over else { return }
        fail(.cancelled, "cancelled", keepsBytes: keepingBytes && canResume && bytesThere > 0)
    }

    /// Harmless when the challenge is none that waits: an answer may be said again.
    package mutating func answer(report: UInt64, _ answer: TransferAnswer) {
        guard state == .challenged, let question = challenge, question.report == report else { return }
        leaveChallenge()
        state = .active
        switch answer {
        case .useCredential(let credential):
            guard let origin = Origin(question.url) else { return }
            authorization = Authorization(credential: credential, origin: origin, scheme: question.challenge.scheme)
        case .performDefaultHandling:
            authorization = nil
            takesUnauthorized = true
        case .cancel: fail(.cancelled, "its challenge was cancelled", keepsBytes: false)
        }
    }

    private mutating func leaveChallenge() {
        guard let question = challenge else { return }
        reports.removeAll { $0.number == question.report }
        challenge = nil
    }

    package mutating func acknowledge(report: UInt64) { reports.removeAll { $0.number == report } }

    /// Whether nobody needs the record any more: it is over, and all of its reports are acknowledged.
    package var isForgotten: Bool { state == .over && reports.isEmpty && !keepsBytes }

    /// The bytes of a transfer that is over are not wanted.
    ///
    /// - Throws: ``TransferError`` of the kind `notNow` before it is over.
    package mutating func discard() throws(TransferError) {
        guard state == .over else { throw TransferError(.notNow, "transfer \(request.number) is not over") }
        keepsBytes = false
    }
}

/// One HTTP request of a transfer.
package struct RequestPlan: Hashable, Sendable {
    package var url: String
    package var method: String
    package var headers: [HeaderField]
    package var authorization: TransferRecord.Authorization?
    package var sendsFile: Bool
    /// The first byte that is asked for.
    package var offset: Int64
    /// How many redirects led here.
    package var hop: Int
}

// What happens on the way.
extension TransferRecord {
    /// What an attempt begins with.
    ///
    /// - Parameter bytesThere: the size of the transfer's file.
    /// - Returns: nil when the whole body is there already.
    package func plan(bytesThere: Int64) -> RequestPlan? {
        let goesOn = canResume && bytesThere > 0
        if goesOn, representation?.length == bytesThere { return nil }
        var headers = request.headers
        if goesOn, let validator {
            headers.append(HeaderField("Range", "bytes=\(bytesThere)-"))
            headers.append(HeaderField("If-Range", validator))
        }
        return RequestPlan(
            url: request.url,
            method: request.method,
            headers: headers,
            authorization: authorization(for: request.url),
            sendsFile: request.upload != nil,
            offset: goesOn ? bytesThere : 0,
            hop: 0
        )
    }

    private func authorization(for url: String) -> Authorization? {
        authorization?.origin == Origin(url) ? authorization : nil
    }

    /// A server sends the client elsewhere (RFC 9110 section 15.4).
    ///
    /// - Returns: the request that follows.
    /// - Throws: the failure of the transfer when it may not be followed.
    package mutating func redirected(
        _ plan: RequestPlan,
        status: Int,
        to url: String
    ) throws(TransferFailure) -> RequestPlan {
        guard plan.hop < TransferBounds.mostRedirects else { throw .httpTooManyRedirects }
        do throws(TransferError) { try TransferRequest(number: request.number, url: url).check() } catch {
            throw error.kind == .unsupportedURL ? .unsupportedURL : .badURL
        }
        // Each attempt takes the same way again.
        if !hops.indices.contains(plan.hop) || hops[plan.hop] != url {
            hops = hops.prefix(plan.hop) + [url]
            reports.removeAll { if case .redirected = $0.kind { true } else { false } }
            tell(.redirected(status: status, url: url))
        }
        var next = plan
        (next.url, next.hop) = (url, plan.hop + 1)
        if status == 303 && plan.method != "HEAD" || (status == 301 || status == 302) && plan.method == "POST" {
            (next.method, next.sendsFile) = ("GET", false)
            next.headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        if Origin(url) != Origin(plan.url) {
            next.headers.removeAll { ["authorization", "cookie"].contains($0.name.lowercased()) }
        }
        next.authorization = authorization(for: url)
        return next
    }

    /// What to do with a response.
    package enum Reception: Hashable, Sendable {
        /// Its body is written from this byte of the file on, where the file ends.
        case keep(from: Int64)
        /// Its body is of no use; when it is over the redirect is followed.
        case redirect
        /// Its body is of no use; when it is over the challenge is told.
        case challenge(TransferChallenge)
        /// The file is of no use: all is asked for anew.
        case beginAnew
        /// Its body is of no use: what is there is better, and is gone on from later.
        case tryLater
    }

    /// The header of a response has come.
    package mutating func responded(_ plan: RequestPlan, status: Int, headers: [HeaderField]) -> Reception {
        switch status {
        case 301, 302, 303, 307, 308:
            if headers.redirectTarget != nil { return .redirect }
        case 401:
            if !takesUnauthorized, let challenge = challenge(plan, headers) { return .challenge(challenge) }
        case 206 where plan.offset > 0:
            let range = ContentRange(headers.value(of: "content-range") ?? "")
            let isSame = range?.whole == nil || representation?.length == nil || range?.whole == representation?.length
            guard let range, range.first == plan.offset, isSame else { return .beginAnew }
            if let whole = range.whole { representation?.length = whole }
            return .keep(from: plan.offset)
        case 416 where plan.offset > 0: return .beginAnew
        case 408 where plan.offset > 0, 429 where plan.offset > 0, 500... where plan.offset > 0: return .tryLater
        default: break
        }
        let hasBody = plan.method != "HEAD" && status != 204 && status != 304
        representation = Representation(
            status: status,
            headers: headers,
            url: plan.url,
            length: hasBody
                ? headers.value(of: "content-length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil } : nil
        )
        return .keep(from: 0)
    }

    /// What is in the file is no beginning of what the server has.
    package mutating func beginAnew() { representation = nil }

    private func challenge(_ plan: RequestPlan, _ headers: [HeaderField]) -> TransferChallenge? {
        guard let origin = Origin(plan.url) else { return nil }
        let offers = headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
        let isRefused = plan.authorization != nil
        for scheme in [TransferChallenge.Scheme.digest, .basic] {
            guard let realm = offers.lazy.compactMap({ Self.realm(scheme, in: $0) }).first else { continue }
            return TransferChallenge(
                scheme: scheme,
                realm: realm,
                host: origin.host,
                port: origin.port,
                failures: refusals + (isRefused ? 1 : 0)
            )
        }
        return nil
    }

    /// The realm of a scheme in a field WWW-Authenticate (RFC 9110 section 11.6.1); nil where the scheme is not offered.
    private static func realm(_ scheme: TransferChallenge.Scheme, in offer: String) -> String? {
        let lower = offer.lowercased()
        var rest = lower[...]
        while let found = rest.firstRange(of: scheme.rawValue) {
            let before = lower[..<found.lowerBound].last { $0 != " " }
            let after = lower[found.upperBound...].first
            rest = lower[found.upperBound...]
            guard before == nil || before == ",", after == nil || after == " " else { continue }
            guard let mark = rest.firstRange(of: "realm=\"") else { return "" }
            // Lower case may have another length, so the place is counted in the text itself.
            let quoted = offer.dropFirst(lower.distance(from: lower.startIndex, to: mark.upperBound))
            return String(quoted.prefix { $0 != "\"" })
        }
        return nil
    }

    /// The server wants a credential, or another one.
    package mutating func challenged(_ plan: RequestPlan, _ challenge: TransferChallenge) {
        refusals = challenge.failures
        authorization = nil
        state = .challenged
        tell(.challenged(challenge))
        self.challenge = Question(report: lastReport, challenge: challenge, url: plan.url)
    }

    /// Bytes came or went: the latest replaces what waits.
    package mutating func progressed(received: Int64, sent: Int64, toSend: Int64?) {
        reports.removeAll { if case .progress = $0.kind { true } else { false } }
        let toReceive = representation?.length
        tell(.progress(TransferProgress(received: received, toReceive: toReceive, sent: sent, toSend: toSend)))
    }

    /// The response is whole.
    ///
    /// - Parameters:
    ///   - file: the name of the file with its body, which has so many bytes.
    ///   - sent: how many bytes of the upload left.
    package mutating func finish(file: String, bytes: Int64, sent: Int64) {
        guard let representation else { preconditionFailure("finish() of \(request.number) without a response") }
        reports.removeAll { if case .progress = $0.kind { true } else { false } }
        state = .over
        let response = TransferResponse(
            status: representation.status,
            headers: representation.headers,
            url: representation.url,
            file: file,
            bytes: bytes,
            sent: sent
        )
        tell(.finished(response))
    }

    /// It is not tried again.
    package mutating func fail(_ code: TransferFailure, _ message: String, keepsBytes: Bool) {
        reports.removeAll { if case .progress = $0.kind { true } else { false } }
        leaveChallenge()
        state = .over
        self.keepsBytes = keepsBytes
        let cut = String(decoding: message.utf8.prefix(TransferBounds.longestMessage), as: UTF8.self)
        tell(.failed(code, message: cut, canResume: keepsBytes))
    }
}

/// A field Content-Range: `bytes 100-199/200` (RFC 9110 section 14.4).
struct ContentRange {
    var first: Int64
    var whole: Int64?

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes",
            let dash = parts[1].firstIndex(of: "-"), let slash = parts[1].firstIndex(of: "/"), dash < slash,
            let first = Int64(parts[1][..<dash]), first >= 0
        else { return nil }
        self.first = first
        whole = Int64(parts[1][parts[1].index(after: slash)...])
    }
}

extension TransferFailure: Error {}
