import BlueZStandIn
import WakeBus
import WakeSystem

/// How a client asks for values.
enum Way: String, CaseIterable {
    /// StartNotify: a signal a value.
    case start
    /// AcquireNotify: a packet a value.
    case acquire

    /// The member that a client calls.
    var member: String {
        switch self {
        case .start: "StartNotify"
        case .acquire: "AcquireNotify"
        }
    }
}

/// A bus with a stand-in bluetoothd, and a belt that counts at a rate once somebody has subscribed.
final class Belt {
    static let address = "F0:11:22:33:44:55"
    /// What a client ends at.
    private static let last: UInt16 = 65_535

    private let bus: PrivateBus
    private let bluez: StandInBlueZ
    private var sent = 0

    init() throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        let measurement = StandInDevice.Characteristic(
            handle: 0x0b,
            uuid: "2a37",
            flags: ["notify"],
            descriptors: [(0x0d, "2902")]
        )
        bluez.devices[Self.address] = StandInDevice(
            name: "Fast Belt",
            advertised: ["180d"],
            services: [.init(handle: 0x0a, uuid: "180d", characteristics: [measurement])]
        )
        bluez.interval = 100
        bluez.inReach = []
        bluez.offersPeripheralRole = true
        try bluez.appear(powered: true)
    }

    var loop: EventLoop { bus.loop }

    /// What DBUS_SYSTEM_BUS_ADDRESS is for a client.
    var busAddress: String { bus.address }

    var characteristic: String { bluez.measurement(Self.address) }

    /// The belt is connected to the adapter from the beginning, for a client that does not look for it.
    func connect() {
        bluez.advertise(Self.address, connected: true)
        bluez.resolve(Self.address)
    }

    /// Waits until a client has subscribed.
    /// - Throws: ``GaveUp`` after 60 seconds, ``Failure`` when the client has ended before.
    func waitForSubscription(_ way: Way, _ client: Client) throws {
        try bus.wait(for: "\(client.name) to call \(way.member)", seconds: 60) {
            // Bleak misses what is heard before its call to look for devices has returned.
            if bluez.isDiscovering { bluez.inReach = [Self.address] }
            return bluez.count(way.member) > 0 || client.hasEnded
        }
        if client.hasEnded { throw Failure("\(client.name) ended before it subscribed; see \(client.complaints)") }
    }

    /// Notifies so many values a second. A value that is late is sent as soon as possible.
    func notify(_ rate: Int, seconds: Int) throws {
        let began = MonotonicClock.now()
        let first = sent
        func due(_ number: Int) -> Int64 { began + Int64(number) * 1_000_000_000 / Int64(rate) }
        var isDue = true
        let timer = try bus.loop.timer(on: .monotonic) { isDue = true }
        while sent - first < rate * seconds {
            if isDue {
                let now = MonotonicClock.now()
                while sent - first < rate * seconds, due(sent - first) <= now { send(UInt16(sent % Int(Self.last))) }
                isDue = false
                timer.arm(at: due(sent - first))
            }
            try bus.loop.runOnce(timeout: nil)
        }
    }

    /// Tells the client that it was the last.
    func end(_ client: Client) throws {
        send(Self.last)
        try bus.wait(for: "\(client.name) to end", seconds: 60) { client.hasEnded }
    }

    private func send(_ number: UInt16) {
        bluez.notify(characteristic, [UInt8(number >> 8), UInt8(number & 0xff)])
        if number != Self.last { sent += 1 }
    }
}
