import WakeModel

// Accessories that are made by the program, and not read.

extension ExternalAccessory {
    /// An accessory without protocols, which it must have before it is written.
    package init(_ name: String, _ transport: Transport) {
        self.init(file: "", name: name, transport: transport, protocols: [])
    }
}

extension ExternalAccessory.Transport {
    /// A USB device, by its descriptors; any serial number will do when it is nil.
    package static func usb(_ vendor: UInt16, _ product: UInt16, serialNumber: String? = nil) -> Self {
        .usb(ExternalAccessory.USB(vendor: vendor, product: product, serialNumber: serialNumber))
    }

    package var isUSB: Bool { if case .usb = self { true } else { false } }
}

extension ExternalAccessory.AccessoryProtocol {
    package init(_ name: String, _ link: ExternalAccessory.Link, _ script: ExternalAccessory.Script) {
        self.init(name: name, link: link, script: script)
    }
}

extension ExternalAccessory.HID {
    package init(_ interface: Int, report: UInt8?, size: Int) {
        self.init(interface: interface, report: report, size: size)
    }
}

extension ExternalAccessory.Script {
    /// What it sends of itself, and what it answers.
    package init(_ timetable: Timetable, _ answers: [ExternalAccessory.Answer]) {
        self.init(timetable: timetable, answers: answers, echo: false)
    }
}

extension ExternalAccessory.Answer {
    package init(_ to: [UInt8], _ timetable: Timetable) { self.init(to: to, timetable: timetable) }
}
