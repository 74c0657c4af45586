import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// Where an accessory of the scenario is looked for on this machine.
package protocol AccessoryPlace: AnyObject {
    /// In the scenario.
    var name: String { get }
    var description: ExternalAccessory { get }
    /// The number under which it is known; nil while it is not there.
    var connection: AccessoryConnection? { get set }
}

/// The accessories behind links of this machine: which of the scenario's are there, and the sessions with them.
///
/// What is reported from inside a call waits until that is over, if it is the call's answer.
package class LinkedAccessories<Place: AccessoryPlace>: AccessoryPort {
    package let backend: String
    package var report: ((SourceReport) -> Void)?

    let places: [Place]
    let names: NameTable
    let loop: EventLoop
    let sessions: LinkedSessions
    private let origin: NameID
    private let later: Afterwards
    /// Whether the bench wants to know what is there.
    private(set) var isTelling = false
    /// The places whose accessory is there, in order of connection.
    private(set) var there: [Place] = []
    private var lastConnection: AccessoryConnection = 0

    init(_ backend: String, _ places: [Place], names: NameTable, loop: EventLoop) throws(SystemError) {
        self.backend = backend
        self.places = places
        self.names = names
        self.loop = loop
        origin = names.intern(backend)
        sessions = LinkedSessions(names: names, origin: origin, loop: loop, bound: Self.sessionBuffer)
        later = try Afterwards(loop)
        sessions.answer = { [unowned self] told in later.add { [weak self] in self?.report?(told) } }
        sessions.report = { [unowned self] in tell($0) }
        sessions.linkEnded = { [unowned self] in linkEnded($0, $1, $2) }
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {}

    package func stop() {
        report = nil
        later.stop()
        sessions.stop()
    }

    package func connect(at now: Instant) {
        isTelling = true
        for place in there { forget(place) }
        for place in places where isReachable(place) { join(place) }
    }

    package func perform(_ command: AccessoryCommand, at now: Instant) {
        switch command {
        case .open(let number, let connection, let protocolName):
            let subject = LinkedSessions.Subject(
                connection: connection,
                accessory: self[connection]?.name ?? "",
                protocolName: names.text(protocolName)
            )
            guard let place = self[connection],
                let index = place.description.protocols.firstIndex(where: { $0.name == subject.protocolName })
            else { return sessions.refuse(number, subject, .gone) }
            sessions.cutShort(subject)
            open(number, subject, index, of: place)
        case .close(let number): close(number)
        }
    }

    package var accessories: [Accessory] {
        there.compactMap { place in place.connection.map { place.description.accessory($0) } }
    }

    package func takeSession(_ number: AccessorySession) -> Int32? { sessions.take(number) }

    package func look(at now: Instant) { sessions.look() }

    // MARK: What each kind of link does

    /// Whether what an accessory needs to count as there is there.
    func isReachable(_ place: Place) -> Bool { false }

    /// Opens a session with a protocol, by its position, of an accessory that is there.
    func open(_ number: AccessorySession, _ subject: LinkedSessions.Subject, _ index: Int, of place: Place) {}

    /// A session is over for its app.
    func close(_ number: AccessorySession) { sessions.close(number) }

    /// See ``LinkedSessions/linkEnded``.
    func linkEnded(
        _ number: AccessorySession,
        _ subject: LinkedSessions.Subject,
        _ end: LinkedSessions.End
    ) -> Bool { false }

    // MARK: Coming and going

    /// The place with a connection; nil when its accessory has gone.
    subscript(connection: AccessoryConnection) -> Place? { there.first { $0.connection == connection } }

    /// What makes up an accessory is there: it came, if the bench wants to know and does not yet.
    func found(_ place: Place) {
        if isTelling, isReachable(place), place.connection == nil { join(place) }
    }

    private func join(_ place: Place) {
        lastConnection += 1
        place.connection = lastConnection
        there.append(place)
        tell(.accessoryConnected, place, lastConnection)
    }

    /// It has gone.
    func leave(_ place: Place) {
        if let connection = place.connection { tell(.accessoryDisconnected, place, connection) }
        forget(place)
    }

    /// Ends what belongs to its connection, silently.
    func forget(_ place: Place) {
        guard let connection = place.connection else { return }
        place.connection = nil
        there.removeAll { $0 === place }
        sessions.accessoryLeft(connection)
    }

    private func tell(_ kind: EventKind, _ place: Place, _ connection: AccessoryConnection) {
        let accessory = place.description.accessory(connection)
        tell(.presence(kind, of: accessory, named: place.name, names: names, origin: origin))
    }

    /// Tells now, after what was to be told before.
    private func tell(_ told: SourceReport) {
        later.carryOut()
        report?(told)
    }
}
