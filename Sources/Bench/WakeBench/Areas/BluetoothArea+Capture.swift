import WakePorts

extension Areas {
    /// Makes sure that the radio can be written down, before the run begins.
    func openTrace(for options: RunOptions) throws(CommandFailure) {
        guard !options.capture.isEmpty else { return }
        do throws(SourceFailure) { try bluetooth.trace.openTrace() } catch {
            throw CommandFailure(error.exitCode, error.message)
        }
    }
}

extension Run {
    /// Writes down what the radio has done until now, and says what could not be.
    func endTrace() throws(CommandFailure) {
        guard let capture else { return }
        captureLosses = areas.bluetooth.trace.endTrace()
        for line in captureLosses { recorder.note(line, at: reached) }
        try capture.finish()
    }
}
