import WakeAudio
import WakeBluetooth
import WakeDevices
import WakeExternalAccessory
import WakeLocation
import WakeModel
import WakePorts
import WakeVoIP

/// The simulated ends of a run, for the steps that act on devices and places; nil where the run has a real one.
struct SimulatedEnds {
    let scenario: Scenario
    let radio: SimulatedBluetooth?
    let phones: SimulatedPeripheralRole?
    let positions: SimulatedLocation?
    let sound: SimulatedAudio?
    let accessories: SimulatedAccessories?
    let calls: SimulatedVoIP?

    /// Carries out a step that acts on a device, the radio or the phone's place; any other is nothing to it.
    ///
    /// - Throws: ``SourceFailure`` of kind unsupported when the end that the step needs is real.
    func perform(_ verb: Verb, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .notify(let devices, let characteristic, let value):
            let radio = try radio("notify")
            for device in devices {
                try radio.simulateNotification(
                    device: name(device),
                    characteristic: characteristic,
                    value: value,
                    origin: origin,
                    at: now
                )
            }
        case .disconnect(let devices):
            for device in devices { try disconnect(device, origin, at: now) }
        case .range(let devices, let inRange):
            for device in devices { try move(device, inRange: inRange, at: now) }
        case .arm(let devices, let fault):
            for device in devices { try arm(fault, device, at: now) }
        case .cross(let region, true):
            try positions("enter").simulateEnter(region: region, origin: origin, at: now)
        case .cross(let region, false):
            try positions("exit").simulateExit(region: region, origin: origin, at: now)
        case .position(let place, let accuracy):
            try positions("position").simulatePosition(TrackPoint(place), accuracy: accuracy, at: now)
        case .play(let device): try positions("play").simulateTrack(device: name(device), at: now)
        case .visit(let place, let departs):
            let time = SimulatedLocation.usualTimestamp + Double(now.nanoseconds) / 1e9
            let visit = Visit(
                latitude: place.latitude,
                longitude: place.longitude,
                horizontalAccuracy: 50,
                arrival: departs ? nil : time,
                departure: departs ? time : nil
            )
            try positions(departs ? "depart" : "arrive").simulateVisit(visit, origin: origin, at: now)
        case .plug(let devices, let plugged):
            for device in devices { try sound("plug").plug(name(device), plugged, at: now) }
        case .attach(let devices, let attached):
            for device in devices { try plug(device, attached, origin, at: now) }
        case .send(let devices, let protocolName, let value):
            for device in devices {
                try accessories("send").simulateSend(
                    device: name(device),
                    protocolName: protocolName,
                    value: value,
                    at: now
                )
            }
        case .call(let devices, let act):
            let calls = try calls("voip")
            for device in devices { try calls.simulate(act, device: name(device), at: now) }
        case .user, .setUp, .terminate, .uninstall, .phone, .authorize, .note, .microphone, .sound: break
        }
    }

    private func disconnect(_ device: Int, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        switch scenario.devices[device].form {
        case .central: try phones("disconnect").simulateDisconnect(device: name(device), at: now)
        case .accessory: try plug(device, false, origin, at: now)
        case .peripheral, .beacon, .track, .callServer, .audio:
            try radio("disconnect").simulateDisconnect(device: name(device), origin: origin, at: now)
        }
    }

    private func move(_ device: Int, inRange: Bool, at now: Instant) throws(SourceFailure) {
        let step = inRange ? "in-range" : "out-of-range"
        switch scenario.devices[device].form {
        case .central: try phones(step).simulateRange(device: name(device), inRange: inRange, at: now)
        case .accessory: try plug(device, inRange, .none, at: now)
        case .peripheral, .beacon, .track, .callServer, .audio:
            try radio(step).simulateRange(device: name(device), inRange: inRange, at: now)
        }
    }

    private func arm(_ fault: String, _ device: Int, at now: Instant) throws(SourceFailure) {
        switch scenario.devices[device].form {
        case .central: try phones("arm").arm(fault: fault, device: name(device), at: now)
        case .callServer: try calls("arm").arm(fault: fault, device: name(device), at: now)
        case .track: try positions("arm").arm(fault: fault, device: name(device), at: now)
        case .audio: try sound("arm").arm(fault: fault, device: name(device), at: now)
        case .accessory: try accessories("arm").arm(fault: fault, device: name(device), at: now)
        case .peripheral, .beacon: try radio("arm").arm(fault: fault, device: name(device), at: now)
        }
    }

    private func name(_ device: Int) -> String { scenario.devices[device].name }

    private func radio(_ step: String) throws(SourceFailure) -> SimulatedBluetooth {
        guard let radio else { throw Self.real(step, "bluetooth", "the device itself decides") }
        return radio
    }

    private func phones(_ step: String) throws(SourceFailure) -> SimulatedPeripheralRole {
        guard let phones else { throw Self.real(step, "bluetooth", "the central itself decides") }
        return phones
    }

    private func positions(_ step: String) throws(SourceFailure) -> SimulatedLocation {
        guard let positions else { throw Self.real(step, "location", "the receiver itself decides") }
        return positions
    }

    private func sound(_ step: String) throws(SourceFailure) -> SimulatedAudio {
        guard let sound else { throw Self.real(step, "audio", "the sound card itself decides") }
        return sound
    }

    private func accessories(_ step: String) throws(SourceFailure) -> SimulatedAccessories {
        guard let accessories else { throw Self.real(step, "accessory", "the accessory itself decides") }
        return accessories
    }

    private func plug(_ device: Int, _ attached: Bool, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        if attached {
            try accessories("attach").simulateAttach(device: name(device), origin: origin, at: now)
        } else {
            try accessories("detach").simulateDetach(device: name(device), origin: origin, at: now)
        }
    }

    private func calls(_ step: String) throws(SourceFailure) -> SimulatedVoIP {
        guard let calls else { throw Self.real(step, "voip", "the peer itself decides") }
        return calls
    }

    private static func real(_ step: String, _ source: String, _ decides: String) -> SourceFailure {
        SourceFailure(.unsupported, "the step '\(step)' needs \(source)=simulated; on a real one \(decides)")
    }
}
