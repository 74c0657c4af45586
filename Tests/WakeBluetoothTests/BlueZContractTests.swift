import BlueZStandIn
import Glibc
import Testing
import WakeBlueZ
import WakeDevices
import WakeModel
import WakeSystem

@testable import WakeBluetooth

@Suite(
    "BlueZ keeps the contract",
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus")
)
struct BlueZContractTests {
    @Test("BlueZ keeps the promises of the port", arguments: BluetoothPromise.allCases)
    func contract(promise: BluetoothPromise) throws {
        let air = try BlueZAir(ContractRig.devices())
        try promise.check(air.rig)
    }
}

/// The port's real end, and a stand-in bluetoothd that plays device files.
private final class BlueZAir {
    let bus: PrivateBus
    let bluez: StandInBlueZ
    let port: BlueZBluetooth
    let rig: ContractRig

    init(_ devices: [ScenarioDevice]) throws {
        let bus = try PrivateBus()
        let bluez = StandInBlueZ(bus: bus)
        self.bus = bus
        self.bluez = bluez
        let peripherals = devices.compactMap(\.peripheral)
        let addresses = peripherals.map(\.addressText)
        bluez.inReach = addresses
        for beacon in devices.compactMap(\.beacon) {
            let address = BluetoothAddress.text(beacon.address)
            var device = StandInDevice(name: nil, advertised: [])
            device.manufacturerData = (0x004c, beacon.payload)
            device.signalStrength = -65
            bluez.devices[address] = device
            bluez.inReach.append(address)
        }
        let inReach = bluez.inReach
        bluez.interval = 20
        for peripheral in peripherals { bluez.devices[peripheral.addressText] = StandInDevice(peripheral) }
        let players = AnswerPlayers(peripherals)
        bluez.accessed = { address, handle, value in players.answer(address, handle, value) }
        let names = NameTable()
        port = try BlueZBluetooth(
            devices: devices,
            names: names,
            loop: bus.loop,
            bus: .address(bus.address),
            connector: StandInChannels(peripherals, loop: bus.loop)
        )
        let fate = ContractRig.Fate(
            setRange: { bluez.inReach = $0 ? inReach : Array(inReach.dropFirst()) },
            dropLink: { try bluez.dropLink(addresses[0]) },
            setBattery: { isThere in
                let services = bluez.devices[addresses[0]]?.services ?? []
                for service in services where service.uuid == "180F" {
                    try bluez.changeService(service, of: addresses[0], isThere: isThere)
                }
            },
            rename: { bluez.rename(addresses[0], to: $0) }
        )
        rig = ContractRig(port: port, names: names, fate: fate, now: { .zero }) { condition in
            (try? bus.wait(for: "a report", seconds: 30, until: condition)) != nil
        }
        try bluez.appear(powered: true)
        // Without the question before the loop runs, which the stand-in on this very thread could not answer.
        try port.follow()
        try bus.wait(for: "the adapter") { port.adapter.isReady }
    }

    deinit { port.stop() }
}

/// Stands in for the kernel's L2CAP sockets: the channels of device files that send back what they get.
private final class StandInChannels: ChannelConnecting {
    private let loop: EventLoop
    private let offered: [String: [UInt16]]
    private var ends: [Int32] = []
    private var watches: [EventSource] = []

    init(_ peripherals: [BluetoothPeripheral], loop: EventLoop) {
        self.loop = loop
        offered = Dictionary(uniqueKeysWithValues: peripherals.map { ($0.addressText, $0.channels.map(\.psm)) })
    }

