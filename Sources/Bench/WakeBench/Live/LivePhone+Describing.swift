import WakeDevices
import WakeJSON
import WakeModel
import WakeReports

/// What clients are told of a phone, its apps and its devices.
extension LivePhone {
    /// How far its clock is.
    private var now: Instant { run.realTime ? max(run.reached, run.machineTime) : run.reached }

    /// How far its clock is, for somebody to be told: it does not go back behind that, whatever becomes of the daemon.
    @discardableResult
    func tellTime() -> Instant {
        let instant = now
        // What cannot be kept is not told; the next turn says why.
        do throws(CommandFailure) { try run.clock?.keep(instant) } catch { return run.reached }
        return instant
    }

    func describe(app number: Int, into writer: inout JSONWriter) {
        let (id, app, router) = (AppID(UInt32(number)), run.scenario.apps[number], run.bench.router)
        let state = router.state(of: id)
        writer.openObject()
        writer.key("name")
        writer.string(app.name)
        writer.key("bundle")
        writer.string(run.bundle(ofApp: number))
        writer.key("kind")
        if case .bundle = app.form { writer.string("bundle") } else { writer.string("scripted") }
        writer.key("installed")
        writer.bool(router.isInstalled(id))
        writer.key("state")
        writer.string(state.word)
        writer.key("pid")
        writer.integer(Int64(run.recorder.pid(of: number)))
        if state == .background, let left = router.backgroundTimeRemaining(of: id, at: now) {
            writer.key("window")
            writer.number(Double(left.nanoseconds) / 1e9)
        }
        if let decision = lastDecisions[id] {
            writer.key("last")
            writer.openObject()
            writer.key("seq")
            writer.unsigned(decision.id.number)
            writer.key("at")
            writer.string(LogTime.text(decision.at))
            writer.key("event")
            writer.string(decision.kind.word)
            writer.key("verdict")
            writer.string(decision.verdict.word)
            writer.key("reason")
            writer.string(decision.reason.word)
            writer.closeObject()
        }
        writer.closeObject()
    }

    func describe(device number: Int, into writer: inout JSONWriter) {
        let device = run.scenario.devices[number]
        let name = run.names.known(device.name)
        let holders = run.scenario.apps.indices.filter { app in
            run.bench.router.registrations(of: AppID(UInt32(app))).contains {
                $0.via == .connection && $0.subject == name
            }
        }
        writer.openObject()
        writer.key("name")
        writer.string(device.name)
        writer.key("kind")
        writer.string(device.kind)
        writer.key("connected")
        let isLinked = name.map(run.bench.router.connectedPeripherals.contains) ?? false
        writer.bool(isLinked || run.areas.all.contains { $0.hasOwnLink(device) })
        writer.key("apps")
        writer.strings(holders.map { run.scenario.apps[$0].name })
        for area in run.areas.all where area.owns(device) { area.describe(device, into: &writer) }
        writer.closeObject()
    }

    /// The run as far as its logs have it, as the data of a page, which news go on from.
    func pageData() throws(CommandFailure) -> [UInt8] {
        do { try run.bench.commit() } catch { throw CommandFailure(error) }
        do throws(ReportError) {
            try run.recorder.flush()
            let log = try RunLog(folder: run.folder.path, evidence: true)
            return HTMLReport.data(HTMLReport.Run(log, title: name))
        } catch {
            throw CommandFailure(.environment, error)
        }
    }

    /// Tells the decisions after one again, as far as the log has them.
    func tellAgain(after decision: DecisionID, _ tell: (News) -> Void) throws(CommandFailure) {
        do throws(ReportError) {
            try run.recorder.flush()
            try RunLog.eachRecord(folder: run.folder.path, values: true) { record in
                if let number = DecisionLog.number(of: record), number > decision { tell(.decision(number, record)) }
                return true
            }
        } catch {
            throw CommandFailure(.environment, error)
        }
    }

    /// The positions of the apps that a name or a bundle identifier means.
    func apps(_ word: String) throws(CommandFailure) -> [Int] {
        do throws(FileError) { return try live.apps(word) } catch {
            throw CommandFailure(.notFound, "\(name): \(error.found)", hint: "expected \(error.expected)")
        }
    }

    /// What would become of the latest events of a choice for the apps at these positions, if they came again now.
    ///
    /// - Parameter words: which events; none for the kinds that there were.
    func canWake(_ apps: [Int], _ words: [String]) throws(CommandFailure) -> WakeQuestion.Answer {
        do { try run.bench.commit() } catch { throw CommandFailure(error) }
        let log: RunLog
        do throws(ReportError) {
            try run.recorder.flush()
            log = try RunLog(folder: run.folder.path)
        } catch {
            throw CommandFailure(.environment, error)
        }
        try recallEvents()
        let events = lastEvents.values.sorted { $0.id < $1.id }
        return try WakeQuestion(run, about: events).answer(words, for: apps.map(run.bundle(ofApp:)), in: log, name)
    }
}
