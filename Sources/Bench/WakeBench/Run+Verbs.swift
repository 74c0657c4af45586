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
        case .terminate(let apps, let cause):
            for app in apps { bench.submit(.terminate(AppID(UInt32(app)), cause), origin: origin) }
        case .uninstall(let apps):
            for app in apps { bench.submit(.uninstall(AppID(UInt32(app))), origin: origin) }
        case .phone(let change): bench.submit(.phone(change), origin: origin)
        case .bluetooth(let on): bluetooth.setPower(on, at: now)
        case .notify, .disconnect, .range, .arm, .cross, .position, .play, .visit, .attach, .send, .call:
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
        case .note(let text): recorder.note(text)
        }
    }
}
