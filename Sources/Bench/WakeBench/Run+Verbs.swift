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
        }
    }

    /// Writes down a step that no input speaks of: a note, and a device that left the phone's reach or came back.
    func record(_ verb: Verb, at now: Instant) {
        switch verb {
        case .note(let text): recorder.note(step: text, at: now)
        case .range(let devices, let inRange):
            recorder.range(devices.map { scenario.devices[$0].name }, inRange: inRange, at: now)
        default: break
        }
    }
}
