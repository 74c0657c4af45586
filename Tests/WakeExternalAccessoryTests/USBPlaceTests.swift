import Testing
import WakeModel
import WakePorts
import WakeSystem
@testable import WakeUdev

@testable import WakeDevices
@testable import WakeExternalAccessory

/// A dock with a serial port on its first interface and reports on its third.
private func dock(serial: String? = "D1-0001") -> USBPlace {
    USBPlace(
        name: "dock",
        ExternalAccessory(
            file: "dock.yaml",
            name: "Dock",
            transport: .usb(ExternalAccessory.USB(vendor: 0x1d6b, product: 0x0104, serialNumber: serial)),
            protocols: [
                ExternalAccessory.AccessoryProtocol(name: "com.example.log", link: .tty(interface: 0)),
                ExternalAccessory.AccessoryProtocol(
                    name: "com.example.keys",
                    link: .hid(ExternalAccessory.HID(interface: 2, report: 1, size: 32))
                ),
            ]
        )
    )
}

private func device(
    _ subsystem: String,
    interface: UInt8?,
    product: UInt16 = 0x0104,
    serial: String? = "D1-0001"
) -> UdevDevice {
    var usb = UdevUSBDevice(port: "1-1", vendor: 0x1d6b, product: product)
    (usb.serial, usb.interface) = (serial, interface)
    var device = UdevDevice(systemPath: "/sys/a", subsystem: subsystem, node: "/dev/ttyACM7")
    device.usb = usb
    return device
}

@Suite("An accessory on USB")
struct USBPlaceTests {
    @Test("Its files are known by vendor, product, serial number and interface, and not by their names")
    func matches() {
        #expect(dock().index(of: device("tty", interface: 0)) == 0)
        #expect(dock().index(of: device("hidraw", interface: 2)) == 1)
        #expect(dock().index(of: device("tty", interface: 2)) == nil)
        #expect(dock().index(of: device("hidraw", interface: 0)) == nil)
        #expect(dock().index(of: device("tty", interface: nil)) == nil)
        #expect(dock().index(of: device("tty", interface: 0, product: 0x0105)) == nil)
        #expect(dock().index(of: device("tty", interface: 0, serial: "D1-0002")) == nil)
        #expect(dock().index(of: device("tty", interface: 0, serial: nil)) == nil)
        #expect(dock(serial: nil).index(of: device("tty", interface: 0, serial: "any")) == 0)
        #expect(dock().index(of: UdevDevice(systemPath: "/sys/b", subsystem: "tty", node: "/dev/ttyS0")) == nil)
    }

    @Test("It is there when each of its protocols has a file")
    func complete() {
        let place = dock()
        #expect(!place.isComplete)
        place.files[0] = USBPlace.File(systemPath: "/sys/a", node: "/dev/ttyACM0")
        #expect(!place.isComplete)
        place.files[1] = USBPlace.File(systemPath: "/sys/b", node: "/dev/hidraw0")
        #expect(place.isComplete)
    }

    @Test("What gives the right to open a file is a udev rule with the device's numbers")
    func remedy() {
        let remedy = dock().remedy(for: USBPlace.File(systemPath: "/sys/b", node: "/dev/hidraw0"))
        #expect(
            remedy.contains(
                "SUBSYSTEM==\"hidraw\", ATTRS{idVendor}==\"1d6b\", ATTRS{idProduct}==\"0104\", MODE=\"0660\""
            )
        )
        #expect(!remedy.contains("\n"))
    }

    @Test("An accessory over Bluetooth is refused with the backend that has it")
    func bluetooth() throws {
        let printer = ExternalAccessory(
            file: "printer.yaml",
            name: "Printer",
            transport: .bluetooth(address: [1, 2, 3, 4, 5, 6]),
            protocols: [
                ExternalAccessory.AccessoryProtocol(
                    name: "com.example.raw",
                    link: .rfcomm(service: "1101", channel: nil)
                )
            ]
        )
        let port = try UdevAccessories(
            devices: [ScenarioDevice(name: "printer", group: "printer", line: 1, form: .accessory(printer))],
            names: NameTable(),
            loop: try EventLoop()
        )
        let failure = #expect(throws: SourceFailure.self) { try port.start(at: .zero) }
        #expect(failure?.kind == .unsupported)
        #expect(failure?.message.contains("accessory=rfcomm") == true)
    }
}
