import WakeDevices
import WakeModel
import WakePorts
import WakeRouter

/// Background fetch and the task scheduler. The scheduler is the router's own; what comes from outside is a developer who pulls its
/// levers, so there is no end to it.
final class BackgroundTaskArea: Area {
    static let source = Source.task

    static func isUsed(by scenario: Scenario) -> Bool { false }

    private let notes: StepNotes

    var sources: [any SourcePort] { [] }

    init(_ setup: AreaSetup) { notes = setup.notes }

    static func declare(_ app: ScenarioApp, in manifest: inout AppManifest, _ names: NameTable) {
        guard case .scripted(let script) = app.form, let permitted = script.tasks?.permitted else { return }
        manifest.taskIdentifiers = permitted.map(names.intern)
    }

    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {
        switch verb {
        case .simulateTask(let apps, let identifier, let lever):
            for app in apps {
                submit(.taskLaunchSimulated, identifier, UInt32(lever.rawValue), app, origin, in: run)
            }
        case .expireTask(let apps, let identifier):
            for app in apps { submit(.taskExpirationSimulated, identifier, 0, app, origin, in: run) }
        case .submitTask(let apps, let request):
            for app in apps {
                let id = AppID(UInt32(app))
                let why = run.scripted.isAwake(id) ? run.scripted.refusal(of: request, by: id) : nil
                if let why { note("submit", request.identifier, why, of: id, in: run, at: now) }
                run.scripted.submit(request, of: id)
            }
        case .registerTask(let apps, let identifier):
            for app in apps {
                let id = AppID(UInt32(app))
                let permitted = run.scripted.apps[id]?.script.tasks?.permitted ?? []
                if run.scripted.isAwake(id), !permitted.contains(identifier) {
                    note("register", identifier, "its identifier is not permitted (BGT-1)", of: id, in: run, at: now)
                }
                run.scripted.say([.backgroundTask(.register(run.names.intern(identifier)))], from: id)
            }
        default: break
        }
    }

    private func note(
        _ step: String,
        _ identifier: String,
        _ why: String,
        of app: AppID,
        in run: Run,
        at now: Instant
    ) {
        let what = "\(step) \(run.name(of: app)) \(identifier)"
        notes.add(what, "refused, as \(why)", of: app, at: now, isReplayed: false)
    }

    private func submit(
        _ kind: EventKind,
        _ identifier: String?,
        _ local: UInt32,
        _ app: Int,
        _ origin: NameID,
        in run: Run
    ) {
        let subject = identifier.map(run.names.intern) ?? .none
        let event = WakeEvent(kind: kind, local: local, subject: subject, app: AppID(UInt32(app)), origin: origin)
        run.bench.submit(SourceReport(event, .none))
    }

    func owns(_ device: ScenarioDevice) -> Bool { false }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {}
}
