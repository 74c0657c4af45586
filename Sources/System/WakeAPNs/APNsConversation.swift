import WakeSystem

/// What is said on one connection to the server, without the connection: bytes in, bytes out, and when it waits no longer.
package final class APNsConversation {
    private let desk: APNsDesk
    private let session: HTTP2Session
    private var trust: ProviderTrust
    /// The client, where it may not push.
    private let stranger: Stranger?
    private var hasAllStreams: Bool
    private var isLeaving = false
    /// Whether requests are being heard: the caller has the answers that come meanwhile sent.
    private var isHearing = false
    /// An answer came later than its request, and is to be sent.
    package var answeredLater: () -> Void = {}
    private let begunAt: Int64
    /// When something last happened that keeps a connection.
    private var activeAt: Int64

    /// - Parameters:
    ///   - certificate: the one that the client showed.
    ///   - stranger: the client, where it may not push: each request is refused.
    ///   - now: nanoseconds, here and elsewhere on a clock that does not jump.
    package init(
        _ desk: APNsDesk,
        certificate: ClientCertificate? = nil,
        stranger: Stranger? = nil,
        at now: Int64
    ) {
        self.desk = desk
        self.stranger = stranger
        let key = desk.key
        trust = ProviderTrust(certificate: certificate, isSigned: key.map { key in { key.isSigned($0) } })
        let untrusted = trust.isTrusted ? nil : desk.limits.untrustedStreams
        hasAllStreams = untrusted == nil
        session = HTTP2Session(streams: UInt32(untrusted ?? desk.limits.streams))
        begunAt = now
        activeAt = now
    }

    /// Bytes came from the client: requests that are whole by them are answered.
    package func receive(_ bytes: Span<UInt8>, at now: Int64) {
        session.receive(bytes, at: now)
        answerRequests(at: now)
    }

    /// Appends bytes for the client until there are so many, or no more.
    package func takeOutput(into output: inout [UInt8], upTo limit: Int) {
        while output.count < limit, session.takeOutput(into: &output) {}
    }

    /// Nothing more is to be said once the output is taken.
    package var isOver: Bool { session.isOver }

    /// Whether the client speaks HTTP/2.
    var hasBegun: Bool { session.hasBegun }

    /// Tells the client that the server ends: requests that it has begun are answered with it, and it begins no more.
    package func shutDown() { leave(.shutdown) }

    private func leave(_ reason: APNsReason) {
        guard !isLeaving else { return }
        isLeaving = true
        session.goAway(APNsDesk.body(reason))
    }

    private func answerRequests(at now: Int64) {
        isHearing = true
        defer { isHearing = false }
        for request in session.takeRequests() {
            activeAt = now
            answer(request)
        }
        if trust.isTrusted, !hasAllStreams {
            hasAllStreams = true
            session.allow(streams: UInt32(desk.limits.streams))
        }
    }

    private func answer(_ request: HTTP2Session.Request) {
        let check = RequestCheck(request.head, body: request.body)
        let id = check.id(desk.makeID)
        let stream = request.stream
        if let stranger { return refuse(stranger, id, on: stream) }
        if request.isLate { return say(.refused(.idleTimeout), id, on: stream) }
        if isLeaving { return say(.refused(.shutdown), id, on: stream) }
        do throws(APNsReason) {
            let push = try check.notification(id: id, trust: &trust, at: desk.clock())
            if trust.token?.hasTextDate == true { desk.textDateTaken() }
            desk.answer(push) { [weak self] in self?.say($0, id, on: stream) }
        } catch { say(.refused(error), id, on: stream) }
    }

    /// A peer with another uid is answered with the reason, and nothing else.
    private func refuse(_ stranger: Stranger, _ id: String, on stream: Int32) {
        desk.counts.requests += 1
        let body = APNsDesk.body(.forbidden, message: desk.peers.refusal(of: stranger))
        let fields = [RequestHead.Field("apns-id", id)]
        session.answer(stream, status: APNsReason.forbidden.status, fields: fields, body: body)
        leave(.forbidden)
        desk.strangerRefused(stranger)
    }

    private func say(_ answer: APNsAnswer, _ id: String, on stream: Int32) {
        desk.counts.requests += 1
        let identifier = [RequestHead.Field("apns-id", id)]
        switch answer {
        case .accepted:
            desk.counts.accepted += 1
            session.answer(stream, status: 200, fields: identifier, body: [])
        case .refused(let reason, let timestamp):
            let body = APNsDesk.body(reason, timestamp: timestamp)
            session.answer(stream, status: reason.status, fields: identifier, body: body)
        }
        if !isHearing { answeredLater() }
    }

    // MARK: Time

    /// When ``timeReached(_:)`` has something to do.
    package var nextDeadline: Int64? {
        if isOver { return nil }
        if !session.hasBegun { return begunAt + desk.limits.beginning.nanoseconds }
        if let oldest = session.oldest { return oldest + desk.limits.request.nanoseconds }
        if session.isBusy || isLeaving { return nil }
        return activeAt + desk.limits.idle.nanoseconds
    }

    /// Ends what was waited for too long.
    ///
    /// - Returns: false when the connection is to be closed without a word.
    package func timeReached(_ now: Int64) -> Bool {
        guard let deadline = nextDeadline, deadline <= now else { return true }
        guard session.hasBegun else { return false }
        if session.oldest != nil {
            session.endRequests(begunBy: now - desk.limits.request.nanoseconds)
            answerRequests(at: now)
        } else {
            leave(.idleTimeout)
        }
        return true
    }
}

extension Duration {
    /// In whole nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
