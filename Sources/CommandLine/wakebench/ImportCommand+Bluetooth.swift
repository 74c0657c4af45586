import WakeBench
import WakeCaptures
import WakeDevices
import WakeModel

extension ImportCommand {
    /// Bluetooth's traffic, and a peripheral made of a device in it.
    static func importCapture(_ arguments: Arguments, to out: String?) throws(CommandFailure) -> ExitCode {
        let address = try arguments.value("--address").map(address)
        let pace = try pace(arguments)
        var summary = try summary(arguments.rest, CaptureReading(only: address))
        var device = try choose(summary.reading, address, in: arguments.rest)
        var known: BluetoothPeripheral?
        if let file = arguments.value("--table"), let found = device {
            let table = try table(file, found)
            known = table.peripheral
            let again = CaptureReading(only: address, tables: [found.identity: table.handles])
            summary = try self.summary(arguments.rest, again)
            device = again.devices.first { $0.identity == found.identity }
        }
        if let device, let start = summary.reading.first {
            summary.chosen = device
            summary.lift = PeripheralLift(device, start: start, pace: pace, known: known)
        }
        if let out { summary.written = try write(summary, to: out) }
        for line in arguments.has("--json") ? [try summary.json()] : summary.lines() { print(line) }
        return .done
    }

    // MARK: Options

    static func address(_ text: String) throws(CommandFailure) -> UInt64 {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
        guard parts.count == 6, bytes.count == 6 else {
            throw CommandFailure(.usage, "'\(text)' is no address", hint: "write it as F0:11:22:33:44:55")
        }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    static func pace(_ arguments: Arguments) throws(CommandFailure) -> Pace {
        var pace = Pace()
        if let text = arguments.value("--speed") {
            guard let speed = Double(text), (0.001...1000).contains(speed) else {
                throw CommandFailure(.usage, "--speed \(text): no number from 0.001 to 1000")
            }
            pace.speed = speed
        }
        pace.from = try duration(arguments, "--from") ?? .zero
        pace.to = try duration(arguments, "--to")
        if let to = pace.to, to <= pace.from {
            throw CommandFailure(.usage, "--to is not after --from", hint: "give a later moment with --to")
        }
        pace.gapLimit = try duration(arguments, "--gap-limit")
        pace.loops = arguments.has("--loop")
        return pace
    }

    static func duration(_ arguments: Arguments, _ name: String) throws(CommandFailure) -> Instant.Span? {
        guard let text = arguments.value(name) else { return nil }
        guard let span = DurationText.span(text) else {
            throw CommandFailure(.usage, "\(name) \(text): no time", hint: "write 250ms, 30s, 15m or 1h30m")
        }
        return span
    }

    // MARK: Reading

    /// What the captures show, read one after the other.
    static func summary(
        _ files: [String],
        _ reading: CaptureReading
    ) throws(CommandFailure) -> ImportSummary {
        var summary = ImportSummary(reading: reading)
        for file in files { summary.files.append(try read(file, reading)) }
        if reading.recordCount == 0, let damaged = summary.files.first(where: { $0.damage != nil }) {
            throw CommandFailure(.invalidFile, damaged.damageLine ?? damaged.path, hint: "nothing of it can be read")
        }
        return summary
    }

    /// The handles of a device by a device file that says what it has.
    private static func table(
        _ file: String,
        _ device: CapturedDevice
    ) throws(CommandFailure) -> (peripheral: BluetoothPeripheral, handles: AttributeTable) {
        let peripheral: BluetoothPeripheral
        do { peripheral = try BluetoothPeripheral.load(file: file) } catch { throw CommandFailure(.invalidFile, error) }
        if device.showsTable {
            throw CommandFailure(
                .usage,
                "--table \(file): the capture shows the device's own table",
                hint: "leave it out"
            )
        }
        do throws(TableFit.Failure) {
            return (peripheral, try TableFit.table(of: peripheral, on: device))
        } catch {
            switch error {
            case .none:
                throw CommandFailure(
                    .invalidFile,
                    in: file,
                    "what the capture shows cannot be of this table",
                    hint: "give the device's own, with its services in order"
                )
            case .several(let starts):
                let places = starts.map { "0x\($0.hexadecimal)" }.joined(separator: ", ")
                throw CommandFailure(
                    .invalidFile,
                    in: file,
                    "the table fits at several handles: \(places)",
                    hint: "give a capture of the discovery as the first FILE"
                )
            }
        }
    }

    static func read(
        _ file: String,
        _ reading: CaptureReading
    ) throws(CommandFailure) -> ImportSummary.File {
        var source: CaptureBytes
        do { source = try CaptureBytes(file: file) } catch { throw CommandFailure(.invalidFile, error) }
        guard let format = CaptureFormat.detect(&source) else {
            if let failure = source.failure {
                throw CommandFailure(.invalidFile, in: file, failure, hint: "nothing of it can be read")
            }
            if source.isPacked {
                throw CommandFailure(
                    .invalidFile,
                    in: file,
                    "no capture in what gzip packed",
                    hint: "places and recordings are read unpacked: gunzip it first"
                )
            }
            let known = (CaptureFormat.names + PlaceLog.Form.allCases.map(\.name) + ["umockdev"]).joined(
                separator: ", "
            )
            throw CommandFailure(
                .invalidFile,
                in: file,
                "no capture of a known format",
                hint: "expected one of \(known)"
            )
        }
        var summary = ImportSummary.File(path: file, format: format)
        let before = reading.recordCount
        do { try reading.read(&source, format) } catch {
            if error.isUnread { throw unread(error, in: file) }
            summary.damage = error
        }
        summary.records = reading.recordCount - before
        return summary
    }

    /// A capture that is whole, and of another kind than is read.
    static func unread(_ error: CaptureDamage, in file: String) -> CommandFailure {
        CommandFailure(.invalidFile, in: file, "\(error.found) is not read", hint: "expected \(CaptureFormat.expected)")
    }

    /// The device that was named, or the one with the most GATT traffic; nil when nothing can be made a device of.
    static func choose(
        _ reading: CaptureReading,
        _ address: UInt64?,
        in files: [String]
    ) throws(CommandFailure) -> CapturedDevice? {
        let devices = reading.devices
        guard let address else { return devices.first }
        if let device = devices.first(where: { $0.address == address }) { return device }
        let seen = devices.prefix(8).compactMap(\.addressText).joined(separator: ", ")
        throw failure(
            .notFound,
            in: files,
            "no device with this address",
            hint: seen.isEmpty ? "no device at all is shown" : "shown are \(seen)"
        )
    }

    static func write(_ summary: ImportSummary, to out: String) throws(CommandFailure) -> String {
        guard let lift = summary.lift else {
            let files = summary.files.map(\.path)
            throw failure(.invalidFile, in: files, "no Bluetooth device", hint: "see it without --out")
        }
        try write(lift.peripheral.text(comments: summary.comments), to: out)
        return out
    }
}
