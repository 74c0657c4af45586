import Foundation
import Testing
import WakeModel

@testable import WakeDevices

private let plain = """
    device: location-track
    route:
      - {latitude: 0, longitude: 179.99, altitude: 10, speed: 36km/h, wait: 1m}
      - {latitude: 0, longitude: -179.99, altitude: 20, speed: 20m/s}
      - {latitude: 0, longitude: -179.99, wait: 30s}
    rate: 2
    interval: 500ms
    accuracy: 8m
    noise: 1.5m
    repeat: false
    faults:
      - {name: tunnel, lost-fix: 90s}
      - {name: wild, jump: {distance: 2km, bearing: 45, lasting: 5s}}
      - {name: stuck, frozen: 2m}
      - {name: canyon, poor-accuracy: {accuracy: 500m, lasting: 1m}}
    """

private func parse(_ text: String, _ files: [String: String] = [:]) throws(FileError) -> LocationTrack {
    try LocationTrack.parse(Array(text.utf8), file: "Devices/track.yaml") { (path) throws(FileError) in
        guard let text = files[path] else {
            throw FileError(file: path, line: 0, found: "no such file", expected: "a readable file")
        }
        return Array(text.utf8)
    }
}

private let untimed = "<gpx><wpt lat='0' lon='0'/><wpt lat='0' lon='0.01'/></gpx>"
private let timed = """
    <gpx><wpt lat='0' lon='0'><time>2025-05-06T07:32:00Z</time></wpt>
    <wpt lat='0' lon='0.01'><time>2025-05-06T07:33:00Z</time></wpt></gpx>
    """

