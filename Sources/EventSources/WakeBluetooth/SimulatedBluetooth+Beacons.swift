import Glibc
import WakeDevices
import WakeModel
import WakePorts

/// One beacon of the simulated radio.
struct SimulatedBeacon {
    let name: String
    let nameID: NameID
    let description: Beacon
    var random: SimulatedRandom
    var inRange = true
    /// Which plan to listen to it this is.
    var generation: UInt32 = 0
    var isPlanned = false
    // The faults that are armed.
    var silentUntil = Instant.zero
    var weakenedBy = 0.0
    /// What it says of itself.
    var signal: BeaconSignal

    init(_ description: Beacon, named name: String, names: NameTable, seed: UInt64) {
        self.name = name
        nameID = names.intern(name)
        self.description = description
        random = SimulatedRandom(seed: seed, name: name)
        signal = BeaconSignal(
            uuid: description.uuid,
            major: description.major,
            minor: description.minor,
            measuredPower: description.measuredPower
        )
    }
}

/// Where the simulated phone is, for beacons that stand somewhere.
struct SimulatedPhone: Codable {
    /// Nil before anybody said so.
    var globe: Coordinate?
    /// On a plan, in metres.
    var x = 0.0
    var y = 0.0
}

/// Beacons: what the phone hears of them in each second.
extension SimulatedBluetooth {
    /// The phone listens as often as this; a beacon that sends more rarely is heard when it sends.
    private static let second = Instant.Span.seconds(1)
    /// In dBm: what is weaker is not heard.
    private static let sensitivity = -100.0
    /// The mean radius of the Earth in metres (IUGG).
    private static let earthRadius = 6_371_008.8

    package func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant) {
        watched = beacons
        traceScan(at: now)
        for index in self.beacons.indices { planListening(to: index, at: now) }
    }

    package var heardKinds: [EventKind] { [.positionFixed] + (phones == nil ? [] : PhonePeripherals.heardKinds) }

    package func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant) {
        phones?.note(accepted: event, payload)
        guard case .position(let position) = payload else { return }
        phoneMoved(latitude: position.latitude, longitude: position.longitude, at: now)
    }

    /// Where the phone is on the globe, in degrees: what stands there is nearer or farther.
    package func phoneMoved(latitude: Double, longitude: Double, at now: Instant) {
        phone.globe = Coordinate(latitude: latitude, longitude: longitude)
    }

    /// Where the phone is on the plan of beacons that have x and y, in metres.
    package func simulatePhone(x: Double, y: Double) { (phone.x, phone.y) = (x, y) }

    func planListening(to index: Int, at now: Instant) {
        let beacon = beacons[index]
        guard poweredOn, beacon.inRange, !beacon.isPlanned, watched.wants(beacon.signal, names) else { return }
        let wait = beacons[index].random.span(from: .zero, to: beacon.description.interval)
        planListening(to: index, due: now.advanced(by: wait))
    }

    private func planListening(to index: Int, due: Instant) {
        beacons[index].isPlanned = true
        beacons[index].generation &+= 1
        plan(.beacon, index, beacons[index].generation, due)
    }

    /// What the radio did before means nothing any more.
    func stopListening(to index: Int) {
        beacons[index].isPlanned = false
        beacons[index].generation &+= 1
    }

    func beaconDue(_ index: Int, generation: UInt32, at now: Instant) {
        guard beacons[index].generation == generation else { return }
        beacons[index].isPlanned = false
        let beacon = beacons[index]
        guard poweredOn, beacon.inRange, watched.wants(beacon.signal, names) else { return }
        planListening(to: index, due: now.advanced(by: max(Self.second, beacon.description.interval)))
        guard now >= beacon.silentUntil, let metres = distance(to: beacon, at: now),
            let strength = listen(to: index, at: metres)
        else { return }
        traceBeacon(index, strength, at: now)
        let event = beacon.signal.report(
            signalStrength: strength,
            names: names,
            subject: beacon.nameID,
            origin: origin
        )
        report?(SourceReport(event))
    }

    /// The mean strength of the advertisements of a second that were heard; nil when none was.
    private func listen(to index: Int, at metres: Double) -> Double? {
        let description = beacons[index].description
        let sent = max(1, Int(Self.second.nanoseconds / description.interval.nanoseconds))
        var heard = 0
        for _ in 0..<sent where beacons[index].random.fraction() >= description.radio.loss { heard += 1 }
        guard heard > 0 else { return nil }
        // Nearer than a hand's breadth it grows no stronger.
        let loss = 10 * description.radio.pathLoss * log10(max(metres, 0.1))
        let fading = description.radio.fading / Double(heard).squareRoot() * beacons[index].random.normal()
        let strength = Double(description.measuredPower) - loss - beacons[index].weakenedBy + fading
        return strength < Self.sensitivity ? nil : min(strength, 0).rounded()
    }

    private func distance(to beacon: SimulatedBeacon, at now: Instant) -> Double? {
        switch beacon.description.place {
        case .distance(let timetable): return timetable.metres(at: now.since(.zero))
        case .plan(let x, let y): return hypot(x - phone.x, y - phone.y)
        case .globe(let latitude, let longitude):
            guard let here = phone.globe else { return nil }
            let radians = Double.pi / 180
            let (from, to) = (here.latitude * radians, latitude * radians)
            let (north, east) = (sin((to - from) / 2), sin((longitude - here.longitude) * radians / 2))
            let haversine = north * north + cos(from) * cos(to) * east * east
            return 2 * Self.earthRadius * asin(min(1, haversine.squareRoot()))
        }
    }

    /// Whether any app asks for beacons like one; nil for what is none.
    package func isAwaited(beacon device: String) -> Bool? {
        beacon(device).map { watched.wants(beacons[$0].signal, names) }
    }

    /// Why a fault of a beacon changes nothing for anybody now: one that is over by itself, or that has been armed before; nil
    /// where it may.
    func lack(of effect: Beacon.Effect, ofBeacon index: Int) -> String? {
        let beacon = beacons[index]
        let isSo: Bool =
            switch effect {
            case .silent: false
            case .weaken(let decibels): beacon.weakenedBy == decibels
            case .measuredPower(let power): beacon.signal.measuredPower == power
            case .renumber(let major, let minor): (beacon.signal.major, beacon.signal.minor) == (major, minor)
            }
        if isSo { return "nothing changed, as it is so already" }
        guard case .silent = effect else { return nil }
        if !poweredOn { return "Bluetooth is off" }
        if !beacons[index].inRange { return "it is out of range" }
        return watched.wants(beacons[index].signal, names) ? nil : "no app asks for beacons like it now"
    }

    func arm(_ effect: Beacon.Effect, of index: Int, at now: Instant) {
        switch effect {
        case .silent(let span): beacons[index].silentUntil = now.advanced(by: span)
        case .weaken(let decibels): beacons[index].weakenedBy = decibels
        case .measuredPower(let power): beacons[index].signal.measuredPower = power
        case .renumber(let major, let minor):
            (beacons[index].signal.major, beacons[index].signal.minor) = (major, minor)
            stopListening(to: index)
            planListening(to: index, at: now)
        }
    }

    func setRange(_ index: Int, inRange: Bool, at now: Instant) {
        beacons[index].inRange = inRange
        stopListening(to: index)
        planListening(to: index, at: now)
    }

    func beacon(_ device: String) -> Int? { beacons.firstIndex { $0.name == device } }
}
