import WakeBench
import WakeCaptures
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench device check`: device files, captures and live devices against guidelines.
enum DeviceCommand {
    static let checkOptions: [Arguments.Option] = [
        .flag("--guidelines", "list the guidelines, with their editions"),
        .value("--address", "ADDRESS", "the device of a capture; default the one with the most GATT traffic"),
        .value("--live", "ADDRESS|NAME", "check this device, over this machine's own adapter"),
        adapter, hci, within,
        .flag("--json", "print one JSON object"),
    ]

    static let adapter = Arguments.Option.value(
        "--adapter",
        "any|ADDRESS",
        "the adapter by its own address; default any"
    )
    static let hci = Arguments.Option.value(
        "--hci",
        "TRANSPORT",
        "a controller, by its transport: usb:0, tcp-client:HOST:PORT or another of Bumble's; may be given again; default this "
            + "machine's adapters"
    )
    static let within = Arguments.Option.value(
        "--within",
        "DURATION",
        "how long the device may take to be heard and to connect; default 30s"
    )

    static func check(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: checkOptions)
        if arguments.has("--guidelines") {
            try guidelines(json: arguments.has("--json"))
            return .done
        }
        let report = try report(arguments)
        if arguments.has("--json") {
            print(try Output.json(page: report.page))
        } else {
            for line in report.lines { print(TerminalText.escaped(line)) }
        }
        return report.findings.isEmpty ? .done : .expectationFailed
    }

    private static func report(_ arguments: Arguments) throws(CommandFailure) -> DeviceReport {
        var report = DeviceReport()
        if let wanted = arguments.value("--live") {
            guard arguments.rest.isEmpty, !arguments.has("--address") else {
                throw CommandFailure(.usage, "--live takes no files", hint: "check them by a command of their own")
            }
            let live = try bench(wanted, arguments).check()
            report.add(live.address, live.findings, unjudged: live.unjudged)
            return report
        }
        guard !arguments.rest.isEmpty else {
            throw CommandFailure(.usage, "DEVICE.yaml is missing", hint: "see --help")
        }
        var captures: [String] = []
        for file in arguments.rest {
            if try isCapture(file) {
                captures.append(file)
                continue
            }
            do { report.add(file, try PeripheralCheck.findings(in: file), unjudged: []) } catch {
                throw CommandFailure(.invalidFile, error)
            }
        }
        if captures.isEmpty {
            guard !arguments.has("--address") else { throw CommandFailure(.usage, "--address is for captures") }
        } else {
            try add(captures, try arguments.value("--address").map(ImportCommand.address), to: &report)
        }
        return report
    }

    // MARK: Captures

    private static func isCapture(_ file: String) throws(CommandFailure) -> Bool {
        do {
            var source = try CaptureBytes(file: file)
            return CaptureFormat.detect(&source) != nil
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
    }

    /// Adds the one device that captures show together.
    private static func add(
        _ files: [String],
        _ address: UInt64?,
        to report: inout DeviceReport
    ) throws(CommandFailure) {
        let reading = CaptureReading(only: address)
        for file in files {
            let read = try ImportCommand.read(file, reading)
            if let damage = read.damageLine { Output.complain("\(damage); what stands before it is checked") }
        }
        guard let device = try ImportCommand.choose(reading, address, in: files), let start = reading.first else {
            throw ImportCommand.failure(.invalidFile, in: files, "no device in what was read")
        }
        let check = CaptureCheck(device, start: start, files: files)
        report.add(device.addressText ?? "the device", check.findings, unjudged: check.unjudged)
    }

    // MARK: Live devices

    static func bench(_ wanted: String, _ arguments: Arguments) throws(CommandFailure) -> PeripheralBench {
        let time = try ImportCommand.duration(arguments, "--within") ?? .seconds(30)
        return PeripheralBench(wanted, radio: radio(arguments), within: time) { Output.complain($0) }
    }

    /// What `--adapter` and `--hci` choose.
    static func radio(_ arguments: Arguments) -> RadioChoice {
        RadioChoice(
            adapter: arguments.value("--adapter").flatMap { $0 == "any" ? nil : $0 },
            transports: arguments.all("--hci"),
            program: Installation.radio(.bridge)
        )
    }

    /// `wake.guidelines/1`.
    private struct GuidelinesPage: Encodable {
        struct Guideline: Encodable {
            var guideline: String
            var edition: String
            var section: String
            var says: String
            var remedy: String
        }

        var schema = "wake.guidelines/1"
        var ok = true
        var guidelines = PeripheralGuideline.allCases.map { guideline in
            Guideline(
                guideline: guideline.rawValue,
                edition: guideline.row.edition,
                section: guideline.row.section,
                says: guideline.row.says,
                remedy: guideline.row.remedy
            )
        }
    }

    private static func guidelines(json: Bool) throws(CommandFailure) {
        if json {
            print(try Output.json(page: GuidelinesPage()))
            return
        }
        var edition = ""
        for guideline in PeripheralGuideline.allCases {
            let row = guideline.row
            if row.edition != edition { print(row.edition) }
            edition = row.edition
            let line = "  \(guideline.rawValue)  \(row.says)  [\(row.section)]"
            Terminal.print(line, hanging: 4)
        }
    }
}
