import Glibc
import WakeModel
import WakePorts
import WakeSystem

/// The open sessions of a real end, and what is said of them.
final class LinkedSessions {
    /// Which session of what.
    struct Subject: Hashable {
        var connection: AccessoryConnection
        /// The accessory's name in the scenario.
        var accessory: String
        var protocolName: String
    }

    /// How a session ends other than by its app.
    enum End: Equatable {
        /// The link's other end has gone.
        case gone
        /// A link that cannot wait brought more than the buffer holds.
        case overflow
        /// The kernel refused to read or write.
        case failed(SystemError)
    }

    private final class Session {
        let number: AccessorySession
        let subject: Subject
        let pump: SessionPump
        /// Its app has closed it, and its last bytes go out.
        var isOver = false
        /// Its end is no end but an error: it waits until the app has heard of it, and closes the session.
        var isHeld = false
        /// Ends that in any case.
        var deadline: Timer?

        init(_ number: AccessorySession, _ subject: Subject, _ pump: SessionPump) {
            self.number = number
            self.subject = subject
            self.pump = pump
        }
    }

    /// The most sessions that are open or bring out their last bytes.
    static let limit = 1_024
    /// The most sessions that have no link any more and hold bytes for their app; the oldest is let go for one more.
    static let longestWake = 64
    /// How long the last bytes of a session may take to leave, in milliseconds.
    static let patience: Int64 = 2_000

    /// Where the answers to ``open(_:_:over:)`` and ``refuse(_:_:_:)`` go.
    var answer: ((SourceReport) -> Void)?
    /// Where ends go that nobody asked for.
    var report: ((SourceReport) -> Void)?
    /// The link of a session ended by itself, before anything is reported: the accessory may have gone. Returns whether the
    /// hearer takes it from here, by reporting the accessory's disconnection, or by ``reportEnd(_:_:)``.
    var linkEnded: ((AccessorySession, Subject, End) -> Bool)?

    private let names: NameTable
    private let origin: NameID
    private let loop: EventLoop
    private let bound: Int
    private var sessions: [Session] = []
    /// What still holds bytes for an app whose accessory has gone.
    private var lingering: [Session] = []

    init(names: NameTable, origin: NameID, loop: EventLoop, bound: Int) {
        self.names = names
        self.loop = loop
        self.bound = bound
        self.origin = origin
    }

    /// Opens a session over a link, and says so.
    func open(_ number: AccessorySession, _ subject: Subject, over link: any AccessoryLink) {
        do throws(SystemError) {
            guard sessions.count < Self.limit else {
                link.close()
                throw SystemError("open", code: EMFILE)
            }
            let pump = try SessionPump(link: link, limit: bound, loop: loop)
            pump.ended = { [weak self] in self?.ended(number, $0) }
            sessions.append(Session(number, subject, pump))
            answer?(event(.accessorySessionOpened, number, subject))
        } catch {
            refuse(number, subject, AccessoryFailure(error))
        }
    }

    /// Says that a session cannot be opened.
    func refuse(_ number: AccessorySession, _ subject: Subject, _ failure: AccessoryFailure) {
        answer?(event(.accessorySessionOpened, number, subject, failure))
    }

    private func event(
        _ kind: EventKind,
        _ number: AccessorySession,
        _ subject: Subject,
        _ failure: AccessoryFailure? = nil
    ) -> SourceReport {
        let event = WakeEvent(
            kind: kind,
            peripheral: names.intern(subject.accessory),
            local: number,
            subject: names.intern("\(subject.accessory)/\(subject.protocolName)"),
            failed: failure != nil,
            services: [names.intern(subject.protocolName)],
            origin: origin
        )
        return SourceReport(event, failure.map { .accessoryFailure($0) } ?? .none)
    }

    /// The app's end, which the caller closes; nil when there is none, or it was taken.
    func take(_ number: AccessorySession) -> Int32? {
        (sessions + lingering).first { $0.number == number }?.pump.socket.take()
    }

    /// Looks after what ends.
    func look() {
        for session in lingering
        where session.pump.socket.isAppGone || !session.isHeld && !session.pump.socket.isHoldingBytes {
            session.pump.close()
        }
        lingering.removeAll { !$0.pump.socket.isOpen }
    }

    /// The session is over for its app; its last bytes go out.
    func close(_ number: AccessorySession) {
        if let session = lingering.first(where: { $0.number == number }) {
            session.isHeld = false
            look()
        }
        guard let session = sessions.first(where: { $0.number == number }), !session.isOver else { return }
        session.isOver = true
        session.pump.finish { [weak self] in self?.sessions.removeAll { $0.number == number } }
        guard sessions.contains(where: { $0 === session }) else { return }
        let timer = try? loop.timer(on: .monotonic) { [weak self] in self?.drop(number) }
        timer?.arm(after: Self.patience)
        session.deadline = timer
    }

    private func drop(_ number: AccessorySession) {
        guard let index = sessions.firstIndex(where: { $0.number == number }) else { return }
        sessions.remove(at: index).pump.close()
    }

    /// Ends what still brings out its last bytes on a protocol, so that the next session can begin.
    func cutShort(_ subject: Subject) {
        let same = sessions.filter { session in
            session.isOver && session.subject.accessory == subject.accessory
                && session.subject.protocolName == subject.protocolName
        }
        for session in same { drop(session.number) }
    }

    /// Says that a session ended without its app.
    func reportEnd(_ number: AccessorySession, _ end: End) {
        guard let session = (sessions + lingering).first(where: { $0.number == number }), !session.isOver else {
            return
        }
        let failure: AccessoryFailure? =
            switch end {
            case .gone: nil
            case .overflow: .overflow
            case .failed(let error): AccessoryFailure(error)
            }
        report?(event(.accessorySessionEnded, number, session.subject, failure))
        session.isHeld = failure != nil
        linger(session)
    }

    private func ended(_ number: AccessorySession, _ why: SessionPump.End) {
        guard let session = sessions.first(where: { $0.number == number }) else { return }
        let end: End =
            switch why {
            case .overflow: .overflow
            case .linkClosed(nil): .gone
            case .linkClosed(let error?): error.meansGone ? .gone : .failed(error)
            }
        if linkEnded?(number, session.subject, end) != true { reportEnd(number, end) }
    }

    /// The accessory has gone: its sessions have no link any more. What has arrived goes on to their apps.
    func accessoryLeft(_ connection: AccessoryConnection) {
        for session in sessions where session.subject.connection == connection {
            session.pump.unlink()
            linger(session)
        }
    }

    private func linger(_ session: Session) {
        sessions.removeAll { $0 === session }
        if session.isOver || !session.isHeld && !session.pump.socket.isHoldingBytes { return session.pump.close() }
        if lingering.count >= Self.longestWake { lingering.removeFirst().pump.close() }
        lingering.append(session)
    }

    /// Ends all.
    func stop() {
        answer = nil
        report = nil
        for session in sessions + lingering { session.pump.close() }
        sessions.removeAll()
        lingering.removeAll()
    }
}

extension AccessoryFailure {
    init(_ error: SystemError) { self.init(code: error.code, message: "\(error).") }
}
