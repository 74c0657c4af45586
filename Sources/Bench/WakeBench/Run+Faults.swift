import WakeDevices
import WakeModel
import WakeReports

/// What went wrong with an app, beside what the scenario expects.
extension Run {
    /// The first app that ended by itself before it had launched; nil when none did, or an expectation counts that end.
    package var launchFault: CommandFailure? {
        for died in recorder.diedAtLaunch where !expects(died) {
            let log = recorder.log(of: died.app).map { "; its log is \(folder.path)/\($0)" } ?? ""
            return CommandFailure(
                .appFault,
                "\(died.app) \(died.words) at \(LogTime.text(died.at))\(log), "
                    + "and `wakebench why \(ShellWord.quoted(died.app)) --run \(ShellWord.quoted(folder.path))` shows the end of it"
            )
        }
        return nil
    }

    private func expects(_ died: ExitEntry) -> Bool {
        scenario.expectations.contains { expectation in
            guard case .exits(let cause, _) = expectation.subject, cause == nil || cause == died.cause else {
                return false
            }
            return expectation.apps.contains { recorder.bundle($0) == died.app }
        }
    }
}
