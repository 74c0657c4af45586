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
            value: "HOST[:PORT]|:PORT",
            help: "where gpsd listens, for location=gpsd; default localhost:2947",
            expected: "HOST[:PORT] or :PORT, such as localhost:2947",
            take: { options, text in
                guard let place = RunOptions.gpsd(text) else { return false }
                (options.gpsdHost, options.gpsdPort) = place
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
    private let gpsd: GPSDLocation?
    private let notes: StepNotes

    var sources: [any SourcePort] { [port] }

    init(_ setup: AreaSetup) throws(SystemError) {
        notes = setup.notes
        switch setup.backends[Self.source] {
        case "gpsd":
            let gpsd = try GPSDLocation(
                names: setup.names,
                loop: setup.loop,
                host: setup.options.gpsdHost,
                port: setup.options.gpsdPort
            )
            (port, self.gpsd, simulated) = (gpsd, gpsd, nil)
        case "nmea":
            let receiver = setup.options.receiver.map { NMEAReceiver.path($0) } ?? .any
            port = try NMEALocation(receiver, names: setup.names, loop: setup.loop)
            (gpsd, simulated) = (nil, nil)
        default:
            let tracks = setup.scenario.devices.compactMap { device in device.track.map { (device.name, $0) } }
            let simulated = SimulatedLocation(tracks: tracks, names: setup.names, seed: setup.seed)
            (port, gpsd, self.simulated) = (simulated, nil, simulated)
        }
    }

    func connect(to run: Run) {
        gpsd?.note = { [unowned run] in run.recorder.note($0, at: run.present) }
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated?.code(with: &coder)
    }

    // MARK: Apps

    /// What the user refuses an app before it runs; the app asks for what the user allows.
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

extension RunOptions {
    /// Where a gpsd listens, of `HOST`, `HOST:PORT`, `:PORT` or a port alone, with an address of IPv6 in brackets; nil for
    /// anything else.
    package static func gpsd(_ text: String) -> (host: String, port: UInt16)? {
        if !text.isEmpty, text.allSatisfy(\.isNumber) { return gpsd(":\(text)") }
        let isBracketed = text.hasPrefix("[")
        let end = isBracketed ? text.firstIndex(of: "]") : text.firstIndex(of: ":") ?? text.endIndex
        guard let end else { return nil }
        let host = isBracketed ? text[..<end].dropFirst() : text[..<end]
        let rest = isBracketed ? text[end...].dropFirst() : text[end...]
        guard rest.isEmpty ? !host.isEmpty : rest.first == ":" && (!host.isEmpty || !isBracketed) else { return nil }
        guard let port = rest.isEmpty ? GPSDLocation.usualPort : UInt16(rest.dropFirst()), port > 0 else { return nil }
        return (host.isEmpty ? GPSDLocation.usualHost : String(host), port)
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
