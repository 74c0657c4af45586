import WakeBench
import WakeReports

/// `wakebench blame`.
enum BlameCommand {
    static let options: [Arguments.Option] = [
        RunPlace.phone,
        .value(
            "--cost",
            "NAME=MILLIJOULES",
            "what one of a charge costs, instead of the model's figure; may be given again"
        ),
        .json,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let folder = try RunPlace.folder(arguments, word: arguments.rest.isEmpty ? nil : arguments.only("RUN"))
        var model = EnergyModel()
        for text in arguments.all("--cost") { try set(text, in: &model) }
        let log = try WhyCommand.read(folder, checks: false)
        let accounts = EnergyAccount.all(of: log)
        if arguments.has("--json") {
            print(try Output.json(page: BlamePage(accounts, by: model, folder: folder)))
            return .done
        }
        for line in EnergyAccount.lines(accounts, by: model, width: Terminal.width) { print(line) }
        return .done
    }

    private static func set(_ text: String, in model: inout EnergyModel) throws(CommandFailure) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let charge = EnergyModel.Charge(rawValue: parts[0]) else {
            let known = EnergyModel.Charge.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .usage,
                "--cost \(text): no charge",
                hint: "expected NAME=MILLIJOULES; the names are \(known)"
            )
        }
        guard let cost = Double(parts[1]), EnergyModel.allowed.contains(cost) else {
            throw CommandFailure(.usage, "--cost \(text): no cost", hint: "expected millijoules from 0 to 1000000")
        }
        model[charge] = cost
    }
}
