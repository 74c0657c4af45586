import BlueZStandIn
import Testing
import WakeBus
import WakeSystem

@testable import WakeBlueZ

private let phone = "F0:AA:00:00:00:01"
private let watch = "F0:AA:00:00:00:02"

private func long(_ short: String) -> String { "0000\(short)-0000-1000-8000-00805f9b34fb" }

/// A stand-in bluetoothd, a server on its adapter, and what it told.
private final class Stage {
    static let phoneID = BlueZDeviceID(address: phone, isRandom: true)
    static let watchID = BlueZDeviceID(address: watch, isRandom: true)

    let bus: PrivateBus
    let bluez: StandInBlueZ
    let adapter: BlueZAdapter
    let server: BlueZServer
    var told: [String] = []
    var requests: [BlueZRequest] = []

    init() throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        bluez.inReach = []
        adapter = BlueZAdapter(bus: .address(bus.address), on: bus.loop)
        server = BlueZServer(on: adapter)
        server.heard = { [unowned self] in hear($0) }
        try bluez.appear(powered: true)
        try adapter.start()
        try wait(for: "the adapter") { adapter.isReady }
    }

    private func hear(_ event: BlueZServerEvent) {
        switch event {
        case .published(let number, let refusal): told.append("published \(number) \(refusal?.kind ?? "-")")
        case .advertising(let refusal): told.append("advertising \(refusal?.kind ?? "-")")
        case .requested(let request):
            requests.append(request)
            told.append("requested \(request.characteristic)")
        case .subscribed(let number, let device, let mtu): told.append("subscribed \(number) \(device.address) \(mtu)")
        case .unsubscribed(let number, let device): told.append("unsubscribed \(number) \(device.address)")
        case .room: told.append("room")
        }
    }

    func wait(for what: String, until condition: () -> Bool) throws { try bus.wait(for: what, until: condition) }

    func wait(for told: String, count: Int = 1) throws {
        try wait(for: told) { self.told.filter { $0 == told }.count >= count }
    }

    /// A heart-rate service (11: 2A37 notify, 12: 2A38 read write, 13: 2A39 indicate) or another of one characteristic.
    static func heartRate() -> BlueZLocalService {
        BlueZLocalService(
            number: 1,
            uuid: long("180d"),
            characteristics: [
                .init(number: 11, uuid: long("2a37"), flags: ["notify"]),
                .init(
                    number: 12,
                    uuid: long("2a38"),
                    flags: ["read", "write"],
                    descriptors: [.init(uuid: long("2901"), value: [65, 66, 67])]
                ),
                .init(number: 13, uuid: long("2a39"), flags: ["indicate"]),
            ]
        )
    }

    static func battery() -> BlueZLocalService {
        BlueZLocalService(
            number: 2,
            uuid: long("180f"),
            characteristics: [.init(number: 21, uuid: long("2a19"), flags: ["read"], value: [1, 2, 3, 4])]
        )
    }

    func publish(_ service: BlueZLocalService) throws {
        server.publish(service)
        try wait(for: "published \(service.number) -")
    }

    func waitForAnswers(_ count: Int) throws {
        try wait(for: "\(count) answers") { bluez.registered.answers.count >= count }
    }
}

