import Testing
import WakeDevices
import WakeLocation
import WakeModel
import WakePorts

private func second(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

/// Ten minutes at a place, 10 km north at 20 m/s, ten minutes there, and as far again.
private let stays = """
    device: location-track
    route:
      - {latitude: 0, longitude: 10, speed: 20m/s, wait: 10m}
      - {latitude: 0.0899, longitude: 10, speed: 20m/s, wait: 10m}
      - {latitude: 0.1798, longitude: 10}

    """

/// A fix, and a second later none.
private let lostLog = """
    $GPRMC,120000.00,A,4807.0380,N,01131.0000,E,0.0,0.0,010125,,,A*58
    $GPRMC,120001.00,V,,,,,,,010125,,,N*78

    """

/// A simulated receiver, and the visits that it tells of.
private struct Watch {
    let source: SimulatedLocation
    let listener = LocationListener()
    let names = NameTable()

    init(_ track: String?, nmea: String = "") throws {
        var tracks: [(name: String, track: LocationTrack)] = []
        if let track {
            let read = try LocationTrack.parse(Array(track.utf8), file: "track.yaml") { _ in Array(nmea.utf8) }
            tracks.append((name: "way", track: read))
        }
        source = SimulatedLocation(tracks: tracks, names: names, seed: 1)
        listener.hear(source)
        try source.start(at: .zero)
    }

    /// Goes on to a time, as the bench does: from deadline to deadline. When visits began and ended, in seconds.
    @discardableResult
    func run(to end: Double) -> [String] {
        var told: [String] = []
        while let next = source.nextDeadline, next <= second(end) {
            let before = listener.reports.count
            source.timeReached(next)
            for report in listener.reports[before...] where report.event.kind != .positionFixed {
                let word = report.event.kind == .visitBegan ? "began" : "ended"
                told.append("\(word) \(Double(next.nanoseconds) / 1e9)")
            }
        }
        source.timeReached(second(end))
        return told
    }

    var visits: [Visit] {
        listener.reports.compactMap { if case .visit(let visit) = $0.payload { visit } else { nil } }
    }
}

@Suite("Visits of the simulated location")
struct SimulatedVisitTests {
    @Test("Five minutes within a hundred metres are a visit, which ends when the phone goes on")
    func track() throws {
        let watch = try Watch(stays)
        watch.source.perform(.watchVisits(true), at: .zero)
        #expect(
            watch.run(to: 3_600) == [
                "began 300.0", "ended 610.0", "began 1400.0", "ended 1710.0", "began 2500.0",
            ]
        )
        let begin = SimulatedLocation.usualTimestamp
        #expect(watch.visits.map { $0.arrival.map { $0 - begin } } == [0, 0, 1_100, 1_100, 2_200])
        #expect(watch.visits.map { $0.departure.map { $0 - begin } } == [nil, 610, nil, 1_710, nil])
        let places = watch.visits.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }
        for (place, latitude) in zip(places, [0, 0, 0.0899, 0.0899, 0.1798]) {
            #expect(Geometry.distance(from: place, to: Coordinate(latitude: latitude, longitude: 10)) < 100)
        }
        #expect(places[0] == places[1] && places[2] == places[3])
        let event = watch.listener.reports[0].event
        #expect(watch.names.text(event.subject) == "visit")
        #expect(watch.names.text(event.origin) == "simulated")
    }

    @Test("What is found does not depend on who asks for what, and since when")
    func independent() throws {
        let watch = try Watch(stays)
        watch.source.perform(.watchVisits(true), at: .zero)
        let all = watch.run(to: 3_600)
        for (since, told) in [(0.0, all), (299, all), (450, Array(all.dropFirst())), (2_000, Array(all.dropFirst(4)))] {
            for positioning in [false, true] {
                let late = try Watch(stays)
                if positioning { late.source.perform(.positioning(true), at: .zero) }
                late.run(to: since)
                late.source.perform(.watchVisits(true), at: second(since))
                #expect(late.run(to: 3_600) == told, "since \(since)")
            }
        }
    }

    @Test("Nobody hears of visits that nobody wants, and nothing is due for them")
    func unwanted() throws {
        let watch = try Watch(stays)
        #expect(watch.source.nextDeadline == nil)
        watch.source.perform(.watchVisits(true), at: .zero)
        watch.source.perform(.watchVisits(false), at: second(100))
        #expect(watch.source.nextDeadline == nil)
        #expect(watch.run(to: 3_600) == [])
    }

    @Test("A phone that is put at a place visits it, and leaves it when it is put elsewhere")
    func position() throws {
        let watch = try Watch(nil)
        watch.source.perform(.watchVisits(true), at: .zero)
        let home = TrackPoint(Coordinate(latitude: 48, longitude: 11))
        let garden = TrackPoint(Coordinate(latitude: 48.0005, longitude: 11))
        let office = TrackPoint(Coordinate(latitude: 48.1, longitude: 11))
        watch.source.simulatePosition(home, at: second(20))
        #expect(watch.run(to: 200) == [])
        watch.source.simulatePosition(garden, at: second(200))
        #expect(watch.run(to: 1_000) == ["began 320.0"])
        watch.source.simulatePosition(office, at: second(1_000))
        #expect(watch.run(to: 1_000) == ["ended 1000.0"])
        #expect(watch.run(to: 1_299) == [])
        watch.source.simulatePosition(home, at: second(1_299))
        #expect(watch.run(to: 5_000) == ["began 1599.0"])
        #expect(watch.source.nextDeadline == nil)
    }

    @Test("A receiver that does not know where it is has not left")
    func lost() throws {
        let watch = try Watch("device: location-track\nnmea: lost.nmea\n", nmea: lostLog)
        watch.source.perform(.watchVisits(true), at: .zero)
        #expect(watch.run(to: 3_600) == ["began 300.0"])
    }

    @Test("A location from a snapshot goes on with the stay that was begun", arguments: [100.0, 500, 1_200])
    func snapshot(at seconds: Double) throws {
        let watch = try Watch(stays)
        watch.source.perform(.watchVisits(true), at: .zero)
        watch.run(to: seconds)
        var writing = SnapshotCoder()
        try watch.source.code(with: &writing)
        let restored = try Watch(stays)
        var reading = SnapshotCoder(reading: writing.bytes)
        try restored.source.code(with: &reading)
        try reading.finish()
        #expect(restored.run(to: 3_600) == watch.run(to: 3_600))
    }
}
