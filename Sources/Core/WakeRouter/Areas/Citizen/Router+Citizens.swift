import WakeModel

/// What becomes of apps that take too much, or hold what they share with others.
extension Router {
    mutating func measure(_ measure: ProcessMeasure, of app: AppID) {
        switch measure {
        case .footprint(let megabytes):
            areas.citizen.apps[app].footprint = megabytes
            guard megabytes > profile.areas.citizen.memoryLimit else { return }
            act(.did(app, .endedForFootprint))
            end(app, cause: .memory, code: 0, by: .none)
        case .processor(let share):
            let isOver = share > profile.areas.citizen.processorShare
            areas.citizen.apps[app].busySince = isOver ? areas.citizen.apps[app].busySince ?? now : nil
            countProcessorTime(of: app, in: apps[app].state)
        case .locks(let count):
            areas.citizen.apps[app].locks = count
            // It was looked for after the freeze began.
            if apps[app].stage == .freezing { _ = endsForLocks(app) }
        case .privateLocks(let count): areas.citizen.apps[app].privateLocks = count
        case .listeners(let count): areas.citizen.apps[app].listeners = count
        case .services(let count): areas.citizen.apps[app].services = count
        case .drew:
            guard apps[app].state == .background else { return }
            act(.did(app, .endedForDrawing))
            end(app, cause: .policy, code: 0, by: .none)
        }
    }

    // MARK: Suspension

    /// An app that holds a shared lock may not be suspended with it: it ends (RESP-4). Says whether it did.
    mutating func endsForLocks(_ app: AppID) -> Bool {
        guard areas.citizen.apps[app].locks > 0 else { return false }
        act(.did(app, .endedForLocks))
        end(app, cause: .policy, code: TerminationCode.heldLock, by: .none)
        return true
    }

    /// What a suspended app listens on is closed (RESP-2).
    mutating func closeListeners(of app: AppID) {
        let record = areas.citizen.apps[app]
        guard record.listeners > 0 || record.services > 0 else { return }
        areas.citizen.apps[app].listeners = 0
        areas.citizen.apps[app].services = 0
        if record.listeners > 0 { act(.closeListeners(app)) }
        act(.did(app, .closedListeners))
    }

    // MARK: Processor time

    /// Only time in the background counts, and none of a task that has external power (CPU-1, BGT-7).
    mutating func countProcessorTime(of app: AppID, in state: AppState) {
        guard areas.citizen.apps[app].busySince != nil, state == .background, !isExemptFromProcessorLimit(app) else {
            areas.citizen.apps[app].busyDue = .distantFuture
            return
        }
        guard areas.citizen.apps[app].busyDue == .distantFuture else { return }
        areas.citizen.apps[app].busyDue = now.advanced(by: profile.areas.citizen.processorWindow)
    }

    mutating func processorTimeDue(of app: AppID) {
        guard areas.citizen.apps[app].busyDue <= now else { return }
        areas.citizen.apps[app].busyDue = .distantFuture
        guard apps[app].state == .background, !apps[app].isEnding, !isExemptFromProcessorLimit(app), !spare(app) else {
            return
        }
        act(.did(app, .endedForProcessorTime))
        end(app, cause: .cpu, code: 0, by: .none)
    }

    // MARK: Memory

    /// Who runs is told that memory is short; who is suspended hears nothing (RESP-6).
    mutating func warnOfMemory() {
        for app in everyApp where isRunning(app) {
            act(.callback(app, .didReceiveMemoryWarning, state: apps[app].state))
            act(.did(app, .warnedOfMemory))
        }
    }

    /// One more process must go: a suspended one at once and without a word, one that runs after a warning (MEM-1).
    mutating func memoryShortage() {
        guard let victim = memoryVictim() else { return }
        if apps[victim].state == .suspended {
            purge(victim)
        } else if areas.citizen.warnedAt == nil {
            warnOfMemory()
            areas.citizen.warnedAt = now
            areas.citizen.due = now.advanced(by: profile.areas.citizen.warningGrace)
        }
    }

    /// What is said of word about memory that no app hears, or that is old; nil where it comes to something.
    func lack(ofMemory change: PhoneChange) -> Deed? {
        switch change {
        case .memoryWarning: return everyApp.contains { isRunning($0) } ? nil : .foundNoAppRunning
        case .memoryShortage:
            guard let victim = memoryVictim() else { return .foundNoAppRunning }
            return apps[victim].state != .suspended && areas.citizen.warnedAt != nil ? .foundItSo : nil
        case .memoryRelief: return areas.citizen.warnedAt == nil ? .foundItSo : nil
        default: return nil
        }
    }

    /// Who was warned has had the time to let go of memory, and one must go all the same.
    mutating func memoryDue() {
        guard areas.citizen.due <= now else { return }
        endMemoryShortage()
        if let victim = memoryVictim() { purge(victim) }
    }

    mutating func endMemoryShortage() {
        areas.citizen.warnedAt = nil
        areas.citizen.due = .distantFuture
    }

    private mutating func purge(_ app: AppID) {
        if hasRival(app) { act(.did(app, .purgedLargest)) }
        act(.did(app, .purgedForMemory))
        end(app, cause: .memory, code: 0, by: .none)
        reschedule(app)
    }

    private func isRunning(_ app: AppID) -> Bool {
        switch apps[app].stage {
        case .inactive, .active, .background: true
        case .notRunning, .launching, .leaving, .freezing, .suspended, .ending: false
        }
    }

    /// Who goes first: the lowest band, in it the largest, of these the least recently used (MEM-1, MEM-2).
    private func memoryVictim() -> AppID? {
        var victim: AppID?
        for app in everyApp where apps[app].hasProcess && !apps[app].isEnding {
            guard let other = victim, !goes(app, before: other) else {
                victim = app
                continue
            }
        }
        return victim
    }

    private func goes(_ app: AppID, before other: AppID) -> Bool {
        let bands = (memoryBand(app), memoryBand(other))
        if bands.0 != bands.1 { return bands.0 < bands.1 }
        let sizes = (areas.citizen.apps[app].footprint, areas.citizen.apps[other].footprint)
        if sizes.0 != sizes.1 { return sizes.0 > sizes.1 }
        return apps[app].leftForeground < apps[other].leftForeground
    }

    /// Whether another process of the band could have gone in its place.
    private func hasRival(_ app: AppID) -> Bool {
        everyApp.contains { other in
            other != app && apps[other].hasProcess && !apps[other].isEnding && memoryBand(other) == memoryBand(app)
        }
    }

    /// XNU's band of an app's process: who plays, records or holds an accessory outlives the foreground (MEM-1).
    func memoryBand(_ app: AppID) -> UInt8 {
        switch apps[app].state {
        case .notRunning, .suspended: 0
        case .background: outlivesForeground(app) ? 12 : 3
        case .inactive, .active: outlivesForeground(app) ? 12 : 10
        }
    }

    private func outlivesForeground(_ app: AppID) -> Bool {
        var outlives = false
        askAreas { if $0.outlivesForeground(app, self) { outlives = true } }
        return outlives
    }
}
