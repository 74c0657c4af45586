import BlueZStandIn
import CWakeShims
import Glibc
import Testing
import WakeBus
import WakeSystem

@testable import WakeBlueZ

/// A stand-in org.bluez whose adapter stands for the kernel's sockets, and a device with a link.
private final class Stage {
    static let device = BlueZDeviceID(address: "F0:11:22:33:44:55", isRandom: true)

    let bus: PrivateBus
    let bluez: StandInBlueZ
    let adapter: BlueZAdapter
    let channels: AdapterChannels
    /// The calls that the adapter's interface got.
    var calls: [IncomingCall] = []

    init() throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        adapter = BlueZAdapter(bus: .address(bus.address), on: bus.loop)
        channels = AdapterChannels(of: adapter, on: bus.loop)
        bluez.radio = { [unowned self] call in calls.append(call) }
        try bluez.appear(powered: true)
        try adapter.start()
        try wait(for: "the adapter") { adapter.isReady }
        bluez.advertise(Self.device.address)
        try wait(for: "the device") { adapter.path(of: Self.device) != nil }
    }

    deinit { adapter.stop() }

    func wait(for what: String, until condition: () -> Bool) throws { try bus.wait(for: what, until: condition) }

    /// The next call of the interface.
    func call(_ member: String) throws -> IncomingCall {
        try wait(for: member) { !calls.isEmpty }
        let call = calls.removeFirst()
        try #require(call.member == member)
        return call
    }

    static func packetPair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe wake_packet_pair(&ends) == 0)
        return (ends[0], ends[1])
    }
}

/// Whether the other end of a socket is closed, with nothing left to be read.
private func isOver(_ number: Int32) -> Bool {
    var byte: UInt8 = 0
    return unsafe recv(number, &byte, 1, Int32(truncatingIfNeeded: MSG_DONTWAIT)) == 0
}

@Suite(
    "What an adapter gives in place of the kernel's sockets",
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus")
)
struct BlueZRadioTests {
    @Test("A channel is opened at the device's object")
    func opens() throws {
        let stage = try Stage()
        var result: Result<Int32, SystemError>?
        let ticket = stage.channels.open(psm: 0x81, to: Stage.device, adapter: "") { result = $0 }
        let call = try stage.call("OpenChannel")
        #expect(call.arguments == [.objectPath(stage.bluez.devicePath(Stage.device.address)), .uint16(0x81)])
        let (own, theirs) = try streamPair()
        defer { close(own) }
        call.reply([.descriptor(BusDescriptor(owning: theirs))])
        try stage.wait(for: "the channel") { result != nil }
        let stream = try #require(try? result?.get())
        defer { close(stream) }
        _ = unsafe send(stream, "hello", 5, 0)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(unsafe recv(own, &buffer, 8, 0) == 5)
        withExtendedLifetime(ticket) {}
    }

    @Test(
        "A refusal is said in the kernel's words",
        arguments: [
            ("Failed", "Channel refused with L2CAP result: 0x0002", ECONNREFUSED), ("Failed", "result: 0x0005", EACCES),
            ("Failed", "result: 0x0007", EACCES), ("Failed", "result: 0x0008", EACCES), ("Failed", "", ECONNREFUSED),
            ("NotConnected", "Not Connected", ENOTCONN),
        ]
    )
    func refuses(name: String, message: String, code: Int32) throws {
        let stage = try Stage()
        var result: Result<Int32, SystemError>?
        let ticket = stage.channels.open(psm: 0x81, to: Stage.device, adapter: "") { result = $0 }
        try stage.call("OpenChannel").fail(BusError(name: "org.bluez.Error.\(name)", message: message))
        try stage.wait(for: "the refusal") { result != nil }
        #expect(result == .failure(SystemError("connect", code: code, subject: Stage.device.address)))
        withExtendedLifetime(ticket) {}
    }

    @Test("A channel that nobody waits for any more is closed")
    func givesUp() throws {
        let stage = try Stage()
        var isAnswered = false
        var ticket: AnyObject? = stage.channels.open(psm: 0x81, to: Stage.device, adapter: "") { _ in
            isAnswered = true
        }
        let call = try stage.call("OpenChannel")
        withExtendedLifetime(ticket) {}
        ticket = nil
        let (own, theirs) = try streamPair()
        defer { close(own) }
        call.reply([.descriptor(BusDescriptor(owning: theirs))])
        try stage.wait(for: "the channel's end") { isOver(own) }
        #expect(!isAnswered)
    }

    @Test("Channels of centrals come with their address and type, and listening ends with its ticket")
    func listens() throws {
        let stage = try Stage()
        var psm: Result<UInt16, SystemError>?
        var came: [(Int32, BlueZDeviceID)] = []
        var ticket: AnyObject? = stage.channels.offer(encrypted: true, accepted: { came.append(($0, $1)) }) {
            psm = $0
        }
        let call = try stage.call("ListenChannels")
        #expect(call.arguments == [.bool(true)])
        let (own, theirs) = try Stage.packetPair()
        defer { close(own) }
        call.reply([.uint16(0x80), .descriptor(BusDescriptor(owning: theirs))])
        try stage.wait(for: "the PSM") { psm != nil }
        #expect(psm == .success(0x80))
        for text in ["F0:AA:00:00:00:01 random", "nonsense", "00:AA:00:00:00:02 public"] {
            let (kept, given) = try streamPair()
            defer { close(kept) }
            #expect(unsafe wake_send(own, text, text.utf8.count, [given], 1) == 1)
            close(given)
            if text == "nonsense" { try stage.wait(for: "the end of what makes no sense") { isOver(kept) } }
        }
        try stage.wait(for: "the channels") { came.count == 2 }
        #expect(
            came.map(\.1) == [
                BlueZDeviceID(address: "F0:AA:00:00:00:01", isRandom: true),
                BlueZDeviceID(address: "00:AA:00:00:00:02", isRandom: false),
            ]
        )
        for (channel, _) in came { close(channel) }
        withExtendedLifetime(ticket) {}
        ticket = nil
        // The answer's own copy of the socket is let go a little later.
        var end = pollfd(fd: own, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&end, 1, 20_000) == 1)
        #expect(isOver(own))
    }

    @Test("The controller is heard from when the adapter is there, and again when another org.bluez has come")
    func monitors() throws {
        let stage = try Stage()
        let monitor = RadioMonitor(of: stage.adapter, on: stage.bus.loop)
        var heard: [[UInt8]] = []
        monitor.heard = { heard.append($0.bytes) }
        monitor.begin()
        for round in 1...2 as ClosedRange<UInt8> {
            let call = try stage.call("Monitor")
            let (own, theirs) = try Stage.packetPair()
            call.reply([.descriptor(BusDescriptor(owning: theirs))])
            let frame: [UInt8] = [3, 0, 0, 0, 1, 0, round]
            _ = unsafe send(own, frame, frame.count, 0)
            try stage.wait(for: "a frame") { heard.count == Int(round) }
            #expect(heard.last == [round])
            close(own)
            guard round == 1 else { break }
            stage.bluez.vanish()
            try stage.wait(for: "its end") { !stage.adapter.isReady }
            try stage.bluez.appear(powered: true)
        }
        monitor.finish()
        #expect(monitor.failure == nil)
    }
}
