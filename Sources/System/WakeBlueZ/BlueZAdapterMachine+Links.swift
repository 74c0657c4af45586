/// Links that are wanted, and what becomes of them.
extension BlueZAdapterMachine {
    /// A link that is wanted until it is up or given up, however long that takes.
    struct Wish: Equatable, Sendable {
        enum Stage: Equatable, Sendable {
            /// Its turn comes. Valid transitions to: `connecting`, `pausing`.
            case waiting
            /// Connect was called and not answered yet. Valid transitions to: `waiting`, `pausing`.
            case connecting
            /// Its turn comes after a delay. Valid transitions to: `waiting`.
            case pausing
        }

        var device: BlueZDeviceID
        var stage = Stage.waiting
        var failures = 0
    }

    /// How attempts share the radio with somebody who must hear every advertisement, such as those of a beacon: silence of
    /// 30 s means that it is gone.
    struct Sharing: Equatable, Sendable {
        /// How long one attempt may take.
        var attempt = Duration.seconds(15)
        /// How long after an attempt that came to nothing in that time there is no other, in milliseconds.
        var listening: Int64 = 5_000
    }

    /// How long one attempt may take: bluetoothd gives up after 40 s at the latest.
    static let connectPatience = Duration.seconds(60)

    var mustListen: Bool { wantedScan?.duplicates == true }

    /// Whether a link is being asked for.
    var isAttempting: Bool { wishes.contains { $0.stage == .connecting } }

    private func wish(for device: BlueZDeviceID) -> Int? { wishes.firstIndex { $0.device == device } }

    /// Wants a link. ``BlueZEvent/connected(_:)`` tells when it is up.
    mutating func want(_ device: BlueZDeviceID) -> [Command] {
        guard !links.contains(device), wish(for: device) == nil else { return [] }
        wishes.append(Wish(device: device))
        return foundConnected(device)
    }

    /// Wants no link any more; one that is up is closed, unless others hold it, and nothing more is told of it.
    mutating func giveUp(_ device: BlueZDeviceID) -> [Command] {
        let count = wishes.count + links.count
        wishes.removeAll { $0.device == device }
        links.removeAll { $0 == device }
        guard wishes.count + links.count < count else { return [] }
        guard let facts = facts(of: device) else { return [.cancel(.retry(device))] }
        if heldByOthers.contains(facts.path) { return [.cancel(.retry(device)), .letGo(below: facts.path)] }
        return [.cancel(.retry(device)), .endOperations(below: facts.path), close(device, facts)]
    }

    /// Disconnects what nobody waits for, unless others hold it.
    func abandon(_ path: String) -> Command {
        heldByOthers.contains(path) ? .letGo(below: path) : .call(.abandon(path: path))
    }

    private mutating func close(_ device: BlueZDeviceID, _ facts: BlueZDeviceFacts) -> Command {
        if facts.isConnected, !closing.contains(device) { closing.append(device) }
        return .call(.disconnect(device, path: facts.path))
    }

    /// The wish whose turn it is: its device is there to be connected to, and does not pause after a failure.
    var nextWish: Int? {
        guard !isListening else { return nil }
        return wishes.firstIndex { wish in
            wish.stage != .pausing && !closing.contains(wish.device) && facts(of: wish.device) != nil
        }
    }

    /// Starts the next attempt, when looking has stopped. There is one at a time: controllers refuse more.
    mutating func pursueLinks() -> [Command] {
        guard !isAttempting, discovery.running == nil, !discovery.isChanging, let index = nextWish,
            let facts = facts(of: wishes[index].device)
        else { return [] }
        wishes[index].stage = .connecting
        let patience = mustListen ? sharing.attempt : Self.connectPatience
        return [.call(.connect(wishes[index].device, path: facts.path, patience: patience))]
    }

    mutating func connectAnswered(_ device: BlueZDeviceID, _ path: String, _ outcome: Outcome) -> [Command] {
        let isUp = facts(at: path)?.isConnected == true
        // bluetoothd 5.66 drops the signal of a link that comes up just after it was told of the end of the one before.
        if outcome == .done, !isUp, isConnecting(device) {
            return [.call(.askWhetherConnected(device, path: path))]
        }
        return attemptEnded(device, path, outcome)
    }

    /// A link that is there without a signal of it was looked at; nil when its object went, or nothing was said.
    mutating func looked(_ device: BlueZDeviceID, _ path: String, _ facts: BlueZDeviceFacts?) -> [Command] {
        if let facts { note(facts) }
        return attemptEnded(device, path, .done)
    }

    private func isConnecting(_ device: BlueZDeviceID) -> Bool {
        wish(for: device).map { wishes[$0].stage } == .connecting
    }

    private mutating func attemptEnded(_ device: BlueZDeviceID, _ path: String, _ outcome: Outcome) -> [Command] {
        guard let index = wish(for: device), isConnecting(device) else {
            // Given up meanwhile: an answer that it is up after all is too late.
            return outcome == .done && !links.contains(device) ? [abandon(path)] : []
        }
        wishes[index].stage = .waiting
        let isUp = facts(at: path)?.isConnected == true
        var commands: [Command] = []
        switch outcome {
        case .done where isUp: return mayBeLeftOver ? foundConnected(device) : linkSeen(device)
        // Of another program; the link itself is what counts.
        case .failed("AlreadyConnected") where isUp, .failed("InProgress") where isUp: return linkSeen(device)
        // It may have come up and gone again (le-connection-abort-by-local), or the object went while we asked.
        case .done, .failed: break
        case .timedOut:
            commands.append(abandon(path))
            if mustListen {
                isListening = true
                commands.append(.wait(.listening, sharing.listening))
            }
        }
        wishes[index].failures += 1
        let pause = min(Self.longestPause, Int64(100) << Int64(min(wishes[index].failures, 7)))
        return commands + [self.pause(index, for: pause)]
    }

