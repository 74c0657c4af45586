import Foundation
import WakeBench
import WakeCaptures
import WakeDevices
import WakeModel

/// `wakebench import`: what captures show, and a device file made of it.
enum ImportCommand {
    static let options: [Arguments.Option] = [
        .value(
            "--out",
            "DEVICE.yaml",
            short: "-o",
            "write the device as a file; without it only the summary is printed"
        ),
        .value("--address", "ADDRESS", "the device that is wanted; default the one with the most GATT traffic"),
        .value("--speed", "NUMBER", "play its streams so much faster, 0.001 to 1000; default 1"),
        .value("--from", "DURATION", "leave out what was notified before this moment of the capture"),
        .value("--to", "DURATION", "leave out what was notified after this moment of the capture"),
        .flag("--loop", "begin each stream again after its end"),
        .value("--gap-limit", "DURATION", "cut longer pauses of a stream to this"),
        .flag("--force", "replace a file that is there"),
        .flag("--json", "print one JSON object"),
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        if arguments.rest.isEmpty { throw CommandFailure(.usage, "FILE is missing", hint: "see --help") }
        let address = try arguments.value("--address").map(address)
        let pace = try pace(arguments)
        let out = arguments.value("--out")
        if let out { try checkRoom(out, arguments) }
        let reading = CaptureReading(only: address)
        var summary = ImportSummary(reading: reading)
        for file in arguments.rest { summary.files.append(try read(file, reading)) }
        if reading.recordCount == 0, let damaged = summary.files.first(where: { $0.damage != nil }) {
            throw CommandFailure(.invalidFile, damaged.damageLine ?? damaged.path, hint: "nothing of it can be read")
        }
        let device = try choose(reading, address)
        if let device, let start = reading.first {
            summary.chosen = device
            summary.lift = PeripheralLift(device, start: start, pace: pace)
        }
        if let out { summary.written = try write(summary, to: out) }
        for line in arguments.has("--json") ? [try summary.json()] : summary.lines() { print(line) }
        return .done
    }

    // MARK: Options

    private static func address(_ text: String) throws(CommandFailure) -> UInt64 {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
        guard parts.count == 6, bytes.count == 6 else {
            throw CommandFailure(.usage, "'\(text)' is no address", hint: "write it as F0:11:22:33:44:55")
        }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func pace(_ arguments: Arguments) throws(CommandFailure) -> PeripheralLift.Pace {
        var pace = PeripheralLift.Pace()
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

    private static func duration(_ arguments: Arguments, _ name: String) throws(CommandFailure) -> Instant.Span? {
        guard let text = arguments.value(name) else { return nil }
        guard let span = DurationText.span(text) else {
            throw CommandFailure(.usage, "\(name) \(text): no time", hint: "write 250ms, 30s, 15m or 1h30m")
        }
        return span
    }

    /// Refuses a file that is there before anything is read.
    private static func checkRoom(_ out: String, _ arguments: Arguments) throws(CommandFailure) {
        guard !arguments.has("--force"), FileManager.default.fileExists(atPath: out) else { return }
        throw CommandFailure(
            .wrongState,
            "\(out) is there already",
            hint: "give another file with --out, or --force to replace it"
        )
    }

    // MARK: Reading

    private static func read(
        _ file: String,
        _ reading: CaptureReading
    ) throws(CommandFailure) -> ImportSummary.File {
        var source: CaptureBytes
        do { source = try CaptureBytes(file: file) } catch { throw CommandFailure(.invalidFile, error) }
        guard let format = CaptureFormat.detect(&source) else {
            let known = CaptureFormat.names.joined(separator: ", ")
            throw CommandFailure(
                .invalidFile,
                "\(file): no capture of a known format",
                hint: "expected one of \(known)"
            )
        }
        var summary = ImportSummary.File(path: file, format: format)
        let before = reading.recordCount
        do { try reading.read(&source, format) } catch { summary.damage = error }
        summary.records = reading.recordCount - before
        return summary
    }

    /// The device that was named, or the one with the most GATT traffic; nil when nothing can be made a device of.
    private static func choose(
        _ reading: CaptureReading,
        _ address: UInt64?
    ) throws(CommandFailure) -> CapturedDevice? {
        let devices = reading.devices
        guard let address else { return devices.first }
        if let device = devices.first(where: { $0.address == address }) { return device }
        let seen = devices.prefix(8).compactMap(\.addressText).joined(separator: ", ")
        throw CommandFailure(
            .notFound,
            "no device with this address in the capture",
            hint: seen.isEmpty ? "it shows no device at all" : "it shows \(seen)"
        )
    }

    private static func write(_ summary: ImportSummary, to out: String) throws(CommandFailure) -> String {
        guard let lift = summary.lift else {
            throw CommandFailure(.invalidFile, "no Bluetooth device in what was read", hint: "see it without --out")
        }
        let text = lift.peripheral.text(comments: summary.comments)
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: out), options: .atomic) } catch {
            throw CommandFailure(.internal, "\(out): cannot be written (\(error.localizedDescription))")
        }
        return out
    }
}
