import WakeModel

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
        if let processes {
            try processes.open(in: folder)
            bench.listen(to: processes.host)
            processes.host.surroundings = self
            notes += processes.notes
        }
        for area in areas.all { area.connect(to: self) }
    }
}
