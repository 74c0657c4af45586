import WakeJournal
import WakeModel
import WakePorts
import WakeRouter

/// Going on after a crash.
extension Bench {
    /// The names that the journal holds already.
    package func adoptNames(_ count: Int) {
        ledger.adoptNames(count)
    }

    /// From now on inputs come from a journal, until ``goOn(unacknowledged:events:origin:)``.
    package func beginReplay() { replaying = true }

    /// Takes an input that was accepted before the bench died through the router again. `radio` hears the commands that
    /// follow from it, when it can be brought back to where it was.
    package func replay(
        _ journaled: JournaledInput,
        radio: (any BluetoothCentralPort)?,
        peripheralRole: (any BluetoothPeripheralPort)? = nil
    ) {
        replaying = true
        now = journaled.at
        sequence = journaled.sequence
        radio?.timeReached(now)
        for case let source? in [location, accessory, voip] as [(any SourcePort)?] where source.isSimulated {
            source.timeReached(now)
        }
        peripheralRole?.timeReached(now)
        if let accepted = unheard.firstIndex(where: { $0.became(journaled) }) { unheard.remove(at: accepted) }
        let item = InboxItem(
            input: journaled.input,
            payload: journaled.payload,
            origin: journaled.origin,
            id: number(of: journaled.input)
        )
        decide(item, radio: radio)
        if let last = output.decisions.last { replayed.lastDecision = last.id }
        // Nothing is appended while replaying, so nothing can fail.
        _ = try? collect(item)
        tellObservers(item)
        for item in pending { performAgain(item, radio, peripheralRole) }
        pending.removeAll(keepingCapacity: true)
    }

    /// A simulated end comes back to where it was; a real one is not told again.
    private func performAgain(
        _ item: Pending,
        _ radio: (any BluetoothCentralPort)?,
        _ peripheralRole: (any BluetoothPeripheralPort)?
    ) {
        switch item {
        case .action(.bluetooth(let command), _, _): radio?.perform(command, at: now)
        case .action(.peripheralRole(let command), _, _): peripheralRole?.perform(command, at: now)
        case .adapter(let on): peripheralRole?.setPower(on, at: now)
        case .action(.location(let command), _, _):
            if case .watchBeacons(let beacons) = command { radio?.watchBeacons(beacons, at: now) }
            if !isReal(location) { location?.perform(command, at: now) }
        case .action(.accessory(let command), _, _):
            if !isReal(accessory) { accessory?.perform(command, at: now) }
        case .action(.voip(let command), _, _):
            if !isReal(voip) { voip?.perform(command, at: now) }
        case .action: break
        }
    }

    /// The event number that an input took when it was accepted.
    private func number(of input: Input) -> EventID {
        switch input {
        case .event(let event), .overflowed(let event):
            lastEvent = max(lastEvent, event.id.number)
            return event.id
        case .phone, .install, .uninstall, .user, .setUp, .terminate, .benchRestarted:
            lastEvent += 1
            return EventID(lastEvent)
        case .timeReached, .request, .process, .redeliver: return .none
        }
    }

    /// Takes the place of all inputs up to a snapshot, when those are gone.
    package func restore(_ snapshot: JournaledSnapshot, profile: Profile) throws(EncodingFault) {
        var reader = ByteReader(snapshot.bytes, names: UInt32(names.count - 1))
        lastEvent = try reader.readUInt64()
        router = try Router(from: &reader, profile: profile)
        routerDeadline = router.nextDeadline ?? .distantFuture
        for app in apps.indices { apps[app].generation = router.generation(of: AppID(UInt32(app))) }
        now = snapshot.at
        sequence = snapshot.sequence
    }

    /// The bench is back: every process is gone, and what was on its way to one is decided again.
    package func goOn(unacknowledged: [Delivery], events: [EventID: (WakeEvent, EventPayload)], origin: NameID) {
        replaying = false
        ledger.endReplay()
        submit(.benchRestarted, origin: origin)
        for (app, id, decision) in undelivered(unacknowledged) {
            guard let (event, payload) = events[id] else { continue }
            enqueue(
                InboxItem(
                    input: .redeliver(app, event, supersedes: decision),
                    payload: payload,
                    origin: origin
                )
            )
        }
        let missed = unheard
        unheard.removeAll()
        for report in missed { submit(report) }
    }

    /// Deliveries that no process acknowledged, once for each app and event, in the order of acceptance.
    private func undelivered(_ unacknowledged: [Delivery]) -> [(AppID, EventID, DecisionID)] {
        var found: [(app: AppID, event: EventID, decision: DecisionID)] = []
        for delivery in unacknowledged {
            if let place = found.firstIndex(where: { $0.app == delivery.app && $0.event == delivery.event }) {
                found[place].decision = max(found[place].decision, delivery.decision)
            } else {
                found.append((delivery.app, delivery.event, delivery.decision))
            }
        }
        return found.sorted { ($0.event, $0.app) < ($1.event, $1.app) }
    }
}

/// What the inputs of a journal made when they were taken through the router again.
struct ReplayedCounts {
    var exits: Int64 = 0
    /// To apps that are processes.
    var deliveries: Int64 = 0
    var lastDecision = DecisionID.none
}

extension SourceReport {
    /// Whether it is what was accepted as an input.
    fileprivate func became(_ journaled: JournaledInput) -> Bool {
        guard let accepted = journaled.input.reported else { return false }
        return event.kind == accepted.kind && event.peripheral == accepted.peripheral
            && event.attribute == accepted.attribute && event.client == accepted.client
            && event.fix == accepted.fix && event.beacon == accepted.beacon
            && event.region == accepted.region && event.app == accepted.app
            && event.local == accepted.local && event.request == accepted.request
            && (payload == journaled.payload || journaled.payload == .none)
    }
}
