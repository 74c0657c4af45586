import WakeModel
import WakePorts
import WakeReports
import WakeWire

/// What the bench tells real apps.
extension ProcessAppHost {
    func callback(_ callback: LifecycleCallback, state: AppState, to app: AppID, at now: Instant) {
        send(to: app, owing: .callback(callback), named: callback.word, decision: .none) { number in
            .callback(delivery: number, WireTranslation.callback(callback), state: WireTranslation.appState(state))
        }
    }

    func expireTasks(_ tokens: [UInt64], of app: AppID, at now: Instant) {
        send(to: app, owing: .callback(.taskExpiration), named: "expirationHandler", decision: .none) { number in
            .callback(delivery: number, .taskExpiration(tokens: tokens), state: .background)
        }
    }

    func tell(_ notice: AppNotice, to app: AppID, at now: Instant) {
        for area in Areas.rows { area.tell(notice, to: app, through: self) }
    }

    func deliver(_ delivery: AppDelivery, to app: AppID, at now: Instant) {
        let area = Areas.row(of: delivery.event.kind.source)
        guard let told = area.told(delivery, to: app, through: self) else { return noteUntellable(delivery, to: app) }
        var value: [UInt8]?
        if case .value(let bytes) = delivery.payload { value = bytes }
        send(
            to: app,
            owing: .event(delivery.event.id, delivery.decision),
            named: told.callback,
            value: value,
            decision: delivery.decision,
            channel: delivery.channel
        ) { number in
            .deliver(
                WireDelivery(
                    delivery: number,
                    event: LogTime.text(delivery.event.id),
                    decision: LogTime.text(delivery.decision),
                    cause: delivery.event.kind.source.word,
                    manager: told.manager,
                    body: told.body
                )
            )
        }
    }

    /// Tells an app something that is no event.
    func tell(_ body: WireDeliveryBody, to manager: ManagerNumber, of app: AppID, named name: String) {
        send(to: app, owing: .nothing(.none), named: name, decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: manager, body: body))
        }
    }

    /// An event without its payload: it is not delivered, and the app's outcomes say so.
    private func noteUntellable(_ delivery: AppDelivery, to app: AppID) {
        let event = LogTime.text(delivery.event.id)
        let decision = LogTime.text(delivery.decision)
        let what =
            "did not get \(event) (\(delivery.event.kind.word), \(decision)): the event's payload is missing"
        surroundings?.note(.fault(what), of: app)
    }

    func send(
        to app: AppID,
        owing owed: Owed,
        named name: String,
        value: [UInt8]? = nil,
        decision: DecisionID,
        channel: Int32? = nil,
        _ message: (UInt64) -> BenchMessage
    ) {
        guard let process = processes[app] else { return }
        let number = process.owe(owed)
        surroundings?.note(.sent(callback: name, value: value, decision), of: app)
        let packet = message(number)
        // Otherwise what the app does at the first word would come before or after its launch, by chance.
        if case .deliver(let delivery) = packet, delivery.body.waitsForLaunch, !process.launched {
            process.held.append(packet)
            return
        }
        send(packet, with: channel.map { [$0] } ?? [], to: process, of: app)
    }

    /// Bytes came over a channel of an app that runs, which nothing was to be decided about. The app answers when it has
    /// read them, so that virtual time can wait for it.
    func channelHoldsBytes(of app: AppID, manager: ManagerNumber) {
        guard let process = processes[app] else { return }
        let number = process.owe(.nothing(.none))
        send(.deliver(WireDelivery(delivery: number, manager: manager, body: .channelData)), to: process, of: app)
    }

    func gather() { isGathering = true }

    func release() {
        isGathering = false
        for app in gathered {
            processes[app]?.sendBatch()
        }
        gathered.removeAll(keepingCapacity: true)
        for app in thawing {
            if let process = processes[app] { thaw(process) }
        }
        thawing.removeAll(keepingCapacity: true)
    }

    func send(
        _ message: BenchMessage,
        with descriptors: [Int32] = [],
        to process: AppProcess,
        of app: AppID
    ) {
        guard isGathering, process.takesBatches, descriptors.isEmpty else {
            process.send(message, with: descriptors)
            return
        }
        if process.gather(message) { gathered.append(app) }
    }

    func reply(_ id: UInt64, _ answer: WireReply, with descriptors: [Int32] = [], to app: AppID) {
        if let process = processes[app] { send(.reply(id: id, answer), with: descriptors, to: process, of: app) }
    }
}
