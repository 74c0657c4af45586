import BlueZStandIn
import Glibc
import Testing
import WakeBus
import WakeSystem

@testable import WakeBlueZ

private let printer = "F0:11:22:33:44:66"
private let profile = "00000000-deca-fade-deca-deafdecacafe"

/// A stand-in bluetoothd with a printer in reach, profiles on its adapter, and what they told.
private final class Stage {
    static let device = BlueZDeviceID(address: printer, isRandom: false)

    let bus: PrivateBus
    let bluez: StandInBlueZ
    let adapter: BlueZAdapter
    let profiles: BlueZProfiles
    var told: [String] = []
    var descriptors: [Int32] = []

    init(uses: Bool = true, pairing: BlueZPairing? = nil) throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        var device = StandInDevice(name: "Printer", advertised: [])
        device.isClassic = true
        device.profiles = [profile]
        bluez.devices[printer] = device
        bluez.inReach = [printer]
        adapter = BlueZAdapter(bus: .address(bus.address), on: bus.loop)
        adapter.pairings[Self.device] = pairing
        profiles = BlueZProfiles(on: adapter)
        profiles.heard = { [unowned self] in hear($0) }
        if uses { profiles.use(profile) }
        try bluez.appear(powered: true)
        try adapter.start()
        try wait(for: "the adapter") { adapter.isReady }
    }

    private func hear(_ event: BlueZProfileEvent) {
        switch event {
        case .connected(let device, _, let descriptor):
            descriptors.append(descriptor)
            told.append("connected \(device.address)")
        case .failed(_, _, let error): told.append("failed \(error.kind)")
        case .closing(let device, _): told.append("closing \(device.address)")
        case .refused(_, let error): told.append("refused \(error.kind)")
        }
    }

    func wait(for what: String, until condition: () -> Bool) throws { try bus.wait(for: what, until: condition) }

    func wait(for told: String, count: Int = 1) throws {
        try wait(for: told) { self.told.filter { $0 == told }.count >= count }
    }

    func connect() throws -> Int32 {
        profiles.want(Self.device, profile: profile)
        try wait(for: "connected \(printer)", count: descriptors.count + 1)
        try wait(for: "the answer") { bluez.registeredProfiles.connections.count == 1 }
        return try #require(descriptors.last)
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}

