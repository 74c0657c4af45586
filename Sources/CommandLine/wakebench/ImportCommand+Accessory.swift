import WakeBench
import WakeCaptures
import WakeDevices
import WakeReports

extension ImportCommand {
    /// What umockdev recorded of a device, and an accessory made of it.
    static func importRecording(_ arguments: Arguments, to out: String?) throws(CommandFailure) -> ExitCode {
        try refuse(["--address", "--table"], "a recording of umockdev's", arguments)
        return tell(try accessory(of: arguments.rest, arguments, to: out), arguments)
    }

    /// The accessory of a dump and scripts.
    static func accessory(
        of files: [String],
        _ arguments: Arguments,
        to out: String?
    ) throws(CommandFailure) -> Made {
        var recording = ImportedRecording()
        for file in files { try recording.read(file) }
        let (pace, name) = (try pace(arguments), try protocolName(arguments))
        let lift: AccessoryLift
        do throws(AccessoryLift.Failure) {
            lift = try AccessoryLift(recording.dump, recording.scripts, pace: pace, protocol: name)
        } catch {
            throw CommandFailure(.invalidFile, error.found, hint: error.remedy)
        }
        if let out { try write(lift.accessory.text(comments: recording.comments + lift.notes), to: out) }
        let page = try Output.json(page: recording.page(lift, written: out))
        return Made(lines: recording.lines(lift, written: out), json: page)
    }

    static func protocolName(_ arguments: Arguments) throws(CommandFailure) -> String? {
        guard let name = arguments.value("--protocol") else { return nil }
        // Of several devices each has a name that is longer by its own.
        guard name.utf8.count <= 90, (try? YAMLNode.scalar(name).accessoryProtocol()) != nil else {
            throw CommandFailure(
                .usage,
                "'\(name)' is no name of a protocol",
                hint: "write it as com.example.log, in at most 90 letters"
            )
        }
        return name
    }
}

/// The files that were read, and what an import says of them.
private struct ImportedRecording {
    private(set) var dump: AccessoryDump?
    private(set) var scripts: [AccessoryScript] = []

    mutating func read(_ file: String) throws(CommandFailure) {
        let bytes: [UInt8]
        do { bytes = try InputFile.read(file, limit: RecordingForm.byteLimit) } catch {
            throw CommandFailure(.invalidFile, error)
        }
        switch RecordingForm.detect(Array(bytes.prefix(4096))) {
        case .dump:
            if let dump {
                throw CommandFailure(.usage, "\(dump.file) and \(file) are both dumps", hint: "give one device at once")
            }
            dump = AccessoryDump(bytes, file: file)
        case .script: scripts.append(AccessoryScript(bytes, file: file))
        case .ioctl, .evemu:
            let name = RecordingForm.detect(Array(bytes.prefix(4096)))?.name ?? ""
            throw CommandFailure(
                .invalidFile,
                in: file,
                "\(name), of which nothing is read",
                hint: "umockdev's dumps and scripts of serial ports and hidraw devices are"
            )
        case nil:
            throw CommandFailure(
                .invalidFile,
                in: file,
                "no recording of umockdev's",
                hint: "give a dump and its scripts alone"
            )
        }
    }

    private var files: [(path: String, form: RecordingForm, leftOut: LeftOut, words: String)] {
        var files = scripts.map { script in
            let device = script.device.map { " of \($0)" } ?? ""
            let count = script.operations.count
            let operations = count == 1 ? "1 read or write" : "\(count) reads and writes"
            let words = "\(device), \(operations) in \(DurationText.text(script.length))"
            return (script.file, RecordingForm.script, script.leftOut, words)
        }
        if let dump {
            files.insert((dump.file, .dump, dump.leftOut, ", \(Plural.text(dump.parts.count, "device"))"), at: 0)
        }
        return files
    }

    var comments: [String] { files.map { "From \($0.path): \($0.form.name)\($0.words)" } }

    func lines(_ lift: AccessoryLift, written: String?) -> [String] {
        var lines = files.map { "\($0.path): \($0.form.name)\($0.words)" }
        lines.append("accessory: \(lift.accessory.name)")
        lines += lift.parts.map { part in
            "  \(part.name)\(part.node.map { " on \($0)" } ?? ""): sends \(part.sent) values of itself, "
                + "answers \(part.answers) questions"
        }
        let leftOut = files.flatMap { file in
            file.leftOut.entries.map { "  \($0.count) \($0.why), the first in line \($0.first) of \(file.path)" }
        }
        if !leftOut.isEmpty { lines += ["skipped:"] + leftOut }
        if let written { lines.append("\(written): \(lift.accessory.name)") }
        return lines + lift.notes.map { "note: \($0)" }
    }

    // MARK: For programs

    struct Page: Encodable {
        struct File: Encodable {
            var path: String
            var format: String
            var skipped: [String: Int]
            /// The number of the first line.
            var skippedFrom: [String: Int]
        }
        struct Part: Encodable {
            var `protocol`: String
            var node: String?
            var sends: Int
            var answers: Int
        }
        var ok = true
        var schema = "wakebench.import/1"
        var files: [File]
        var accessory: String
        var protocols: [Part]
        var written: String?
        var notes: [String]
    }

    func page(_ lift: AccessoryLift, written: String?) -> Page {
        Page(
            files: files.map { file in
                Page.File(
                    path: file.path,
                    format: file.form.rawValue,
                    skipped: file.leftOut.counts,
                    skippedFrom: file.leftOut.places
                )
            },
            accessory: lift.accessory.name,
            protocols: lift.parts.map {
                Page.Part(protocol: $0.name, node: $0.node, sends: $0.sent, answers: $0.answers)
            },
            written: written,
            notes: lift.notes
        )
    }
}

extension LeftOut {
    /// How often each was left out.
    var counts: [String: Int] { Dictionary(uniqueKeysWithValues: entries.map { ($0.why, $0.count) }) }

    /// Where each was left out first.
    var places: [String: Int] { Dictionary(uniqueKeysWithValues: entries.map { ($0.why, $0.first) }) }
}
