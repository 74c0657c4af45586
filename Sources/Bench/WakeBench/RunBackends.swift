import WakeDevices
import WakeModel

/// Which backend each source of a run has: the word of the command line, else the scenario's, else `simulated`.
struct RunBackends {
    private let choices: [BackendChoice]

    init(_ options: RunOptions, _ scenario: Scenario) {
        choices = options.backends.isEmpty ? scenario.backends : options.backends
    }

    subscript(source: Source) -> String {
        choices.last { $0.source == source }?.word ?? "simulated"
    }

    /// All of them, as the journal keeps them.
    var text: String { Areas.rows.map { "\($0.source.word)=\(self[$0.source])" }.joined(separator: ",") }

    /// Whether the run's clock is the real one; a virtual one cannot be had with a real backend.
    func needRealTime(_ clock: RunOptions.Clock?) throws(CommandFailure) -> Bool {
        let real = Areas.rows.map { self[$0.source] }.first { $0 != "simulated" }
        if let real, clock == .virtual {
            throw CommandFailure(
                .usage,
                "--clock virtual cannot be had with the real backend \(real)",
                hint: "leave --clock away"
            )
        }
        return clock == .real || real != nil
    }

    /// The settings that the log begins with; those of sources that the scenario does not use are left away.
    func settings(of scenario: Scenario) -> [String: String] {
        var settings = ["scenario": scenario.name]
        for area in Areas.rows where area.isUsed(by: scenario) || self[area.source] != "simulated" {
            settings[area.source.word] = self[area.source]
        }
        return settings
    }
}