@Suite("Profiles over RFCOMM", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus"))
struct BlueZProfilesTests {
    @Test("A profile is registered as a client that connects only when it is asked to")
    func registers() throws {
        let stage = try Stage()
        try stage.wait(for: "the profile") { !stage.bluez.registeredProfiles.registered.isEmpty }
        let registration = try #require(stage.bluez.registeredProfiles.registered.first)
        #expect(registration.uuid == profile)
        #expect(registration.options?["Role"]?.text == "client")
        #expect(registration.options?["AutoConnect"]?.bool == false)
        #expect(registration.options?["RequireAuthentication"]?.bool == false)
    }

    @Test("A wanted accessory is found by inquiry, and its socket is handed over; bytes go both ways")
    func connects() throws {
        let stage = try Stage()
        let ours = try stage.connect()
        #expect(stage.bluez.filter?["Transport"]?.text == "bredr")
        let theirs = try #require(stage.bluez.registeredProfiles.connections.first).device
        let line = Descriptor(owning: dup(ours))
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try line.read(into: &buffer) == nil, "a read waits")
        #expect(try line.write([1, 2, 3]) == 3)
        let other = Descriptor(owning: dup(theirs))
        #expect(try other.read(into: &buffer) == 3)
        #expect(try other.write([4]) == 1)
        #expect(try line.read(into: &buffer) == 1)
        #expect(buffer[0] == 4)
        try stage.wait(for: "the end of looking for it") { !stage.adapter.isDiscovering }
    }

    /// Calls as another program on the bus, and gives the error that it hears.
    private func strangersCall(_ stage: Stage, _ call: BusCall) throws -> String? {
        let stranger = try stage.bus.connect()
        defer { stranger.close() }
        var answer: Bus.Answer?
        stranger.call(call) { answer = $0 }
        try stage.wait(for: "an answer") { answer != nil }
        guard case .failure(let error) = answer else { return nil }
        return error.name
    }

    @Test("Only bluetoothd is answered: a stranger on the bus hands over no connection, and ends none")
    func strangersProfile() throws {
        let stage = try Stage()
        let ours = try stage.connect()
        let registration = try #require(stage.bluez.registeredProfiles.registered.first)
        let device = BusValue.objectPath("/org/bluez/hci0/dev_" + printer.replacing(":", with: "_"))
        let profile1 = "org.bluez.Profile1"
        let calls = [
            BusCall(registration.owner, registration.path, profile1, "RequestDisconnection", [device]),
            BusCall(registration.owner, registration.path, profile1, "Release", []),
            BusCall(registration.owner, registration.path, profile1, "NewConnection", [device]),
        ]
        for call in calls {
            #expect(try strangersCall(stage, call) == "org.freedesktop.DBus.Error.AccessDenied", "\(call.member)")
        }
        #expect(stage.told == ["connected \(printer)"])
        #expect(fcntl(ours, F_GETFD) >= 0)
    }

    @Test("Only bluetoothd is answered: a stranger on the bus learns no passkey from the agent")
    func strangersAgent() throws {
        let stage = try Stage(pairing: .passkey(123_456))
        try stage.wait(for: "the agent") { stage.bluez.agent != nil }
        let (name, path) = try #require(stage.bluez.agent)
        let device = BusValue.objectPath("/org/bluez/hci0/dev_" + printer.replacing(":", with: "_"))
        for member in ["RequestPasskey", "RequestPinCode", "RequestConfirmation", "AuthorizeService", "Release"] {
            let call = BusCall(name, path, "org.bluez.Agent1", member, [device])
            #expect(try strangersCall(stage, call) == "org.freedesktop.DBus.Error.AccessDenied", "\(member)")
        }
    }

    @Test("Hanging up ends the connection although bluetoothd has the socket, too")
    func hangsUp() throws {
        let stage = try Stage()
        let ours = try stage.connect()
        stage.descriptors.removeAll()
        hangUp(ours)
        let theirs = try #require(stage.bluez.registeredProfiles.connections.first).device
        let other = Descriptor(owning: dup(theirs))
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try other.read(into: &buffer) == 0)
    }

    @Test("An accessory that does not answer is tried again until it does")
    func retries() throws {
        let stage = try Stage()
        stage.bluez.registeredProfiles.connectErrors = ["Failed", "NotAvailable"]
        _ = try stage.connect()
        #expect(stage.told == ["failed Failed", "failed NotAvailable", "connected \(printer)"])
    }

    @Test("After a restart of bluetoothd the profile is registered and the connection made again")
    func restart() throws {
        let stage = try Stage()
        _ = try stage.connect()
        stage.bluez.vanish()
        try stage.wait(for: "the end") { !stage.adapter.isReady }
        stage.profiles.want(Stage.device, profile: profile)
        try stage.bluez.appear(powered: true)
        try stage.wait(for: "connected \(printer)", count: 2)
        #expect(stage.bluez.count("RegisterProfile") == 2)
    }

    @Test("A profile stays registered while the adapter is away")
    func adapterAway() throws {
        let stage = try Stage()
        try stage.wait(for: "the profile") { stage.bluez.registeredProfiles.registered.count == 1 }
        try stage.bluez.removeAdapter()
        try stage.wait(for: "the end") { !stage.adapter.isReady }
        stage.bluez.addAdapter(index: 1, powered: true)
        _ = try stage.connect()
        #expect(stage.bluez.count("RegisterProfile") == 1)
    }

    @Test("A profile that another program has is reported with bluetoothd's reason, and not asked for again")
    func refused() throws {
        let stage = try Stage(uses: false)
        stage.bluez.registeredProfiles.refusals = ["NotPermitted"]
        stage.profiles.use(profile)
        try stage.wait(for: "refused NotPermitted")
        #expect(stage.bluez.count("RegisterProfile") == 1)
    }

    @Test("A registration that fails is asked for again")
    func registersAgain() throws {
        let stage = try Stage(uses: false)
        stage.bluez.registeredProfiles.refusals = ["Failed"]
        stage.profiles.use(profile)
        _ = try stage.connect()
        #expect(stage.bluez.count("RegisterProfile") == 2)
    }

    @Test("A connection that is given up while it is made is closed, and bluetoothd is told")
    func givenUp() throws {
        let stage = try Stage()
        stage.bluez.held = ["ConnectProfile"]
        stage.profiles.want(Stage.device, profile: profile)
        try stage.wait(for: "the attempt") { stage.bluez.count("ConnectProfile") == 1 }
        stage.profiles.giveUp(Stage.device, profile: profile)
        stage.bluez.releaseHeld()
        try stage.wait(for: "the end of looking for it") {
            stage.bluez.registeredProfiles.connections.isEmpty && !stage.adapter.isDiscovering
        }
        stage.profiles.want(Stage.device, profile: profile)
        try stage.wait(for: "connected \(printer)")
        #expect(stage.told == ["connected \(printer)"])
    }

    @Test("Who disconnects the device is heard of with its address")
    func closing() throws {
        let stage = try Stage()
        _ = try stage.connect()
        stage.bluez.requestDisconnection(printer, profile)
        try stage.wait(for: "closing \(printer)")
    }

    @Test("The end gives profiles back")
    func stops() throws {
        let stage = try Stage()
        _ = try stage.connect()
        stage.profiles.stop()
        try stage.wait(for: "the profile's end") { stage.bluez.registeredProfiles.registered.isEmpty }
    }
}
