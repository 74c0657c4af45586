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
        case .note: record(verb, at: now)
        case .range:
            try areas.perform(verb, origin, in: scenario, at: now)
            record(verb, at: now)
        default:
            for area in areas.all { area.act(verb, origin, in: self, at: now) }
            try areas.perform(verb, origin, in: scenario, at: now)
            record(verb, at: now)
        }
    }

    /// Refuses a command that would do nothing, where whoever gives it waits for the answer.
    func checkCanAct(_ verb: Verb) throws(SourceFailure) {
        guard case .update(let apps, _, _) = verb else { return }
        for app in apps {
            guard let reason = silence(of: AppID(UInt32(app))) else { continue }
            throw SourceFailure(.wrongState, "\(scenario.apps[app].name) cannot notify: \(reason)")
        }
    }

    /// Why an app says nothing to anybody now; nil for one that runs.
    private func silence(of app: AppID) -> String? {
        switch bench.router.state(of: app) {
        case .notRunning: "it does not run; launch it first"
        case .suspended: "it is suspended, and runs no code until something wakes it"
        case .background, .inactive, .active: nil
        }
    }

    /// Writes down a step that no input speaks of: a note, and a device that left the phone's reach or came back.
    func record(_ verb: Verb, at now: Instant) {
        switch verb {
        case .note(let text): recorder.note(step: text, at: now)
        case .range(let devices, let inRange):
            recorder.range(devices.map { scenario.devices[$0].name }, inRange: inRange, at: now)
        case .update(let apps, let characteristic, let value):
            for app in apps { record(characteristic, value, notifiedBy: AppID(UInt32(app)), at: now) }
        default: break
        }
    }

    /// Whether any central is subscribed to what a scripted app notifies.
    private func isHeard(_ characteristic: String, of app: AppID) -> Bool {
        guard let number = scripted.apps[app]?.publication.notifying[characteristic] else { return false }
        return bench.router.isSubscribed(toLocal: number, of: app, manager: ScriptedAppHost.peripheralManager)
    }

    /// Writes down that a value of an app reaches nobody, and why.
    private func record(_ characteristic: String, _ value: [UInt8], notifiedBy app: AppID, at now: Instant) {
        let what = "\(characteristic) \(value.hexadecimal)"
        if let reason = silence(of: app) {
            recorder.note(step: "cannot notify \(what): \(reason)", of: app, at: now)
        } else if !isHeard(characteristic, of: app) {
            recorder.note(step: "notifies \(what), to which nobody is subscribed", of: app, at: now)
        }
    }
}