    private mutating func pause(_ index: Int, for milliseconds: Int64) -> Command {
        wishes[index].stage = .pausing
        return .wait(.retry(wishes[index].device), milliseconds)
    }

    mutating func pauseEnded(_ device: BlueZDeviceID) {
        if let index = wish(for: device), wishes[index].stage == .pausing { wishes[index].stage = .waiting }
    }

    /// At the start, and after a restart of bluetoothd, there may be links already: links outlive their programs. Those
    /// that are wanted are taken over, those of an earlier run are closed.
    mutating func adoptLinks() -> [Command] {
        var commands: [Command] = []
        for facts in ownObjects { commands += settleConnected(identity(of: facts), facts) }
        return commands
    }

    /// Takes over or closes a link that is there without having been asked for now.
    mutating func settleConnected(_ device: BlueZDeviceID, _ facts: BlueZDeviceFacts) -> [Command] {
        guard facts.isConnected, !links.contains(device) else { return [] }
        if wish(for: device) != nil { return foundConnected(device) }
        let isOurs = ownDevices[device.address] == device
        let isLeft = isOurs && !closing.contains(device) && !heldByOthers.contains(facts.path)
        return isLeft ? [close(device, facts)] : []
    }

    /// A wanted link that was not made by us is taken over when its attributes are known. Before that it may be what a
    /// bluetoothd that died has left behind, and the kernel closes such a link after two seconds; one that stays is asked
    /// for all the same.
    private mutating func foundConnected(_ device: BlueZDeviceID) -> [Command] {
        guard let facts = facts(of: device), facts.isConnected, let index = wish(for: device),
            wishes[index].stage != .connecting
        else { return [] }
        return facts.isResolved ? linkSeen(device) : [pause(index, for: 3_000)]
    }

    /// A link counts as up when Connected is true and no attempt of ours is still to be answered: one that is answered
    /// with an error drops again at once.
    private mutating func linkSeen(_ device: BlueZDeviceID) -> [Command] {
        guard isReady, let index = wish(for: device), !links.contains(device), !closing.contains(device) else {
            return []
        }
        wishes.remove(at: index)
        links.append(device)
        let facts = facts(of: device)
        if let facts { reasons[facts.path] = nil }
        let resolved: [Command] = facts?.isResolved == true ? [.say(.resolved(device))] : []
        return [.cancel(.retry(device)), .say(.connected(device))] + resolved
    }

    mutating func deviceChanged(_ facts: BlueZDeviceFacts, _ change: BlueZSignal.DeviceChange) -> [Command] {
        guard let device = device(at: facts.path) else { return [] }
        var commands: [Command] = []
        if change.contains(.connected) { commands += foundConnected(device) }
        if change.contains(.disconnected) { commands += disconnected(device, facts.path) }
        if change.contains(.resolved) {
            commands += links.contains(device) ? [.say(.resolved(device))] : foundConnected(device)
        }
        if change.contains(.renamed), links.contains(device) { commands.append(.say(.renamed(device))) }
        if change.contains(.heard) {
            commands += sighted(device, facts, measured: change.contains(.measured))
        }
        return commands
    }

    /// An attribute came or went at a path. Before the table is complete, and once the link is going, that is no news.
    func attributesChanged(at path: String) -> [Command] {
        guard let owner = owner(above: path), owner.isResolved, let device = device(at: owner.path),
            links.contains(device)
        else { return [] }
        return [.wait(.attributes(device), Self.attributesTogether)]
    }

    /// All that came or went together is known.
    func attributesSettled(_ device: BlueZDeviceID) -> [Command] {
        facts(of: device)?.isResolved == true && links.contains(device) ? [.say(.resolved(device))] : []
    }

    /// Services went, each after what belongs to it.
    func servicesVanished(_ gone: [String]) -> [Command] {
        gone.filter { facts(at: BlueZAttributes.parent($0)) != nil }.flatMap(attributesChanged)
    }

    /// The device that an attribute's path leads to.
    private func owner(above path: String) -> BlueZDeviceFacts? {
        var path = path
        while path.count > 1 {
            path = BlueZAttributes.parent(path)
            if let facts = facts(at: path) { return facts }
        }
        return nil
    }

    private mutating func disconnected(_ device: BlueZDeviceID, _ path: String) -> [Command] {
        let reason = reasons.removeValue(forKey: path)
        closing.removeAll { $0 == device }
        pauseEnded(device)
        var commands: [Command] = [.cancel(.retry(device)), .endOperations(below: path), .linkEnded(device)]
        if let index = links.firstIndex(of: device) {
            links.remove(at: index)
            commands.append(.say(.disconnected(device, reason: reason)))
        }
        return commands
    }

    /// Objects went. When they were devices with a link, the link went too, whether or not that was said.
    mutating func devicesVanished() -> [Command] {
        let gone = links.filter { facts(of: $0) == nil }
        links.removeAll(where: gone.contains)
        let stillClosing = closing.filter { facts(of: $0) != nil }
        closing = stillClosing
        return gone.map { .say(.disconnected($0, reason: nil)) }
    }
}
