import Testing
import WakeDevices
import WakeLocation
import WakeModel
import WakePorts

private func second(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

private func track(_ text: String) throws -> LocationTrack {
    try LocationTrack.parse(Array(("device: location-track\n" + text).utf8), file: "track.yaml")
}

/// A degree of a meridian in metres.
private let degree = 111_195.08

/// North along a meridian at 10 m/s for almost 100 s.
private let north = """
    route:
      - {latitude: 0, longitude: 10, speed: 10m/s}
      - {latitude: 0.00899, longitude: 10}
    interval: 10s

    """

private let faults = """
    faults:
      - {name: tunnel, lost-fix: 25s}
      - {name: wild, jump: {distance: 2km, bearing: 90, lasting: 15s}}
      - {name: stuck, frozen: 25s}
      - {name: canyon, poor-accuracy: {accuracy: 500m, lasting: 15s}}

    """

/// A simulated receiver with one track, and what it says.
private struct Bench {
    let source: SimulatedLocation
    let listener = LocationListener()
    let names = NameTable()

    init(_ text: String = north, seed: UInt64 = 1, positioning: Bool = true) throws {
        source = SimulatedLocation(tracks: [("way", try track(text))], names: names, seed: seed)
        listener.hear(source)
        try source.start(at: .zero)
        if positioning { source.perform(.positioning(true), at: .zero) }
    }

    /// Goes on to a time, as the bench does: from deadline to deadline. The times at which something was reported.
    @discardableResult
    func run(to end: Instant) -> [Double] {
        var times: [Double] = []
        while let next = source.nextDeadline, next <= end {
            let before = listener.reports.count
            source.timeReached(next)
            let count = listener.reports.count - before
            times += Array(repeating: Double(next.nanoseconds) / 1e9, count: count)
        }
        source.timeReached(end)
        return times
    }
}

@Suite("Simulated location")
struct SimulatedLocationTests {
    @Test(
        "A location that is restored from a snapshot goes on as the one it was taken of",
        arguments: [0.0, 15, 45, 130]
    )
    func snapshot(at seconds: Double) throws {
        let bench = try Bench(north + faults)
        bench.run(to: second(seconds))
        for fault in ["wild", "stuck"] { try bench.source.arm(fault: fault, device: "way", at: second(seconds)) }
        bench.source.simulateCrossing(.regionEntered, region: "home", at: second(seconds))
        var writing = SnapshotCoder()
        try bench.source.code(with: &writing)
        let restored = try Bench(north + faults, seed: 99, positioning: false)
        _ = restored.names.intern("home")
        var reading = SnapshotCoder(reading: writing.bytes)
        try restored.source.code(with: &reading)
        try reading.finish()
        let before = bench.listener.reports.count
        #expect(bench.run(to: second(400)) == restored.run(to: second(400)))
        #expect(Array(bench.listener.reports.dropFirst(before)) == restored.listener.reports)
        #expect(!restored.listener.reports.isEmpty)
    }

    @Test("A way is reported at each interval until its end, with what the router and the app read")
    func way() throws {
        let bench = try Bench()
        #expect(bench.run(to: second(101)) == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
        let positions = bench.listener.positions
        for (number, position) in positions.enumerated() {
            let place = Coordinate(latitude: position.latitude, longitude: position.longitude)
            let travelled = Geometry.distance(from: Coordinate(latitude: 0, longitude: 10), to: place)
            #expect(abs(travelled - Double(number) * 100) < (number == 10 ? 0.4 : 0.01))
            #expect(position.horizontalAccuracy == 5)
            #expect(position.timestamp == SimulatedLocation.usualTimestamp + Double(number) * 10)
        }
        #expect(abs(positions[3].speed - 10) < 1e-3)
        #expect(abs(positions[3].course) < 1e-6)
        let event = bench.listener.reports[3].event
        let fix = try #require(event.fix)
        #expect(event.kind == .positionFixed)
        #expect(bench.names.text(event.subject) == "position")
        #expect(bench.names.text(event.origin) == "simulated")
        #expect(abs(Geometry.metres(chord: fix.accuracyChord) - 5) < 1e-9)
        #expect(abs(Geometry.coordinate(of: fix.direction).latitude - positions[3].latitude) < 1e-12)
        #expect(abs(fix.speed - 10) < 1e-3)
    }

    @Test("Nobody hears of fixes that nobody wants, and the phone moves on meanwhile")
    func onlyWanted() throws {
        let bench = try Bench(positioning: false)
        #expect(bench.source.nextDeadline == nil)
        bench.source.perform(.positioning(true), at: second(34))
        #expect(bench.run(to: second(55)) == [40, 50])
        bench.source.perform(.positioning(false), at: second(55))
        #expect(bench.source.nextDeadline == nil)
        #expect(bench.run(to: second(75)) == [])
        bench.source.perform(.positioning(true), at: second(80))
        #expect(bench.run(to: second(85)) == [80])
        #expect(abs(bench.listener.positions[2].latitude - 800 / degree) < 1e-7)
    }

    @Test("At the end of its way the phone stays, and says so at once to who asks and then once a minute")
    func resting() throws {
        let bench = try Bench()
        bench.run(to: second(100))
        #expect(bench.run(to: second(230)) == [160, 220])
        let last = try #require(bench.listener.positions.last)
        #expect(abs(last.latitude - 0.00899) < 1e-9)
        #expect(last.speed == 0)
        #expect(last.timestamp == SimulatedLocation.usualTimestamp + 220)
        bench.source.perform(.positioning(false), at: second(230))
        bench.source.perform(.positioning(true), at: second(235.5))
        #expect(bench.run(to: second(240)) == [235.5])
    }

    @Test("A way played at twice its rate takes half the time, and one that repeats begins again")
    func rate() throws {
        let fast = try Bench(north + "rate: 2\n")
        #expect(fast.run(to: second(51)) == [0, 10, 20, 30, 40, 50])
        #expect(abs(fast.listener.positions[2].latitude - 400 / degree) < 1e-7)
        let round = try Bench(north + "repeat: true\n")
        round.run(to: second(1_000_000))
        #expect(round.listener.reports.count == 100_001)
        #expect(abs(round.listener.positions[13].latitude - 300 / degree) < 1e-5)
    }

    @Test("A log is played at its own times, with its gap, and at a rate")
    func log() throws {
        let listener = try ShippedLog.simulated()
        #expect(listener.positions.count == ShippedLog.fixes)
        #expect(listener.foldedKinds == [.locationFailed, .positionFixed, .locationFailed, .positionFixed])
        #expect(listener.failures.count == 2)
        var track = try ShippedLog.track()
        track.rate = 4
        track.repeats = true
        let source = SimulatedLocation(tracks: [("receiver", track)], names: NameTable(), seed: 1)
        let fast = LocationListener()
        fast.hear(source)
        try source.start(at: second(7))
        source.perform(.positioning(true), at: second(7))
        while let next = source.nextDeadline, next < second(7 + 90) { source.timeReached(next) }
        #expect(fast.positions.count == 2 * ShippedLog.fixes)
        // The log goes round after its 180 seconds.
        let second = fast.positions[ShippedLog.fixes]
        #expect(second.latitude == fast.positions[0].latitude)
        #expect(second.timestamp == fast.positions[0].timestamp + 180)
        source.perform(.positioning(false), at: Instant(nanoseconds: 97_000_000_000))
        source.perform(.positioning(true), at: Instant(nanoseconds: 97_100_000_000))
        // A quarter of a second a fix, from the log's beginning at 7 s.
        #expect(source.nextDeadline == Instant(nanoseconds: 97_250_000_000))
    }

    @Test("A lost fix is said once, and the next fix when it is over")
    func lostFix() throws {
        let bench = try Bench(north + faults)
        bench.run(to: second(15))
        try bench.source.arm(fault: "tunnel", device: "way", at: second(15))
        #expect(bench.run(to: second(50)) == [20, 40, 50])
        #expect(bench.listener.foldedKinds == [.positionFixed, .locationFailed, .positionFixed])
        let lost = bench.listener.reports[2].event
        #expect(lost.failed)
        #expect(lost.fix == nil)
    }

    @Test("A jump lasts its time, and the place is right again after it")
    func jump() throws {
        let bench = try Bench(north + faults)
        bench.run(to: second(15))
        try bench.source.arm(fault: "wild", device: "way", at: second(15))
        bench.run(to: second(30))
        let places = bench.listener.positions.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }
        let way = places.map { Geometry.distance(from: Coordinate(latitude: $0.latitude, longitude: 10), to: $0) }
        #expect(way.map { ($0 / 10).rounded() } == [0, 0, 200, 0])
    }

    @Test("A frozen position is that of the moment, with times that go on")
    func frozen() throws {
        let bench = try Bench(north + faults)
        bench.run(to: second(15))
        try bench.source.arm(fault: "stuck", device: "way", at: second(15))
        bench.run(to: second(50))
        let tens = bench.listener.positions.map { ($0.latitude * degree / 100).rounded() }
        #expect(tens == [0, 1, 1, 1, 4, 5])
        #expect(bench.listener.positions[3].timestamp == SimulatedLocation.usualTimestamp + 30)
    }

    @Test("Poor accuracy is said to the router and to the app, and the place stays right")
    func poorAccuracy() throws {
        let bench = try Bench(north + faults)
        bench.run(to: second(5))
        try bench.source.arm(fault: "canyon", device: "way", at: second(5))
        bench.run(to: second(30))
        #expect(bench.listener.positions.map(\.horizontalAccuracy) == [5, 500, 5, 5])
        let chord = try #require(bench.listener.reports[1].event.fix?.accuracyChord)
        #expect(abs(Geometry.metres(chord: chord) - 500) < 1e-6)
        #expect(abs(bench.listener.positions[1].latitude - 100 / degree) < 1e-7)
    }

    @Test("Noise scatters two thirds of the fixes within its radius, the same for the same seed")
    func noise() throws {
        let standing = "route: [{latitude: 60, longitude: 10, wait: 3000s}]\ninterval: 1s\nnoise: 10m\n"
        let (one, same, other) = (try Bench(standing), try Bench(standing), try Bench(standing, seed: 2))
        for bench in [one, same, other] { bench.run(to: second(2_999)) }
        #expect(one.listener.positions == same.listener.positions)
        #expect(one.listener.positions != other.listener.positions)
        let middle = Coordinate(latitude: 60, longitude: 10)
        let apart = one.listener.positions.map {
            Geometry.distance(from: middle, to: Coordinate(latitude: $0.latitude, longitude: $0.longitude))
        }
        let within = Double(apart.count { $0 <= 10 }) / Double(apart.count)
        #expect(abs(within - 0.68) < 0.03)
        // What one hears does not depend on since when one listens.
        let late = try Bench(standing, positioning: false)
        late.source.perform(.positioning(true), at: second(1_000))
        late.run(to: second(2_999))
        #expect(late.listener.positions == Array(one.listener.positions.dropFirst(1_000)))
    }

    @Test("A crossing that a scenario says is an event for every region of that name, wanted fixes or not")
    func crossings() throws {
        let bench = try Bench(positioning: false)
        bench.source.simulateCrossing(
            .regionEntered,
            region: "office",
            origin: bench.names.intern("day.yaml:7"),
            at: second(3)
        )
        bench.source.simulateCrossing(.regionExited, region: "home", at: second(3))
        #expect(bench.source.nextDeadline == second(3))
        #expect(bench.run(to: second(3)) == [3, 3])
        let events = bench.listener.reports.map(\.event)
        #expect(events.map(\.kind) == [.regionEntered, .regionExited])
        #expect(events.map { bench.names.text($0.region) } == ["office", "home"])
        #expect(events.map { bench.names.text($0.origin) } == ["day.yaml:7", "simulated"])
        #expect(events.allSatisfy { $0.app == nil && $0.fix == nil })
    }

    @Test("A position that a scenario says ends the way, and a track can begin after it")
    func position() throws {
        let bench = try Bench()
        bench.run(to: second(15))
        let place = Coordinate(latitude: -45, longitude: -180)
        bench.source.simulatePosition(TrackPoint(place), accuracy: 30, at: second(15))
        #expect(bench.run(to: second(80)) == [15, 75])
        let said = try #require(bench.listener.positions.last)
        #expect(said.latitude == -45)
        #expect(said.horizontalAccuracy == 30)
        #expect(said.timestamp == SimulatedLocation.usualTimestamp + 75)
        try bench.source.simulateTrack(device: "way", at: second(81))
        #expect(bench.run(to: second(95)) == [81, 91])
        #expect(bench.listener.positions.last?.longitude == 10)
    }

    @Test("A visit that a scenario says is an event of its own")
    func visits() throws {
        let bench = try Bench(positioning: false)
        let here = Visit(latitude: 1, longitude: 2, horizontalAccuracy: 30, arrival: 5, departure: nil)
        var left = here
        left.departure = 9
        bench.source.simulateVisit(here, at: second(1))
        bench.source.simulateVisit(left, at: second(2))
        bench.run(to: second(2))
        #expect(bench.listener.kinds == [.visitBegan, .visitEnded])
        #expect(bench.listener.reports.map(\.payload) == [.visit(here), .visit(left)])
    }

    @Test("An unknown track or fault is named, with those that there are")
    func unknown() throws {
        let bench = try Bench(north + faults)
        var failure = #expect(throws: SourceFailure.self) {
            try bench.source.arm(fault: "rain", device: "way", at: .zero)
        }
        #expect(failure?.message == "device way has no fault 'rain'; its file has tunnel, wild, stuck, canyon")
        failure = #expect(throws: SourceFailure.self) { try bench.source.simulateTrack(device: "road", at: .zero) }
        #expect(failure?.message == "there is no track 'road'; the scenario has way")
        #expect(failure?.kind == .unknown)
    }

    @Test("Without a track nothing is said until a scenario says a position")
    func nowhere() throws {
        let source = SimulatedLocation(tracks: [], names: NameTable(), seed: 1)
        let listener = LocationListener()
        listener.hear(source)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        #expect(source.nextDeadline == nil)
        source.simulatePosition(TrackPoint(Coordinate(latitude: 1, longitude: 2)), at: second(1))
        source.timeReached(second(1))
        #expect(listener.positions.map(\.latitude) == [1])
        source.stop()
        #expect(source.nextDeadline == nil)
    }
}
