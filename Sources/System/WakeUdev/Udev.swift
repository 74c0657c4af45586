import CUdev
import Glibc
import WakeSystem

/// The devices of this machine, listed and followed through libudev.
///
/// Without a running udevd the list comes from /sys and has the names and numbers that the kernel knows, and nothing is
/// heard of what comes and goes.
@safe package final class Udev {
    private let context: OpaquePointer

    /// - Throws: ``SystemError`` when libudev cannot be set up.
    package init() throws(SystemError) {
        guard let context = unsafe udev_new() else { throw SystemError(last: "udev_new") }
        unsafe self.context = context
    }

    deinit {
        unsafe udev_unref(context)
    }

    /// Whether udevd runs, which alone tells what comes and goes.
    package static var isRunning: Bool { unsafe access("/run/udev/control", F_OK) == 0 }

    /// The devices of a subsystem that are there now, in the order of their paths.
    package func devices(of subsystem: String) throws(SystemError) -> [UdevDevice] {
        guard let list = unsafe udev_enumerate_new(context) else { throw SystemError(last: "udev_enumerate_new") }
        defer { unsafe udev_enumerate_unref(list) }
        var code = unsafe udev_enumerate_add_match_subsystem(list, subsystem)
        if code >= 0 { code = unsafe udev_enumerate_scan_devices(list) }
        guard code >= 0 else { throw SystemError("udev_enumerate_scan_devices", code: -code, subject: subsystem) }
        var devices: [UdevDevice] = []
        var entry = unsafe udev_enumerate_get_list_entry(list)
        while let current = unsafe entry {
            if let path = unsafe udev_list_entry_get_name(current),
                let device = unsafe udev_device_new_from_syspath(context, path)
            {
                if let read = unsafe UdevDevice(device) { devices.append(read) }
                unsafe udev_device_unref(device)
            }
            unsafe entry = udev_list_entry_get_next(current)
        }
        return devices.sorted { $0.systemPath < $1.systemPath }
    }

    /// Calls the handler for each change of a device of the subsystems, in order, until the watch is released.
    ///
    /// - Parameter overflowed: more happened at once than the kernel keeps for a reader, and some of it will not be
    ///   told: what is there must be listed anew.
    /// - Throws: ``SystemError`` when the kernel refuses the socket.
    package func follow(
        _ subsystems: [String],
        on loop: EventLoop,
        overflowed: @escaping () -> Void = {},
        handler: @escaping (UdevChange) -> Void
    ) throws(SystemError) -> UdevWatch {
        guard let monitor = unsafe udev_monitor_new_from_netlink(context, "udev") else {
            throw SystemError(last: "udev_monitor_new_from_netlink")
        }
        let watch = unsafe UdevWatch(monitor, overflowed, handler)
        var code: Int32 = 0
        for subsystem in subsystems where code >= 0 {
            code = unsafe udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil)
        }
        if code >= 0 { code = unsafe udev_monitor_enable_receiving(monitor) }
        guard code >= 0 else {
            let subject = subsystems.joined(separator: ", ")
            throw SystemError("udev_monitor_enable_receiving", code: -code, subject: subject)
        }
        try watch.begin(on: loop)
        return watch
    }
}

/// Hears of devices. It ends when it is released.
@safe package final class UdevWatch {
    private let monitor: OpaquePointer
    private let overflowed: () -> Void
    private let handler: (UdevChange) -> Void
    private var watch: Watch?
    /// The most changes read in a turn.
    private static let mostInTurn = 64

    @unsafe
    fileprivate init(
        _ monitor: OpaquePointer,
        _ overflowed: @escaping () -> Void,
        _ handler: @escaping (UdevChange) -> Void
    ) {
        unsafe self.monitor = monitor
        self.overflowed = overflowed
        self.handler = handler
    }

    deinit {
        watch?.cancel()
        unsafe udev_monitor_unref(monitor)
    }

    fileprivate func begin(on loop: EventLoop) throws(SystemError) {
        // libudev makes the socket non-blocking and close-on-exec.
        let descriptor = unsafe udev_monitor_get_fd(monitor)
        watch = try loop.watch(descriptor, for: .readable) { [weak self] _ in self?.receive() }
    }

    private func receive() {
        for _ in 0..<Self.mostInTurn {
            errno = 0
            guard let device = unsafe udev_monitor_receive_device(monitor) else {
                if errno == ENOBUFS { overflowed() }
                return
            }
            let word = unsafe udev_device_get_action(device).map { unsafe String(cString: $0) }
            if let read = unsafe UdevDevice(device) {
                handler(UdevChange(action: UdevChange.Action(word: word ?? ""), device: read))
            }
            unsafe udev_device_unref(device)
        }
    }
}

