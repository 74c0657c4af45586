import Glibc
import WakeUdev

/// What this machine has for accessories, looked at without changing anything.
package struct AccessoryPresence: Hashable, Sendable {
    /// A file of a USB device that an accessory may be.
    package struct File: Hashable, Sendable {
        /// Such as `/dev/ttyACM0`.
        package var node: String
        /// The device in its own words, such as `Serial Dock D1-0001 (1d6b:0104)`.
        package var device: String
        /// Whether this user may read and write it.
        package var mayOpen: Bool
    }

    /// Whether udevd runs: without it nothing is heard of what is plugged in and pulled.
    package var hasUdev = false
    /// In order of their names.
    package var files: [File] = []
    /// Why the kernel has no RFCOMM; nil when it has.
    package var rfcommFailure: String?

    package static func examine() -> AccessoryPresence {
        var presence = AccessoryPresence()
        presence.hasUdev = Udev.isRunning
        for subsystem in UdevAccessories.subsystems {
            for device in (try? Udev().devices(of: subsystem)) ?? [] {
                guard let node = device.node, let usb = device.usb else { continue }
                let words = [usb.name, usb.serial].compactMap(\.self).joined(separator: " ")
                let numbers = usb.vendor.hexadecimal + ":" + usb.product.hexadecimal
                let mayOpen = unsafe access(node, R_OK | W_OK) == 0
                let name = words.isEmpty ? numbers : "\(words) (\(numbers))"
                presence.files.append(File(node: node, device: name, mayOpen: mayOpen))
            }
        }
        presence.rfcommFailure = RFCOMMAccessories.missing
        return presence
    }
}
