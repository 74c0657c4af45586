import WakeBench
import WakeCaptures
import WakeDevices
import WakeModel

extension RecordCommand {
    static let radio = WakebenchProgram.Verb(
        "record ble",
        "[ADDRESS|NAME] -o DEVICE.yaml",
        "record a device on the air, or what other programs do with theirs: a capture, and a device file made of it",
        bluetooth,
        options: bluetoothOptions
    )

    static let bluetoothOptions: [Arguments.Option] =
        [
            out,
            .value(
                "--capture",
                "FORMAT[,FORMAT]",
                "what is written as it is heard: \(TraceFormat.allCases.map(\.rawValue).joined(separator: ", ")); default btsnoop"
            ),
            time, DeviceCommand.adapter, DeviceCommand.hci, DeviceCommand.within,
        ] + closing

    /// A device that is connected to, or whatever others do with theirs.
    static func bluetooth(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let wish = try Wish(try Arguments(words, options: bluetoothOptions))
        let wanted = try wish.source("ADDRESS|NAME")
        var files: [(format: TraceFormat, path: String)] = []
        for format in try formats(wish.arguments) { files.append((format, try wish.beside(".\(format.rawValue)"))) }
        let radio = DeviceCommand.radio(wish.arguments)
        if let adapter = radio.adapter { _ = try ImportCommand.address(adapter) }
        guard wanted != nil || radio.transports.isEmpty else {
            let hint = "name the device to be recorded, as ADDRESS or NAME"
            throw CommandFailure(.usage, "no other program uses the controllers of --hci", hint: hint)
        }
        let recorder = BluetoothRecorder(
            wanted,
            radio: radio,
            within: try ImportCommand.duration(wish.arguments, "--within") ?? .seconds(30),
            time: wish.time,
            files: files,
            follow: wish.follow,
            tell: wish.progress
        )
        let paths = files.map(\.path)
        let outcome = try wish.record(to: paths) { () throws(CommandFailure) in try recorder.record() }
        guard outcome.packets > 0 else { throw wish.failure(outcome.end, "nothing was heard", paths) }
        let page = Page(
            captures: paths,
            end: word(outcome.end),
            seconds: seconds(outcome.time),
            counts: [
                "packets": outcome.packets, "values": outcome.values,
            ].merging(
                wanted == nil ? [:] : ["links": outcome.links, "subscriptions": outcome.subscriptions],
                uniquingKeysWith: { $1 }
            ),
            device: outcome.address,
            notes: outcome.notes
        )
        return try tell(wish, try peripheral(outcome, paths[0], to: wish.out), page, outcome.end)
    }

    private static func formats(_ arguments: Arguments) throws(CommandFailure) -> [TraceFormat] {
        guard let text = arguments.value("--capture") else { return [.btsnoop] }
        var formats: [TraceFormat] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let format = TraceFormat(rawValue: String(word)) else {
                throw CommandFailure(unknown: "capture format '\(word)'", known: TraceFormat.allCases.map(\.rawValue))
            }
            if !formats.contains(format) { formats.append(format) }
        }
        return formats
    }

    /// What an import makes of the capture, with what bluetoothd knows where the capture does not show it.
    private static func peripheral(
        _ outcome: BluetoothRecorder.Outcome,
        _ file: String,
        to out: String
    ) throws(CommandFailure) -> ImportCommand.Made {
        let address = try outcome.address.map(ImportCommand.address)
        var summary = try ImportCommand.summary([file], CaptureReading(only: address))
        var device = try ImportCommand.choose(summary.reading, address, in: [file])
        var knows = false
        if let found = device, !found.showsTable, !outcome.table.isEmpty {
            let again = CaptureReading(only: address, tables: [found.identity: outcome.table])
            summary = try ImportCommand.summary([file], again)
            device = again.devices.first { $0.identity == found.identity }
            knows = true
        }
        guard let device, let start = summary.reading.first else {
            throw CommandFailure(.notFound, "no Bluetooth device in what was heard", hint: "\(file) has what was heard")
        }
        summary.chosen = device
        summary.lift = PeripheralLift(device, start: start)
        summary.written = try ImportCommand.write(summary, to: out)
        var made = ImportCommand.Made(lines: summary.lines(), json: try summary.json())
        if knows {
            made.lines.append("note: the capture shows no discovery; what the device has is what bluetoothd knew of it")
        }
        return made
    }
}
