import WakeBlueZ
import WakeBus
import WakeDevices
import WakeModel
import WakeSystem

/// Compares a device on the air with what makers of accessories are advised to do, as far as BlueZ lets one see.
package struct LiveCheck {
    /// The device's address.
    package private(set) var address = ""
    package private(set) var findings: [PeripheralFinding] = []
    /// What BlueZ does not show.
    package private(set) var unjudged = [
        "advertising interval", "connection parameters", "data length", "requests to pair", "discovery without pairing",
    ]

    /// Listens for a device, connects, reads what it has, and leaves it.
    ///
    /// - Parameters:
    ///   - wanted: an address, or the name that it advertises.
    ///   - within: how long all that may take.
    ///   - follow: told of each stage, in a few words.
    package init(
        _ wanted: String,
        adapter: LiveAdapter,
        within: Duration,
        follow: (String) -> Void
    ) throws(LiveFailure) {
        let deadline = MonotonicClock.now() + Int64(within / .nanoseconds(1))
        follow("listening for \(wanted)")
        let heard = try adapter.find(wanted, to: deadline)
        address = heard.id.address
        checkAdvertising(heard.advertisement)
        follow("connecting to \(address)")
        try adapter.connect(heard.id, to: deadline)
        follow("reading \(address)")
        let table = adapter.adapter.attributes(of: heard.id)
        try checkDeviceInformation(table) { (handle) throws(LiveFailure) in try adapter.read(heard.id, handle) }
        checkServices(table)
        if let mtu = adapter.adapter.mtu(of: heard.id) {
            if let text = PeripheralRules.badMTU(mtu) { find(.exchangedMTU, "connection", text) }
        } else {
            unjudged.append("exchange of the MTU")
        }
        try adapter.leave(heard.id)
    }

    private mutating func find(_ guideline: PeripheralGuideline, _ part: String, _ text: String) {
        findings.append(PeripheralFinding(guideline, at: .part(part), text))
    }

    private mutating func checkAdvertising(_ said: BlueZAdvertisement) {
        let missing = PeripheralRules.missing(
            txPower: said.txPower != nil,
            name: said.name != nil,
            services: !said.services.isEmpty
        )
        for text in missing { find(.advertisingData, "advertising", text) }
        if let text = said.name.flatMap(PeripheralRules.badName) { find(.localName, "advertising", text) }
        if said.services.map(BlueZPeripheral.canonical).contains(PeripheralRules.deviceInformation) {
            find(.deviceInformationAdvertised, "advertising", "180A is advertised")
        }
    }

    private mutating func checkDeviceInformation(
        _ table: BlueZAttributes,
        read: (UInt16) throws(LiveFailure) -> BlueZAdapter.Outcome
    ) throws(LiveFailure) {
        let wanted = PeripheralRules.deviceInformation
        guard let service = table.services.first(where: { BlueZPeripheral.canonical($0.uuid) == wanted && $0.primary })
        else { return find(.deviceInformation, "services", PeripheralRules.noDeviceInformation) }
        let own = table.characteristics.filter { $0.service == service.handle }
        var unread: [String] = []
        for informing in PeripheralRules.informing {
            guard let characteristic = own.first(where: { BlueZPeripheral.canonical($0.uuid) == informing.uuid }) else {
                find(.deviceInformationCharacteristics, "service 180A", informing.missing)
                continue
            }
            guard case .success(let value) = try read(characteristic.handle) else {
                unread.append(informing.uuid)
                continue
            }
            if let text = informing.tooLong(value) {
                find(.deviceInformationLength, "handle 0x\(characteristic.handle.hexadecimal)", text)
            }
        }
        if !unread.isEmpty { unjudged.append("values of \(unread.joined(separator: ", "))") }
    }

    private mutating func checkServices(_ table: BlueZAttributes) {
        let uuids = table.services.map { BlueZPeripheral.canonical($0.uuid) }
        for index in PeripheralRules.apart(uuids) {
            let part = "handle 0x\(table.services[index].handle.hexadecimal)"
            find(.serviceOrder, part, PeripheralRules.standsApart(uuids[index]))
        }
        let changed = table.characteristics.first {
            BlueZPeripheral.canonical($0.uuid) == PeripheralRules.serviceChanged
        }
        guard let changed else { return unjudged.append("Service Changed") }
        let bits: [String: UInt8] = ["read": 0x02, "write-without-response": 0x04, "write": 0x08, "indicate": 0x20]
        let properties = changed.flags.reduce(0) { $0 | bits[$1, default: 0] }
        if let text = PeripheralRules.badServiceChanged(properties: properties) {
            find(.serviceChangedProperties, "handle 0x\(changed.handle.hexadecimal)", text)
        }
    }
}
