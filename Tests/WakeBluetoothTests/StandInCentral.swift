import BlueZStandIn
import WakeBus

@testable import WakeBluetooth
@testable import WakeDevices

/// Plays a central's script against a stand-in bluetoothd, step by step, and says what comes of it in the words of the
/// simulated one. Pauses are left out.
final class StandInCentral {
    private let bluez: StandInBlueZ
    private let central: BluetoothCentral
    private let say: (String) -> Void
    private var step = 0
    private var isUp = false
    /// How many answers there must be for the step to be over; nil before it has begun.
    private var awaited: Int?
    private var readSoFar: [UInt8] = []
    private var valuesHeard = 0
    /// Values that came and were not waited for, by UUID.
    private var received: [String: Int] = [:]

    init(_ bluez: StandInBlueZ, _ central: BluetoothCentral, say: @escaping (String) -> Void) {
        self.bluez = bluez
        self.central = central
        self.say = say
    }

    private var address: String { central.addressText }

    private func blueZ(_ uuid: String) -> String { BluetoothUUID.long(uuid).lowercased() }

    private func canonical(_ uuid: String) -> String { BluetoothUUID.canonical(uuid) ?? uuid }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Does what can be done now.
    func advance() {
        hearValues()
        var before = -1
        while step != before, central.script.indices.contains(step) {
            before = step
            perform(central.script[step].action)
        }
    }

    /// The link goes without the script having said so.
    func loseLink() {
        guard isUp else { return }
        isUp = false
        bluez.centralLeaves(address)
        say("disconnected")
        awaited = nil
        let rest = central.script.indices[step...]
        step = (rest.first { central.script[$0].action == .disconnect }).map { $0 + 1 } ?? central.script.count
    }

    private func hearValues() {
        for (uuid, value) in bluez.registered.notified.dropFirst(valuesHeard) {
            let indicates = bluez.offered(uuid)?.flags.contains("notify") == false
            say("\(indicates ? "indicated" : "notified") \(canonical(uuid)) \(hex(value))")
            received[canonical(uuid), default: 0] += 1
        }
        valuesHeard = bluez.registered.notified.count
    }

    private func finish() {
        step += 1
        awaited = nil
    }

    private func perform(_ action: BluetoothCentral.Action) {
        switch action {
        case .wait: finish()
        case .connect(let service, _):
            guard bluez.registered.advertisements.contains(where: { offers(service, $0.properties) }) else { return }
            isUp = true
            bluez.centralConnects(address)
            say("connected")
            finish()
        case .discover:
            for application in bluez.registered.applications {
                let members = application.attributes.filter { $0.interface != "org.bluez.GattDescriptor1" }
                say("service " + members.map { canonical($0.uuid) }.joined(separator: " "))
            }
            finish()
        case .read(let uuid): read(uuid)
        case .write(let uuid, let value, let kind): write(uuid, value, kind)
        case .subscribe(let uuid, _):
            bluez.centralSubscribes(address, blueZ(uuid), mtu: UInt16(central.mtu))
            received[uuid] = 0
            say("subscribed \(uuid)")
            finish()
        case .unsubscribe(let uuid):
            bluez.centralUnsubscribes(address, blueZ(uuid))
            say("unsubscribed \(uuid)")
            finish()
        // A channel is the kernel's, which no stand-in plays.
        case .exchange: finish()
        case .awaitValues(let uuid, let count, _):
            guard received[uuid, default: 0] >= count else { return }
            received[uuid, default: 0] -= count
            finish()
        case .disconnect:
            isUp = false
            bluez.centralLeaves(address)
            say("disconnected")
            finish()
        }
    }

    private func offers(_ service: String, _ properties: BusValue) -> Bool {
        if properties["ServiceUUIDs"]?.texts?.contains(blueZ(service)) == true { return true }
        guard central.readsOverflow, let entry = properties["ManufacturerData"]?.entries?.first,
            let company = entry.key.integer, let data = entry.value.bytes
        else { return false }
        let bytes = [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + data
        return OverflowArea(manufacturerData: bytes)?.contains(service) == true
    }

    private func read(_ uuid: String) {
        guard let awaited else {
            guard bluez.offered(blueZ(uuid)) != nil else { return }
            readSoFar = []
            ask(for: uuid)
            return
        }
        guard bluez.registered.answers.count >= awaited else { return }
        switch bluez.registered.answers[awaited - 1] {
        case .success(let value):
            readSoFar += value.prefix(central.mtu - 1)
            if value.count >= central.mtu - 1 { return ask(for: uuid) }
            say("read \(uuid) \(hex(readSoFar))")
        case .failure(let error): say("read \(uuid) error \(code(error, notPermitted: 0x02))")
        }
        finish()
    }

    private func ask(for uuid: String) {
        awaited = bluez.registered.answers.count + 1
        bluez.centralReads(address, blueZ(uuid), offset: UInt16(readSoFar.count), mtu: UInt16(central.mtu))
    }

    private func write(_ uuid: String, _ value: [UInt8], _ kind: BluetoothCentral.WriteKind) {
        guard let awaited else {
            self.awaited = bluez.registered.answers.count + 1
            let word = kind == .prepared ? "reliable" : "\(kind)"
            bluez.centralWrites(address, blueZ(uuid), value, kind: word)
            return
        }
        guard bluez.registered.answers.count >= awaited else { return }
        switch bluez.registered.answers[awaited - 1] {
        case .success: say("wrote \(uuid) \(hex(value))")
        case .failure(let error): say("wrote \(uuid) error \(code(error, notPermitted: 0x03))")
        }
        finish()
    }

    /// The ATT error code that bluetoothd makes of a D-Bus error.
    private func code(_ error: BusError, notPermitted: UInt8) -> String {
        let code: UInt8 =
            switch error.kind {
            case "NotPermitted": notPermitted
            case "NotSupported": 0x06
            case "InvalidOffset": 0x07
            case "NotAuthorized": 0x08
            case "InvalidValueLength": 0x0D
            case "Failed": UInt8(error.message.dropFirst(2), radix: 16) ?? 0x80
            default: 0x0E
            }
        return "0x" + hex([code])
    }
}
