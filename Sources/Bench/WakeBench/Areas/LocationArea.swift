import WakeDevices
import WakeLocation
import WakeModel
import WakePorts
import WakeSystem

/// Where the phone is.
final class LocationArea: Area {
    static let source = Source.location
    static let alertRule: RuleID? = .loc10

    static let options = [
        AreaOption(
            name: "--gpsd",
            value: "PORT",
            help: "the port of gpsd on this machine, for location=gpsd; default 2947",
            expected: "a port, 1 to 65535",
            take: { options, text in
                guard let port = UInt16(text), port > 0 else { return false }
                options.gpsdPort = port
                return true
            }
        ),
        AreaOption(
            name: "--receiver",
            value: "any|PATH",
            help: "the tty of the receiver of location=nmea; default any that udev knows",
            take: { options, text in
                options.receiver = text == "any" ? nil : text
                return true
            }
        ),
    ]

    /// A significant change is told of with the last fix.
    static let standing = StandingPayloads.Row(told: .positionFixed, found: .significantChange)

    private let port: any LocationPort
    private let simulated: SimulatedLocation?
    private let notes: StepNotes

    var sources: [any SourcePort] { [port] }

    init(_ setup: AreaSetup) throws(SystemError) {
        notes = setup.notes
        switch setup.backends[Self.source] {
        case "gpsd":
            port = try GPSDLocation(names: setup.names, loop: setup.loop, port: setup.options.gpsdPort)
            simulated = nil
        case "nmea":
            let receiver = setup.options.receiver.map { NMEAReceiver.path($0) } ?? .any
            port = try NMEALocation(receiver, names: setup.names, loop: setup.loop)
            simulated = nil
        default:
            let tracks = setup.scenario.devices.compactMap { device in device.track.map { (device.name, $0) } }
            let simulated = SimulatedLocation(tracks: tracks, names: setup.names, seed: setup.seed)
            (port, self.simulated) = (simulated, simulated)
        }
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated?.code(with: &coder)
    }

    // MARK: Apps

    /// What the user refuses an app before it runs; what he allows, the app asks for.
    func install(_ app: ScenarioApp, as id: AppID, _ origin: NameID, in run: Run) {
        if app.keepsWhenInUse { run.bench.submit(.user(id, .keepWhenInUse), origin: origin) }
        if app.refusesPrecise { run.bench.submit(.user(id, .refusePrecise), origin: origin) }
        guard case .scripted(let script) = app.form, let authorization = script.location?.authorization else { return }
        switch authorization {
        case .notDetermined, .whenInUse, .always, .provisionalAlways: return
        case .allowOnce: return run.bench.submit(.user(id, .allowOnce), origin: origin)
        case .restricted, .denied: break
        }
        let event = WakeEvent(kind: .authorizationChanged, app: id, authorization: authorization, origin: origin)
        run.bench.submit(SourceReport(event))
    }

    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {
        guard case .authorize(let apps, let authorization) = verb else { return }
        for app in apps.map({ AppID(UInt32($0)) }) {
            let isTaken = notes.takesAnswer(
                for: app,
                in: run,
                at: now,
                already: run.bench.router.locationAuthorization(of: app) == authorization
                    ? "its location authorization is so already" : nil
            )
            guard isTaken else { continue }
            let event = WakeEvent(
                kind: .authorizationChanged,
                subject: run.names.intern("location"),
                app: app,
                authorization: authorization,
                origin: origin
            )
            run.bench.submit(SourceReport(event))
        }
    }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .cross(let region, true):
            try positions("enter").simulateCrossing(.regionEntered, region: region, origin: origin, at: now)
        case .cross(let region, false):
            try positions("exit").simulateCrossing(.regionExited, region: region, origin: origin, at: now)
        case .position(let place, let accuracy):
            let positions = try positions("position")
            positions.simulatePosition(TrackPoint(place), accuracy: accuracy, at: now)
            let what = "position \(place.latitude),\(place.longitude)"
            if !positions.watchesVisits { noteUnasked(what, positions, "; the phone is there all the same", at: now) }
        case .play(let device):
            let positions = try positions("play")
            let name = scenario.devices[device].name
            try positions.simulateTrack(device: name, at: now)
            let rest = "; the phone moves on it all the same"
            if !positions.watchesVisits { noteUnasked("play \(name)", positions, rest, at: now) }
        case .visit(let place, let departs):
            let time = SimulatedLocation.usualTimestamp + Double(now.nanoseconds) / 1e9
            let visit = Visit(
                latitude: place.latitude,
                longitude: place.longitude,
                horizontalAccuracy: SimulatedLocation.visitAccuracy,
                arrival: departs ? nil : time,
                departure: departs ? time : nil
            )
            try positions(departs ? "depart" : "arrive").simulateVisit(visit, origin: origin, at: now)
        default: break
        }
    }

    func owns(_ device: ScenarioDevice) -> Bool { device.track != nil }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        let positions = try positions("arm")
        try positions.arm(fault: fault, device: device.name, at: now)
        noteUnasked("arm \(device.name) \(fault)", positions, at: now)
    }

    /// What is done to the phone's place reaches no app now.
    private func noteUnasked(_ what: String, _ positions: SimulatedLocation, _ rest: String = "", at now: Instant) {
        if positions.isPositioning { return }
        notes.add(what, "no app asks for the position now\(rest)", at: now)
    }

    private func positions(_ step: String) throws(SourceFailure) -> SimulatedLocation {
        try need(simulated, for: step, "the receiver")
    }
}

extension AppView {
    /// Whether an app may know positions precisely (LOC-11).
    func knowsPrecisely(_ app: AppID) -> Bool { bench.router.knowsPrecisely(app) }

    /// What a fresh location manager of the app is told.
    func locationFacts(of app: AppID) -> LocationFacts {
        let regions = bench.router.monitoredRegions(of: app)
        return LocationFacts(
            authorization: bench.router.locationAuthorization(of: app),
            isPrecise: knowsPrecisely(app),
            circles: regions.circles,
            beacons: regions.beacons,
            mayGoOnInBackground: bench.router.allowsBackgroundUpdates(of: app)
        )
    }
}
