import WakeBluetooth
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
        case .phone(let change): bench.submit(.phone(change), origin: origin)
        case .plug(let devices, let plugged):
            for device in devices { try audio.plug(scenario.devices[device].name, plugged, at: now) }
        case .arm(let devices, let fault) where devices.allSatisfy { scenario.devices[$0].audio != nil }:
            for device in devices { try audio.arm(fault: fault, device: scenario.devices[device].name, at: now) }
        case .sound(let apps, let act):
            for app in apps { scripted.perform(act, of: AppID(UInt32(app)), at: now) }
        case .microphone(let apps, let granted):
            for app in apps { answerMicrophone(granted, of: AppID(UInt32(app)), origin) }
        case .range:
            try simulated.perform(verb, origin, at: now)
            record(verb, at: now)
        case .notify, .disconnect, .arm, .cross, .position, .play, .visit, .attach, .send, .call:
            try simulated.perform(verb, origin, at: now)
        case .authorize(let apps, let authorization):
            for app in apps {
                bench.submit(
                    SourceReport(
                        WakeEvent(
                            kind: .authorizationChanged,
                            subject: names.intern("location"),
                            app: AppID(UInt32(app)),
                            authorization: authorization,
                            origin: origin
                        )
                    )
                )
            }
        case .note: record(verb, at: now)
        }
    }

    /// Writes down a step that no input speaks of: a note, and a device that left the phone's reach or came back.
    func record(_ verb: Verb, at now: Instant) {
        switch verb {
        case .note(let text): recorder.note(step: text, at: now)
        case .range(let devices, let inRange):
            recorder.range(devices.map { scenario.devices[$0].name }, inRange: inRange, at: now)
        case .user, .setUp, .terminate, .uninstall, .phone, .plug, .arm, .sound, .microphone, .notify, .disconnect,
            .cross, .position, .play, .visit, .attach, .send, .call, .authorize:
            break
        }
    }
}
