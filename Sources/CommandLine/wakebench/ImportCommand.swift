import Foundation
import WakeBench
import WakeCaptures
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench import`: what captures and recordings show, and a device file made of it.
enum ImportCommand {
    static let options: [Arguments.Option] = [
        .value(
            "--out",
            "DEVICE.yaml",
            short: "-o",
            "write the device as a file; without it only the summary is printed"
        ),
        .value("--address", "ADDRESS", "the device that is wanted; default the one with the most GATT traffic"),
        .value("--table", "DEVICE.yaml", "what the device has, where the capture begins after its discovery"),
        .value("--speed", "NUMBER", "play it so much faster, 0.001 to 1000; default 1"),
        .value("--from", "DURATION", "leave out what was notified before this moment of the capture"),
        .value("--to", "DURATION", "leave out what was notified after this moment of the capture"),
        .flag("--loop", "begin each stream, or the track, again after its end"),
        .value("--gap-limit", "DURATION", "cut longer pauses of a stream to this"),
        .flag("--force", "replace a file that is there"),
        .flag("--json", "print one JSON object"),
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        guard let first = arguments.rest.first else {
            throw CommandFailure(.usage, "FILE is missing", hint: "see --help")
        }
        let out = arguments.value("--out")
        if let out { try checkRoom(out, arguments) }
        if let form = try PlaceLog.detect(beginning(of: first)) {
            return try importLog(form, arguments, to: out)
        }
        return try importCapture(arguments, to: out)
    }

    /// The first bytes of a file.
    private static func beginning(of file: String) throws(CommandFailure) -> [UInt8] {
        do { return try CaptureBytes.beginning(of: file) } catch { throw CommandFailure(.invalidFile, error) }
    }

    /// Refuses a file that is there before anything is read.
    static func checkRoom(_ out: String, _ arguments: Arguments) throws(CommandFailure) {
        guard !arguments.has("--force"), FileManager.default.fileExists(atPath: out) else { return }
        throw CommandFailure(
            .wrongState,
            "\(out) is there already",
            hint: "give another file with --out, or --force to replace it"
        )
    }

    /// Writes a file whole, or not at all.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
            throw CommandFailure(.internal, "\(path): cannot be written (\(error.localizedDescription))")
        }
    }

    /// What a page for programs says, as one JSON object.
    static func json(_ page: some Encodable) throws(CommandFailure) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return String(decoding: try encoder.encode(page), as: UTF8.self) } catch {
            throw CommandFailure(.internal, "the summary cannot be written as JSON (\(error))")
        }
    }
}
