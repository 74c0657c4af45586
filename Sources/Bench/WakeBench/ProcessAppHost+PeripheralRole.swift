import WakeModel
import WakePorts
import WakeWire

/// The peripheral managers of real apps.
extension ProcessAppHost {
    /// A manager of the peripheral role was made.
    func noteManager(_ manager: ManagerNumber, of app: AppID) {
        processes[app]?.peripheralManagers.insert(manager)
    }

    func isPeripheralManager(_ manager: ManagerNumber, of app: AppID) -> Bool {
        processes[app]?.peripheralManagers.contains(manager) == true
    }

    /// Whether no app can be a peripheral on this radio.
    var isPeripheralMissing: Bool { surroundings?.view.peripheralInability != nil }

    /// How many bytes an update to a central may have.
    func updateLength(_ central: NameID) -> UInt16 {
        surroundings?.view.maximumUpdateLength(of: central) ?? 20
    }

    /// A request of a peripheral manager; creations and updates are replied to at once.
    func heard(_ request: WirePeripheralManagerRequest, manager: ManagerNumber, from app: AppID) {
        switch request {
        case .create(let id, _, _):
            noteManager(manager, of: app)
            if let inability = surroundings?.view.peripheralInability {
                surroundings?.note(.beside("its peripheral manager is unsupported: \(inability)"), of: app)
            }
            reply(id, WireReply(), to: app)
        case .updateValue(let id, _, _, let centrals):
            // An update for no central at all is taken, and nothing is sent.
            let isForNobody = centrals?.isEmpty == true
            let isTaken = isForNobody || takesUpdate(of: manager, app)
            reply(id, WireReply(taken: isTaken), to: app)
            if isForNobody || !isTaken { return }
        default: break
        }
        guard let asked = translation.peripheralManager(request) else {
            fault("names a central that was never seen", app)
            return
        }
        say(app, .request(.peripheralManager(manager, asked)))
    }

    /// Whether the queue of the peripheral end has room for one more update of a manager.
    private func takesUpdate(of manager: ManagerNumber, _ app: AppID) -> Bool {
        guard let surroundings else { return true }
        let (room, turn) = surroundings.view.updateRoom(of: app, manager: manager)
        return updatesAsked.take(app, manager, of: room, turn)
    }
}

/// The updates, or the write commands, that were taken in a turn of the bench, which hands them to the radio at its end.
struct AskedInTurn {
    private struct Key: Hashable {
        var app: AppID
        var manager: ManagerNumber
        var peripheral: NameID
    }

    private var turn: UInt64 = 0
    private var counts: [Key: Int] = [:]

    /// The room that is left beside those of the same turn.
    mutating func room(
        _ app: AppID,
        _ manager: ManagerNumber,
        _ peripheral: NameID = .none,
        of room: Int,
        _ turn: UInt64
    ) -> Int {
        if turn != self.turn {
            self.turn = turn
            counts.removeAll(keepingCapacity: true)
        }
        return max(0, room - counts[Key(app: app, manager: manager, peripheral: peripheral), default: 0])
    }

    /// Takes one when there is room for it.
    mutating func take(
        _ app: AppID,
        _ manager: ManagerNumber,
        _ peripheral: NameID = .none,
        of room: Int,
        _ turn: UInt64
    ) -> Bool {
        guard self.room(app, manager, peripheral, of: room, turn) > 0 else { return false }
        counts[Key(app: app, manager: manager, peripheral: peripheral), default: 0] += 1
        return true
    }
}
