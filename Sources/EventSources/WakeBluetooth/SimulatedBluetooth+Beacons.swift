import Glibc
import WakeDevices
import WakeModel
import WakePorts

/// One beacon of the simulated radio. It sends at even intervals, whether anybody listens or not.
struct SimulatedBeacon {
    /// What was heard of it since the last report.
    struct Heard: Codable {
        var last: Instant
        /// Of the strengths, in dBm.
        var sum = 0.0
        var count = 0.0

        /// The mean of the strengths, in dBm.
        var strength: Double { min(sum / count, 0).rounded() }

        /// Whether it can have been heard so: a snapshot may hold anything.
        var isPossible: Bool { count >= 1 && (count * SimulatedBeacon.sensitivity...count * 1_000).contains(sum) }

        mutating func add(_ strength: Double, at sent: Instant) {
            last = sent
            sum += strength
            count += 1
        }
    }

    let name: String
    let nameID: NameID
    let description: Beacon
    /// When it sends its first advertisement.
    let phase: Instant
    var random: SimulatedRandom
    var inRange = true
    /// Which plan to listen to it this is.
    var generation: UInt32 = 0
    /// Whether somebody looks for it, and something comes of that before anything changes.
    var isPlanned = false
    /// The advertisement, counted from 0, that is listened for next, and the first that nobody has listened to.
    var next: Int64 = 0
    var fresh: Int64 = 0
    /// Nil when nothing was heard since the last report.
    var heard: Heard?
    // The faults that are armed.
    var silentUntil = Instant.zero
    var weakenedBy = 0.0
    /// What it says of itself.
    var signal: BeaconSignal

    init(_ description: Beacon, named name: String, names: NameTable, seed: UInt64) {
        self.name = name
        nameID = names.intern(name)
        self.description = description
        var random = SimulatedRandom(seed: seed, name: name)
        phase = Instant.zero.advanced(by: random.span(from: .zero, to: description.interval))
        self.random = random
        signal = BeaconSignal(
            uuid: description.uuid,
            major: description.major,
            minor: description.minor,
            measuredPower: description.measuredPower
        )
    }

    /// When it sends an advertisement.
    func sends(_ number: Int64) -> Instant {
        let (span, overflow) = number.multipliedReportingOverflow(by: description.interval.nanoseconds)
        return overflow ? .distantFuture : phase.advanced(by: Instant.Span(nanoseconds: span))
    }

    /// The first advertisement that it sends at an instant or later.
    func number(from instant: Instant) -> Int64 {
        let span = instant.since(phase).nanoseconds
        return span > 0 ? (span - 1) / description.interval.nanoseconds + 1 : 0
    }

    /// How strong it comes in on average, in dBm.
    func strength(at metres: Double) -> Double {
        // Nearer than a hand's breadth it grows no stronger.
        Double(description.measuredPower) - weakenedBy - 10 * description.radio.pathLoss * log10(max(metres, 0.1))
    }

    /// Whether an advertisement may be heard from so far, with all the luck that there is.
    func mayBeHeard(from metres: Double?) -> Bool {
        guard let metres, description.radio.loss < 1 else { return false }
        return strength(at: metres) + SimulatedRandom.mostNormal * description.radio.fading >= Self.sensitivity
    }

    /// In dBm: what is weaker is not heard.
    static let sensitivity = -100.0
}

/// Where the simulated phone is, for beacons that stand somewhere.
struct SimulatedPhone: Codable {
    /// Nil before anybody said so.
    var globe: Coordinate?
    /// On a plan, in metres.
    var x = 0.0
    var y = 0.0
}

/// Beacons: the phone listens to each advertisement, and says once a second what it has heard. The first after a silence is
/// told at once, and a report says when the last was heard, so that the end of a beacon is known to an advertisement.
extension SimulatedBluetooth {
    /// A beacon is reported at most as often as this; one that sends more rarely is reported when it sends.
    private static let second = Instant.Span.seconds(1)
    /// The mean radius of the Earth in metres (IUGG).
    private static let earthRadius = 6_371_008.8