extension UdevChange.Action {
    fileprivate init(word: String) {
        switch word {
        case "add": self = .add
        case "remove": self = .remove
        case "change": self = .change
        case "bind": self = .bind
        case "unbind": self = .unbind
        default: self = .other
        }
    }
}

extension UdevDevice {
    /// Nil for a device that has gone meanwhile.
    @unsafe
    fileprivate init?(_ device: OpaquePointer) {
        guard let path = unsafe udev_device_get_syspath(device) else { return nil }
        self.init(
            systemPath: unsafe String(cString: path),
            subsystem: unsafe udev_device_get_subsystem(device).map { unsafe String(cString: $0) } ?? ""
        )
        node = unsafe udev_device_get_devnode(device).map { unsafe String(cString: $0) }
        var entry = unsafe udev_device_get_devlinks_list_entry(device)
        while let current = unsafe entry {
            if let name = unsafe udev_list_entry_get_name(current) { links.append(unsafe String(cString: name)) }
            unsafe entry = udev_list_entry_get_next(current)
        }
        links.sort()
        func property(_ name: String) -> String? { unsafe text(udev_device_get_property_value(device, name)) }
        // The USB device that the file belongs to: what it says when udev's database says nothing. Its parent owns it.
        let parent = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device")
        func attribute(_ name: String) -> String? {
            unsafe parent.flatMap { parent in unsafe text(udev_device_get_sysattr_value(parent, name)) }
        }
        vendorNumber = (property("ID_VENDOR_ID") ?? attribute("idVendor"))?.lowercased()
        modelNumber = (property("ID_MODEL_ID") ?? attribute("idProduct"))?.lowercased()
        vendor = property("ID_VENDOR_FROM_DATABASE") ?? property("ID_VENDOR") ?? attribute("manufacturer")
        model = property("ID_MODEL_FROM_DATABASE") ?? property("ID_MODEL") ?? attribute("product")
        serial = property("ID_SERIAL_SHORT") ?? attribute("serial")
        if let parent = unsafe parent { usb = unsafe UdevUSBDevice(parent, below: device) }
    }
}

/// What libudev says; nil for nothing.
private func text(_ value: UnsafePointer<CChar>?) -> String? {
    let text = unsafe value.map { unsafe String(cString: $0) }
    return text?.isEmpty == true ? nil : text
}

extension UdevUSBDevice {
    /// - Parameter device: the device of another subsystem that belongs to it.
    @unsafe
    fileprivate init?(_ usb: OpaquePointer, below device: OpaquePointer) {
        func attribute(_ name: String, of device: OpaquePointer) -> String? {
            unsafe text(udev_device_get_sysattr_value(device, name))
        }
        // Without these it has gone meanwhile.
        guard let place = unsafe udev_device_get_sysname(usb),
            let vendor = unsafe attribute("idVendor", of: usb).flatMap({ UInt16($0, radix: 16) }),
            let product = unsafe attribute("idProduct", of: usb).flatMap({ UInt16($0, radix: 16) })
        else { return nil }
        self.init(port: unsafe String(cString: place), vendor: vendor, product: product)
        serial = unsafe attribute("serial", of: usb)
        manufacturer = unsafe attribute("manufacturer", of: usb)
        name = unsafe attribute("product", of: usb)
        release = unsafe attribute("bcdDevice", of: usb)
        if let interface = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_interface") {
            self.interface = unsafe attribute("bInterfaceNumber", of: interface).flatMap { UInt8($0, radix: 16) }
        }
    }
}
