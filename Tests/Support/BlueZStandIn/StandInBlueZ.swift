import Glibc
import WakeBus
import WakeSystem

/// Stands in for bluetoothd on a private bus: one adapter, devices with one attribute table, and every trap on demand.
package final class StandInBlueZ {
    package typealias Properties = [(String, BusValue)]

    static let adapterInterface = "org.bluez.Adapter1"
    static let deviceInterface = "org.bluez.Device1"
    static let characteristicInterface = "org.bluez.GattCharacteristic1"

    package let bus: PrivateBus
    private(set) var server: Bus?
    private var exported: BusSubscription?
    private var objects: [String: [String: Properties]] = [:]

    /// The adapter's number, as in `hci0`.
    package private(set) var index = 0
    package var adapterAddress = "00:AA:01:00:00:00"
    /// The addresses of devices in reach, in order.
    package var inReach = ["F0:11:22:33:44:55"]
    /// What a device does when one of its characteristics is written, or read without a value; nil for what every server does.
    package var accessed: ((_ address: String, _ handle: UInt16, _ value: [UInt8]?) -> StandInAnswer?)?
    /// What the devices are, by address; any other is a plain belt.
    package var devices: [String: StandInDevice] = [:]
    /// How often devices in reach are heard while they are looked for, in milliseconds; nil for once.
    package var interval: Int64?
    private var advertising: WakeSystem.Timer?
    private var notifications: [WakeSystem.Timer] = []
    /// Whether the adapter says that programs can be peripherals on it.
    package var offersPeripheralRole = false
    /// Answers what stands for the kernel's sockets, `org.wakebench.Radio1`; nil where the adapter has no such interface.
    package var radio: ((IncomingCall) -> Void)?
    /// What a Connect call does.
    package var connects = Connects.succeed
    /// The error with which AcquireNotify is answered; nil grants it.
    package var acquireError: String?
    /// Whether a device's objects are listed when its adapter goes.
    package var listsChildren = true
    /// How often switching on is refused before it works.
    package var powerRefusals = 0
    /// The members whose calls are kept unanswered.
    package var held: Set<String> = []
    package private(set) var heldCalls: [IncomingCall] = []
    /// Every call, as `Member /path/below/org/bluez`.
    package private(set) var calls: [String] = []
    package private(set) var filter: BusValue?
    package private(set) var isDiscovering = false
    private var sockets: [String: Int32] = [:]
    /// Who answers questions: the bus name and the object.
    package private(set) var agent: (String, String)?
    /// What programs have registered, and the centrals that use it.
    var offers = Offers()
    /// The profiles that programs have registered, and the connections over them.
    var profiles = Profiles()
    private var valueChanges: BusSubscription?

    package enum Connects {
        case succeed
        /// The link comes up and drops again, and the answer is an error.
        case abort
        /// The link is said to be up, and its attributes are never known.
        case leaveUnresolved
        /// The link is up, and no signal says so.
        case unsaid
    }

    package init(bus: PrivateBus) {
        self.bus = bus
    }

    package var adapterPath: String { "/org/bluez/hci\(index)" }

    package func devicePath(_ address: String) -> String {
        adapterPath + "/dev_" + address.split(separator: ":").joined(separator: "_")
    }

    /// The heart rate measurement of a device.
    package func measurement(_ address: String) -> String { devicePath(address) + "/service000a/char000b" }

    // MARK: The daemon

    /// Starts, with nothing but the adapter.
    package func appear(powered: Bool = false) throws {
        let server = try bus.connect()
        self.server = server
        exported = try server.export("/", andBelow: true) { [unowned self] in answer($0) }
        objects.removeAll()
        addAdapter(powered: powered, announce: false)
        valueChanges = try watchOfferedValues(server)
        var isOwner = false
        server.requestName("org.bluez") { isOwner = $0 == nil }
        try bus.wait(for: "the name org.bluez") { isOwner }
    }

    /// Dies, as after kill -9.
    package func vanish() {
        exported = nil
        valueChanges = nil
        offers = Offers(keeping: offers)
        profiles.end()
        server?.close()
        server = nil
        isDiscovering = false
        heldCalls.removeAll()
        closeSockets()
    }

    // MARK: The adapter

    /// The adapter goes. The kernel may say that it is off right before.
    package func removeAdapter(sayingOff: Bool = false) throws {
        if sayingOff { switchOff() }
        if listsChildren {
            for path in objects.keys.filter({ $0.hasPrefix(adapterPath + "/") }).sorted(by: >) { try remove(path) }
        }
        try remove(adapterPath)
        objects.removeAll()
        offers = Offers(keeping: offers)
        isDiscovering = false
        closeSockets()
    }

    /// Somebody switches the adapter off.
    package func switchOff() {
        change(adapterPath, Self.adapterInterface, [("Powered", .bool(false))])
    }

    /// The adapter comes back, perhaps under another number.
    package func addAdapter(index: Int? = nil, powered: Bool = false, announce: Bool = true) {
        self.index = index ?? self.index
        let properties: Properties = [
            ("Address", .string(adapterAddress)), ("Powered", .bool(powered)), ("Discovering", .bool(false)),
            ("Roles", .strings(offersPeripheralRole ? ["central", "peripheral"] : ["central"])),
        ]
        var interfaces = [Self.adapterInterface: properties]
        if offersPeripheralRole {
            interfaces["org.bluez.GattManager1"] = []
            interfaces["org.bluez.LEAdvertisingManager1"] = [
                ("SupportedInstances", .byte(5)), ("ActiveInstances", .byte(0)),
            ]
        }
        if radio != nil { interfaces["org.wakebench.Radio1"] = [] }
        add(adapterPath, interfaces, announce: announce)
    }

    // MARK: Devices

    /// A device is heard.
    package func advertise(_ address: String, connected: Bool = false) {
        let path = devicePath(address)
        guard objects[path] == nil else {
            change(path, Self.deviceInterface, [("RSSI", .int16(device(address).signalStrength))])
            return
        }
        let properties: Properties = [
            ("Address", .string(address)), ("Adapter", .objectPath(adapterPath)),
            ("Alias", .string(device(address).name ?? address)),
            ("AddressType", .string(device(address).isClassic ? "public" : "random")), ("Connected", .bool(connected)),
            ("ServicesResolved", .bool(false)), ("Paired", .bool(false)),
        ]
        add(path, [Self.deviceInterface: properties + device(address).advertisement])
    }

    private func device(_ address: String) -> StandInDevice { devices[address] ?? .belt }

    /// Every device in reach is heard once; one with a link is silent, unless it says otherwise.
    private func hearAll() {
        for address in inReach {
            let path = devicePath(address)
            let known = objects[path] != nil
            guard device(address).isClassic == false || filter?["Transport"]?.text != "le" else { continue }
            guard device(address).advertisesWhileConnected || !bool(path, Self.deviceInterface, "Connected") else {
                continue
            }
            if !known || advertising == nil || filter?["DuplicateData"]?.bool == true { advertise(address) }
        }
    }

    private func beginDiscovery() {
        isDiscovering = true
        advertising = nil
        hearAll()
        guard let interval else { return }
        let timer = try? bus.loop.timer(on: .monotonic) { [unowned self] in
            guard isDiscovering else { return }
            hearAll()
            advertising?.arm(at: MonotonicClock.now() + interval * 1_000_000)
        }
        advertising = timer
        timer?.arm(at: MonotonicClock.now() + interval * 1_000_000)
    }

    /// A device begins to notify by itself, if it does such things.
    private func beginNotifying(_ path: String) {
        guard let (wait, value) = attribute(path)?.notifies else { return }
        let timer = try? bus.loop.timer(on: .monotonic) { [unowned self] in notify(path, value) }
        guard let timer else { return }
        notifications.append(timer)
        timer.arm(at: MonotonicClock.now() + wait * 1_000_000)
    }

    private func attribute(_ path: String) -> StandInDevice.Characteristic? {
        let owner = "/" + path.split(separator: "/").prefix(4).joined(separator: "/")
        guard let handle = UInt16(path.suffix(4), radix: 16),
            let address = objects[owner]?[Self.deviceInterface]?.first(where: { $0.0 == "Address" })?.1.text
        else { return nil }
        return device(address).services.flatMap(\.characteristics).first { $0.handle == handle }
    }

    package func resolve(_ address: String) {
        let device = devicePath(address)
        add(
            device + "/service0006",
            ["org.bluez.GattService1": Self.service("1801", of: device)]
        )
        for service in self.device(address).services { export(service, of: address) }
        change(device, Self.deviceInterface, [("ServicesResolved", .bool(true))])
    }

    private func export(_ service: StandInDevice.Service, of address: String) {
        let device = devicePath(address)
        let uuid = StandInDevice.long
        let mtu = self.device(address).mtu
        let path = device + "/service" + StandInDevice.hex(service.handle)
        add(path, ["org.bluez.GattService1": Self.service(service.uuid, of: device)])
        for characteristic in service.characteristics {
            let own = path + "/char" + StandInDevice.hex(characteristic.handle)
            let properties: Properties = [
                ("UUID", .string(uuid(characteristic.uuid))), ("Flags", .strings(characteristic.flags)),
                ("Service", .objectPath(path)), ("NotifyAcquired", .bool(false)), ("MTU", .uint16(mtu)),
            ]
            add(own, [Self.characteristicInterface: properties])
            for descriptor in characteristic.descriptors {
                let properties: Properties = [
                    ("UUID", .string(uuid(descriptor.uuid))), ("Characteristic", .objectPath(own)),
                ]
                let below = own + "/desc" + StandInDevice.hex(descriptor.handle)
                add(below, ["org.bluez.GattDescriptor1": properties])
            }
        }
    }

    private static func service(_ uuid: String, of device: String) -> Properties {
        [
            ("UUID", .string(StandInDevice.long(uuid))), ("Primary", .bool(true)), ("Device", .objectPath(device)),
        ]
    }

    /// The device with a link says that a service of its table went, or that one came, and bluetoothd follows.
    package func changeService(_ service: StandInDevice.Service, of address: String, isThere: Bool) throws {
        let path = devicePath(address) + "/service" + StandInDevice.hex(service.handle)
        guard !isThere else { return export(service, of: address) }
        for child in objects.keys.filter({ $0.hasPrefix(path + "/") }).sorted(by: >) { try remove(child) }
        try remove(path)
    }

    /// bluetoothd reads or hears another name of the device.
    package func rename(_ address: String, to name: String) {
        let changed: Properties = [("Name", .string(name)), ("Alias", .string(name))]
        change(devicePath(address), Self.deviceInterface, changed)
    }

    package func dropLink(_ address: String, reason: String? = nil) throws {
        let path = devicePath(address)
        if let reason {
            let arguments: [BusValue] = [.string(reason), .string("")]
            try server?.emit(path, Self.deviceInterface, "Disconnected", arguments)
        }
        closeSockets()
        change(path, Self.deviceInterface, [("ServicesResolved", .bool(false)), ("Connected", .bool(false))])
        for child in objects.keys.filter({ $0.hasPrefix(path + "/") }).sorted(by: >) { try remove(child) }
    }

    /// The device notifies, on whichever way was asked for.
    package func notify(_ path: String, _ value: [UInt8]) {
        if let socket = sockets[path] {
            _ = unsafe send(socket, value, value.count, 0)
        } else {
            change(path, Self.characteristicInterface, [("Value", .bytes(value))])
        }
    }

    package func removeDevice(_ address: String) throws {
        let path = devicePath(address)
        for child in objects.keys.filter({ $0.hasPrefix(path + "/") }).sorted(by: >) { try remove(child) }
        try remove(path)
    }

    /// Answers the calls that were kept.
    package func releaseHeld() {
        held.removeAll()
        let calls = heldCalls
        heldCalls.removeAll()
        for call in calls where !perform(call) {
            call.fail(BusError(name: "org.freedesktop.DBus.Error.UnknownObject", message: call.path))
        }
    }

    /// How often a member was called.
    package func count(_ member: String) -> Int { calls.filter { $0.hasPrefix(member + " ") }.count }

    // MARK: Objects

    func add(_ path: String, _ interfaces: [String: Properties], announce: Bool = true) {
        objects[path, default: [:]].merge(interfaces) { $1 }
        guard announce else { return }
        try? server?.emit(
            "/",
            "org.freedesktop.DBus.ObjectManager",
            "InterfacesAdded",
            [.objectPath(path), described(interfaces)]
        )
    }

    func remove(_ path: String) throws {
        guard let interfaces = objects.removeValue(forKey: path) else { return }
        try server?.emit(
            "/",
            "org.freedesktop.DBus.ObjectManager",
            "InterfacesRemoved",
            [.objectPath(path), .strings(interfaces.keys.sorted())]
        )
    }

    func change(_ path: String, _ interface: String, _ changed: Properties) {
        guard objects[path]?[interface] != nil else { return }
        set(path, interface, changed)
        try? server?.emit(
            path,
            "org.freedesktop.DBus.Properties",
            "PropertiesChanged",
            [.string(interface), .properties(changed), .strings([])]
        )
    }

    private func set(_ path: String, _ interface: String, _ changed: Properties) {
        for (name, value) in changed {
            objects[path]?[interface]?.removeAll { $0.0 == name }
            objects[path]?[interface]?.append((name, value))
        }
    }

    private func described(_ interfaces: [String: Properties]) -> BusValue {
        .dictionary(
            interfaces.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key), .properties($0.value)) },
            key: "s",
            value: "a{sv}"
        )
    }

    private func bool(_ path: String, _ interface: String, _ name: String) -> Bool {
        objects[path]?[interface]?.first { $0.0 == name }?.1.bool ?? false
    }

    private func closeSockets() {
        for socket in sockets.values { close(socket) }
        sockets.removeAll()
    }

    // MARK: Calls

    private func answer(_ call: IncomingCall) -> Bool {
        calls.append("\(call.member) \(call.path)")
        if held.contains(call.member) {
            heldCalls.append(call)
            return true
        }
        return perform(call)
    }

    private func perform(_ call: IncomingCall) -> Bool {
        switch (call.interface, call.member) {
        case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"):
            let entries = objects.sorted { $0.key < $1.key }
                .map { BusEntry(.objectPath($0.key), described($0.value)) }
            call.reply([.dictionary(entries, key: "o", value: "a{sa{sv}}")])
        case ("org.freedesktop.DBus.Properties", "Set"): setProperty(call)
        case ("org.freedesktop.DBus.Properties", "Get"):
            guard call.arguments.count == 2, let interface = call.arguments[0].text,
                let value = objects[call.path]?[interface]?.first(where: { $0.0 == call.arguments[1].text })?.1
            else { return false }
            call.reply([.variant(value)])
        case ("org.bluez.GattManager1", _), ("org.bluez.LEAdvertisingManager1", _): return offering(call)
        case ("org.bluez.AgentManager1", "RegisterAgent"):
            agent = (call.sender, call.arguments[0].text ?? "")
            call.reply()
        case ("org.bluez.AgentManager1", _): call.reply()
        case ("org.bluez.ProfileManager1", _): return profile(call)
        case ("org.wakebench.Radio1", _):
            guard let radio else { return false }
            radio(call)
        case (Self.adapterInterface, _): return adapter(call)
        case (Self.deviceInterface, _): return device(call)
        case (Self.characteristicInterface, _): return characteristic(call)
        default: return false
        }
        return true
    }

    private func setProperty(_ call: IncomingCall) {
        guard objects[call.path] != nil, let name = call.arguments[1].text else { return }
        if powerRefusals > 0, call.arguments[2].bool == true {
            powerRefusals -= 1
            call.fail(BusError(name: "org.bluez.Error.Busy", message: ""))
            return
        }
        change(call.path, call.arguments[0].text ?? "", [(name, call.arguments[2].plain)])
        call.reply()
    }

    private func adapter(_ call: IncomingCall) -> Bool {
        guard objects[call.path] != nil else { return false }
        switch call.member {
        case "SetDiscoveryFilter": filter = call.arguments.first
        case "StartDiscovery":
            call.reply()
            beginDiscovery()
            return true
        case "StopDiscovery":
            isDiscovering = false
            advertising = nil
        case "RemoveDevice": try? remove(call.arguments[0].text ?? "")
        default: return false
        }
        call.reply()
        return true
    }

    private func device(_ call: IncomingCall) -> Bool {
        guard let address = objects[call.path]?[Self.deviceInterface]?.first(where: { $0.0 == "Address" })?.1.text
        else { return false }
        switch (call.member, connects) {
        case ("Connect", .succeed):
            change(call.path, Self.deviceInterface, [("Connected", .bool(true))])
            call.reply()
            resolve(address)
        case ("Connect", .abort):
            connects = .succeed
            change(call.path, Self.deviceInterface, [("Connected", .bool(true))])
            change(call.path, Self.deviceInterface, [("Connected", .bool(false))])
            call.fail(BusError(name: "org.bluez.Error.Failed", message: "le-connection-abort-by-local"))
        case ("Connect", .leaveUnresolved):
            connects = .succeed
            change(call.path, Self.deviceInterface, [("Connected", .bool(true))])
            call.reply()
        case ("Connect", .unsaid):
            connects = .succeed
            set(call.path, Self.deviceInterface, [("Connected", .bool(true))])
            call.reply()
            resolve(address)
        case ("ConnectProfile", _): connectProfile(call, address)
        case ("Pair", _): pair(call, address)
        case ("Disconnect", _):
            if bool(call.path, Self.deviceInterface, "Connected") { try? dropLink(address) }
            call.reply()
        default: return false
        }
        return true
    }

    /// Asks the agent as bluetoothd does for the device's way of pairing.
    private func pair(_ call: IncomingCall, _ address: String) {
        let path = call.path
        guard let agent, let (member, arguments) = device(address).question else {
            call.fail(BusError(name: "org.bluez.Error.AuthenticationFailed", message: ""))
            return
        }
        let question = BusCall(agent.0, agent.1, "org.bluez.Agent1", member, [.objectPath(path)] + arguments)
        server?.call(question) { [unowned self] answer in
            guard case .success(let values) = answer, values == device(address).expectedAnswer else {
                call.fail(BusError(name: "org.bluez.Error.AuthenticationRejected", message: ""))
                return
            }
            change(path, Self.deviceInterface, [("Paired", .bool(true))])
            call.reply()
        }
    }

    private func characteristic(_ call: IncomingCall) -> Bool {
        guard objects[call.path] != nil else { return false }
        if ["ReadValue", "WriteValue"].contains(call.member), attribute(call.path)?.isSecured == true {
            let owner = "/" + call.path.split(separator: "/").prefix(4).joined(separator: "/")
            guard bool(owner, Self.deviceInterface, "Paired") else {
                call.fail(BusError(name: "org.bluez.Error.NotPermitted", message: "Not paired"))
                return true
            }
        }
        if answers(call) { return true }
        switch call.member {
        case "ReadValue":
            // As bluetoothd does: the value read is told as a change, right before the answer.
            let value = attribute(call.path)?.value ?? [1]
            change(call.path, Self.characteristicInterface, [("Value", .bytes(value))])
            call.reply([.bytes(value)])
        case "WriteValue", "StopNotify": call.reply()
        case "StartNotify":
            if sockets[call.path] == nil {
                call.reply()
                beginNotifying(call.path)
            } else {
                call.fail(BusError(name: "org.bluez.Error.NotPermitted", message: "Notify acquired"))
            }
        case "AcquireNotify": acquire(call)
        default: return false
        }
        return true
    }

    /// A device that has an answer of its own to a read or a write gives it.
    private func answers(_ call: IncomingCall) -> Bool {
        guard ["ReadValue", "WriteValue"].contains(call.member), let handle = attribute(call.path)?.handle else {
            return false
        }
        let parts = call.path.split(separator: "/").map(String.init)
        let owner = "/" + parts.prefix(4).joined(separator: "/")
        let address = objects[owner]?[Self.deviceInterface]?.first { $0.0 == "Address" }?.1.text ?? ""
        let value = call.member == "WriteValue" ? call.arguments.first?.bytes ?? [] : nil
        guard let answer = accessed?(address, handle, value) else { return false }
        sendInOrder(answer.notifications[...], of: owner, since: MonotonicClock.now())
        if let error = answer.error {
            let code = String(error, radix: 16)
            let message = "Operation failed with ATT error: 0x\(code.count < 2 ? "0" : "")\(code)"
            call.fail(BusError(name: "org.bluez.Error.Failed", message: message))
        } else if value == nil {
            call.reply([.bytes(answer.value ?? attribute(call.path)?.value ?? [])])
        } else {
            call.reply()
        }
        return true
    }

    /// One after the other: of several timers that are late nobody knows which comes first.
    private func sendInOrder(
        _ rest: ArraySlice<(handle: UInt16, value: [UInt8], after: Int64)>,
        of owner: String,
        since begin: Int64
    ) {
        guard let (handle, value, wait) = rest.first else { return }
        let end = "/char" + StandInDevice.hex(handle)
        let timer = try? bus.loop.timer(on: .monotonic) { [unowned self] in
            if let path = objects.keys.first(where: { $0.hasPrefix(owner) && $0.hasSuffix(end) }) {
                notify(path, value)
            }
            sendInOrder(rest.dropFirst(), of: owner, since: begin)
        }
        guard let timer else { return }
        notifications.append(timer)
        timer.arm(at: begin + wait * 1_000_000)
    }

    private func acquire(_ call: IncomingCall) {
        if let acquireError {
            call.fail(BusError(name: "org.bluez.Error." + acquireError, message: ""))
            return
        }
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return }
        sockets[call.path] = ends[0]
        call.reply([.descriptor(BusDescriptor(owning: ends[1])), .uint16(23)])
    }
}