@Suite("A GATT server", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus"))
struct BlueZServerTests {
    @Test("A published service is registered with its characteristics and descriptors in order")
    func publishes() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        let attributes = try #require(stage.bluez.registered.applications.first).attributes
        #expect(attributes.map(\.uuid) == ["180d", "2a37", "2a38", "2901", "2a39"].map(long))
        #expect(attributes.map(\.flags) == [[], ["notify"], ["read", "write"], ["read"], ["indicate"]])
    }

    @Test("A service that is published later leaves those before it where they are")
    func later() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        let before = try #require(stage.bluez.offered(long("180d"))).handle
        try stage.publish(Stage.battery())
        #expect(stage.bluez.offered(long("180d"))?.handle == before)
        #expect(stage.bluez.count("UnregisterApplication") == 0)
        #expect(stage.bluez.registered.applications.count == 2)
    }

    @Test("A service that is taken back is unregistered, and the others stay")
    func unpublishes() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        try stage.publish(Stage.battery())
        stage.server.unpublish(1)
        try stage.wait(for: "one application") { stage.bluez.registered.applications.count == 1 }
        #expect(stage.bluez.offered(long("180f")) != nil)
    }

    @Test("A service that bluetoothd refuses is told once, and the next one is registered all the same")
    func refused() throws {
        let stage = try Stage()
        stage.bluez.registered.refusals = ["InvalidArguments"]
        stage.server.publish(Stage.heartRate())
        try stage.publish(Stage.battery())
        #expect(stage.told == ["published 1 InvalidArguments", "published 2 -"])
    }

    @Test("After a restart of bluetoothd services return in their order, at their handles, and nobody is told again")
    func restart() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        try stage.publish(Stage.battery())
        let handles = ["180d", "180f"].map { stage.bluez.offered(long($0))?.handle }
        stage.bluez.vanish()
        try stage.wait(for: "the end of bluetoothd") { !stage.adapter.isReady }
        stage.bluez.registered.nextHandle = 40
        try stage.bluez.appear(powered: true)
        try stage.wait(for: "two applications") { stage.bluez.registered.applications.count == 2 }
        #expect(["180d", "180f"].map { stage.bluez.offered(long($0))?.handle } == handles)
        #expect(stage.told.filter { $0.hasPrefix("published") }.count == 2)
    }

    @Test("A handle that is taken meanwhile is given up")
    func handleTaken() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.vanish()
        try stage.wait(for: "the end of bluetoothd") { !stage.adapter.isReady }
        stage.bluez.registered.refusals = ["Failed"]
        stage.bluez.registered.nextHandle = 40
        try stage.bluez.appear(powered: true)
        try stage.wait(for: "the application") { stage.bluez.registered.applications.count == 1 }
        #expect(stage.bluez.offered(long("180d"))?.handle == 40)
    }

    @Test("An adapter that is plugged in again gets services and advertisement again")
    func adapterBack() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.server.advertise(BlueZLocalAdvertisement(services: [long("180d")]))
        try stage.wait(for: "advertising -")
        try stage.bluez.removeAdapter()
        try stage.wait(for: "the adapter to be gone") { !stage.adapter.isReady }
        stage.bluez.addAdapter(index: 2)
        try stage.wait(for: "all again") {
            stage.bluez.registered.applications.count == 1 && stage.bluez.registered.advertisements.count == 1
        }
        #expect(stage.told.filter { $0 == "advertising -" }.count == 1)
    }

    @Test("A read asks the owner, with the offset, the central and the MTU, and its answer reaches the central")
    func reads() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralReads(phone, long("2a38"), offset: 22, mtu: 23)
        try stage.wait(for: "requested 12")
        let request = try #require(stage.requests.first)
        #expect(request.kind == .read(offset: 22))
        #expect(request.device == Stage.phoneID)
        #expect(request.mtu == 23)
        stage.server.answer(request.number, value: [9, 8])
        try stage.waitForAnswers(1)
        #expect(stage.bluez.registered.answers == [.success([9, 8])])
    }

    @Test("A value that never changes is answered from the offset without asking, and beyond its end refused")
    func staticValue() throws {
        let stage = try Stage()
        try stage.publish(Stage.battery())
        stage.bluez.centralConnects(phone)
        for offset: UInt16 in [0, 3, 4, 5] { stage.bluez.centralReads(phone, long("2a19"), offset: offset) }
        try stage.waitForAnswers(4)
        let values = stage.bluez.registered.answers.map { try? $0.get() }
        #expect(values == [[1, 2, 3, 4], [4], [], nil])
        #expect(stage.requests.isEmpty)
    }

    @Test("A service that does not serve refuses the values that never change, and asks for the others")
    func notServing() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        try stage.publish(Stage.battery())
        stage.server.serve(false, 1)
        stage.server.serve(false, 2)
        stage.bluez.centralConnects(phone)
        stage.bluez.centralReads(phone, long("2a19"))
        stage.bluez.centralReads(phone, long("2901"))
        stage.bluez.centralReads(phone, long("2a38"))
        try stage.wait(for: "requested 12")
        try stage.waitForAnswers(2)
        #expect(stage.bluez.registered.answers.map { try? $0.get() } == [nil, nil])
    }

    @Test("A descriptor is answered")
    func descriptor() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralReads(phone, long("2901"))
        try stage.waitForAnswers(1)
        #expect(stage.bluez.registered.answers == [.success([65, 66, 67])])
    }

    @Test("Writes of each kind ask the owner with their offset", arguments: ["request", "command", "reliable"])
    func writes(kind: String) throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralWrites(phone, long("2a38"), [1, 2], kind: kind, offset: 7)
        try stage.wait(for: "requested 12")
        #expect(stage.requests.map(\.kind) == [.write([1, 2], offset: 7)])
        stage.server.answer(stage.requests[0].number)
        try stage.waitForAnswers(1)
        #expect(stage.bluez.registered.answers == [.success([])])
    }

    @Test("A write that is only being prepared asks nobody")
    func prepares() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralWrites(phone, long("2a38"), [1], kind: "reliable", preparing: true)
        try stage.waitForAnswers(1)
        #expect(stage.requests.isEmpty)
    }

    @Test(
        "A refusal travels as the error that bluetoothd makes its code from",
        arguments: [
            (UInt8(0x03), "NotPermitted", "0x3"), (0x07, "InvalidOffset", "0x7"), (0x08, "NotAuthorized", "0x8"),
            (0x0D, "InvalidValueLength", "0xd"), (0x06, "NotSupported", "0x6"), (0x81, "Failed", "0x81"),
            (0x0E, "Unlikely", "0xe"),
        ]
    )
    func refuses(code: UInt8, kind: String, message: String) throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralWrites(phone, long("2a38"), [1])
        try stage.wait(for: "requested 12")
        stage.server.refuse(stage.requests[0].number, code: code)
        try stage.waitForAnswers(1)
        let expected = BusError(name: "org.bluez.Error." + kind, message: message)
        #expect(stage.bluez.registered.answers == [.failure(expected)])
    }

    @Test("Each central that subscribes is told with its MTU, and gets values until it unsubscribes")
    func subscribes() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralConnects(watch)
        stage.bluez.centralSubscribes(phone, long("2a37"), mtu: 185)
        try stage.wait(for: "subscribed 11 \(phone) 185")
        stage.bluez.centralSubscribes(watch, long("2a37"), mtu: 23)
        try stage.wait(for: "subscribed 11 \(watch) 23")
        #expect(stage.server.subscribers(of: 11) == [Stage.phoneID, Stage.watchID])
        #expect(stage.server.update(11, [0, 72]))
        try stage.wait(for: "the value") { !stage.bluez.registered.notified.isEmpty }
        #expect(stage.bluez.registered.notified.map(\.value) == [[0, 72]])
        stage.bluez.centralUnsubscribes(phone, long("2a37"))
        stage.bluez.centralUnsubscribes(watch, long("2a37"))
        try stage.wait(for: "unsubscribed 11 \(watch)")
        #expect(stage.server.subscribers(of: 11).isEmpty)
    }

    @Test("A central whose link goes is unsubscribed, and its open request is refused")
    func linkGoes() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralSubscribes(phone, long("2a37"))
        try stage.wait(for: "subscribed 11 \(phone) 185")
        stage.bluez.centralReads(phone, long("2a38"))
        try stage.wait(for: "requested 12")
        stage.bluez.centralLeaves(phone)
        try stage.wait(for: "unsubscribed 11 \(phone)")
        try stage.waitForAnswers(1)
        let unlikely = BusError(name: "org.bluez.Error.Unlikely", message: "0xe")
        #expect(stage.bluez.registered.answers == [.failure(unlikely)])
    }

    @Test("Too many values at once are refused, and room is told when bluetoothd has dealt with them")
    func backPressure() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralSubscribes(phone, long("2a37"))
        try stage.wait(for: "subscribed 11 \(phone) 185")
        stage.bluez.held = ["Get"]
        var sent = 0
        while stage.server.update(11, [UInt8(sent)]) { sent += 1 }
        #expect(sent == BlueZServer.valueLimit)
        try stage.wait(for: "the question") { !stage.bluez.heldCalls.isEmpty }
        #expect(!stage.told.contains("room"))
        stage.bluez.releaseHeld()
        try stage.wait(for: "room")
        #expect(stage.server.update(11, [255]))
        try stage.wait(for: "the last value") { stage.bluez.registered.notified.last?.value == [255] }
        #expect(stage.bluez.registered.notified.count == sent + 1)
    }

    @Test("Indications hold their places until the central confirms them, and a link that goes frees them")
    func indications() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.registered.confirms = false
        stage.bluez.centralConnects(phone)
        stage.bluez.centralSubscribes(phone, long("2a39"))
        try stage.wait(for: "subscribed 13 \(phone) 185")
        var sent = 0
        while stage.server.update(13, [UInt8(sent)]) { sent += 1 }
        try stage.wait(for: "the indications") { stage.bluez.registered.notified.count == sent }
        #expect(sent == BlueZServer.valueLimit)
        #expect(!stage.server.update(13, [0]))
        #expect(!stage.told.contains("room"))
        stage.bluez.centralLeaves(phone)
        try stage.wait(for: "room")
    }

    @Test("A confirmation makes room for the next indication")
    func confirms() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.bluez.centralConnects(phone)
        stage.bluez.centralSubscribes(phone, long("2a39"))
        try stage.wait(for: "subscribed 13 \(phone) 185")
        while stage.server.update(13, [1]) {}
        try stage.wait(for: "room")
    }

    @Test("An advertisement has the name, the services and the company's data")
    func advertises() throws {
        let stage = try Stage()
        let data = BlueZLocalAdvertisement.ManufacturerData(company: 0x004C, data: [1] + Array(repeating: 7, count: 16))
        stage.server.advertise(
            BlueZLocalAdvertisement(localName: "Strap", services: [long("180d")], manufacturerData: data)
        )
        try stage.wait(for: "advertising -")
        let properties = try #require(stage.bluez.registered.advertisements.first).properties
        #expect(properties["Type"]?.text == "peripheral")
        #expect(properties["LocalName"]?.text == "Strap")
        #expect(properties["ServiceUUIDs"]?.texts == [long("180d")])
        let company = properties["ManufacturerData"]?.entries?.first
        #expect(company?.key.integer == 0x004C)
        #expect(company?.value.bytes == data.data)
    }

    @Test("A name that finds no room is left out")
    func nameWithoutRoom() throws {
        let stage = try Stage()
        stage.bluez.registered.longestName = 3
        stage.server.advertise(BlueZLocalAdvertisement(localName: "Strap", services: [long("180d")]))
        try stage.wait(for: "advertising -")
        #expect(stage.bluez.registered.advertisements.first?.properties["LocalName"] == nil)
    }

    @Test("An advertisement that bluetoothd takes back is registered again, under another object")
    func released() throws {
        let stage = try Stage()
        stage.server.advertise(BlueZLocalAdvertisement(services: [long("180d")]))
        try stage.wait(for: "advertising -")
        let before = try #require(stage.bluez.registered.advertisements.first).path
        stage.bluez.releaseAdvertisements()
        try stage.wait(for: "the next one") { !stage.bluez.registered.advertisements.isEmpty }
        #expect(stage.bluez.registered.advertisements.first?.path != before)
        #expect(stage.told == ["advertising -"])
    }

    @Test("Another advertisement replaces the one before, and none ends it")
    func replaced() throws {
        let stage = try Stage()
        stage.server.advertise(BlueZLocalAdvertisement(services: [long("180d")]))
        try stage.wait(for: "advertising -")
        stage.server.advertise(BlueZLocalAdvertisement(services: [long("180f")]))
        try stage.wait(for: "advertising -", count: 2)
        #expect(stage.bluez.registered.advertisements.map { $0.properties["ServiceUUIDs"]?.texts } == [[long("180f")]])
        stage.server.advertise(nil)
        try stage.wait(for: "silence") { stage.bluez.registered.advertisements.isEmpty }
    }

    @Test("An adapter that was off and is on again advertises again, and keeps its services")
    func offAndOn() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        stage.server.advertise(BlueZLocalAdvertisement(services: [long("180d")]))
        try stage.wait(for: "advertising -")
        let registrations = stage.bluez.count("RegisterApplication")
        stage.adapter.setPower(false)
        try stage.wait(for: "off") { !stage.adapter.isReady }
        stage.adapter.setPower(true)
        try stage.wait(for: "the advertisement") { stage.bluez.count("RegisterAdvertisement") == 2 }
        #expect(stage.bluez.count("RegisterApplication") == registrations)
    }

    @Test("Calls of anyone but bluetoothd are not believed")
    func strangers() throws {
        let stage = try Stage()
        try stage.publish(Stage.heartRate())
        let stranger = try stage.bus.connect()
        let name = try #require(stage.adapter.bus?.uniqueName)
        var answer: Bus.Answer?
        let write = BusCall(
            name,
            "/org/wakebench/service1/char1",
            BlueZName.characteristic,
            "WriteValue",
            [.bytes([1]), .properties([])]
        )
        stranger.call(write) { answer = $0 }
        try stage.wait(for: "the answer") { answer != nil }
        let error = #expect(throws: BusError.self) { try answer?.get() }
        #expect(error?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        #expect(stage.requests.isEmpty)
    }
}
