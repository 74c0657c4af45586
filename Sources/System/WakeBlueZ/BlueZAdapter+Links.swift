import WakeBus

/// Links that are wanted, and what becomes of them.
extension BlueZAdapter {
    /// A link that is wanted until it is up or given up, however long that takes.
    struct Wish {
        var device: BlueZDeviceID
        /// Connect was called and not answered yet.
        var isConnecting = false
        var failures = 0

        mutating func rest() {
            isConnecting = false
            failures = 0
        }
    }

    /// How long one attempt may take: bluetoothd gives up after 40 s at the latest.
    static let connectPatience = Duration.seconds(60)

    /// How attempts share the radio with somebody who must hear every advertisement, such as those of a beacon: silence of
    /// 30 s means that it is gone.
    struct Sharing {
        /// How long one attempt may take.
        var attempt = Duration.seconds(15)
        /// How long after an attempt that came to nothing in that time there is no other, in milliseconds.
        var listening: Int64 = 5_000
    }

    private static let listening = "listening"

    private var mustListen: Bool { discovery.wanted?.duplicates == true }

    /// Wants a link. ``BlueZEvent/connected(_:)`` tells when it is up.
    package func want(_ device: BlueZDeviceID) {
        guard !links.contains(device), !wishes.contains(where: { $0.device == device }) else { return }
        wishes.append(Wish(device: device))
        if let path = path(of: device) { foundConnected(device, path) }
        adjustDiscovery()
        pursueLinks()
    }

    /// Wants no link any more; one that is up is closed, and nothing more is told of it.
    package func giveUp(_ device: BlueZDeviceID) {
        let wished = wishes.contains { $0.device == device }
        wishes.removeAll { $0.device == device }
        let wasUp = links.contains(device)
        links.removeAll { $0 == device }
        delays.cancel(Self.retry(device))
        guard wished || wasUp else { return }
        if let path = path(of: device) {
            endLanes(below: path)
            close(device, path)
        }
        adjustDiscovery()
        pursueLinks()
    }

    private func close(_ device: BlueZDeviceID, _ path: String) {
        if isConnected(path) { closing.insert(device) }
        ask(BusCall(BlueZName.daemon, path, BlueZName.device, "Disconnect")) { [weak self] answer in
            // There is no link then, or it stays; neither is waited for.
            if case .failure = answer { self?.closed(device) }
        }
    }

    private func closed(_ device: BlueZDeviceID) {
        guard closing.remove(device) != nil else { return }
        adjustDiscovery()
        pursueLinks()
    }

    private static func retry(_ device: BlueZDeviceID) -> String { "retry \(device.address)" }

    /// The wish whose turn it is: its device is there to be connected to, and does not pause after a failure.
    var nextWish: Int? {
        guard !delays.isWaiting(Self.listening) else { return nil }
        return wishes.firstIndex { wish in
            !delays.isWaiting(Self.retry(wish.device)) && path(of: wish.device) != nil
                && !closing.contains(wish.device)
        }
    }

    /// Starts the next attempt. There is one at a time: controllers refuse more.
    func pursueLinks() {
        guard isReady, !wishes.contains(where: \.isConnecting), let index = nextWish,
            let path = path(of: wishes[index].device)
        else { return }
        if restsDiscoveryToConnect, discovery.running != nil || discovery.isChanging {
            // The attempt begins when looking has stopped.
            adjustDiscovery()
            return
        }
        wishes[index].isConnecting = true
        connect(wishes[index].device, path)
    }

    private func connect(_ device: BlueZDeviceID, _ path: String) {
        let call = BusCall(BlueZName.daemon, path, BlueZName.device, "Connect")
        ask(call, timeout: mustListen ? sharing.attempt : Self.connectPatience) { [weak self] answer in
            self?.connectAnswered(device, path, answer)
        }
    }

    private func connectAnswered(
        _ device: BlueZDeviceID,
        _ path: String,
        _ answer: Bus.Answer,
        asksAgain: Bool = true
    ) {
        guard let index = wishes.firstIndex(where: { $0.device == device }), wishes[index].isConnecting else {
            // Given up meanwhile: an answer that it is up after all is too late.
            if case .success = answer, !links.contains(device) { tell(path, BlueZName.device, "Disconnect") }
            adjustDiscovery()
            pursueLinks()
            return
        }
        if case .success = answer, !isConnected(path), asksAgain {
            askWhetherConnected(device, path, answer)
            return
        }
        wishes[index].isConnecting = false
        let isUp = isConnected(path)
        switch answer {
        case .success where isUp && delays.isWaiting("left-over links"): foundConnected(device, path)
        case .success where isUp: linkSeen(device, path)
        // AlreadyConnected or InProgress of another program; the link itself is what counts.
        case .failure(let error) where isUp && ["AlreadyConnected", "InProgress"].contains(error.kind):
            linkSeen(device, path)
        case .success, .failure:
            // It may have come up and gone again (le-connection-abort-by-local), or the object went while we asked.
            if case .failure(let error) = answer, error.isTimeout {
                tell(path, BlueZName.device, "Disconnect")
                if mustListen { delays.after(sharing.listening, Self.listening) { [weak self] in self?.goOn() } }
            }
            wishes[index].failures += 1
            let pause = min(8_000, Int64(100) << Int64(min(wishes[index].failures, 7)))
            retry(device, after: pause)
        }
        goOn()
    }

