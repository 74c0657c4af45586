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

    private struct Session {
        var number: AccessorySession
        var subject: Subject
        var pump: SessionPump
        /// The app's end until it is taken; -1 after.
        var appEnd: Int32
        /// The app's side of it is over; it brings out its last bytes.
        var isOver = false
    }

    /// The most sessions that are open or bring out their last bytes.
    static let limit = 1_024

    var report: ((SourceReport) -> Void)?
    /// The link of a session ended by itself, before anything is reported: the accessory may have gone. Returns whether the
    /// hearer takes it from here, by reporting the accessory's disconnection, or by ``reportEnd(_:_:)``.
    var linkEnded: ((AccessorySession, Subject, SessionPump.End) -> Bool)?

    let names: NameTable
    let origin: NameID
    private let loop: EventLoop
    private let bound: Int
    private var sessions: [Session] = []

    init(names: NameTable, origin: String, loop: EventLoop, bound: Int) {
        self.names = names
        self.loop = loop
        self.bound = bound
        self.origin = names.intern(origin)
    }

    /// Opens a session over a link, and says so.
    func open(_ number: AccessorySession, _ subject: Subject, over link: any AccessoryLink) {
        do throws(SystemError) {
            guard sessions.count < Self.limit else { throw SystemError("open", code: EMFILE) }
            let (appEnd, ours) = try streamPair()
            let pump: SessionPump
            do throws(SystemError) {
                pump = try SessionPump(link, socket: ours, loop: loop, limit: bound)
            } catch {
                Glibc.close(appEnd)
                throw error
            }
            pump.ended = { [weak self] in self?.ended(number, $0) }
            pump.finished = { [weak self] in self?.finished(number) }
            sessions.append(Session(number: number, subject: subject, pump: pump, appEnd: appEnd))
            report?(event(.accessorySessionOpened, number, subject))
        } catch {
            link.drop()
            refuse(number, subject, AccessoryFailure(error))
        }
    }

    /// Says that a session cannot be opened.
    func refuse(_ number: AccessorySession, _ subject: Subject, _ failure: AccessoryFailure) {
        report?(event(.accessorySessionOpened, number, subject, failure))
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
        guard let index = sessions.firstIndex(where: { $0.number == number }), sessions[index].appEnd >= 0 else {
            return nil
        }
        defer { sessions[index].appEnd = -1 }
        return sessions[index].appEnd
    }

    /// The session is over for its app; its last bytes go out.
    func close(_ number: AccessorySession) {
        guard let index = sessions.firstIndex(where: { $0.number == number }) else { return }
        sessions[index].isOver = true
        closeAppEnd(index)
        sessions[index].pump.close()
    }

    /// Ends what still brings out its last bytes on a protocol, so that the next session can begin.
    func cutShort(_ subject: Subject) {
        for session in sessions
        where session.isOver && session.subject.accessory == subject.accessory
            && session.subject.protocolName == subject.protocolName
        {
            session.pump.drop()
        }
    }

    /// Whether a session of a connection is open.
    func hasSession(of connection: AccessoryConnection) -> Bool {
        sessions.contains { $0.subject.connection == connection && !$0.isOver }
    }

    /// Says that a session ended without its app.
    func reportEnd(_ number: AccessorySession, _ end: SessionPump.End) {
        guard let session = sessions.first(where: { $0.number == number }), !session.isOver else { return }
        let failure: AccessoryFailure? =
            switch end {
            case .gone: nil
            case .overflow: .overflow
            case .failed(let error): AccessoryFailure(error)
            }
        report?(event(.accessorySessionEnded, number, session.subject, failure))
    }

    private func ended(_ number: AccessorySession, _ end: SessionPump.End) {
        guard let session = sessions.first(where: { $0.number == number }) else { return }
        if linkEnded?(number, session.subject, end) != true { reportEnd(number, end) }
    }

    /// The accessory has gone: its sessions have no link any more. What has arrived goes on to their apps.
    func accessoryLeft(_ connection: AccessoryConnection) {
        for session in sessions where session.subject.connection == connection { session.pump.linkLeft() }
    }

    private func finished(_ number: AccessorySession) {
        guard let index = sessions.firstIndex(where: { $0.number == number }) else { return }
        closeAppEnd(index)
        sessions.remove(at: index)
    }

    private func closeAppEnd(_ index: Int) {
        if sessions[index].appEnd >= 0 { Glibc.close(sessions[index].appEnd) }
        sessions[index].appEnd = -1
    }

    /// Ends all.
    func stop() {
        report = nil
        for session in sessions { session.pump.drop() }
        sessions.removeAll()
    }
}

extension AccessoryFailure {
    init(_ error: SystemError) { self.init(code: error.code, message: "\(error).") }
}
