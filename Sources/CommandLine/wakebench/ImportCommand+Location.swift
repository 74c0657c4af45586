import WakeBench
import WakeCaptures
import WakeDevices
import WakeReports

extension ImportCommand {
    /// A log of places, and a track made of it: the device file, and beside it the places that make sense.
    static func importLog(
        _ form: PlaceLog.Form,
        _ arguments: Arguments,
        to out: String?
    ) throws(CommandFailure) -> ExitCode {
        let file = try arguments.only("FILE of places")
        try refuse(["--address", "--table", "--from", "--to", "--gap-limit"], form.name, arguments)
        return tell(try track(of: file, form, arguments, to: out), arguments)
    }

    /// The track of a log.
    static func track(
        of file: String,
        _ form: PlaceLog.Form,
        _ arguments: Arguments,
        to out: String?
    ) throws(CommandFailure) -> Made {
        let bytes: [UInt8]
        do { bytes = try InputFile.read(file, limit: PlaceLog.byteLimit) } catch {
            throw CommandFailure(.invalidFile, error)
        }
        let log = PlaceLog(bytes, form)
        if log.points.isEmpty {
            let why = log.skipped.map { "\($0.count) \($0.why)" }.joined(separator: ", ")
            throw CommandFailure(.invalidFile, in: file, "no place in it", hint: why.isEmpty ? nil : "left out: \(why)")
        }
        var written: [String] = []
        if let out { written = try write(log, from: file, to: out, arguments) }
        let page = try Output.json(page: LogPage(file: file, log: log, written: written))
        return Made(lines: lines(log, file, written), json: page)
    }

    private static func write(
        _ log: PlaceLog,
        from file: String,
        to out: String,
        _ arguments: Arguments
    ) throws(CommandFailure) -> [String] {
        let folder = out.lastIndex(of: "/").map { String(out[...$0]) } ?? ""
        let name = out.dropFirst(folder.count)
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name
        let places = "\(stem).\(log.ending)"
        let beside = folder + places
        if beside == out {
            throw CommandFailure(
                .usage,
                "\(out): the places stand in a file of that name",
                hint: "call it \(stem).yaml"
            )
        }
        try checkRoom(beside, arguments)
        try write(log.placesText, to: beside)
        let rate = try pace(arguments).speed
        let text = log.deviceText(places: places, from: file, rate: rate, repeats: arguments.has("--loop"))
        try write(text, to: out)
        return [out, beside]
    }

    private static func lines(_ log: PlaceLog, _ file: String, _ written: [String]) -> [String] {
        var lines = ["\(file): \(log.form.name), \(log.points.count) places"]
        if let first = log.points.first?.timestamp, let last = log.points.last?.timestamp {
            lines.append("from \(UTCTime.Parts(first)?.dateTime ?? "?") to \(UTCTime.Parts(last)?.dateTime ?? "?")")
        } else {
            lines.append("without times: a track needs a speed, and the file says 50km/h")
        }
        if !log.skipped.isEmpty { lines.append("skipped:") }
        lines += log.skipped.map { "  \($0.count) \($0.why)" }
        lines += log.notes.map { "note: \($0)" }
        if let device = written.first { lines.append("\(device): a track, with its places in \(written[1])") }
        return lines
    }

    private struct LogPage: Encodable {
        struct File: Encodable {
            var path: String
            var format: String
        }
        var ok = true
        var schema = "wakebench.import/1"
        var files: [File]
        var places: Int
        var skipped: [String: Int]
        var notes: [String]
        var written: [String]

        init(file: String, log: PlaceLog, written: [String]) {
            files = [File(path: file, format: log.form.rawValue)]
            places = log.points.count
            skipped = Dictionary(uniqueKeysWithValues: log.skipped.map { ($0.why, $0.count) })
            notes = log.notes
            self.written = written
        }
    }
}
