import WakeDevices
import WakeModel
import WakeReports

/// What went wrong with an app, beside what the scenario expects.
extension Run {
    /// The first app that ended by itself before it had launched; nil when none did, or an expectation counts that end.
    package var launchFault: CommandFailure? {
        guard let died = diedAtLaunch else { return nil }
        let log = recorder.log(of: died.app).map { "; its log is \(folder.path)/\($0)" } ?? ""
        return CommandFailure(
            .appFault,
            at: place(of: died),
            "\(died.app) \(died.words) at \(LogTime.text(died.at))\(log), "
                + "and `wakebench why \(ShellWord.quoted(died.app)) --run \(ShellWord.quoted(folder.path))` shows the end of it"
        )
    }

    /// Where the scenario has an app's launch: its first step for that, if the process was the app's first and the step has been
    /// carried out; or else its entry among the apps.
    private func place(of died: ExitEntry) -> CommandFailure.Place {
        var place = CommandFailure.Place(file: RunFolder.fromHere(scenario.file))
        guard let number = scenario.apps.indices.first(where: { recorder.bundle($0) == died.app }) else { return place }
        (place.line, place.column) = (scenario.apps[number].line, scenario.apps[number].column)
        let step = scenario.steps.firstIndex { step in
            guard case .user(let apps, .launch) = step.verb else { return false }
            return apps.contains(number)
        }
        guard died.generation == 1, let step, !driver.leftOut.steps.contains(step) else { return place }
        (place.line, place.column) = (scenario.steps[step].line, scenario.steps[step].column)
        return place
    }

    /// The first process that ended before it had launched, and was not expected to.
    var diedAtLaunch: ExitEntry? { recorder.diedAtLaunch.first { !expects($0) } }

    /// Why the run ended before its time, with logs that can be read: an app died at its launch, or a step
    /// waited in vain or could not be carried out.
    package var fault: CommandFailure? {
        if let launchFault { return launchFault }
        guard let failure = driver.failure else { return nil }
        let (unmet, stopped) = (driver.unmet, driver.stopped)
        let place = CommandFailure.Place(
            file: RunFolder.fromHere(scenario.file),
            line: unmet?.line ?? stopped?.line ?? 0,
            column: unmet?.column ?? stopped?.column ?? 0
        )
        return CommandFailure(stopped?.cause.exitCode ?? .timeout, failure, place: place)
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
