import WakeDevices
import WakeModel
import WakePorts

/// What the steps of a scenario do.
extension Run {
    func perform(_ verb: Verb, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .user(let apps, let action):
            for app in apps { bench.submit(.user(AppID(UInt32(app)), action), origin: origin) }
        case .setUp(let apps, let devices):
            for app in apps {
                for device in devices {
                    let peripheral = names.intern(scenario.devices[device].name)
                    bench.submit(.setUp(AppID(UInt32(app)), peripheral: peripheral), origin: origin)
                }
            }
        case .terminate(let apps, let cause, let pressure):
            for app in apps { bench.submit(.terminate(AppID(UInt32(app)), cause, pressure), origin: origin) }
        case .uninstall(let apps):
            for app in apps { bench.submit(.uninstall(AppID(UInt32(app))), origin: origin) }
        case .install(let app, let bundle): install(bundle, over: app, origin)
        case .phone(let change): bench.submit(.phone(change), origin: origin)
        case .process(let apps, let requests):
            for app in apps { scripted.say(requests, from: AppID(UInt32(app))) }
        case .note: break
        default:
            for area in areas.all { area.act(verb, origin, in: self, at: now) }
            try areas.perform(verb, origin, in: scenario, at: now)
        }
        record(verb, at: now)
    }

    /// Carries out a step of the scenario. One that its target is not in a state for is a line, with why, and the run goes on.
    func performParts(
        of verb: Verb,
        at now: Instant,
        _ perform: (Verb) throws(SourceFailure) -> Void
    ) throws(SourceFailure) {
        guard let (step, parts) = verb.parts else { return try perform(verb) }
        for part in parts {
            do throws(SourceFailure) { try perform(part) } catch {
                guard error.kind == .wrongState else { throw error }
                recorder.miss("\(step): \(error.message)", at: now, isReplayed: !verb.looksAtApps)
            }
        }
    }

    /// Refuses a command that would do nothing: its client waits for the answer.
    func checkCanAct(_ verb: Verb) throws(SourceFailure) {
        guard case .update(let apps, _, _) = verb else { return }
        for app in apps {
            guard let (why, remedy) = silence(of: AppID(UInt32(app))) else { continue }
            throw SourceFailure(.wrongState, "\(scenario.apps[app].name) cannot notify: \(why)\(remedy)")
        }
    }

    /// Why an app says nothing to anybody now, and what would have it do so; nil for one that runs.
    private func silence(of app: AppID) -> (why: String, remedy: String)? {
        switch bench.router.state(of: app) {
        case .notRunning: ("it does not run", "; launch it first")
        case .suspended: ("it is suspended", ", and runs no code until something wakes it")
        case .background, .inactive, .active: nil
        }
    }

    /// Writes down of a step what no input speaks of: a note, a device that left the phone's reach or came back, and what is
    /// asked of an app that cannot do it, or that nobody hears.
    func record(_ verb: Verb, at now: Instant) {
        switch verb {
        case .note(let text): recorder.note(step: text, at: now)
        case .range(let devices, let inRange):
            recorder.range(devices.map { scenario.devices[$0].name }, inRange: inRange, at: now)
        default:
            // How an app stood then is not known while a journal is read back, and the line is there.
            guard !recorder.isReplaying, let (apps, step, value) = verb.speakers else { return }
            for number in apps {
                let (app, id) = (scenario.apps[number], AppID(UInt32(number)))
                guard case .scripted = app.form else { continue }
                let what = "\(step) \(app.name)" + (value.isEmpty ? "" : " \(value)")
                if let (why, _) = silence(of: id) {
                    recorder.miss(what, why, of: id, at: now)
                } else if case .update(_, let characteristic, _) = verb {
                    record(update: what, characteristic, of: id, at: now)
                }
            }
        }
    }

    /// Writes down who gets the value that a scripted app notifies; one that it has no room for is told where it is refused.
    private func record(update what: String, _ characteristic: String, of app: AppID, at now: Instant) {
        guard let own = scripted.apps[app], let number = own.publication.notifying[characteristic],
            isHeard(characteristic, of: app)
        else { return recorder.miss(what, "nobody is subscribed", of: app, at: now) }
        guard own.unsent.count < ScriptedAppHost.mostUnsent else { return }
        let manager = ScriptedAppHost.peripheralManager
        let all = bench.router.subscribers(toLocal: number, of: app, manager: manager).map(names.text)
        let more = all.count > Self.mostNamed ? " and \(all.count - Self.mostNamed) more" : ""
        recorder.note(step: "\(what): sent to \(all.prefix(Self.mostNamed).joined(separator: ", "))\(more)", at: now)
    }

    /// So many centrals are named in a line at most.
    private static let mostNamed = 3

    /// Whether any central is subscribed to what a scripted app notifies.
    private func isHeard(_ characteristic: String, of app: AppID) -> Bool {
        guard let number = scripted.apps[app]?.publication.notifying[characteristic] else { return false }
        return bench.router.isSubscribed(toLocal: number, of: app, manager: ScriptedAppHost.peripheralManager)
    }

    /// Says which steps the end of the run has left out.
    func noteLeftOut() {
        guard let until = scenario.until, live == nil, !interrupted, driver.failure == nil else { return }
        let (steps, rounds, count) = driver.leftOut
        guard let first = (steps + rounds).min() else { return }
        func words(_ count: Int, _ what: String) -> String { "\(count) \(what)\(count == 1 ? "" : "s")" }
        var parts = steps.isEmpty ? [] : [words(steps.count, "step")]
        if !rounds.isEmpty { parts.append("\(words(count, "round")) of \(words(rounds.count, "step"))") }
        let what = parts.joined(separator: " and ")
        let line = scenario.steps[first].line
        recorder.miss("until: \(DurationText.text(until)) leaves out \(what), the first is line \(line)", at: reached)
    }
}

extension Verb {
    /// A step that its targets may not be in a state for: what it is called, and the same for each of them by itself; nil for any
    /// other.
    fileprivate var parts: (step: String, parts: [Verb])? {
        switch self {
        case .order(let orders): (orders.first?.word ?? "", orders.map { Verb.order([$0]) })
        case .tap(let apps, let notification): ("tap", apps.map { Verb.tap(apps: [$0], notification: notification) })
        default: nil
        }
    }

    /// Whether what comes of a step, and what is said of it, depends on how apps, the screen and the phone's clock stand when it
    /// is carried out.
    var looksAtApps: Bool {
        switch self {
        case .authorize, .microphone, .clock, .tap: true
        default: speakers != nil
        }
    }

    /// The apps that a step has say something themselves, which only one that runs can; what such a step is called, and what it
    /// has them say, as far as its line tells that.
    fileprivate var speakers: (apps: [Int], step: String, value: String)? {
        switch self {
        case .process(let apps, _): (apps, "measure", "")
        case .sound(let apps, _): (apps, "sound", "")
        case .notifications(let apps, .schedule): (apps, "schedule", "")
        case .notifications(let apps, .cancel): (apps, "cancel", "")
        case .transfer(let apps, _, _): (apps, "transfer", "")
        case .submitTask(let apps, _): (apps, "submit", "")
        case .registerTask(let apps, _): (apps, "register", "")
        case .update(let apps, let characteristic, let value):
            (apps, "notify", "\(characteristic) \(value.hexadecimal)")
        default: nil
        }
    }
}
