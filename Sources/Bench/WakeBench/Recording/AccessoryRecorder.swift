import WakeCaptures
import WakeDevices
import WakeExternalAccessory
import WakePorts
import WakeSystem

package typealias AccessoryPlace = WakeExternalAccessory.AccessoryTap.Place

extension StreamRecorder {
    /// The tty of an accessory, or the only one of a USB device.
    package static func accessory(_ path: String?) throws(CommandFailure) -> AccessoryPlace {
        do throws(SourceFailure) { return try AccessoryTap.place(path) } catch { throw failure(error) }
    }

    /// Records an accessory as a script of umockdev's, which is written as it goes.
    ///
    /// - Parameter through: where a link to a tty is made that programs may open to talk to the accessory; nil for none.
    /// - Throws: ``CommandFailure`` with exit code 12 when the tty cannot be opened, or there is no room for the script.
    package func record(
        _ place: AccessoryPlace,
        baud: Int,
        through: String?,
        to path: String
    ) throws(CommandFailure) -> Outcome {
        do {
            let turning = try RecordingLoop(tell: tell)
            let tap = try AccessoryTap(place, baud: baud, through: through, on: turning.loop)
            let log = try Log(path)
            log.append(AccessoryScriptWriter.head(of: place.node))
            var script = AccessoryScriptWriter(at: MonotonicClock.now())
            var (read, written) = (0, 0)
            tap.heard = { bytes, isRead, now in
                if isRead { read += bytes.count } else { written += bytes.count }
                log.append(script.line(bytes, isRead: isRead, at: now))
            }
            follow(through.map { "recording \(place.node) through \($0)" } ?? "recording \(place.node)")
            let counts = { "\(read) bytes read\(through == nil ? "" : ", \(written) written")" }
            let (end, time) = try turning.turn(for: time, counts: counts) {
                try log.flush()
                return tap.end
            }
            var outcome = Outcome(end: end, time: time, bytes: read, written: written)
            if tap.untaken > 0 {
                outcome.notes.append("\(tap.untaken) bytes were not taken by a program, and lost to it")
            }
            return outcome
        } catch {
            throw Self.failure(error)
        }
    }
}

extension AccessoryPlace {
    /// A dump of umockdev's that says what the accessory is; nil of a tty that is no USB device's.
    package var dump: String? {
        guard let device, let usb = device.usb, let node = device.node else { return nil }
        let all = [
            ("idVendor", usb.vendor.hexadecimal), ("idProduct", usb.product.hexadecimal), ("bcdDevice", usb.release),
            ("manufacturer", usb.manufacturer), ("product", usb.name), ("serial", usb.serial),
        ]
        return AccessoryDump.text(
            of: AccessoryDump.Identity(
                systemPath: device.systemPath,
                node: node,
                subsystem: device.subsystem,
                port: usb.port,
                attributes: all.compactMap { name, value in value.map { (name, $0) } }
            )
        )
    }
}