    /// A link that is there without a signal of it: bluetoothd 5.66 drops the signal of a link that comes up just after it
    /// was told of the end of the one before.
    private func askWhetherConnected(_ device: BlueZDeviceID, _ path: String, _ earlier: Bus.Answer) {
        let question: [BusValue] = [.string(BlueZName.device), .string("Connected")]
        ask(BusCall(BlueZName.daemon, path, BlueZName.properties, "Get", question)) { [weak self] answer in
            if case .success(let values) = answer, let value = values.first {
                self?.objects.change(path, BlueZName.device, .properties([("Connected", value)]), without: [])
            }
            self?.connectAnswered(device, path, earlier, asksAgain: false)
        }
    }

    private func goOn() {
        adjustDiscovery()
        pursueLinks()
    }

    /// At the start, and after a restart of bluetoothd, there may be links already: links outlive their programs. Those
    /// that are wanted are taken over, those of an earlier run are closed.
    func adoptLinks() {
        guard let adapter = path else { return }
        for path in objects.paths(with: BlueZName.device, atOrBelow: adapter) {
            if let device = device(at: path) { settleConnected(device, path) }
        }
    }

    /// Takes over or closes a link that is there without having been asked for now.
    func settleConnected(_ device: BlueZDeviceID, _ path: String) {
        guard isConnected(path), !links.contains(device) else { return }
        if wishes.contains(where: { $0.device == device }) {
            foundConnected(device, path)
        } else if ownDevices.contains(device), !closing.contains(device) {
            close(device, path)
        }
    }

    private func isConnected(_ path: String) -> Bool {
        objects.properties(path, BlueZName.device)?["Connected"]?.bool == true
    }

    /// A wanted link that was not made by us is taken over when its attributes are known. Before that it may be what a
    /// bluetoothd that died has left behind, and the kernel closes such a link after two seconds; one that stays is asked
    /// for all the same.
    private func foundConnected(_ device: BlueZDeviceID, _ path: String) {
        guard isConnected(path), let wish = wishes.first(where: { $0.device == device }), !wish.isConnecting else {
            return
        }
        if isResolved(device) {
            linkSeen(device, path)
        } else {
            retry(device, after: 3_000)
        }
    }

    private func retry(_ device: BlueZDeviceID, after milliseconds: Int64) {
        delays.after(milliseconds, Self.retry(device)) { [weak self] in
            self?.adjustDiscovery()
            self?.pursueLinks()
        }
    }

    /// A link counts as up when Connected is true and no attempt of ours is still to be answered: one that is answered
    /// with an error drops again at once.
    private func linkSeen(_ device: BlueZDeviceID, _ path: String) {
        guard isReady, let index = wishes.firstIndex(where: { $0.device == device }), !wishes[index].isConnecting,
            !links.contains(device), !closing.contains(device)
        else { return }
        wishes.remove(at: index)
        delays.cancel(Self.retry(device))
        disconnectReasons[path] = nil
        links.append(device)
        heard?(.connected(device))
        if isResolved(device), links.contains(device) { heard?(.resolved(device)) }
    }

    func linkEnded(_ device: BlueZDeviceID, reason: String?) {
        guard let index = links.firstIndex(of: device) else { return }
        links.remove(at: index)
        heard?(.disconnected(device, reason: reason))
    }

    func deviceChanged(_ path: String, _ changed: BusValue, before: BlueZObjects.Properties) {
        guard let device = device(at: path) else { return }
        if let connected = changed["Connected"]?.bool {
            if connected {
                foundConnected(device, path)
            } else if before["Connected"]?.bool == true {
                endLanes(below: path)
                server?.linkEnded(device)
                linkEnded(device, reason: disconnectReasons.removeValue(forKey: path))
                closed(device)
                delays.cancel(Self.retry(device))
                adjustDiscovery()
                pursueLinks()
            }
        }
        if changed["ServicesResolved"]?.bool == true {
            if links.contains(device) { heard?(.resolved(device)) } else { foundConnected(device, path) }
        }
        let heardAgain = ["RSSI", "ManufacturerData", "ServiceData", "TxPower", "Name"].contains { changed[$0] != nil }
        if heardAgain { sighted(path, measured: changed["RSSI"] != nil) }
    }

    /// An object went. When it was a device with a link, the link went too, whether or not that was said.
    func deviceVanished(_ path: String) {
        lanes.removeValue(forKey: path)?.failAll()
        notifying[path] = nil
        disconnectReasons[path] = nil
        for device in links where self.path(of: device) == nil { linkEnded(device, reason: nil) }
        for device in closing where self.path(of: device) == nil { closing.remove(device) }
        for device in server?.subscribedDevices ?? [] where self.path(of: device) == nil { server?.linkEnded(device) }
        adjustDiscovery()
        pursueLinks()
    }

    /// The devices with a link, whoever made it, in order of their objects.
    var connectedDevices: [BlueZDeviceID] {
        guard let adapter = path else { return [] }
        return objects.paths(with: BlueZName.device, atOrBelow: adapter).filter(isConnected).compactMap(device(at:))
    }

    /// Whether the attribute table of a connected device is complete. Connected alone does not say so.
    package func isResolved(_ device: BlueZDeviceID) -> Bool {
        path(of: device).flatMap { objects.properties($0, BlueZName.device)?["ServicesResolved"]?.bool } ?? false
    }

    /// The attribute table of a device, as far as it is known.
    package func attributes(of device: BlueZDeviceID) -> BlueZAttributes {
        path(of: device).map { BlueZAttributes(of: $0, in: objects) } ?? BlueZAttributes()
    }
}
