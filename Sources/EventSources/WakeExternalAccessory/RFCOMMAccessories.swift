import Glibc
import WakeBlueZ
import WakeBus
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// Accessories over Bluetooth's RFCOMM, through BlueZ's profiles.
///
/// An accessory of the scenario is looked for until it is found, and is there while the channel of its first protocol is open, as
/// with Apple's own protocol. A session of that protocol takes the channel over; those of others have a channel each. After a
/// session the channel is opened anew, and meanwhile the accessory counts as there.
package final class RFCOMMAccessories: AccessoryPort {
    /// How long a channel may take that a session waits for, or that is opened anew, in milliseconds.
    package static let usualPatience: Int64 = 20_000

    package let backend = "rfcomm"
    package var report: ((SourceReport) -> Void)? {
        get { reports.report }
        set { reports.report = newValue }
    }

    private let places: [RFCOMMPlace]
    private let others: [String]
    private let names: NameTable
    private let origin: NameID
    private let loop: EventLoop
    private let choice: BlueZAdapterChoice
    private let bus: BusAddress
    private let patience: Int64
    private let adapter: BlueZAdapter
    private let isAdapterShared: Bool
    private let profiles: BlueZProfiles
    private let sessions: LinkedSessions
    private let reports: ReportQueue
    private var isTelling = false
    private var there = PlacesThere<RFCOMMPlace>()

    /// The accessories among the devices of a scenario, which must be on Bluetooth.
    ///
    /// - Parameter adapter: one that another source follows already; nil for one of its own.
    /// - Parameter patience: how long a channel may take that a session waits for, in milliseconds.
    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(
        devices: [ScenarioDevice],
        names: NameTable,
        loop: EventLoop,
        choice: BlueZAdapterChoice = .any,
        bus: BusAddress = .system,
        beside adapter: BlueZAdapter? = nil,
        patience: Int64 = RFCOMMAccessories.usualPatience
    ) throws(SystemError) {
        self.names = names
        self.loop = loop
        self.choice = choice
        self.bus = bus
        self.patience = patience
        origin = names.intern("rfcomm")
        self.adapter = adapter ?? BlueZAdapter(choice, bus: bus, on: loop)
        isAdapterShared = adapter != nil
        profiles = BlueZProfiles(on: self.adapter)
        places = devices.compactMap { device in
            if case .accessory(let description) = device.form {
                RFCOMMPlace(name: device.name, description)
            } else {
                nil
            }
        }
        others = devices.compactMap { device in
            guard case .accessory(let description) = device.form, description.addressText == nil else { return nil }
            return device.name
        }
        sessions = LinkedSessions(names: names, origin: "rfcomm", loop: loop, bound: Self.sessionBuffer)
        reports = try ReportQueue(loop: loop)
        for place in places {
            place.absence = try loop.timer(on: .monotonic) { [weak self, weak place] in
                if let place { self?.leave(place) }
            }
        }
        sessions.answer = { [reports] in reports.later($0) }
        sessions.report = { [reports] in reports.tell($0) }
        sessions.linkEnded = { [weak self] in self?.linkEnded($1, $2) ?? false }
        profiles.heard = { [weak self] in self?.hear($0) }
    }

    /// The same with the address of an adapter; nil for any.
    package convenience init(
        devices: [ScenarioDevice],
        names: NameTable,
        loop: EventLoop,
        adapterAddress address: String?,
        beside adapter: BlueZAdapter?
    ) throws(SystemError) {
        let choice = address.map { BlueZAdapterChoice.address($0) } ?? .any
        try self.init(devices: devices, names: names, loop: loop, choice: choice, beside: adapter)
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        if let other = others.first {
            throw SourceFailure(
                .unsupported,
                "accessory=rfcomm: \(other) is not on Bluetooth; use accessory=udev or accessory=simulated"
            )
        }
        for place in places where Set(place.profiles).count < place.profiles.count {
            throw SourceFailure(
                .unsupported,
                "accessory=rfcomm: \(place.name) has two protocols on one service; give each its own UUID"
            )
        }
        do throws(BusError) {
            if !isAdapterShared { _ = try BlueZAdapter.probe(choice, bus: bus) }
            try follow()
        } catch {
            throw SourceFailure(.environment, "accessory=rfcomm: \(error.message)")
        }
    }

    /// Goes on from an adapter that is known to be there and on.
    func follow() throws(BusError) {
        if !isAdapterShared { try adapter.start() }
        for place in places {
            // Whoever names an accessory in a scenario has agreed to it.
            adapter.pairings[place.device] = .justWorks
            for profile in place.profiles { profiles.use(profile) }
            profiles.want(place.device, profile: place.profiles[0])
        }
    }

    package func connect(at now: Instant) {
        isTelling = true
        for place in there.places { forget(place) }
        for place in places where place.carrier != nil { join(place) }
    }

    package func perform(_ command: AccessoryCommand, at now: Instant) {
        switch command {
        case .open(let number, let connection, let protocolName): open(number, connection, names.text(protocolName))
        case .close(let number): close(number)
        }
    }

    package var accessories: [Accessory] { there.accessories }
    package func takeSession(_ number: AccessorySession) -> Int32? { sessions.take(number) }
    package func lookAtSessions(at now: Instant) { sessions.look() }
    package var nextDeadline: Instant? { nil }
    package func timeReached(_ now: Instant) {}

    package func stop() {
        reports.stop()
        sessions.stop()
        for place in places {
            place.carrier = nil
            place.waiting.removeAll()
            place.absence?.cancel()
        }
        profiles.stop()
        if !isAdapterShared { adapter.stop() }
    }

    // MARK: Channels

    private func hear(_ event: BlueZProfileEvent) {
        switch event {
        case .connected(let device, let profile, let descriptor):
            let link = SocketLink(owning: descriptor)
            guard let place = places.first(where: { $0.device == device }),
                let index = place.profiles.firstIndex(of: profile)
            else { return link.close() }
            opened(link, place, index)
        case .failed: break
        case .closing(let device, _):
            if let place = places.first(where: { $0.device == device }) { leave(place) }
        case .refused(let profile, let error):
            for place in places where place.profiles.contains(profile) { refuse(place, error) }
        }
    }

    private func opened(_ link: SocketLink, _ place: RFCOMMPlace, _ index: Int) {
        if let waiting = place.stopWaiting(for: index) {
            if index == 0 { place.absence?.disarm() }
            place.open.insert(waiting.number)
            sessions.open(waiting.number, waiting.subject, over: link)
        } else if index == 0 {
            place.absence?.disarm()
            place.carrier = link
            // The end of an idle channel is the accessory's going.
            place.carrierWatch = try? loop.watch(link.number, for: .peerClosed) { [weak self, weak place] _ in
                if let place { self?.leave(place) }
            }
            if isTelling, place.connection == nil { join(place) }
        } else {
            link.close()
        }
    }

    /// Another program has the profile, so that nothing will be heard of the accessory.
    private func refuse(_ place: RFCOMMPlace, _ error: BusError) {
        for waiting in place.waiting {
            let failure = AccessoryFailure(code: EBUSY, message: "Another program has the profile: \(error.message).")
            sessions.refuse(waiting.number, waiting.subject, failure)
        }
        place.waiting.removeAll()
    }

    private func join(_ place: RFCOMMPlace) {
        reports.tell(event(.accessoryConnected, place, there.join(place)))
    }

    /// The accessory has gone, and is looked for again.
    private func leave(_ place: RFCOMMPlace) {
        if let connection = place.connection { reports.tell(event(.accessoryDisconnected, place, connection)) }
        place.carrier = nil
        forget(place)
        profiles.want(place.device, profile: place.profiles[0])
    }

    private func forget(_ place: RFCOMMPlace) {
        place.absence?.disarm()
        for waiting in place.waiting { sessions.refuse(waiting.number, waiting.subject, .gone) }
        place.waiting.removeAll()
        place.open.removeAll()
        for profile in place.profiles.dropFirst() { profiles.giveUp(place.device, profile: profile) }
        guard let connection = place.connection else { return }
        there.leave(place)
        sessions.accessoryLeft(connection)
    }

    private func event(_ kind: EventKind, _ place: RFCOMMPlace, _ connection: AccessoryConnection) -> SourceReport {
        .presence(kind, of: place.description.accessory(connection), named: place.name, names: names, origin: origin)
    }

    // MARK: Sessions

    private func open(_ number: AccessorySession, _ connection: AccessoryConnection, _ word: String) {
        let subject = there.subject(connection, word)
        guard let place = there[connection],
            let index = place.description.protocols.firstIndex(where: { $0.name == word })
        else {
            return sessions.refuse(number, subject, .gone)
        }
        sessions.cutShort(subject)
        if index == 0, let carrier = place.takeCarrier() {
            place.open.insert(number)
            return sessions.open(number, subject, over: carrier)
        }
        let timer = try? loop.timer(on: .monotonic) { [weak self, weak place] in
            guard let self, let place, place.stopWaiting(for: index) != nil else { return }
            let failure = AccessoryFailure(code: ETIMEDOUT, message: "The accessory does not answer.")
            sessions.refuse(number, subject, failure)
        }
        timer?.arm(at: MonotonicClock.now() + patience * 1_000_000)
        place.waiting.append(RFCOMMPlace.Waiting(number: number, subject: subject, index: index, timer: timer))
        profiles.want(place.device, profile: place.profiles[index])
    }

    private func close(_ number: AccessorySession) {
        sessions.close(number)
        guard let place = there.places.first(where: { $0.isConcerned(with: number) }) else { return }
        place.waiting.removeAll { $0.number == number }
        place.open.remove(number)
        reopenCarrier(place)
    }

    /// The channel whose being open means that the accessory is there is opened anew after a session.
    private func reopenCarrier(_ place: RFCOMMPlace) {
        guard place.carrier == nil, !place.waiting.contains(where: { $0.index == 0 }) else { return }
        profiles.want(place.device, profile: place.profiles[0])
        place.absence?.arm(at: MonotonicClock.now() + patience * 1_000_000)
    }

    /// The last channel that ends takes the accessory along; one of several ends its session alone.
    private func linkEnded(_ subject: LinkedSessions.Subject, _ end: LinkedSessions.End) -> Bool {
        guard end == .gone, let place = there[subject.connection] else {
            return end == .gone
        }
        if place.open.count + (place.carrier == nil ? 0 : 1) > 1 { return false }
        leave(place)
        return true
    }
}
