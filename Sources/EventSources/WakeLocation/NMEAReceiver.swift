import WakeUdev

/// Which receiver is read.
package enum NMEAReceiver: Hashable, Sendable {
    /// A tty, a FIFO, or a link to one such as `/dev/serial/by-id/…`.
    case path(String)
    /// The first tty of a GNSS receiver that udev knows of.
    case any
    /// The tty of the USB device with a serial number.
    case serial(String)

    /// Words in the names of receivers and their makers.
    static let words = ["gps", "gnss", "u-blox", "ublox", "globalsat", "navilock", "sirf"]
    /// The USB vendor number of u-blox.
    static let uBlox = "1546"

    /// Whether a tty is this one.
    func matches(_ device: UdevDevice) -> Bool {
        guard device.subsystem == "tty", let node = device.node else { return false }
        switch self {
        case .path(let path): return node == path || device.links.contains(path)
        case .serial(let serial): return device.serial == serial
        case .any:
            if device.vendorNumber == Self.uBlox { return true }
            let said = [device.vendor, device.model].compactMap { $0?.lowercased() }
            return said.contains { name in Self.words.contains { name.contains($0) } }
        }
    }

    /// What messages call it.
    var name: String {
        switch self {
        case .path(let path): path
        case .any: "a GNSS receiver"
        case .serial(let serial): "the receiver with the serial number \(serial)"
        }
    }
}
