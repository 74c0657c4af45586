import Glibc
import Testing
import WakeModel
import WakePorts
import WakeSystem
@testable import WakeUdev
@testable import WakeLocation

private func tty(_ vendor: String? = nil, _ model: String? = nil, number: String? = nil) -> UdevDevice {
    var device = UdevDevice(
        systemPath: "/sys/a",
        subsystem: "tty",
        node: "/dev/ttyACM0",
        links: ["/dev/serial/by-id/a"]
    )
    (device.vendor, device.model, device.vendorNumber, device.serial) = (vendor, model, number, "42")
    return device
}

@Suite("Receivers that udev knows")
struct NMEAReceiverTests {
    @Test("A receiver is known by its maker's number, by its name, by its serial number or by its path")
    func matches() {
        #expect(NMEAReceiver.any.matches(tty(number: "1546")))
        #expect(NMEAReceiver.any.matches(tty("Prolific", "USB GPS mouse")))
        #expect(NMEAReceiver.any.matches(tty("u-blox AG", "something")))
        #expect(!NMEAReceiver.any.matches(tty("FTDI", "FT232 Serial", number: "0403")))
        #expect(NMEAReceiver.serial("42").matches(tty()))
        #expect(!NMEAReceiver.serial("43").matches(tty()))
        #expect(NMEAReceiver.path("/dev/serial/by-id/a").matches(tty()))
        var withoutFile = tty(number: "1546")
        withoutFile.node = nil
        #expect(!NMEAReceiver.any.matches(withoutFile))
        var disk = tty(number: "1546")
        disk.subsystem = "block"
        #expect(!NMEAReceiver.any.matches(disk))
    }

    @Test("udev lists the ttys of this machine in order, each with its file, and none of a subsystem that is not there")
    func lists() throws {
        let udev = try Udev()
        let devices = try udev.devices(of: "tty")
        #expect(devices.map(\.systemPath) == devices.map(\.systemPath).sorted())
        #expect(devices.allSatisfy { $0.subsystem == "tty" })
        if unsafe access("/sys/class/tty/tty", F_OK) == 0 { #expect(devices.contains { $0.node == "/dev/tty" }) }
        #expect(try udev.devices(of: "no-such-subsystem") == [])
    }

    @Test("Without a receiver that udev knows, location says which is missing and what to do")
    func missing() throws {
        let source = try NMEALocation(.serial("no-such-number"), names: NameTable(), loop: try EventLoop())
        let failure = #expect(throws: SourceFailure.self) { try source.start(at: .zero) }
        #expect(failure?.kind == .environment)
        #expect(failure?.message.contains("the receiver with the serial number no-such-number") == true)
        #expect(failure?.message.hasSuffix("plug in a receiver, or name its tty") == true)
    }
}
