import WakeBus

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

extension BlueZAdapter {
    /// What is asked of bluetoothd, and what it was asked for.
    struct Discovery {
        var wanted: BlueZScan?
        /// What bluetoothd looks for on our behalf.
        var running: BlueZScan?
        /// A call is on its way; what changed meanwhile is looked at when it is answered.
        var isChanging = false
        var failures = 0
        /// The devices heard since it was started.
        var heard: Set<BlueZDeviceID> = []

        mutating func reset() {
            running = nil
            heard.removeAll()
            isChanging = false
            failures = 0
        }
    }

    /// Looks for devices from now on; nil ends it. One discovery serves all apps, so the scan is what all want together.
    package func scan(_ scan: BlueZScan?) {
        discovery.wanted = scan
        adjustDiscovery()
    }

    /// Whether devices are being looked for.
    package var isDiscovering: Bool { discovery.running != nil }

    /// A device that is wanted and that bluetoothd has no object of can only be found by looking for it.
    private var wantedDiscovery: BlueZScan? {
        let isConnecting = nextWish != nil || wishes.contains(where: \.isConnecting) || profiles?.isConnecting == true
        if restsDiscoveryToConnect, isConnecting { return nil }
        let seeking = wishes.contains { path(of: $0.device) == nil }
        let inquiring = profiles?.isSeeking == true
        guard seeking || inquiring else { return discovery.wanted }
        let radio: BlueZScan.Radio = !inquiring ? .lowEnergy : seeking || discovery.wanted != nil ? .both : .classic
        return BlueZScan(services: [], duplicates: discovery.wanted?.duplicates ?? false, radio: radio)
    }

    func adjustDiscovery() {
        guard isReady, let path, !discovery.isChanging, !delays.isWaiting("discovery") else { return }
        let wanted = wantedDiscovery
        guard wanted != discovery.running else { return }
        discovery.isChanging = true
        guard let wanted else {
            change(path, "StopDiscovery", to: nil)
            return
        }
        if discovery.running == nil {
            discovery.heard.removeAll()
            removeStaleDevices()
        }
        // Without a filter of one's own some versions find no LE devices at all, and a filter with a Pattern or an RSSI
        // is merged with other programs' in ways that help nobody.
        var filter: [(String, BusValue)] = [
            ("Transport", .string(wanted.radio.rawValue)), ("DuplicateData", .bool(wanted.duplicates)),
        ]
        if !wanted.services.isEmpty { filter.append(("UUIDs", .strings(wanted.services))) }
        change(path, "SetDiscoveryFilter", [.properties(filter)], to: discovery.running) { [weak self] in
            guard let self else { return }
            if discovery.running == nil {
                change(path, "StartDiscovery", to: wanted)
            } else {
                discovery.running = wanted
                discoveryChanged()
            }
        }
    }

    private func change(
        _ path: String,
        _ member: String,
        _ arguments: [BusValue] = [],
        to result: BlueZScan?,
        then next: (() -> Void)? = nil
    ) {
        ask(BusCall(BlueZName.daemon, path, BlueZName.adapter, member, arguments)) { [weak self] answer in
            guard let self, self.path == path, isReady else { return }
            switch answer {
            case .success:
                discovery.failures = 0
                discovery.running = result
                if let next { next() } else { discoveryChanged() }
            case .failure where member == "StopDiscovery":
                // There was none: another program's end, or the adapter's, took ours along.
                discovery.running = nil
                discoveryChanged()
            case .failure:
                discovery.failures += 1
                discovery.isChanging = false
                delays.after(min(8_000, 250 << Int64(min(discovery.failures, 5))), "discovery") { [weak self] in
                    self?.adjustDiscovery()
                }
                pursueLinks()
                profiles?.proceed()
            }
        }
    }

    private func discoveryChanged() {
        discovery.isChanging = false
        adjustDiscovery()
        pursueLinks()
        profiles?.proceed()
    }

    /// An object left from before would hide that its device is heard again, or that it is not: bluetoothd announces new
    /// objects only, and a controller that measures no signal strength changes nothing in an old one.
    private func removeStaleDevices() {
        guard let adapter = path else { return }
        for path in objects.paths(with: BlueZName.device, atOrBelow: adapter) {
            let device = objects.properties(path, BlueZName.device) ?? [:]
            let kept = ["Connected", "Paired", "Trusted"].contains { device[$0]?.bool == true }
            if !kept, device["RSSI"] == nil {
                tell(adapter, BlueZName.adapter, "RemoveDevice", [.objectPath(path)])
            }
        }
    }

    // MARK: Devices heard

    func deviceAppeared(_ path: String) {
        guard let device = device(at: path) else { return }
        sighted(path)
        settleConnected(device, path)
        adjustDiscovery()
        pursueLinks()
        profiles?.proceed()
    }

    /// Discoveries of all programs are merged, and every one of them hears all that is found: the sightings are ours to
    /// match, and only told while we look ourselves. Of a connected device that goes on advertising only a measured
    /// signal strength is a sighting; the rest also changes by what is read of it.
    func sighted(_ path: String, measured: Bool = false) {
        guard discovery.running != nil || discovery.isChanging, discovery.wanted != nil, let device = device(at: path),
            let properties = objects.properties(path, BlueZName.device),
            measured || properties["Connected"]?.bool != true
        else { return }
        discovery.heard.insert(device)
        heard?(.sighted(device, BlueZAdvertisement(properties)))
    }

    /// Whether a device was heard in the discovery that is going on.
    package func wasHeard(_ device: BlueZDeviceID) -> Bool { discovery.heard.contains(device) }

    /// The device of an object of this adapter. Address and type are read anew each time: both change when a device
    /// that used a private address is paired.
    func device(at path: String) -> BlueZDeviceID? {
        guard let adapter = self.path, path.hasPrefix(adapter + "/"),
            let properties = objects.properties(path, BlueZName.device), let address = properties["Address"]?.text
        else { return nil }
        // A device file says an address and not its type.
        if let own = ownDevices.first(where: { $0.address == address.uppercased() }) { return own }
        return BlueZDeviceID(address: address, isRandom: properties["AddressType"]?.text == "random")
    }

    /// The object of a device; nil while bluetoothd has none.
    func path(of device: BlueZDeviceID) -> String? {
        guard let adapter = path else { return nil }
        return objects.paths(with: BlueZName.device, atOrBelow: adapter).first { self.device(at: $0) == device }
    }

    /// What a device said of itself last; nil while bluetoothd has no object of it.
    package func advertisement(of device: BlueZDeviceID) -> BlueZAdvertisement? {
        path(of: device).flatMap { objects.properties($0, BlueZName.device) }.map(BlueZAdvertisement.init)
    }
}
