import WakeBus

/// Requests of centrals, subscriptions, and values that go out.
extension BlueZServer {
    /// The most requests that wait for their answers; a link has one at a time, beside commands.
    static let requestLimit = 256
    /// The most values that may be on their way to bluetoothd and the centrals.
    static let valueLimit = 16
    /// The smallest ATT MTU, which a link begins with.
    package static let smallestMTU = 23

    /// A request that waits for its answer.
    struct Pending {
        var call: IncomingCall
        var characteristic: UInt32
        var device: BlueZDeviceID?
    }

    /// A central that is subscribed.
    struct Subscription {
        var characteristic: UInt32
        var device: BlueZDeviceID
        /// AcquireNotify said who it is, and StartNotify is still to come.
        var isStarting: Bool
    }

    /// Values on their way.
    struct Sending {
        /// Sent after the fence that is out, or with none out.
        var unfenced = 0
        /// Sent before the fence that is out.
        var fenced = 0
        var isFenceOut = false
        /// Indications to be confirmed, by characteristic.
        var unconfirmed: [UInt32] = []
        /// Somebody was refused and waits for room.
        var isAwaited = false

        var total: Int { unfenced + fenced + unconfirmed.count }
    }

    // MARK: Requests

    func read(_ call: IncomingCall, _ characteristic: BlueZLocalService.Characteristic) {
        if let value = characteristic.value {
            replyPart(of: value, to: call)
        } else {
            let options = call.arguments.first
            ask(call, characteristic, options, .read(offset: Self.offset(options)))
        }
    }

    func replyPart(of value: [UInt8], to call: IncomingCall) {
        let offset = Int(Self.offset(call.arguments.first))
        if offset > value.count {
            call.fail(BlueZAttributeError.error(BlueZAttributeError.invalidOffset))
        } else {
            call.reply([.bytes(Array(value[offset...]))])
        }
    }

    func write(_ call: IncomingCall, _ characteristic: BlueZLocalService.Characteristic) {
        guard let value = call.arguments.first?.bytes else {
            call.fail(BlueZAttributeError.error(BlueZAttributeError.unlikely))
            return
        }
        let options = call.arguments.count > 1 ? call.arguments[1] : nil
        if options?["prepare-authorize"]?.bool == true {
            // A prepared write: whether it is taken is asked when it is executed.
            call.reply()
        } else {
            ask(call, characteristic, options, .write(value, offset: Self.offset(options)))
        }
    }

    private static func offset(_ options: BusValue?) -> UInt16 { UInt16(clamping: options?["offset"]?.integer ?? 0) }

    private func ask(
        _ call: IncomingCall,
        _ characteristic: BlueZLocalService.Characteristic,
        _ options: BusValue?,
        _ kind: BlueZRequest.Kind
    ) {
        guard requests.count < Self.requestLimit, let heard else {
            call.fail(BlueZAttributeError.error(BlueZAttributeError.insufficientResources))
            return
        }
        lastRequest &+= 1
        let device = options?["device"]?.text.flatMap { adapter.device(at: $0) }
        requests[lastRequest] = Pending(call: call, characteristic: characteristic.number, device: device)
        heard(
            .requested(
                BlueZRequest(
                    number: lastRequest,
                    characteristic: characteristic.number,
                    device: device,
                    mtu: options?["mtu"]?.integer ?? Self.smallestMTU,
                    kind: kind
                )
            )
        )
    }

    /// Answers a request: with the value from the offset that was asked for, or with nothing for a write.
    package func answer(_ request: UInt32, value: [UInt8]? = nil) {
        guard let pending = requests.removeValue(forKey: request) else { return }
        pending.call.reply(pending.call.member == "ReadValue" ? [.bytes(value ?? [])] : [])
    }

    /// Answers a request with an error of the Attribute Protocol.
    package func refuse(_ request: UInt32, code: UInt8) {
        guard let pending = requests.removeValue(forKey: request) else { return }
        pending.call.fail(BlueZAttributeError.error(code))
    }

    func refuseAll() {
        for request in requests.keys.sorted() { refuse(request, code: BlueZAttributeError.unlikely) }
    }

    // MARK: Subscriptions

    /// bluetoothd says who is about to subscribe, and is refused, so that it goes on with StartNotify: through the
    /// socket that it asks for, confirmations could not be told apart and several centrals not at all.
    func acquireNotify(_ call: IncomingCall, _ characteristic: BlueZLocalService.Characteristic) {
        let options = call.arguments.first
        call.fail(BusError(name: "org.bluez.Error.NotSupported", message: "values are signals here"))
        guard let device = options?["device"]?.text.flatMap({ adapter.device(at: $0) }) else { return }
        subscribe(device, to: characteristic, mtu: options?["mtu"]?.integer ?? Self.smallestMTU, isStarting: true)
    }

