import Glibc
import WakeDevices
import WakeModel
import WakeSystem
import WakeUdev

/// An accessory of the scenario that is to be found on USB, and its files while it is there.
package final class USBPlace: AccessoryPlace {
    /// What carries one protocol.
    struct File: Hashable {
        var systemPath: String
        /// Such as `/dev/ttyACM0`.
        var node: String
    }

    package let name: String
    package let description: ExternalAccessory
    /// For each protocol, in their order; nil for one that is not there.
    var files: [File?]
    package var connection: AccessoryConnection?

    init(name: String, _ description: ExternalAccessory) {
        self.name = name
        self.description = description
        files = Array(repeating: nil, count: description.protocols.count)
    }

    /// Nil for an accessory that is not on USB.
    var usb: ExternalAccessory.USB? {
        if case .usb(let usb) = description.transport { usb } else { nil }
    }

    var isComplete: Bool { files.allSatisfy { $0 != nil } }

    /// The protocol that a device of udev's carries; nil when it is none of this accessory's.
    ///
    /// The files' numbers mean nothing: the device's own descriptors and the number of its interface tell.
    func index(of device: UdevDevice) -> Int? {
        guard let usb, let parent = device.usb, parent.vendor == usb.vendor, parent.product == usb.product,
            usb.serialNumber == nil || usb.serialNumber == parent.serial
        else { return nil }
        return description.protocols.firstIndex { one in
            switch one.link {
            case .tty(let interface): device.subsystem == "tty" && parent.interface.map(Int.init) == interface
            case .hid(let reports):
                device.subsystem == "hidraw" && parent.interface.map(Int.init) == reports.interface
            case .rfcomm: false
            }
        }
    }

    /// The ttys that were open last, which may still wait for their last bytes to leave.
    private var lines: [Int: LastLine] = [:]

    private struct LastLine {
        weak var line: TerminalLine?
    }

    /// Opens the file of a protocol.
    ///
    /// - Throws: ``SystemError``: EINVAL when a HID interface has no such reports as the device file says.
    func link(_ index: Int, _ file: File, on loop: EventLoop) throws(SystemError) -> any AccessoryLink {
        switch description.protocols[index].link {
        case .hid(let hid):
            let report = HIDReports.Report(number: hid.report ?? 0, size: hid.size)
            let reports = try ReportLine.reports(of: file.systemPath)
            guard reports.inputs.contains(report) || reports.outputs.contains(report) else {
                let found = (reports.inputs + reports.outputs).map { "\($0.number) of \($0.size) bytes" }
                throw SystemError(
                    "open",
                    code: EINVAL,
                    subject: "\(file.node) has the reports \(found.joined(separator: ", ")), "
                        + "and not \(report.number) of \(report.size) bytes as \(description.file) says"
                )
            }
            return ReportLink(try ReportLine(path: file.node, report: report))
        case .tty, .rfcomm:
            lines[index]?.line?.drop()
            let line = try TerminalLine(path: file.node, baud: 115_200, for: .talking)
            lines[index] = LastLine(line: line)
            return TerminalLink(line, loop: loop)
        }
    }

    /// What gives the right to open its files.
    func remedy(for file: File) -> String {
        let subsystem = file.node.hasPrefix("/dev/hidraw") ? "hidraw" : "tty"
        let numbers = usb.map { usb in
            "ATTRS{idVendor}==\"\(usb.vendor.hexadecimal)\", ATTRS{idProduct}==\"\(usb.product.hexadecimal)\""
        }
        return
            "add a udev rule such as SUBSYSTEM==\"\(subsystem)\", \(numbers ?? ""), MODE=\"0660\", TAG+=\"uaccess\" in "
            + "/etc/udev/rules.d/70-wakebench.rules, then run udevadm trigger"
    }
}
