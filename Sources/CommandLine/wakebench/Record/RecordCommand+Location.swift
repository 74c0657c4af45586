import WakeBench
import WakeCaptures
import WakeDevices

extension RecordCommand {
    static let receivers = WakebenchProgram.Verb(
        "record location",
        "-o DEVICE.yaml",
        "record what a GNSS receiver or a gpsd says: a log, and a track made of it",
        location,
        options: locationOptions
    )

    static let locationOptions: [Arguments.Option] =
        [
            out,
            .value(
                "--receiver",
                "TTY",
                "the tty of a receiver that speaks NMEA 0183; default the first that udev knows"
            ),
            baud(9_600),
            .value("--gpsd", "HOST[:PORT]|:PORT", "what a gpsd says in place of a receiver, such as localhost:2947"),
            time,
        ] + closing

    /// What a receiver or a gpsd says.
    static func location(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: locationOptions)
        let wish = try Wish(arguments)
        guard arguments.rest.isEmpty else {
            throw CommandFailure(.usage, "'\(arguments.rest[0])' is not expected", hint: "name a tty with --receiver")
        }
        let place = try receiver(arguments)
        let form: PlaceLog.Form = if case .gpsd = place { .gpsd } else { .nmea }
        let file = try wish.beside(form == .gpsd ? "-received.json" : "-received.nmea")
        // The places that make sense stand beside the track.
        _ = try wish.beside(".nmea")
        let recorder = StreamRecorder(time: wish.time, follow: wish.follow, tell: wish.progress)
        let outcome = try wish.record(to: [file]) { () throws(CommandFailure) in try recorder.record(place, to: file) }
        guard outcome.bytes > 0 else { throw wish.failure(outcome.end, "nothing was said", [file]) }
        let page = Page(
            captures: [file],
            end: word(outcome.end),
            seconds: seconds(outcome.time),
            counts: ["bytes": outcome.bytes, "fixes": outcome.fixes],
            notes: outcome.notes
        )
        let made: ImportCommand.Made
        do { made = try ImportCommand.track(of: file, form, arguments, to: wish.out) } catch {
            guard error.code == .invalidFile else { throw error }
            throw CommandFailure(.notFound, "no place in what was said", hint: "\(file) has what was said")
        }
        return try tell(wish, made, page, outcome.end)
    }

    private static func receiver(_ arguments: Arguments) throws(CommandFailure) -> ReceiverPlace {
        if let text = arguments.value("--gpsd") {
            guard !arguments.has("--receiver"), !arguments.has("--baud") else {
                throw CommandFailure(.usage, "--gpsd has receivers of its own", hint: "leave out --receiver and --baud")
            }
            guard let place = RunOptions.gpsd(text) else {
                throw CommandFailure(.usage, "--gpsd \(text): no HOST:PORT", hint: "write localhost:2947")
            }
            return .gpsd(host: place.host, port: place.port)
        }
        let baud = try speed(arguments, usual: 9_600)
        return .receiver(arguments.value("--receiver").map { .path($0) } ?? .any, baud: baud)
    }
}