    func open(
        psm: UInt16,
        to device: BlueZDeviceID,
        adapter: String,
        completion: @escaping (Result<Int32, SystemError>) -> Void
    ) -> AnyObject {
        let timer = try? loop.timer(on: .monotonic) { [unowned self] in
            guard offered[device.address]?.contains(psm) == true, let (own, theirs) = try? streamPair() else {
                return completion(.failure(SystemError("connect", code: ECONNREFUSED)))
            }
            ends.append(own)
            let watch = try? loop.watch(own, for: .readable) { _ in
                var buffer = [UInt8](repeating: 0, count: 64)
                let count = unsafe recv(own, &buffer, buffer.count, 0)
                if count > 0 { _ = unsafe send(own, buffer, count, 0) }
            }
            if let watch { watches.append(watch) }
            completion(.success(theirs))
        }
        guard let timer else { return self }
        timer.arm(at: 1)
        return timer
    }

    deinit {
        for watch in watches { watch.cancel() }
        for end in ends { close(end) }
    }
}

/// Answers as the files of devices say, to clients that are subscribed to everything.
private final class AnswerPlayers {
    private var machines: [String: BluetoothAnswerMachine] = [:]
    /// The handles of the characteristics, in the order of the file.
    private var handles: [String: [UInt16]] = [:]

    init(_ peripherals: [BluetoothPeripheral]) {
        for peripheral in peripherals where !peripheral.answers.isEmpty {
            machines[peripheral.addressText] = BluetoothAnswerMachine(peripheral.answers, mtu: peripheral.mtu)
            let device = StandInDevice(peripheral)
            handles[peripheral.addressText] = device.services.flatMap(\.characteristics).map(\.handle)
        }
    }

    func answer(_ address: String, _ handle: UInt16, _ value: [UInt8]?) -> StandInAnswer? {
        guard let known = handles[address], let place = known.firstIndex(of: handle), var machine = machines[address]
        else {
            return nil
        }
        defer { machines[address] = machine }
        let request = value.map(BluetoothAnswerMachine.Request.write) ?? .read
        let reply = machine.answer(request, of: place, at: .zero) { _ in true }
        var answer = StandInAnswer()
        answer.error = reply.error
        for case .set(place, let value) in reply.effects { answer.value = value }
        while let due = machine.nextDue {
            for case .send(let place, let value, _, _) in machine.advance(to: due, subscribed: { _ in true }) {
                // The client's call is answered before, as over the air.
                answer.notifications.append((known[place], value, 20 + due.since(.zero).milliseconds))
            }
        }
        return answer
    }
}

extension StandInDevice {
    /// The device of a file: its table as a server would number it, and its first values a little later.
    init(_ peripheral: BluetoothPeripheral) {
        var handle: UInt16 = 10
        func take(_ count: UInt16) -> UInt16 {
            defer { handle += count }
            return handle
        }
        self.init(name: peripheral.name, advertised: peripheral.advertising.services)
        advertisesWhileConnected = peripheral.advertising.whileConnected
        signalStrength = peripheral.advertising.signalStrength
        mtu = UInt16(peripheral.mtu)
        switch peripheral.pairing {
        case .justWorks: question = ("RequestAuthorization", [])
        case .numeric: question = ("RequestConfirmation", [.uint32(4711)])
        case .passkey(let number):
            question = ("RequestPasskey", [])
            expectedAnswer = [.uint32(number)]
        case .reject: break
        }
        for service in peripheral.services {
            services.append(Service(handle: take(1), uuid: service.uuid, characteristics: []))
            for characteristic in service.characteristics {
                let words = CharacteristicProperties.words
                let flags = words.filter { characteristic.properties.contains($0.property) }.map(\.word)
                var position = Timetable.Position()
                let own = take(2)
                let descriptors =
                    (characteristic.properties.canNotify ? ["2902"] : []) + characteristic.descriptors.map(\.uuid)
                var made = Characteristic(
                    handle: own,
                    uuid: characteristic.uuid,
                    flags: flags,
                    value: characteristic.value,
                    descriptors: descriptors.map { (take(1), $0) },
                    notifies: characteristic.timetable.take(&position).map { (200, $0) }
                )
                made.isSecured = characteristic.security != .none
                services[services.count - 1].characteristics.append(made)
            }
        }
    }
}
