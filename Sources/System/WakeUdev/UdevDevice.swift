/// A device as udev knows it.
package struct UdevDevice: Hashable, Sendable {
    /// Below /sys: what names the device for as long as it is there.
    package var systemPath: String
    /// Such as `tty`.
    package var subsystem: String
    /// Such as `/dev/ttyACM0`; nil for a device without a file.
    package var node: String?
    /// Further names of the file, such as `/dev/serial/by-id/…`.
    package var links: [String] = []
    /// Four hexadecimal digits in small letters, of a USB device: `1546`.
    package var vendorNumber: String?
    /// Four hexadecimal digits in small letters, of a USB device: `01a8`.
    package var modelNumber: String?
    /// Who made it, as the device or udev's database says.
    package var vendor: String?
    /// What it is, as the device or udev's database says.
    package var model: String?
    package var serial: String?
    /// The USB device that it belongs to; nil when there is none, or it has gone.
    package var usb: UdevUSBDevice?
}

/// A USB device in its own words, read from the kernel: nothing of it is changed by udev's rules.
package struct UdevUSBDevice: Hashable, Sendable {
    /// Where it is plugged in, such as `1-1.2`: bus and ports.
    package var port: String
    package var vendor: UInt16
    package var product: UInt16
    package var serial: String?
    package var manufacturer: String?
    package var name: String?
    /// The device's release in its own decimal digits, such as `0100`.
    package var release: String?
    /// The number of the interface that the file belongs to: a device may have several files.
    package var interface: UInt8?
}

/// What happened to a device.
package struct UdevChange: Hashable, Sendable {
    /// What udev calls it.
    package enum Action: Hashable, Sendable {
        case add, remove, change, bind, unbind
        /// Any other word, such as `move`.
        case other
    }

    package var action: Action
    package var device: UdevDevice
}
