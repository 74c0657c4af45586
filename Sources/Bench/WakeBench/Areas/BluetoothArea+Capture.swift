extension RunBackends {
    /// Refuses what only a simulated radio writes down.
    func check(capture options: RunOptions) throws(CommandFailure) {
        guard !options.capture.isEmpty, self[BluetoothArea.source] != "simulated" else { return }
        throw CommandFailure(
            .usage,
            "--capture: the radio of this run is a real one",
            hint: "record it beside the run, with btmon -w FILE"
        )
    }
}