    /// Comes after AcquireNotify of a central that is known by it. A bluetoothd that does not call that says nobody's
    /// name: then whoever is connected and is not subscribed yet is meant.
    func startNotify(_ call: IncomingCall, _ characteristic: BlueZLocalService.Characteristic) {
        call.reply()
        let number = characteristic.number
        if let index = subscriptions.firstIndex(where: { $0.characteristic == number && $0.isStarting }) {
            subscriptions[index].isStarting = false
            return
        }
        let known = Set(subscriptions.filter { $0.characteristic == number }.map(\.device))
        for device in adapter.connectedDevices where !known.contains(device) {
            subscribe(device, to: characteristic, mtu: Self.smallestMTU, isStarting: false)
        }
    }

    private func subscribe(
        _ device: BlueZDeviceID,
        to characteristic: BlueZLocalService.Characteristic,
        mtu: Int,
        isStarting: Bool
    ) {
        let number = characteristic.number
        if let index = subscriptions.firstIndex(where: { $0.characteristic == number && $0.device == device }) {
            subscriptions[index].isStarting = isStarting
            return
        }
        subscriptions.append(Subscription(characteristic: number, device: device, isStarting: isStarting))
        heard?(.subscribed(number, device, mtu: mtu))
    }

    /// The last central unsubscribed: bluetoothd counts, and says nothing of the others.
    func stopNotify(_ call: IncomingCall, _ characteristic: BlueZLocalService.Characteristic) {
        call.reply()
        for device in subscriptions.filter({ $0.characteristic == characteristic.number }).map(\.device) {
            unsubscribe(device, from: characteristic.number)
        }
    }

    private func unsubscribe(_ device: BlueZDeviceID, from characteristic: UInt32) {
        let before = subscriptions.count
        subscriptions.removeAll { $0.characteristic == characteristic && $0.device == device }
        guard subscriptions.count < before else { return }
        if !subscriptions.contains(where: { $0.characteristic == characteristic }) {
            sending.unconfirmed.removeAll { $0 == characteristic }
        }
        heard?(.unsubscribed(characteristic, device))
        tellRoom()
    }

    /// The link to a central went: its subscriptions end, and nobody waits for the answers to its requests.
    func linkEnded(_ device: BlueZDeviceID) {
        for (request, pending) in requests.sorted(by: { $0.key < $1.key }) where pending.device == device {
            refuse(request, code: BlueZAttributeError.unlikely)
        }
        for subscription in subscriptions where subscription.device == device {
            unsubscribe(device, from: subscription.characteristic)
        }
    }

    /// Every link went.
    func linksEnded() {
        sending = Sending(isAwaited: sending.isAwaited)
        refuseAll()
        for subscription in subscriptions { unsubscribe(subscription.device, from: subscription.characteristic) }
        tellRoom()
    }

    /// The centrals that are subscribed to a characteristic, in order.
    package func subscribers(of characteristic: UInt32) -> [BlueZDeviceID] {
        subscriptions.filter { $0.characteristic == characteristic }.map(\.device)
    }

    /// The centrals that are subscribed to anything, each once, in order.
    var subscribedDevices: [BlueZDeviceID] {
        var devices: [BlueZDeviceID] = []
        for subscription in subscriptions where !devices.contains(subscription.device) {
            devices.append(subscription.device)
        }
        return devices
    }

    // MARK: Values

    /// Sends a value to every central that is subscribed to a characteristic.
    ///
    /// - Returns: false when too many are on their way; ``BlueZServerEvent/room`` tells when there is room again.
    package func update(_ characteristic: UInt32, _ value: [UInt8]) -> Bool {
        guard let bus = adapter.bus, adapter.isReady, let (path, described) = object(of: characteristic),
            subscriptions.contains(where: { $0.characteristic == characteristic })
        else { return true }
        guard sending.total < Self.valueLimit else {
            sending.isAwaited = true
            return false
        }
        let changed: BusValue = .properties([("Value", .bytes(value))])
        let arguments: [BusValue] = [.string(BlueZName.characteristic), changed, .strings([])]
        // A bus that takes no more ends, and everything is made anew.
        try? bus.emit(path, BlueZName.properties, "PropertiesChanged", arguments)
        if described.notifies {
            sending.unfenced += 1
            sendFence()
        } else {
            sending.unconfirmed.append(characteristic)
        }
        return true
    }

    /// Asks bluetoothd something that it answers when it has dealt with everything sent before: nothing else tells how
    /// far it is.
    private func sendFence() {
        guard !sending.isFenceOut, sending.unfenced > 0, let path = adapter.path else { return }
        sending.isFenceOut = true
        sending.fenced = sending.unfenced
        sending.unfenced = 0
        let arguments: [BusValue] = [.string(BlueZName.adapter), .string("Address")]
        adapter.ask(path, BlueZName.properties, "Get", arguments) { [weak self] _ in
            guard let self, sending.isFenceOut else { return }
            sending.isFenceOut = false
            sending.fenced = 0
            sendFence()
            tellRoom()
        }
    }

    /// A central confirmed an indication.
    func confirmed(_ characteristic: BlueZLocalService.Characteristic) {
        guard let index = sending.unconfirmed.firstIndex(of: characteristic.number) else { return }
        sending.unconfirmed.remove(at: index)
        tellRoom()
    }

    private func tellRoom() {
        guard sending.isAwaited, sending.total < Self.valueLimit else { return }
        sending.isAwaited = false
        heard?(.room)
    }
}