@Suite("Location tracks")
struct LocationTrackTests {
    @Test("A route is read whole, with the times that its speeds and waits make")
    func reads() throws {
        let track = try parse(plain)
        #expect(track.rate == 2)
        #expect(track.accuracy == 8)
        #expect(track.noise == 1.5)
        #expect(!track.repeats)
        #expect(
            track.faults.map(\.effect) == [
                .lostFix(.seconds(90)), .jump(metres: 2000, bearing: 45, lasting: .seconds(5)), .frozen(.seconds(120)),
                .poorAccuracy(metres: 500, lasting: .seconds(60)),
            ]
        )
        guard case .way(let way, let interval) = track.path else { throw TrackError.noWay }
        #expect(interval == .milliseconds(500))
        // 0.02 degrees of the equator are 2223.9 m, at 10 m/s.
        let offsets = way.stops.map { $0.offset.milliseconds / 100 }
        #expect(offsets == [0, 600, 2823, 2823, 3123])
        #expect(track.length == way.length)
    }

    private enum TrackError: Error { case noWay }

    @Test("On a way the place, height, speed and course are those of its legs, also across the antimeridian")
    func legs() throws {
        guard case .way(let way, _) = try parse(plain).path else { throw TrackError.noWay }
        let waiting = way.point(at: .seconds(30))
        #expect(waiting.place == Coordinate(latitude: 0, longitude: 179.99))
        #expect(waiting.speed == 0)
        #expect(waiting.course == nil)
        let moving = way.point(at: .seconds(60 + 111))
        #expect(abs(Geometry.distance(from: waiting.place, to: moving.place) - 1_110) < 0.01)
        #expect(abs((moving.speed ?? 0) - 10) < 1e-6)
        #expect(abs((moving.course ?? 0) - 90) < 1e-6)
        #expect(abs((moving.altitude ?? 0) - 14.99) < 0.01)
        let later = way.point(at: .seconds(60 + 113))
        #expect(later.place.longitude < 0)
        #expect(way.point(at: .seconds(100_000)).place == Coordinate(latitude: 0, longitude: -179.99))
        #expect(way.point(at: .zero).place == waiting.place)
    }

    @Test("A GPX file plays by its times, or at a speed when it has none")
    func gpx() throws {
        let text = "device: location-track\ngpx: way.gpx\n"
        let byTime = try parse(text, ["Devices/way.gpx": timed])
        #expect(byTime.length == .seconds(60))
        guard case .way(let way, _) = byTime.path else { throw TrackError.noWay }
        #expect(way.timestamp == 1_746_516_720)
        #expect(way.point(at: .seconds(30)).timestamp == 1_746_516_750)
        let bySpeed = try parse(text + "speed: 10m/s\n", ["Devices/way.gpx": untimed])
        #expect(bySpeed.length.milliseconds == 111_195)
    }

    @Test("An NMEA log keeps its moments, those without a fix too")
    func nmea() throws {
        let track = try LocationTrack.load(file: packageFolder + "/Devices/Location/gnss-receiver.yaml")
        guard case .log(let entries) = track.path else { throw TrackError.noWay }
        #expect(entries.count == 180)
        #expect(entries.map(\.offset) == (0..<180).map { .seconds($0) })
        #expect(entries.indices.filter { entries[$0].point == nil } == [0, 1, 2, 60, 61, 62, 63, 64, 65])
    }

    @Test("An NMEA log of a cold start, and one over a leap second, is played from its first fix on")
    func clocks() throws {
        func rmc(_ time: String, _ status: String, _ date: String) -> String {
            let place = status == "A" ? "4807.038,N,01131.000,E" : ",,,"
            return sentence("GPRMC,\(time),\(status),\(place),0.0,0.0,\(date),,,A")
        }
        let logs: [(log: String, offsets: [Int64])] = [
            (
                rmc("000010.00", "V", "060180") + rmc("000011.00", "V", "060180") + rmc("101500.00", "A", "281126")
                    + rmc("101501.00", "A", "281126"), [0, 1000]
            ),
            (
                rmc("235959.00", "A", "311216") + rmc("235960.00", "A", "311216") + rmc("000000.00", "A", "010117"),
                [0, 1000]
            ),
            // The clock of a receiver without a fix is ahead of the time.
            (
                rmc("101500.00", "A", "281126") + rmc("101505.00", "V", "") + rmc("101503.00", "A", "281126"),
                [0, 3000]
            ),
        ]
        for (log, offsets) in logs {
            let track = try parse("device: location-track\nnmea: a.nmea\n", ["Devices/a.nmea": log])
            guard case .log(let entries) = track.path else { throw TrackError.noWay }
            #expect(entries.map(\.offset.milliseconds) == offsets)
            #expect(entries.allSatisfy { $0.point != nil })
        }
    }

    @Test(
        "A wrong track is one line with its place and what was expected",
        arguments: [
            ("device: location-track", "device: toaster", "track.yaml:1: unknown kind of device 'toaster'"),
            ("rate: 2", "rat: 2", "unknown key 'rat' in a track; expected 'rate'"),
            ("rate: 2", "rate: 0", "track.yaml:6: '0'; expected a rate from 0.001 to 1000"),
            ("rate: 2", "rate: fast", "'fast'; expected a rate"),
            ("rate: 2", "nmea: log.nmea", "'nmea' beside 'route' in a track; expected one of the two"),
            ("rate: 2", "speed: 5m/s", "'speed' beside 'route'"),
            ("interval: 500ms", "interval: 1ms", "a time of at least 10ms"),
            ("accuracy: 8m", "accuracy: 8", "track.yaml:8: '8'; expected a length such as 5m or 1.5km"),
            ("latitude: 0,", "latitude: 91,", "track.yaml:3: '91'; expected a latitude from -90 to 90"),
            ("latitude: 0, ", "", "track.yaml:3: a place without 'latitude'"),
            ("longitude: 179.99", "longitude: 0x10", "'0x10'; expected a longitude from -180 to 180"),
            (", speed: 36km/h", "", "track.yaml:4: a second place without a speed before it; expected 'speed' in"),
            ("36km/h", "36", "track.yaml:3: '36'; expected a speed such as 50km/h or 13.9m/s"),
            ("36km/h", "0m/s", "'0m/s'; expected a speed"),
            ("name: wild", "name: tunnel", "track.yaml:13: a second fault 'tunnel'"),
            ("lost-fix: 90s", "lost-fix: 0", "a time longer than 0"),
            ("lost-fix: 90s", "explode: 90s", "unknown key 'explode' in a fault"),
            (", lasting: 5s", "", "track.yaml:13: a jump without 'lasting'"),
            ("distance: 2km", "distance: far", "'far'; expected a length"),
        ]
    )
    func wrong(what: String, with replacement: String, part: String) {
        let text = plain.replacing(what, with: replacement, maxReplacements: 1)
        #expect(text != plain)
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
    }

    @Test(
        "A file of places that does not fit is one line in the track's file, or in its own",
        arguments: [
            ("gpx: gone.gpx", "track.yaml:2: 'Devices/gone.gpx', no such file; expected a readable file"),
            ("gpx: untimed.gpx", "track.yaml:2: 'Devices/untimed.gpx', whose places have no <time>; expected 'speed'"),
            ("gpx: timed.gpx\nspeed: 5m/s", "'speed' beside 'gpx with times'"),
            ("gpx: empty.nmea", "Devices/empty.nmea:1: text that is no well-formed XML; expected a GPX 1.1 file"),
            ("nmea: empty.nmea", "'Devices/empty.nmea' with 0 sentences, 1 damaged, and no fix"),
            ("nmea: back.nmea", "'Devices/back.nmea', whose time does not go on at fix 2"),
            ("nmea: back.nmea\ninterval: 2s", "'interval' beside 'nmea' in a track"),
            ("route: []", "an empty list; expected at least one place"),
            ("route: [{latitude: 1, longitude: 1}]\nrepeat: true", "a repetition that takes no time"),
            ("rate: 3", "a track without places; expected one of gpx, nmea, route"),
        ]
    )
    func files(keys: String, part: String) {
        let fix = "4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"
        let files = [
            "Devices/untimed.gpx": untimed, "Devices/timed.gpx": timed, "Devices/empty.nmea": "nothing\n",
            "Devices/back.nmea": sentence("GPGGA,120005,\(fix)") + sentence("GPGGA,120004,\(fix)"),
        ]
        let error = #expect(throws: FileError.self) { try parse("device: location-track\n" + keys + "\n", files) }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
    }

    @Test("A track cut at each byte, and scrambled, never crashes")
    func cut() {
        let bytes = Array(plain.utf8)
        func none(_ path: String) throws(FileError) -> [UInt8] { [] }
        var random = Scrambler(seed: 9)
        let cut = bytes.indices.map { Array(bytes[..<$0]) }
        let scrambled = (0..<2_000).map { _ in random.scramble(bytes) }
        for other in cut + scrambled {
            damaged(other, of: "t.yaml") { try LocationTrack.parse($0, file: $1, read: none) }
        }
    }

    @Test("Every shipped track is read")
    func shipped() throws {
        let folder = packageFolder + "/Devices/Location"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
        #expect(names.count >= 2)
        for name in names {
            let track = try LocationTrack.load(file: folder + "/" + name)
            #expect(!track.faults.isEmpty)
            #expect(track.length > .seconds(60))
        }
    }
}
