import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// Accessories in memory that play the scripts of their device files in the time of the run.
///
/// Given the same devices, seed and calls it reports the same. A script begins anew with each session; while the app and the
/// buffers take nothing, a script whose link can wait stands still, and one whose link cannot is an overflow.
package final class SimulatedAccessories: AccessoryPort {
    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?
    /// Hears of each session that an accessory has sent something over.
    package var written: ((AccessorySession) -> Void)?

    var devices: [SimulatedAccessory]
    var sessions: [SimulatedSession] = []
    /// Sessions that are over: what arrived before still goes to the app.
    private var lingering: [Lingering] = []
    private let names: NameTable
    private let origin: NameID
    private(set) weak var loop: EventLoop?
    var lastConnection: AccessoryConnection = 0
    /// When time was last given.
    var now = Instant.zero
    private var isLooking = false
    /// Whether it was said once what is there.
    var hasConnected = false
    /// Whether the phone's radio is on, without which nothing comes over it.
    var isRadioOn: Bool

    private struct Lingering {
        let number: AccessorySession
        let socket: SessionSocket
        /// Its end is no end but an error: it waits until the app has heard of it, and closes the session.
        var isHeld: Bool
    }

    /// The most sessions that linger; the oldest is closed for one more.
    private static let lingeringLimit = 64
    /// What a flood sends at a time.
    private static let floodBlock = 4_096

    /// - Parameter isRadioOn: Whether the phone's radio is on at the start.
    package init(
        devices: [ScenarioDevice],
        names: NameTable,
        seed: UInt64,
        loop: EventLoop?,
        isRadioOn: Bool = true
    ) {
        self.isRadioOn = isRadioOn
        self.devices = devices.compactMap { device in
            device.accessory.map { SimulatedAccessory($0, named: device.name, names: names, seed: seed) }
        }
        self.names = names
        self.loop = loop
        origin = names.intern("simulated")
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        self.now = now
        for index in devices.indices {
            guard let first = devices[index].description.presence.first else { continue }
            devices[index].presenceDue = now.advanced(by: first.after)
        }
    }

    package func connect(at now: Instant) {
        for session in sessions { session.socket.close() }
        sessions.removeAll()
        for index in devices.indices {
            devices[index].connection = nil
            let isNew = devices[index].description.presence.first.map { !$0.attached } ?? true
            if devices[index].isPresent || !hasConnected && isNew { attach(index, origin, at: now) }
        }
        hasConnected = true
    }

    package func stop() {
        report = nil
        for session in sessions { session.socket.close() }
        for session in lingering { session.socket.close() }
        sessions.removeAll()
        lingering.removeAll()
    }

    package var accessories: [Accessory] {
        devices.compactMap { device in device.connection.map { device.description.accessory($0) } }
            .sorted { $0.connection < $1.connection }
    }

    package func perform(_ command: AccessoryCommand, at now: Instant) {
        self.now = max(self.now, now)
        switch command {
        case .open(let session, let connection, let name): open(session, connection, name, at: now)
        case .close(let number):
            if let place = lingering.firstIndex(where: { $0.number == number }) {
                lingering[place].isHeld = false
                look(at: now)
            }
            guard let place = sessions.firstIndex(where: { $0.number == number }) else { return }
            receive(sessions[place], at: now, toTheEnd: true)
            // What was received may have pulled the accessory.
            guard let place = sessions.firstIndex(where: { $0.number == number }) else { return }
            sessions.remove(at: place).socket.close()
        }
    }

    private func open(
        _ number: AccessorySession,
        _ connection: AccessoryConnection,
        _ name: NameID,
        at now: Instant
    ) {
        guard let index = devices.firstIndex(where: { $0.connection == connection }),
            let place = devices[index].protocolIDs.firstIndex(of: name),
            let socket = try? SessionSocket(limit: Self.sessionBuffer, loop: loop)
        else {
            let event = WakeEvent(
                kind: .accessorySessionOpened,
                local: number,
                failed: true,
                services: [name],
                origin: origin
            )
            report?(SourceReport(event, .accessoryFailure(.gone)))
            return
        }
        let session = add(number, index, place, socket)
        session.players[0].start(at: now)
        report?(SourceReport(event(.accessorySessionOpened, session)))
    }

    /// A session over a socket, whose script stands still as yet.
    func add(_ number: AccessorySession, _ index: Int, _ place: Int, _ socket: SessionSocket) -> SimulatedSession {
        socket.ready = { [unowned self] in look(at: self.now) }
        let description = devices[index].description.protocols[place]
        let session = SimulatedSession(number: number, device: index, place: place, of: description, socket: socket)
        sessions.append(session)
        return session
    }

    private func event(_ kind: EventKind, _ session: SimulatedSession, failed: Bool = false) -> WakeEvent {
        let device = devices[session.device]
        return WakeEvent(
            kind: kind,
            peripheral: device.nameID,
            local: session.number,
            subject: names.intern("\(device.name)/\(device.description.protocols[session.place].name)"),
            failed: failed,
            services: [device.protocolIDs[session.place]],
            origin: origin
        )
    }

    package func takeSession(_ number: AccessorySession) -> Int32? {
        sessions.first { $0.number == number }?.socket.take()
    }

    // MARK: Time

    package var nextDeadline: Instant? {
        let ofDevices: Instant? = devices.reduce(nil) { .earliest($0, $1.due) }
        return sessions.reduce(ofDevices) { next, session in
            guard devices[session.device].faults.stalledUntil == nil else { return next }
            return .earliest(next, .earliest(session.due, session.pace.nextRoom))
        }
    }

    package func timeReached(_ now: Instant) {
        while let next = nextDeadline, next <= now {
            self.now = max(self.now, next)
            for index in devices.indices { deviceDue(index, at: next) }
            for session in sessions where session.socket.isOpen {
                if let room = session.pace.nextRoom, room <= next { receive(session, at: next) }
                if session.socket.isOpen { play(session, until: next) }
            }
        }
        self.now = max(self.now, now)
    }

    private func deviceDue(_ index: Int, at now: Instant) {
        if let until = devices[index].faults.stalledUntil, until <= now {
            devices[index].faults.stalledUntil = nil
            // What was due meanwhile is sent now.
            for session in sessions where session.device == index {
                for player in session.players.indices {
                    if let due = session.players[player].due { session.players[player].due = max(due, now) }
                }
                receive(session, at: now)
            }
        }
        if let back = devices[index].backAt, back <= now {
            devices[index].backAt = nil
            attach(index, origin, at: now)
        }
        guard let due = devices[index].presenceDue, due <= now else { return }
        let presence = devices[index].description.presence
        if presence[devices[index].nextPresence].attached {
            attach(index, origin, at: now)
        } else {
            detach(index, origin, at: now)
        }
        devices[index].nextPresence += 1
        let next = devices[index].nextPresence
        devices[index].presenceDue = next < presence.count ? due.advanced(by: presence[next].after) : nil
    }

    // MARK: Coming and going

    func attach(_ index: Int, _ origin: NameID, at now: Instant) {
        devices[index].isPresent = true
        devices[index].backAt = nil
        join(index, origin)
    }

    func detach(_ index: Int, _ origin: NameID, at now: Instant) {
        devices[index].isPresent = false
        part(index, origin)
    }

    /// The radio goes off, and what comes over it with it; what is in range then is there again when it goes on.
    func setRadio(_ isOn: Bool) {
        isRadioOn = isOn
        for index in devices.indices where devices[index].description.transport.needsRadio {
            if isOn { join(index, origin) } else { part(index, origin) }
        }
    }

    /// It connects, where it is present and nothing else is missing.
    private func join(_ index: Int, _ origin: NameID) {
        guard devices[index].connection == nil, devices[index].isPresent,
            isRadioOn || !devices[index].description.transport.needsRadio
        else { return }
        lastConnection += 1
        devices[index].connection = lastConnection
        tell(.accessoryConnected, index, lastConnection, origin)
    }

    private func part(_ index: Int, _ origin: NameID) {
        guard let connection = devices[index].connection else { return }
        devices[index].connection = nil
        devices[index].faults = SimulatedAccessory.Faults()
        for session in sessions where session.device == index { linger(session, isHeld: false) }
        sessions.removeAll { $0.device == index }
        tell(.accessoryDisconnected, index, connection, origin)
    }

    private func tell(_ kind: EventKind, _ index: Int, _ connection: AccessoryConnection, _ origin: NameID) {
        let accessory = devices[index].description.accessory(connection)
        report?(.presence(kind, of: accessory, named: devices[index].name, names: names, origin: origin))
    }

    private func linger(_ session: SimulatedSession, isHeld: Bool) {
        session.socket.flush()
        guard isHeld || session.socket.isHoldingBytes else {
            session.socket.close()
            return
        }
        if lingering.count >= Self.lingeringLimit { lingering.removeFirst().socket.close() }
        lingering.append(Lingering(number: session.number, socket: session.socket, isHeld: isHeld))
    }

    // MARK: Bytes

    /// Sends the values that are due, as long as there is room.
    private func play(_ session: SimulatedSession, until now: Instant) {
        guard devices[session.device].faults.stalledUntil == nil else { return }
        for player in session.players.indices {
            while session.backlog.isEmpty, session.socket.isOpen, let due = session.players[player].due, due <= now {
                guard let value = session.players[player].timetable.take(&session.players[player].position) else {
                    session.players[player].due = nil
                    break
                }
                let pause = session.players[player].timetable.pause(before: session.players[player].position)
                session.players[player].due = pause.map { now.advanced(by: $0) }
                send(value, over: session, at: now)
            }
        }
    }

    /// A value of the accessory goes to the app; a fault may change it, or pull the accessory after it.
    func send(_ value: [UInt8], over session: SimulatedSession, at now: Instant) {
        let index = session.device
        let garbage = devices[index].faults.garbage
        if garbage > 0 {
            devices[index].faults.garbage = 0
            push(devices[index].random.bytes(garbage), over: session)
        }
        push(value, over: session)
        guard let left = devices[index].faults.valuesBeforeUnplug else { return }
        devices[index].faults.valuesBeforeUnplug = left - 1
        if left <= 1 { pull(index, at: now) }
    }

    private func push(_ value: [UInt8], over session: SimulatedSession) {
        guard session.socket.isOpen, !session.socket.isAppGone else { return }
        let bytes = session.framed(value)
        let taken = session.backlog.isEmpty ? session.socket.offer(bytes[...]) : 0
        if taken > 0 { written?(session.number) }
        guard taken < bytes.count, !session.socket.isAppGone else { return }
        if session.link.canWait {
            session.backlog.append(bytes[taken...])
        } else {
            overflow(session)
        }
    }

    /// The link cannot wait and the buffer is full: bytes are lost, and the session with them (EA-5).
    private func overflow(_ session: SimulatedSession) {
        sessions.removeAll { $0 === session }
        linger(session, isHeld: true)
        report?(SourceReport(event(.accessorySessionEnded, session, failed: true), .accessoryFailure(.overflow)))
    }

    /// A fault pulls the accessory, and may bring it back.
    func pull(_ index: Int, at now: Instant) {
        let back = devices[index].faults.backAfter
        detach(index, origin, at: now)
        devices[index].backAt = back.map { now.advanced(by: $0) }
    }

    package func look(at now: Instant) {
        self.now = max(self.now, now)
        guard !isLooking, !sessions.isEmpty || !lingering.isEmpty else { return }
        isLooking = true
        for session in sessions where session.socket.isOpen {
            if session.socket.flush() { written?(session.number) }
            pushBacklog(session)
            flood(session)
            receive(session, at: self.now)
            if session.socket.isOpen { play(session, until: self.now) }
        }
        for session in lingering {
            let socket = session.socket
            // What a session has that is over is of no use to anybody.
            while socket.receive(atMost: 65_536) != nil {}
            var isChanged = socket.flush()
            if socket.isAppGone || !session.isHeld && !socket.isHoldingBytes {
                socket.close()
                isChanged = true
            }
            if isChanged { written?(session.number) }
        }
        lingering.removeAll { !$0.socket.isOpen }
        isLooking = false
    }

    /// Sends what had no room; once it is gone the script goes on.
    private func pushBacklog(_ session: SimulatedSession) {
        while !session.backlog.isEmpty {
            let taken = session.socket.offer(session.backlog.prefix(65_536))
            guard taken > 0 else { return }
            session.backlog.removeFirst(taken)
            written?(session.number)
        }
    }

    /// Sends of a flood what there is room for, or all at once where the link cannot wait.
    private func flood(_ session: SimulatedSession) {
        while session.socket.isOpen, session.backlog.isEmpty, devices[session.device].faults.flood > 0 {
            let count = min(Self.floodBlock, devices[session.device].faults.flood)
            guard !session.link.canWait || session.socket.room >= count, !session.socket.isAppGone else { return }
            devices[session.device].faults.flood -= count
            push(devices[session.device].random.bytes(count), over: session)
            if !sessions.contains(where: { $0 === session }) { return }
        }
    }

    /// Takes what the app has written, as fast as the link carries it, or all of it when the app ends the session.
    private func receive(_ session: SimulatedSession, at now: Instant, toTheEnd: Bool = false) {
        let index = session.device
        let isStalled = devices[index].faults.stalledUntil != nil
        session.socket.wantsBytes = !isStalled
        guard !isStalled else { return }
        // What an app writes without end is read a little in each turn.
        for _ in 0..<64 {
            let left = devices[index].faults.bytesBeforeUnplug
            let room = toTheEnd ? 65_536 : session.pace.room(at: now)
            // An echo that has no room holds the app's writes.
            guard !session.script.echo || session.backlog.isEmpty,
                let bytes = session.socket.receive(atMost: min(left ?? 65_536, room))
            else { break }
            session.pace.took(bytes.count, at: now)
            session.arrived(bytes, at: now)
            if session.script.echo { push(bytes, over: session) }
            guard let left else { continue }
            devices[index].faults.bytesBeforeUnplug = left - bytes.count
            if left <= bytes.count {
                pull(index, at: now)
                return
            }
        }
        session.socket.wantsBytes =
            session.pace.room(at: now) > 0 && (!session.script.echo || session.backlog.isEmpty)
    }
}
