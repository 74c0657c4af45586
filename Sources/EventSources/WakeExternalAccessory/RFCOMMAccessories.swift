import CBluetooth
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
package final class RFCOMMAccessories: LinkedAccessories<RFCOMMPlace> {
    /// How long a channel may take that a session waits for, or that is opened anew, in milliseconds.
    package static let usualPatience: Int64 = 20_000

    private let others: [String]
    private let patience: Int64
    private let adapter: BlueZAdapter
    private let isAdapterShared: Bool
    private let profiles: BlueZProfiles

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
        self.patience = patience
        self.adapter = adapter ?? BlueZAdapter(choice, bus: bus, on: loop)
        isAdapterShared = adapter != nil
        profiles = BlueZProfiles(on: self.adapter)
        let found = devices.compactMap { device in device.accessory.map { (device.name, $0) } }
        let places = found.compactMap { RFCOMMPlace(name: $0.0, $0.1) }
        others = found.filter { $0.1.addressText == nil }.map(\.0)
        try super.init("rfcomm", places, names: names, loop: loop)
        for place in places {
            place.absence = try loop.timer(on: .monotonic) { [weak self, weak place] in
                if let place { self?.leave(place) }
            }
        }
        profiles.heard = { [weak self] in self?.hear($0) }
    }

    /// Why the kernel has no RFCOMM; nil when it has.
    static var missing: String? {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = socket(AF_BLUETOOTH, kind, BTPROTO_RFCOMM)
        guard socket >= 0 else { return SystemError(last: "socket").reason }
        Glibc.close(socket)
        return nil
    }

    // MARK: The port

    package override func start(at now: Instant) throws(SourceFailure) {
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
            if !isAdapterShared { try adapter.probe() }
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

    package override func stop() {
        super.stop()
        for place in places {
            place.carrier = nil
            place.waiting.removeAll()
            place.absence?.cancel()
        }
        profiles.stop()
        if !isAdapterShared { adapter.stop() }
    }

    override func isReachable(_ place: RFCOMMPlace) -> Bool { place.carrier != nil }

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
            found(place)
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

    /// The accessory has gone, and is looked for again.
    override func leave(_ place: RFCOMMPlace) {
        place.carrier = nil
        super.leave(place)
        profiles.want(place.device, profile: place.profiles[0])
    }

    override func forget(_ place: RFCOMMPlace) {
        place.absence?.disarm()
        for waiting in place.waiting { sessions.refuse(waiting.number, waiting.subject, .gone) }
        place.waiting.removeAll()
        place.open.removeAll()
        for profile in place.profiles.dropFirst() { profiles.giveUp(place.device, profile: profile) }
        super.forget(place)
    }

    // MARK: Sessions

    override func open(
        _ number: AccessorySession,
        _ subject: LinkedSessions.Subject,
        _ index: Int,
        of place: RFCOMMPlace
    ) {
        if index == 0, let carrier = place.carrier.take() {
            place.open.insert(number)
            return sessions.open(number, subject, over: carrier)
        }
        let timer = try? loop.timer(on: .monotonic) { [weak self, weak place] in
            guard let self, let place, place.stopWaiting(for: index) != nil else { return }
            let failure = AccessoryFailure(code: ETIMEDOUT, message: "The accessory does not answer.")
            sessions.refuse(number, subject, failure)
        }
        timer?.arm(after: patience)
        place.waiting.append(RFCOMMPlace.Waiting(number: number, subject: subject, index: index, timer: timer))
        profiles.want(place.device, profile: place.profiles[index])
    }

    override func close(_ number: AccessorySession) {
        super.close(number)
        guard let place = there.first(where: { $0.isConcerned(with: number) }) else { return }
        place.waiting.removeAll { $0.number == number }
        place.open.remove(number)
        reopenCarrier(place)
    }

    /// The channel whose being open means that the accessory is there is opened anew after a session.
    private func reopenCarrier(_ place: RFCOMMPlace) {
        guard place.carrier == nil, !place.waiting.contains(where: { $0.index == 0 }) else { return }
        profiles.want(place.device, profile: place.profiles[0])
        place.absence?.arm(after: patience)
    }

    /// The last channel that ends takes the accessory along; one of several ends its session alone.
    override func linkEnded(
        _ number: AccessorySession,
        _ subject: LinkedSessions.Subject,
        _ end: LinkedSessions.End
    ) -> Bool {
        guard end == .gone, let place = self[subject.connection] else { return end == .gone }
        if place.open.count + (place.carrier == nil ? 0 : 1) > 1 { return false }
        leave(place)
        return true
    }
}
