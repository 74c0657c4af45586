import BlueZStandIn
import Glibc
import Testing
import WakeBus
import WakeModel
import WakePorts
import WakeSystem

@testable import WakeDevices
@testable import WakeExternalAccessory

private let address = "F0:11:22:33:90:00"
private let serialPort = "00001101-0000-1000-8000-00805f9b34fb"
private let settings = "00000000-deca-fade-deca-deafdecacafe"

/// An open session as its app has it.
private final class AppEnd {
    let number: AccessorySession
    let socket: Descriptor

    init(_ number: AccessorySession, _ socket: Int32) {
        self.number = number
        self.socket = Descriptor(owning: socket)
    }

    func write(_ bytes: [UInt8]) throws -> Int? { try socket.write(bytes) }

    /// One byte, or what a read without one says.
    func read(_ byte: inout [UInt8]) -> Int? { (try? socket.read(into: &byte)) ?? nil }
}

/// A stand-in bluetoothd with a printer in reach, and the real end that looks for it.
private final class Stage {
    let bus: PrivateBus
    let bluez: StandInBlueZ
    let names = NameTable()
    let port: RFCOMMAccessories
    var told: [String] = []
    private var last: AccessorySession = 0

    init(protocols: Int = 1, patience: Int64 = 20_000, starts: Bool = true) throws {
        bus = try PrivateBus()
        bluez = StandInBlueZ(bus: bus)
        var device = StandInDevice(name: "Receipt Printer", advertised: [])
        device.isClassic = true
        device.profiles = [serialPort, settings]
        bluez.devices[address] = device
        bluez.inReach = [address]
        try bluez.appear(powered: true)
        let words = ["com.example.printer.raw", "com.example.printer.settings"]
        let description = ExternalAccessory(
            file: "printer.yaml",
            name: "Receipt Printer",
            transport: .bluetooth(address: [0xF0, 0x11, 0x22, 0x33, 0x90, 0x00]),
            protocols: zip(words, ["1101", settings.uppercased()]).prefix(protocols).map { word, service in
                ExternalAccessory.AccessoryProtocol(name: word, link: .rfcomm(service: service, channel: nil))
            }
        )
        port = try RFCOMMAccessories(
            devices: [ScenarioDevice(name: "printer", group: "printer", line: 1, form: .accessory(description))],
            names: names,
            loop: bus.loop,
            bus: .address(bus.address),
            patience: patience
        )
        port.report = { [unowned self] in hear($0) }
        try bus.loop.atTurnEnd { [unowned self] in port.look(at: .zero) }
        guard starts else { return }
        // The adapter is looked for before the loop runs, and the stand-in lives in the loop: it is asked from elsewhere.
        try port.follow()
        port.connect(at: .zero)
    }

    private func hear(_ report: SourceReport) {
        let event = report.event
        told.append("\(event.kind.word) \(names.text(event.subject)) \(event.local)\(event.failed ? " failed" : "")")
    }

    func wait(for line: String) throws { try bus.wait(for: "'\(line)' after \(told)") { told.contains(line) } }

    func open(_ word: String = "com.example.printer.raw", connection: AccessoryConnection = 1) -> AccessorySession {
        last += 1
        port.perform(.open(last, accessory: connection, protocolName: names.intern(word)), at: .zero)
        return last
    }

    /// The app's end of a new session.
    func session(_ word: String = "com.example.printer.raw") throws -> AppEnd {
        let number = open(word)
        try wait(for: "accessory-session-opened printer/\(word) \(number)")
        return AppEnd(number, try #require(port.takeSession(number)))
    }

    func connect() throws {
        try wait(for: "accessory-connected printer 1")
        try bus.wait(for: "the answer") { !bluez.registeredProfiles.connections.isEmpty }
    }

    /// What the printer hears next on a profile.
    func printerHears(_ profile: String = serialPort) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        var count = 0
        try bus.wait(for: "bytes for the printer") {
            guard let end = bluez.registeredProfiles.connections.last(where: { $0.uuid == profile }) else {
                return false
            }
            count = unsafe recv(end.device, &buffer, buffer.count, 0)
            return count > 0
        }
        return Array(buffer[..<count])
    }

    deinit { port.stop() }
}

