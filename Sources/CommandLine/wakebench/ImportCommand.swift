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
        .value(
            "--address",
            "ADDRESS",
            "the device that is wanted; default the one with the most GATT traffic; of calls, the server's ADDRESS[:PORT]"
        ),
        .value("--table", "DEVICE.yaml", "what the device has, where the capture begins after its discovery"),
        .value("--protocol", "NAME", "what apps call the protocol of what umockdev recorded, such as com.example.log"),
        .value("--speed", "NUMBER", "play it so much faster, 0.001 to 1000; default 1"),
        .value("--from", "DURATION", "leave out what was sent before this moment of the capture"),
        .value("--to", "DURATION", "leave out what was sent after this moment of the capture"),
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
        let beginning = try beginning(of: first)
        if RecordingForm.detect(beginning) != nil { return try importRecording(arguments, to: out) }
        if arguments.has("--protocol") {
            throw CommandFailure(.usage, "--protocol is for recordings of umockdev's", hint: "leave it out")
        }
        if let form = PlaceLog.detect(beginning) { return try importLog(form, arguments, to: out) }
        if try isOfNetwork(first) { return try importCalls(arguments, to: out) }
        return try importCapture(arguments, to: out)
    }

    /// Whether a capture is of a network, by its first packets.
    private static func isOfNetwork(_ file: String) throws(CommandFailure) -> Bool {
        do {
            var source = try CaptureBytes(file: file)
            return CaptureFormat.isOfNetwork(&source)
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
    }

    /// Refuses options that mean nothing for files of a kind.
    static func refuse(_ options: [String], _ kind: String, _ arguments: Arguments) throws(CommandFailure) {
        for option in options where arguments.has(option) {
            throw CommandFailure(
                .usage,
                "\(option) means nothing here: \(arguments.rest[0]) is \(kind)",
                hint: "leave it out"
            )
        }
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
    ///
    /// - Throws: ``CommandFailure`` with exit code 12: the system refuses, or there is no room.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw CommandFailure(
                .environment,
                in: path,
                isFull ? "no space left" : "cannot be written (\(error.localizedDescription))",
                hint: isFull ? "free some space there, or give another file" : "give another file"
            )
        }
    }

    /// What is wrong with what files show together: the message names the first of them.
    static func failure(
        _ code: ExitCode,
        in files: [String],
        _ found: String,
        hint: String? = nil
    ) -> CommandFailure {
        let place = files.first.map { CommandFailure.Place(file: $0) }
        return CommandFailure(code, "\(named(files)): \(found)", hint: hint, place: place)
    }

    private static func named(_ files: [String]) -> String {
        files.count == 1 ? files[0] : files.isEmpty ? "no file" : "\(files[0]) and \(files.count - 1) more"
    }

    /// What was made of files, for people and for programs.
    struct Made {
        var lines: [String]
        /// One object.
        var json: String
    }

    /// Prints what was made, as it was asked for.
    static func tell(_ made: Made, _ arguments: Arguments) -> ExitCode {
        if arguments.has("--json") {
            print(made.json)
        } else {
            for line in made.lines { print(TerminalText.escaped(line)) }
        }
        return .done
    }
}
