import Glibc
import WakeBluetooth
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

// The real end of the peripheral role by itself, for the lab: publishes a heart-rate service on the machine's adapter,
// answers whoever uses it, and says what it was asked, a line each. `PeripheralEnd CENTRAL.yaml [background]`; in the
// background the service is in the overflow area (BTP-2).

/// Writes a line at once: whoever waits for it reads it from a file.
private func write(_ line: String, to descriptor: Int32) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
}

/// The app behind the port: it remembers what was written, and notifies a counter every half second.
final class Strap {
    static let client = BluetoothClient(app: AppID(0), slot: 0)
    let names: NameTable
    let role: BlueZPeripheralRole
    let ticking: Timer
    static let values: [UInt32: [UInt8]] = [12: [1], 13: [0], 14: Array(0..<200)]
    var values = Strap.values
    var subscribed: Set<UInt32> = []
    var counter: UInt8 = 72

    init(_ role: BlueZPeripheralRole, _ names: NameTable, _ loop: EventLoop) throws {
        self.role = role
        self.names = names
        var tick: () -> Void = {}
        ticking = try loop.timer(on: .monotonic) { tick() }
        tick = { [unowned self] in self.tick() }
        role.report = { [unowned self] in hear($0) }
    }

    func perform(_ command: PeripheralRoleCommand) { role.perform(command, at: .zero) }

    func offer(inBackground: Bool) {
        func member(_ number: UInt32, _ uuid: String, _ properties: UInt16, _ permissions: UInt8) -> LocalCharacteristic
        {
            LocalCharacteristic(number: number, uuid: uuid, properties: properties, permissions: permissions)
        }
        let members = [
            member(11, "2A37", 16, 1), member(12, "2A38", 2, 1), member(13, "2A39", 8, 2), member(14, "2A3A", 10, 3),
            member(15, "2A3B", 32, 1),
        ]
        perform(.publish(Self.client, LocalService(number: 1, uuid: "180D", characteristics: members), again: false))
        let service = [names.intern("180D")]
        perform(
            .advertise(
                Self.client,
                localName: inBackground ? nil : "Strap",
                services: inBackground ? [] : service,
                overflow: inBackground ? service : [],
                again: false
            )
        )
    }

    private func say(_ line: String) { write(line, to: STDOUT_FILENO) }

    private func hear(_ report: SourceReport) {
        let event = report.event
        let outcome = event.failed ? " failed: \(report.payload)" : ""
        say("\(event.kind.word) \(names.text(event.subject))\(outcome)")
        switch report.payload {
        case .readRequest(let offset):
            let value = Array((values[event.local] ?? []).dropFirst(Int(offset)))
            perform(.respond(Self.client, request: event.request, result: 0, value: value))
        case .writeRequests(let writes):
            for write in writes { values[write.characteristic] = write.value }
            perform(.respond(Self.client, request: event.request, result: 0, value: nil))
        default: break
        }
        switch event.kind {
        case .centralSubscribed:
            subscribed.insert(event.local)
            ticking.arm(at: MonotonicClock.now() + 500_000_000)
        case .centralUnsubscribed:
            subscribed.remove(event.local)
            // For whoever comes next everything is as it was.
            if subscribed.isEmpty { values = Self.values }
        default: break
        }
    }

    private func tick() {
        for number in subscribed.sorted() {
            perform(.update(Self.client, characteristic: number, value: [0, counter], centrals: []))
        }
        counter &+= 1
        if !subscribed.isEmpty { ticking.arm(at: MonotonicClock.now() + 500_000_000) }
    }
}

do {
    let arguments = CommandLine.arguments
    guard arguments.count >= 2 else {
        throw SourceFailure(.unsupported, "usage: PeripheralEnd CENTRAL.yaml [background]")
    }
    let form = try DeviceFile.load(file: arguments[1])
    let device = ScenarioDevice(name: "reader", group: "reader", line: 1, form: form)
    let loop = try EventLoop()
    let names = NameTable()
    let central = try BlueZBluetooth(devices: [device], names: names, loop: loop)
    let role = try BlueZPeripheralRole(devices: [device], names: names, loop: loop, beside: central)
    try central.start(at: .zero)
    try role.start(at: .zero)
    let strap = try Strap(role, names, loop)
    strap.offer(inBackground: arguments.contains("background"))
    while true { try loop.runOnce(timeout: 3_600_000_000_000) }
} catch {
    write("PeripheralEnd: \(error)", to: STDERR_FILENO)
    exit(12)
}
