import WakeModel
import WakeSystem

/// What hears whom in a run.
extension Run {
    /// Ties the sources and the apps to the bench.
    func connect() throws(CommandFailure) {
        for source in areas.sources { bench.add(source) }
        bench.listen(to: scripted)
        scripted.view = view
        bench.add(driver)
        recorder.isLocked = { [unowned bench] in bench.router.isLocked }
        bench.add(recorder)
        setup.notes.recorder = recorder
        scripted.note = { [recorder, unowned self] text, app, now in
            // Scripts of apps are not played again while a journal is read back.
            recorder.miss("script of \(name(of: app)): \(text)", of: app, at: now, isReplayed: false)
        }
        if let processes { try connect(processes) }
        for area in areas.all { try area.connect(to: self) }
        try hearMemoryStalls()
    }

    /// Ties the processes of real apps to the bench.
    func connect(_ processes: RealApps) throws(CommandFailure) {
        try processes.open(in: folder)
        bench.listen(to: processes.host)
        processes.host.surroundings = self
        notes += processes.notes
        if realTime { try measure(processes.host) }
    }

    /// In virtual time an app that works holds up the clock: however much it uses, it uses at one instant.
    private func measure(_ host: ProcessAppHost) throws(CommandFailure) {
        do throws(SystemError) {
            let meter = try UseMeter(host, loop: loop, window: profile.areas.citizen.processorWindow)
            self.meter = meter
            bench.add(meter)
            host.tellsUse = true
        } catch {
            throw CommandFailure(.internal, error.description)
        }
    }
}