    package func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant) {
        for index in self.beacons.indices { listen(to: index, until: now) }
        watched = beacons
        traceScan(at: now)
        for index in self.beacons.indices {
            if watched.wants(self.beacons[index].signal, names) {
                planListening(to: index, at: now)
            } else {
                stopListening(to: index)
            }
        }
    }

    package var heardKinds: [EventKind] { [.positionFixed] + (phones == nil ? [] : PhonePeripherals.heardKinds) }

    package func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant) {
        phones?.note(accepted: event, payload)
        guard case .position(let position) = payload else { return }
        phoneMoved(latitude: position.latitude, longitude: position.longitude, at: now)
    }

    /// Where the phone is on the globe, in degrees: what stands there is nearer or farther.
    package func phoneMoved(latitude: Double, longitude: Double, at now: Instant) {
        movePhone(at: now) { $0.globe = Coordinate(latitude: latitude, longitude: longitude) }
    }

    /// Where the phone is on the plan of beacons that have x and y, in metres.
    package func simulatePhone(x: Double, y: Double, at now: Instant) {
        movePhone(at: now) { ($0.x, $0.y) = (x, y) }
    }

    /// What was sent before is heard where the phone was then.
    private func movePhone(at now: Instant, _ move: (inout SimulatedPhone) -> Void) {
        let placed = beacons.indices.filter { !beacons[$0].description.place.isTimed }
        for index in placed { listen(to: index, until: now) }
        move(&phone)
        for index in placed { planListening(to: index, at: now) }
    }

    func planListening(to index: Int, at now: Instant) {
        let beacon = beacons[index]
        guard poweredOn, beacon.inRange, !beacon.isPlanned, watched.wants(beacon.signal, names) else { return }
        guard let next = nextChance(of: index, from: max(beacon.fresh, beacon.number(from: now))) else { return }
        beacons[index].next = next
        planListening(to: index, due: beacon.sends(next))
    }

    private func planListening(to index: Int, due: Instant) {
        beacons[index].isPlanned = true
        beacons[index].generation &+= 1
        plan(.beacon, index, beacons[index].generation, due)
    }

    /// What the radio did before means nothing any more, and what it heard is not told.
    func stopListening(to index: Int) {
        beacons[index].isPlanned = false
        beacons[index].generation &+= 1
        beacons[index].heard = nil
    }

    func beaconDue(_ index: Int, generation: UInt32, at now: Instant) {
        guard beacons[index].generation == generation else { return }
        listen(to: index, until: now)
        beacons[index].isPlanned = false
        let pause = max(Self.second, beacons[index].description.interval)
        if let said = takeReport(of: index, at: now) {
            report?(said)
            if beacons[index].inRange { planListening(to: index, due: now.advanced(by: pause)) }
        } else {
            planListening(to: index, at: now)
        }
    }

    /// What was heard of a beacon since the last report; nil for nothing.
    private func takeReport(of index: Int, at now: Instant) -> SourceReport? {
        let beacon = beacons[index]
        guard let heard = beacon.heard else { return nil }
        beacons[index].heard = nil
        traceBeacon(index, heard.strength, at: now)
        return SourceReport(
            beacon.signal.report(
                signalStrength: heard.strength,
                age: now.since(heard.last),
                names: names,
                subject: beacon.nameID,
                origin: origin
            )
        )
    }

    /// Listens to what a beacon has sent by now: what changes how it is heard afterwards changes nothing of that.
    private func listen(to index: Int, until now: Instant) {
        guard beacons[index].isPlanned, beacons[index].inRange else { return }
        while true {
            let sent = beacons[index].sends(beacons[index].next)
            guard sent <= now else { return }
            beacons[index].next += 1
            beacons[index].fresh = beacons[index].next
            guard let strength = strength(of: index, at: sent) else { continue }
            beacons[index].heard = beacons[index].heard ?? SimulatedBeacon.Heard(last: sent)
            beacons[index].heard?.add(strength, at: sent)
        }
    }

    /// The strength of an advertisement, in dBm; nil when it is not sent or not heard.
    private func strength(of index: Int, at sent: Instant) -> Double? {
        let beacon = beacons[index]
        guard sent >= beacon.silentUntil, let metres = distance(to: beacon, at: sent), beacon.mayBeHeard(from: metres)
        else { return nil }
        let radio = beacon.description.radio
        guard beacons[index].random.fraction() >= radio.loss else { return nil }
        let strength = beacon.strength(at: metres) + radio.fading * beacons[index].random.normal()
        return strength < SimulatedBeacon.sensitivity ? nil : strength
    }

    /// The first advertisement that may be heard from one on; nil while none may be before something changes.
    private func nextChance(of index: Int, from first: Int64) -> Int64? {
        let beacon = beacons[index]
        var next = max(first, beacon.number(from: beacon.silentUntil))
        guard case .distance(let timetable) = beacon.description.place else {
            return beacon.mayBeHeard(from: distance(to: beacon, at: .zero)) ? next : nil
        }
        guard timetable.legs.contains(where: { beacon.mayBeHeard(from: $0.metres) }) else { return nil }
        // Each leg has two parts, and one may come again. Where that brings nothing, it is looked once more from there.
        for _ in 0...2 * timetable.legs.count {
            let (metres, until) = timetable.nearest(from: beacon.sends(next).since(.zero))
            if beacon.mayBeHeard(from: metres) { return next }
            guard let until else { return nil }
            next = max(next + 1, beacon.number(from: Instant.zero.advanced(by: until)))
        }
        return next
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
        listen(to: index, until: now)
        switch effect {
        case .silent(let span): beacons[index].silentUntil = now.advanced(by: span)
        case .weaken(let decibels): beacons[index].weakenedBy = decibels
        case .measuredPower(let power): beacons[index].signal.measuredPower = power
        case .renumber(let major, let minor):
            // What was heard of it, it said of itself by its old numbers.
            if let said = takeReport(of: index, at: now) { prepare(.report(said), at: now) }
            (beacons[index].signal.major, beacons[index].signal.minor) = (major, minor)
        }
        // What was heard before is told when its second is over.
        if beacons[index].heard != nil { return }
        stopListening(to: index)
        planListening(to: index, at: now)
    }

    func setRange(_ index: Int, inRange: Bool, at now: Instant) {
        listen(to: index, until: now)
        beacons[index].inRange = inRange
        beacons[index].next = max(beacons[index].next, beacons[index].number(from: now))
        planListening(to: index, at: now)
    }

    func beacon(_ device: String) -> Int? { beacons.firstIndex { $0.name == device } }
}

extension Beacon.Place {
    /// Whether its distance is a matter of time, and not of where the phone is.
    fileprivate var isTimed: Bool { if case .distance = self { true } else { false } }
}
