/// Looking for devices.
package struct BlueZScan: Hashable, Sendable {
    /// In BlueZ's spelling, sorted; empty for all devices.
    package var services: [String]
    /// Every advertisement is wanted, and not each device once.
    package var duplicates: Bool
    /// Where devices are looked for.
    package var radio: Radio

    /// The kinds of radio, in BlueZ's words.
    package enum Radio: String, Sendable {
        case lowEnergy = "le"
        case classic = "bredr"
        case both = "auto"
    }

    package init(services: [String], duplicates: Bool, radio: Radio = .lowEnergy) {
        self.services = services.sorted()
        self.duplicates = duplicates
        self.radio = radio
    }
}

extension BlueZAdapterMachine {
    /// How far bluetoothd is with looking for devices on our behalf. There is one call at a time; what changed meanwhile
    /// is looked at when it is answered.
    enum Discovery: Equatable, Sendable {
        /// Valid transitions to: `preparing`.
        case idle
        /// The filter is being set before looking begins. Valid transitions to: `starting`, `pausing`.
        case preparing(BlueZScan)
        /// Valid transitions to: `running`, `pausing`.
        case starting(BlueZScan)
        /// Valid transitions to: `changing`, `stopping`.
        case running(BlueZScan)
        /// The filter is being set anew. Valid transitions to: `running`, `pausing`.
        case changing(BlueZScan, to: BlueZScan)
        /// Valid transitions to: `idle`.
        case stopping(BlueZScan)
        /// A call failed and is made again after a delay; what runs goes on. Valid transitions to: `idle`, `running`.
        case pausing(running: BlueZScan?)

        /// What bluetoothd looks for.
        var running: BlueZScan? {
            switch self {
            case .idle, .preparing, .starting: nil
            case .running(let scan), .changing(let scan, _), .stopping(let scan): scan
            case .pausing(let scan): scan
            }
        }

        /// A call is on its way.
        var isChanging: Bool {
            switch self {
            case .idle, .running, .pausing: false
            case .preparing, .starting, .changing, .stopping: true
            }
        }
    }

    /// What is to be looked for now. Looking rests while a link is being made, since some dongles cannot do both; and a
    /// device that is wanted and that bluetoothd has no object of can only be found by looking for it.
    private func discoveryToHave(isSeeking: Bool, isConnecting: Bool) -> BlueZScan? {
        if isConnecting || nextWish != nil || isAttempting { return nil }
        let isLinkSought = wishes.contains { facts(of: $0.device) == nil }
        guard isLinkSought || isSeeking else { return wantedScan }
        let isLowEnergy = isLinkSought || wantedScan != nil
        let radio: BlueZScan.Radio = !isSeeking ? .lowEnergy : isLowEnergy ? .both : .classic
        return BlueZScan(services: [], duplicates: mustListen, radio: radio)
    }

    mutating func adjustDiscovery(_ adapter: String, isSeeking: Bool, isConnecting: Bool) -> [Command] {
        let wanted = discoveryToHave(isSeeking: isSeeking, isConnecting: isConnecting)
        switch (discovery, wanted) {
        case (.idle, nil), (.preparing, _), (.starting, _), (.changing, _), (.stopping, _), (.pausing, _): return []
        case (.idle, .some(let scan)):
            heard.removeAll()
            discovery = .preparing(scan)
            return staleDevices(adapter) + [.call(.setFilter(adapter: adapter, scan))]
        case (.running(let present), .some(let scan)):
            guard scan != present else { return [] }
            discovery = .changing(present, to: scan)
            return [.call(.setFilter(adapter: adapter, scan))]
        case (.running(let present), nil):
            discovery = .stopping(present)
            return [.call(.stopDiscovery(adapter: adapter))]
        }
    }

    mutating func discoveryAnswered(_ outcome: Outcome) -> [Command] {
        guard case .ready(let adapter, let asked) = state else { return [] }
        let isDone = outcome == .done
        if isDone { discoveryFailures = 0 }
        switch asked {
        case .preparing(let scan) where isDone:
            discovery = .starting(scan)
            return [.call(.startDiscovery(adapter: adapter))]
        case .starting(let scan) where isDone, .changing(_, let scan) where isDone: discovery = .running(scan)
        // When it fails there was none: another program's end, or the adapter's, took ours along.
        case .stopping: discovery = .idle
        case .preparing, .starting, .changing:
            discoveryFailures += 1
            discovery = .pausing(running: asked.running)
            let pause = min(Self.longestPause, 250 << Int64(min(discoveryFailures, 5)))
            return [.wait(.discovery, pause), .discoverySettled]
        case .idle, .running, .pausing: preconditionFailure("an answer while discovery is \(asked)")
        }
        return [.discoverySettled]
    }

    mutating func discoveryPauseEnded() {
        guard case .pausing(let scan) = discovery else { return }
        discovery = scan.map(Discovery.running) ?? .idle
    }

    /// An object left from before would hide that its device is heard again, or that it is not: bluetoothd announces new
    /// objects only, and a controller that measures no signal strength changes nothing in an old one.
    private func staleDevices(_ adapter: String) -> [Command] {
        ownObjects.filter { !$0.isConnected && !$0.isPairedOrTrusted && !$0.isMeasured }
            .map { .call(.removeDevice(adapter: adapter, path: $0.path)) }
    }

    mutating func deviceAppeared(_ facts: BlueZDeviceFacts) -> [Command] {
        guard let device = device(at: facts.path) else { return [] }
        return sighted(device, facts, measured: false) + settleConnected(device, facts) + [.discoverySettled]
    }

    /// Discoveries of all programs are merged, and every one of them hears all that is found: the sightings are ours to
    /// match, and only told while we look ourselves. Of a connected device that goes on advertising only a measured
    /// signal strength is a sighting; the rest also changes by what is read of it.
    mutating func sighted(_ device: BlueZDeviceID, _ facts: BlueZDeviceFacts, measured: Bool) -> [Command] {
        guard discovery.running != nil || discovery.isChanging, wantedScan != nil, measured || !facts.isConnected else {
            return []
        }
        heard.insert(device)
        return [.sayHeard(device, path: facts.path)]
    }
}
