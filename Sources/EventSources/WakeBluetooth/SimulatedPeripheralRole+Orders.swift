import WakeDevices
import WakeModel
import WakePorts

/// What centrals are told to do at once, beside their scripts.
///
/// An order goes before the next step of the script. It interrupts a pause, a search and a wait for values, whose ends stay when
/// they were; one of them that passes meanwhile comes with the end of the order. A connect looks for as long as it takes.
extension SimulatedPeripheralRole {
    /// So many orders of a central wait at most.
    static let orderLimit = 64

    /// Whether a central has something to carry out that ends by itself; a search may never.
    package var isCarryingOutOrders: Bool {
        centrals.contains { central in
            guard central.interruption != nil || !central.orders.isEmpty else { return false }
            if case .searching = central.activity { return false }
            return true
        }
    }

    /// Centrals do something as soon as nothing of their scripts is on its way; a connect on a link that is up is nothing.
    ///
    /// - Throws: ``SourceFailure`` when one of them cannot; then none does.
    package func simulate(
        _ orders: [(device: String, action: BluetoothCentral.Action)],
        at now: Instant
    ) throws(SourceFailure) {
        var given: [(index: Int, action: BluetoothCentral.Action)] = []
        for (device, action) in orders {
            let index = try known(device)
            guard centrals[index].phone == nil else {
                throw SourceFailure(.unsupported, "\(device) is a phone: its own apps decide what it does")
            }
            guard action.isConnect || centrals[index].isUp || centrals[index].isToConnect else {
                throw SourceFailure(.wrongState, "\(device) has no link: connect it first")
            }
            let waiting = centrals[index].orders.count + given.count { $0.index == index }
            guard waiting < Self.orderLimit else {
                throw SourceFailure(
                    .wrongState,
                    "\(Self.orderLimit) orders wait for \(device): let it carry them out, or disconnect it"
                )
            }
            given.append((index, action))
        }
        for (index, action) in given {
            centrals[index].orders.append(action)
            takeOrder(index, at: now)
        }
    }

    /// Begins the next order, where nothing is on its way.
    func takeOrder(_ index: Int, at now: Instant) {
        guard centrals[index].canTakeOrder, !centrals[index].orders.isEmpty else { return }
        let order = centrals[index].orders.removeFirst()
        centrals[index].interruption = .init(order: order, script: centrals[index].activity)
        begin(index, at: now)
    }

    /// The order is over: the next one follows, or the script goes on.
    func finishOrder(_ index: Int, at now: Instant) {
        resumeScript(index, at: now)
        takeOrder(index, at: now)
        // What it waits for may have come meanwhile.
        look(index, at: now)
        lookForValues(index, at: now)
    }

    /// The link is gone: what was to be done over it is left out, up to the next connect.
    func leaveOutOrders(_ index: Int, at now: Instant) {
        let begun = centrals[index].interruption == nil ? 0 : 1
        resumeScript(index, at: now)
        let kept = Array(centrals[index].orders.drop { !$0.isConnect })
        tellLeftOut(begun + centrals[index].orders.count - kept.count, index, at: now)
        centrals[index].orders = kept
    }

    /// All orders are void, and with them what one is looking for.
    func dropOrders(_ index: Int, at now: Instant) {
        let begun = centrals[index].interruption != nil && !centrals[index].isUp ? 1 : 0
        tellLeftOut(begun + centrals[index].orders.count, index, at: now)
        centrals[index].orders.removeAll()
        guard begun > 0 else { return }
        sayGivenUp(index, at: now)
        finishOrder(index, at: now)
    }

    private func tellLeftOut(_ count: Int, _ index: Int, at now: Instant) {
        if let line = leftOut(count, index) { missed?(line, now) }
    }

    /// What is said of so many orders that a central does not carry out; nil for none.
    func leftOut(_ count: Int, _ index: Int) -> String? {
        guard count > 0 else { return nil }
        let (steps, are) = count == 1 ? ("step", "is") : ("steps", "are")
        return "\(centrals[index].name): \(count) \(steps) that it had not carried out \(are) void"
    }

    private func resumeScript(_ index: Int, at now: Instant) {
        guard let interruption = centrals[index].interruption else { return }
        centrals[index].interruption = nil
        switch interruption.script {
        case .pausing(let until): centrals[index].activity = .pausing(until: max(now, until))
        case .searching where centrals[index].isUp:
            centrals[index].step += 1
            centrals[index].activity = .pausing(until: now)
        case .searching(let until): centrals[index].activity = .searching(until: max(now, until))
        case .awaitingValues(let uuid, let count, let until):
            centrals[index].activity = .awaitingValues(uuid, count: count, until: max(now, until))
        case .done, .connecting, .asking, .awaitingAnswer, .hearing, .exchanging:
            centrals[index].activity = interruption.script
        }
    }
}
