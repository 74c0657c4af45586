import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
import WakeUdev

/// Accessories on this machine's USB: the serial ports and HID interfaces that udev knows.
///
/// An accessory of the scenario is there when a USB device with its vendor, product and serial number has a file for each of
/// its protocols, whatever the files are called this time; it goes with the first of them.
package final class UdevAccessories: LinkedAccessories<USBPlace> {
    /// How long after the end of its link an accessory may be found to have gone, in milliseconds: the kernel hangs up a
    /// tty before udev tells that it has gone.
    static let farewell: Int64 = 5_000
    static let subsystems = ["tty", "hidraw"]

    private var udev: Udev?
    private var watch: UdevWatch?
    private var farewells: [AccessorySession: Timer] = [:]

    /// The accessories among the devices of a scenario, which must be on USB.
    ///
    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(devices: [ScenarioDevice], names: NameTable, loop: EventLoop) throws(SystemError) {
        let places = devices.compactMap { device in device.accessory.map { USBPlace(name: device.name, $0) } }
        try super.init("udev", places, names: names, loop: loop)
    }

    // MARK: The port

    package override func start(at now: Instant) throws(SourceFailure) {
        for place in places where place.usb == nil {
            throw SourceFailure(
                .unsupported,
                "accessory=udev: \(place.name) is not on USB; use accessory=rfcomm or accessory=simulated"
            )
        }
        do throws(SystemError) {
            let udev = try Udev()
            self.udev = udev
            // Followed before they are listed, so that none is missed.
            watch = try udev.follow(Self.subsystems, on: loop, overflowed: { [weak self] in self?.list() }) {
                [weak self] in self?.hear($0)
            }
            for subsystem in Self.subsystems {
                for device in try udev.devices(of: subsystem) { found(device) }
            }
        } catch {
            stop()
            throw SourceFailure(.environment, "accessory=udev: \(error); is libudev's /sys mounted?")
        }
        for place in places {
            for file in place.files.compactMap(\.self) {
                guard unsafe access(file.node, R_OK | W_OK) != 0 else { continue }
                let failure = SystemError(last: "open", subject: file.node)
                stop()
                throw SourceFailure(
                    .environment,
                    "accessory=udev: \(place.name): \(failure); \(place.remedy(for: file))"
                )
            }
        }
    }

    package override func stop() {
        watch = nil
        udev = nil
        farewells.removeAll()
        super.stop()
    }

    override func isReachable(_ place: USBPlace) -> Bool { place.isComplete }

    override func close(_ number: AccessorySession) {
        farewells[number] = nil
        super.close(number)
    }

    // MARK: Plugging

    private func hear(_ change: UdevChange) {
        switch change.action {
        case .add, .change, .bind: found(change.device)
        case .remove, .unbind: lost(change.device.systemPath)
        case .other: break
        }
    }

    /// Some of what happened was not told.
    private func list() {
        guard let udev else { return }
        var there: [UdevDevice] = []
        for subsystem in Self.subsystems { there += (try? udev.devices(of: subsystem)) ?? [] }
        let paths = Set(there.map(\.systemPath))
        for file in places.flatMap({ $0.files.compactMap(\.self) }) where !paths.contains(file.systemPath) {
            lost(file.systemPath)
        }
        for device in there { found(device) }
    }

    private func found(_ device: UdevDevice) {
        for place in places {
            guard let index = place.index(of: device), let node = device.node else { continue }
            // One that came before the last one was missed in going.
            if let known = place.files[index], known.systemPath != device.systemPath { lost(known.systemPath) }
            place.files[index] = USBPlace.File(systemPath: device.systemPath, node: node)
            return found(place)
        }
    }

    private func lost(_ systemPath: String) {
        for place in places {
            guard let index = place.files.firstIndex(where: { $0?.systemPath == systemPath }) else { continue }
            place.files[index] = nil
            leave(place)
        }
    }

    // MARK: Sessions

    override func open(
        _ number: AccessorySession,
        _ subject: LinkedSessions.Subject,
        _ index: Int,
        of place: USBPlace
    ) {
        guard let file = place.files[index] else { return sessions.refuse(number, subject, .gone) }
        do throws(SystemError) {
            sessions.open(number, subject, over: try place.link(index, file, on: loop))
        } catch {
            var failure = AccessoryFailure(error)
            if error.code == EACCES || error.code == EPERM {
                failure.message = "\(error); \(place.remedy(for: file))."
            }
            sessions.refuse(number, subject, failure)
        }
    }

    /// The end of a link is the first sign of its accessory's going; only when that does not follow has a session alone ended.
    override func linkEnded(
        _ number: AccessorySession,
        _ subject: LinkedSessions.Subject,
        _ end: LinkedSessions.End
    ) -> Bool {
        guard end == .gone else { return false }
        guard self[subject.connection] != nil else { return true }
        let timer = try? loop.timer(on: .monotonic) { [weak self] in self?.farewellOver(number, subject) }
        guard let timer else { return false }
        farewells[number] = timer
        timer.arm(after: Self.farewell)
        return true
    }

    /// udevd, which is asked for its rules first, may be late to say that a device has gone; the kernel knows at once.
    private func farewellOver(_ number: AccessorySession, _ subject: LinkedSessions.Subject) {
        farewells[number] = nil
        for file in self[subject.connection]?.files.compactMap(\.self) ?? []
        where unsafe access(file.systemPath, F_OK) != 0 {
            lost(file.systemPath)
        }
        if self[subject.connection] != nil { sessions.reportEnd(number, .gone) }
    }
}
