import WakeCaptures
import WakeDevices

/// Captures, which other programs write and which break off anywhere.
enum Captures {
    static func read(_ format: CaptureFormat) -> @Sendable ([UInt8]) -> Void {
        { bytes in
            let reading = CaptureReading()
            var source = CaptureBytes(bytes, file: "fuzz")
            do throws(CaptureDamage) { try reading.read(&source, format) } catch {
                precondition((0...bytes.count).contains(error.offset), "damage at \(error.offset) of \(bytes.count)")
            }
            guard let start = reading.first else { return }
            for device in reading.devices.prefix(3) {
                _ = device.counts
                _ = CaptureCheck(device, start: start, files: ["fuzz"]).findings
                let text = PeripheralLift(device, start: start).peripheral.text()
                do throws(FileError) { _ = try BluetoothPeripheral.parse(Array(text.utf8), file: "fuzz.yaml") } catch {
                    preconditionFailure("a device file that cannot be read: \(error)")
                }
            }
        }
    }

    /// A log of places, read leniently: the track that is written of it has each of its places.
    static func places(_ form: PlaceLog.Form) -> @Sendable ([UInt8]) -> Void {
        { bytes in
            let log = PlaceLog(bytes, form)
            guard !log.points.isEmpty else { return }
            let written = PlaceLog(Array(log.placesText.utf8), form == .gpx ? .gpx : .nmea)
            precondition(
                written.points.count == log.points.count,
                "\(written.points.count) of \(log.points.count) places"
            )
        }
    }
}
