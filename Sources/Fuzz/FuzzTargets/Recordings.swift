import WakeCaptures
import WakeDevices

/// Recordings of umockdev's, and calls of a network: what is made of them is read again as the same.
enum Recordings {
    /// Files one after the other, with a zero between them: dumps and scripts.
    static func devices(_ bytes: [UInt8]) {
        var dump: AccessoryDump?
        var scripts: [AccessoryScript] = []
        for file in bytes.split(separator: 0, maxSplits: 8) {
            switch RecordingForm.detect(Array(file.prefix(4096))) {
            case .dump: dump = AccessoryDump(Array(file), file: "fuzz.umockdev")
            case .script: scripts.append(AccessoryScript(Array(file), file: "fuzz.script"))
            case .ioctl, .evemu, nil: return
            }
        }
        guard let lift = try? AccessoryLift(dump, scripts) else { return }
        let text = lift.accessory.text(comments: lift.notes)
        do throws(FileError) {
            let read = try ExternalAccessory.parse(Array(text.utf8), file: "fuzz.yaml")
            precondition(read.text(comments: lift.notes) == text, "read again as another: \(text)")
        } catch {
            preconditionFailure("a device file that cannot be read: \(error)")
        }
    }

    static func calls(_ bytes: [UInt8]) {
        let reading = CallReading()
        var source = CaptureBytes(bytes, file: "fuzz")
        guard let format = CaptureFormat.detect(&source) else { return }
        do throws(CaptureDamage) { try reading.read(&source, format) } catch {
            precondition((0...bytes.count).contains(error.offset), "damage at \(error.offset) of \(bytes.count)")
        }
        for entry in reading.leftOut.entries {
            precondition((0...bytes.count).contains(entry.first), "\(entry) of \(bytes.count) bytes")
        }
        guard let start = reading.first else { return }
        for call in reading.calls.prefix(3) {
            let text = CallServerLift(call, start: start).server.text()
            do throws(FileError) {
                let read = try CallServer.parse(Array(text.utf8), file: "fuzz.yaml")
                precondition(read.text() == text, "read again as another: \(text)")
            } catch {
                preconditionFailure("a device file that cannot be read: \(error)")
            }
        }
    }
}
