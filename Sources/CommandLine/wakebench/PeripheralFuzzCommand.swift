import Foundation
import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench device fuzz`: what a hurried, careless client does to a real device, and what the device does about it.
enum PeripheralFuzzCommand {
    static let options: [Arguments.Option] = [
        .value("--for", "DURATION", "how long, at most 24h; default 1m"),
        .value("--seed", "N", "the same seed does the same in the same order; default 1"),
        .value(
            "--writes",
            "all|UUID[,UUID]",
            "the characteristics that values may be written to; default none, since a control point may erase or brick"
        ),
        .value("--out", "FOLDER", short: "-o", "where the record goes; default ./wakebench-runs/TIME-fuzz"),
        DeviceCommand.adapter, DeviceCommand.hci, DeviceCommand.within,
        .flag("--json", "print the summary as one JSON object"),
    ]

    private static let longest = Instant.Span.seconds(86_400)

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let wanted = try arguments.only("ADDRESS|NAME")
        let time = try ImportCommand.duration(arguments, "--for") ?? .seconds(60)
        guard time > .zero, time <= longest else {
            throw CommandFailure(.usage, "--for \(DurationText.text(time)): not within 24h")
        }
        let seed = try seed(arguments)
        let fuzz = PeripheralBench.Fuzz(time: time, seed: seed, writes: try writes(arguments))
        let bench = try DeviceCommand.bench(wanted, arguments)
        func play(in folder: String) throws(CommandFailure) -> ExitCode {
            let record = FuzzFile(folder + "/operations.ndjson")
            var (address, uuids): (String, [UInt16: String]) = (wanted, [:])
            let summary = try bench.fuzz(fuzz) { found, target in
                address = found
                uuids = Dictionary(target.characteristics.map { ($0.handle, $0.uuid) }) { $1 }
                _ = try RunFolder(making: folder)
                try record.begin(address: found, seed: seed, target)
                Output.complain("fuzzing \(found) with seed \(seed) for \(DurationText.text(time))")
            } record: {
                record.add($0)
            }
            try record.end()
            let report = FuzzReport(address: address, seed: seed, summary: summary, uuids: uuids, record: record.path)
            let page = try Output.json(page: report.page)
            try ImportCommand.write(page + "\n", to: folder + "/summary.json")
            if arguments.has("--json") {
                print(page)
            } else {
                for line in report.lines { print(TerminalText.escaped(line)) }
            }
            if summary.wasInterrupted { return .interrupted }
            return summary.isClean ? .done : .expectationFailed
        }
        if let folder = arguments.value("--out") { return try play(in: folder) }
        return try RunFolder.withOwnPlace(suffix: "-fuzz") { (place) throws(CommandFailure) -> ExitCode in
            try play(in: place)
        }
    }

    private static func seed(_ arguments: Arguments) throws(CommandFailure) -> UInt64 {
        guard let text = arguments.value("--seed") else { return 1 }
        guard let seed = UInt64(text) else { throw CommandFailure(.usage, "--seed \(text): no whole number from 0") }
        return seed
    }

    private static func writes(_ arguments: Arguments) throws(CommandFailure) -> FuzzPlan.Writes {
        guard let text = arguments.value("--writes") else { return .none }
        if text == "all" { return .all }
        var uuids: Set<String> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let uuid = BluetoothUUID.canonical(String(part)) else {
                throw CommandFailure(.usage, "--writes \(part): no UUID", hint: "write all, or such as 2A39")
            }
            uuids.insert(uuid)
        }
        return .some(uuids)
    }
}
