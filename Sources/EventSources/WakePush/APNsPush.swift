import WakeAPNs
import WakeModel
import WakePorts
import WakeSystem

/// Pushes of true providers: an endpoint on this machine that speaks APNs' HTTP/2 over TLS. The service extensions of scripted apps are
/// played.
package final class APNsPush: PushPort {
    package let backend = "apns"
    package var report: ((SourceReport) -> Void)? {
        get { played.report }
        set { played.report = newValue }
    }

    /// Says in the records that somebody else's push was refused, or that a provider's token was taken that is not as it should be.
    package var note: (String) -> Void = { _ in }

    /// What takes the pushes, and plays the extensions.
    package let played: SimulatedPush
    private let names: NameTable
    private let loop: EventLoop
    private let port: UInt16
    private let folder: String
    private var server: APNsServer?
    /// Answers to pushes that are on their way to the router, by the number that the desk gave them.
    private var waiting: [UInt32: (APNsAnswer) -> Void] = [:]
    /// Pushes that the router has had, and what is answered once that survives the bench.
    private var heard: [(number: UInt32, answer: APNsAnswer)] = []

    /// - Parameters:
    ///   - port: 0 for one of the kernel's choice.
    ///   - folder: where the files are by which clients know the endpoint; made there where they are not.
    package init(playing played: SimulatedPush, names: NameTable, loop: EventLoop, port: UInt16, folder: String) {
        self.played = played
        self.names = names
        self.loop = loop
        self.port = port
        self.folder = folder
    }

    /// Listens on 127.0.0.1 and ::1.
    ///
    /// - Throws: ``SourceFailure`` of kind environment when the port is taken, or the files cannot be made.
    package func start(at now: Instant) throws(SourceFailure) {
        let desk = APNsDesk(
            clock: { WallClock.now() / 1_000_000_000 },
            makeID: Self.identifier,
            answer: { [unowned self] in answer($0, $1) }
        )
        // Once a user.
        var peers = PeerCheck()
        desk.strangerRefused = { [unowned self] in
            if let line = peers.line(refusing: "APNs: a push", of: $0) { note(line) }
        }
        // Once a run.
        var isTold = false
        desk.textDateTaken = { [unowned self] in
            if !isTold { note(Self.textDate) }
            isTold = true
        }
        let identity: TLSIdentity
        do { identity = try TLSIdentity(in: folder, at: WallClock.now() / 1_000_000_000) } catch {
            throw SourceFailure(.environment, "\(folder): the certificates of APNs' endpoint cannot be made: \(error)")
        }
        do {
            server = try APNsServer(desk, security: .tls(identity), port: port, on: loop)
        } catch {
            throw SourceFailure(.environment, "APNs' endpoint cannot listen on port \(port): \(error)")
        }
    }

    private static let textDate =
        "APNs: the iat of a provider's token is text, and is taken; by RFC 7519 it is a number, and Apple may refuse the token"

    /// How providers reach it, in a line; nil before it listens.
    package var address: String? {
        server.map { "pushes are taken at https://localhost:\($0.port); clients trust \(folder)/apns-authority.pem" }
    }

    package func stop() {
        for number in waiting.keys.sorted() { waiting[number]?(.refused(.shutdown)) }
        waiting.removeAll()
        server?.close()
    }

    // MARK: Pushes

    /// A push that is accepted is answered once it survives the bench: its provider sends it to nobody else.
    private func answer(_ push: PushNotification, _ reply: @escaping (APNsAnswer) -> Void) {
        let message = PushMessage(
            token: Self.bytes(push.deviceToken),
            topic: push.topic,
            type: push.pushType?.rawValue,
            priority: push.priority,
            expiration: push.expiration,
            collapseID: push.collapseID,
            payload: push.payload
        )
        let (answer, report) = played.desk.receive(message, origin: names.intern(backend), at: .zero)
        switch answer {
        case .accepted: if let report { waiting[report.event.local] = reply }
        case .refused(let refusal):
            let reason = APNsReason(rawValue: refusal.rawValue) ?? .internalServerError
            // The phone never knew the app to be registered, so the answer's own time is as good as any.
            reply(.refused(reason, timestamp: reason == .unregistered ? WallClock.now() / 1_000_000 : nil))
        }
        if let report { self.report?(report) }
    }

    /// The router has had an event, which survives the bench with the next ``committed()``.
    ///
    /// - Parameter isLost: there was no room for it, and no app gets it.
    package func heard(_ event: WakeEvent, isLost: Bool) {
        guard !waiting.isEmpty, event.kind.source == .push, waiting[event.local] != nil else { return }
        heard.append((event.local, isLost ? .refused(.serviceUnavailable) : .accepted))
    }

    /// All that was heard of survives the bench: providers are told.
    package func committed() {
        for (number, answer) in heard { waiting.removeValue(forKey: number)?(answer) }
        heard.removeAll(keepingCapacity: true)
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8($0 < 58 ? $0 &- 48 : $0 &- 87) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// A random UUID of version 4, in its canonical form.
    private static func identifier() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = DeviceToken.text(bytes)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    // MARK: The port

    package func perform(_ command: PushCommand, at now: Instant) { played.perform(command, at: now) }
    package var nextDeadline: Instant? { played.nextDeadline }
    package func timeReached(_ now: Instant) { played.timeReached(now) }
}
