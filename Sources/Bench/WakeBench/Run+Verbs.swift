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
        case .notify(let devices, let characteristic, let value):
            for device in devices {
                try simulated("notify").simulateNotification(
                    device: scenario.devices[device].name,
                    characteristic: characteristic,
                    value: value,
                    origin: origin,
                    at: now
                )
            }
        case .disconnect(let devices):
            for device in devices {
                try simulated("disconnect").simulateDisconnect(
                    device: scenario.devices[device].name,
                    origin: origin,
                    at: now
                )
            }
        case .range(let devices, let inRange):
            for device in devices {
                try simulated("range").simulateRange(
                    device: scenario.devices[device].name,
                    inRange: inRange,
                    at: now
                )
            }
        case .arm(let devices, let fault):
            for device in devices {
                try bluetooth.arm(fault: fault, device: scenario.devices[device].name, at: now)
            }
        case .note(let text): recorder.note(text)
        }
    }

    /// The simulated radio, for steps that only it can carry out.
    func simulated(_ step: String) throws(SourceFailure) -> SimulatedBluetooth {
        guard let simulated = bluetooth as? SimulatedBluetooth else {
            throw SourceFailure(
                .unsupported,
                "the step '\(step)' needs bluetooth=simulated; on \(bluetooth.backend) the device itself decides"
            )
        }
        return simulated
    }
}
