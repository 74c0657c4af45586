import WakeBench
import WakeDevices
import WakeReports

/// `wakebench device check`.
enum DeviceCommand {
    static let checkOptions: [Arguments.Option] = [
        .flag("--guidelines", "list the guidelines, with their editions"),
        .flag("--json", "print one JSON object"),
    ]

    static func check(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: checkOptions)
        if arguments.has("--guidelines") {
            guidelines()
            return .done
        }
        guard !arguments.rest.isEmpty else {
            throw CommandFailure(.usage, "DEVICE.yaml is missing", hint: "see --help")
        }
        var found: [(file: String, finding: PeripheralFinding)] = []
        for file in arguments.rest {
            do {
                found += try PeripheralCheck.findings(in: file).map { (file, $0) }
            } catch {
                throw CommandFailure(.invalidFile, error)
            }
        }
        if arguments.has("--json") {
            print(object(found))
        } else {
            for (file, finding) in found {
                let row = finding.guideline.row
                print(
                    TerminalText.escaped(
                        "\(file):\(finding.line): \(finding.guideline.rawValue): \(finding.found); \(row.remedy)  [\(row.section)]"
                    )
                )
            }
            print(summary(found.count, files: arguments.rest.count))
        }
        return found.isEmpty ? .done : .expectationFailed
    }

    private static func summary(_ findings: Int, files: Int) -> String {
        let devices = files == 1 ? "1 device" : "\(files) devices"
        return findings == 0
            ? "\(devices), nothing found" : "\(devices), \(findings) \(findings == 1 ? "finding" : "findings")"
    }

    private static func guidelines() {
        var edition = ""
        for guideline in PeripheralGuideline.allCases {
            let row = guideline.row
            if row.edition != edition { print(row.edition) }
            edition = row.edition
            let line = "  \(guideline.rawValue)  \(row.says)  [\(row.section)]"
            Terminal.print(line, hanging: 4)
        }
    }

    private static func object(_ found: [(file: String, finding: PeripheralFinding)]) -> String {
        let findings = found.map { file, finding in
            let row = finding.guideline.row
            return "{\"file\":\(Output.json(file)),\"line\":\(finding.line),"
                + "\"guideline\":\(Output.json(finding.guideline.rawValue)),"
                + "\"edition\":\(Output.json(row.edition)),\"section\":\(Output.json(row.section)),"
                + "\"found\":\(Output.json(finding.found)),\"remedy\":\(Output.json(row.remedy))}"
        }
        return "{\"schema\":\"wake.device-check/1\",\"ok\":\(found.isEmpty),"
            + "\"findings\":[\(findings.joined(separator: ","))]}"
    }
}
