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
        let states = try udev.devices(of: "power_supply").compactMap { device -> Bool? in
            // A battery has no such file, but for those that know whether they are there.
            guard Self.word("type", of: device) != "Battery" else { return nil }
            return Self.word("online", of: device).map { $0 != "0" }
        }
        return states.isEmpty ? nil : states.contains(true)
    }

    /// What the kernel says of a supply (Documentation/ABI/testing/sysfs-class-power).
    private static func word(_ name: String, of device: UdevDevice) -> String? {
        (try? readSmallFile("\(device.systemPath)/\(name)")).map { String($0.prefix { !$0.isWhitespace }) }
    }
}