@Suite(
    "Accessories over RFCOMM",
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus")
)
struct RFCOMMAccessoriesTests {
    @Test("An accessory that is found is connected, and a session carries bytes both ways")
    func session() throws {
        let stage = try Stage()
        try stage.connect()
        #expect(stage.port.accessories.map(\.name) == ["Receipt Printer"])
        let app = try stage.session()
        _ = try app.write([0x10, 0x04, 0x01])
        #expect(try stage.printerHears() == [0x10, 0x04, 0x01])
        let printer = try #require(stage.bluez.registeredProfiles.connections.first).device
        #expect(unsafe send(printer, [0x12], 1, 0) == 1)
        var buffer: [UInt8] = [0]
        try stage.bus.wait(for: "the answer") { app.read(&buffer) == 1 }
        #expect(buffer == [0x12])
    }

    @Test("An accessory that hangs up has gone, with its session, and is looked for again")
    func hangsUp() throws {
        let stage = try Stage()
        try stage.connect()
        let app = try stage.session()
        stage.bluez.endProfile(address, serialPort)
        try stage.wait(for: "accessory-disconnected printer 1")
        #expect(!stage.told.contains { $0.hasPrefix("accessory-session-ended") })
        var buffer: [UInt8] = [0]
        try stage.bus.wait(for: "the end") { app.read(&buffer) == 0 }
        try stage.wait(for: "accessory-connected printer 2")
    }

    @Test("An accessory without a session that hangs up has gone")
    func idle() throws {
        let stage = try Stage()
        try stage.connect()
        stage.bluez.endProfile(address, serialPort)
        try stage.wait(for: "accessory-disconnected printer 1")
        try stage.wait(for: "accessory-connected printer 2")
    }

    @Test("After a session the accessory is still there, and the next one begins anew")
    func again() throws {
        let stage = try Stage()
        try stage.connect()
        let first = try stage.session()
        _ = try first.write([1])
        #expect(try stage.printerHears() == [1])
        stage.port.perform(.close(first.number), at: .zero)
        // The stand-in does not see by itself that the other end hung up.
        try stage.bus.wait(for: "the end of the channel") {
            var byte: UInt8 = 0
            guard let end = stage.bluez.registeredProfiles.connections.first else { return false }
            return unsafe recv(end.device, &byte, 1, 0) == 0
        }
        stage.bluez.endProfile(address, serialPort)
        let second = try stage.session()
        _ = try second.write([2])
        #expect(try stage.printerHears() == [2])
        #expect(!stage.told.contains { $0.hasPrefix("accessory-disconnected") })
    }

    @Test("Each protocol has a channel of its own, and one that ends takes its session alone")
    func twoProtocols() throws {
        let stage = try Stage(protocols: 2)
        try stage.connect()
        let raw = try stage.session()
        let other = try stage.session("com.example.printer.settings")
        _ = try raw.write([1])
        _ = try other.write([2])
        #expect(try stage.printerHears() == [1])
        #expect(try stage.printerHears(settings) == [2])
        stage.bluez.endProfile(address, settings)
        try stage.wait(for: "accessory-session-ended printer/com.example.printer.settings 2")
        #expect(!stage.told.contains { $0.hasPrefix("accessory-disconnected") })
    }

    @Test("A session of an accessory or a protocol that is not there is refused")
    func refused() throws {
        let stage = try Stage()
        try stage.connect()
        _ = stage.open("com.example.other")
        try stage.wait(for: "accessory-session-opened printer/com.example.other 1 failed")
        _ = stage.open(connection: 7)
        try stage.wait(for: "accessory-session-opened /com.example.printer.raw 2 failed")
    }

    @Test("A channel that does not come in time is a session that failed")
    func late() throws {
        let stage = try Stage(protocols: 2, patience: 100)
        try stage.connect()
        stage.bluez.held = ["ConnectProfile"]
        _ = stage.open("com.example.printer.settings")
        try stage.wait(for: "accessory-session-opened printer/com.example.printer.settings 1 failed")
    }

    @Test("Without bluetoothd the end says what is missing and what to do")
    func missing() throws {
        let stage = try Stage(starts: false)
        stage.bluez.vanish()
        let failure = #expect(throws: SourceFailure.self) { try stage.port.start(at: .zero) }
        #expect(failure?.kind == .environment)
        #expect(failure?.message.hasPrefix("accessory=rfcomm: cannot reach bluetoothd") == true, "\(failure as Any)")
    }
}
