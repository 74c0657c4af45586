import WakeBench

/// Where the run is that a verb is about.
enum RunPlace {
    static let phone = Arguments.Option.value(
        "--phone",
        "NAME",
        short: "-p",
        "the run of this phone of the daemon; one that is booted may be a tenth of a second behind"
    )

    /// The folder that was named by `--phone`, by `--run`, or by the only word; by default the latest run.
    static func folder(_ arguments: Arguments, word: String? = nil) throws(CommandFailure) -> String {
        let named = word ?? arguments.value("--run")
        guard let phone = arguments.value("--phone") else { return named ?? "wakebench-runs/latest" }
        guard named == nil else {
            throw CommandFailure(.usage, "--phone and a run exclude each other", hint: "give one")
        }
        guard let folder = Daemon.runFolder(of: phone, state: Daemon.usualState()) else {
            throw CommandFailure(.notFound, "no phone '\(phone)' in \(Daemon.usualState())", hint: "see 'phone list'")
        }
        return folder
    }
}
