import Glibc
import WakeSystem

/// What this machine runs on: its power supplies, followed through udev.
package final class PowerSupplies {
    /// Whether a supply other than a battery is online; nil where the machine names none.
    package private(set) var isExternal: Bool?
    /// Called after each change of ``isExternal``.
    package var handler: () -> Void = {}
    private let udev: Udev
    private var watch: UdevWatch?

    /// - Throws: ``SystemError`` when libudev cannot be set up or the kernel refuses its socket.
    package init(loop: EventLoop) throws(SystemError) {
        udev = try Udev()
        watch = try udev.follow(["power_supply"], on: loop, overflowed: { [unowned self] in look() }) {
            [unowned self] _ in look()
        }
        isExternal = try read()
    }

    private func look() {
        guard let now = try? read(), now != isExternal else { return }
        isExternal = now
        handler()
    }

    private func read() throws(SystemError) -> Bool? {
        let states = try Self.supplies(udev).compactMap(\.isOnline)
        return states.isEmpty ? nil : states.contains(true)
    }

    /// A supply of this machine.
    package struct Supply: Hashable, Sendable {
        /// As in /sys/class/power_supply.
        package var name: String
        /// Nil for a battery, and where the kernel does not say.
        package var isOnline: Bool?

        package init(name: String, isOnline: Bool?) {
            self.name = name
            self.isOnline = isOnline
        }
    }

    /// All that this machine names now.
    ///
    /// - Throws: ``SystemError`` when libudev cannot be set up.
    package static var now: [Supply] {
        get throws(SystemError) { try supplies(try Udev()) }
    }

    private static func supplies(_ udev: Udev) throws(SystemError) -> [Supply] {
        try udev.devices(of: "power_supply").map { device in
            let name = device.systemPath.split(separator: "/").last.map(String.init) ?? device.systemPath
            // A battery has no such file, but for those that know whether they are there.
            guard word("type", of: device) != "Battery" else { return Supply(name: name, isOnline: nil) }
            return Supply(name: name, isOnline: word("online", of: device).map { $0 != "0" })
        }
    }

    /// What the kernel says of a supply (Documentation/ABI/testing/sysfs-class-power).
    private static func word(_ name: String, of device: UdevDevice) -> String? {
        (try? readSmallFile("\(device.systemPath)/\(name)")).map { String($0.prefix { !$0.isWhitespace }) }
    }
}
