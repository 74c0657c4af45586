import Testing
import WakeDevices
import WakeModel

private let shop = """
    device: ibeacon
    address: "C2:5B:00:00:00:01"
    uuid: e2c56db5-dffb-48d2-b060-d0f5a71096e0
    major: 1
    minor: 258
    distance:
      - {after: 10s, metres: 20}
      - {over: 20s, metres: 10}
      - {after: 30s, metres: away}
    faults:
      - {name: dead, silent: 1m}
      - {name: reset, renumber: {major: 0, minor: 9}}
    """

private func parse(_ text: String) throws(FileError) -> Beacon {
    try Beacon.parse(Array(text.utf8), file: "shop.yaml")
}

@Suite("Beacon files")
struct BeaconTests {
    @Test("A beacon file is read whole, and says what is on the air")
    func reads() throws {
        let beacon = try parse(shop)
        #expect(beacon.uuid == "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        #expect(beacon.interval == .milliseconds(100))
        #expect(beacon.measuredPower == -59)
        #expect(beacon.faults.map(\.effect) == [.silent(.seconds(60)), .renumber(major: 0, minor: 9)])
        #expect((beacon.major, beacon.minor) == (1, 0x102))
    }

    static let distances: [(Int64, Double?)] = [
        (0, nil), (9_999, nil), (10_000, 20), (20_000, 15), (30_000, 10), (59_999, 10), (60_000, nil),
        (1_000_000, nil),
    ]

    @Test("The distance stands still in a pause, changes on a way, and is away at both ends", arguments: distances)
    func distance(milliseconds: Int64, metres: Double?) throws {
        guard case .distance(let timetable) = try parse(shop).place else { throw Wrong() }
        #expect(timetable.metres(at: .milliseconds(milliseconds)) == metres)
    }

    @Test("A repeating timetable begins again with the first pause, at the last distance")
    func repeating() throws {
        let text = shop.replacing("metres: away}", with: "metres: 40}\nrepeat: true")
        guard case .distance(let timetable) = try parse(text).place else { throw Wrong() }
        #expect(timetable.metres(at: .seconds(65)) == 40)
        #expect(timetable.metres(at: .seconds(70)) == 20)
        #expect(timetable.metres(at: .seconds(80)) == 15)
    }

    static let approaches: [(Int64, Double?, Int64?)] = [
        (0, nil, 10_000), (10_000, 10, 30_000), (15_000, 10, 30_000), (30_000, 10, 60_000), (60_000, nil, nil),
    ]

    @Test("The nearest that it comes in a pause or on a way is known, and when that is over", arguments: approaches)
    func nearest(milliseconds: Int64, metres: Double?, until: Int64?) throws {
        guard case .distance(let timetable) = try parse(shop).place else { throw Wrong() }
        let (nearest, end) = timetable.nearest(from: .milliseconds(milliseconds))
        #expect(nearest == metres)
        #expect(end == until.map { Instant.Span.milliseconds($0) })
    }

    @Test("The nearest is that of the round at hand where a timetable repeats")
    func nearestRepeating() throws {
        let text = shop.replacing("metres: away}", with: "metres: 40}\nrepeat: true")
        guard case .distance(let timetable) = try parse(text).place else { throw Wrong() }
        let (pause, end) = timetable.nearest(from: .seconds(65))
        #expect(pause == 40 && end == .seconds(70))
        let (way, over) = timetable.nearest(from: .seconds(75))
        #expect(way == 10 && over == .seconds(90))
    }

    static let wrong: [(String, String, String)] = [
        ("major: 1", "major: 65536", "shop.yaml:4: '65536'; expected a whole number from 0 to 65535"),
        ("metres: 20", "metres: far", "shop.yaml:7: 'far'; expected a number from 0.01 to 10000.0, metres, or away"),
        (
            "after: 10s", "over: 10s",
            "shop.yaml:7: a way that begins or ends away; expected 'over' between two distances in metres"
        ),
        (
            "distance:", "position: {x: 1, y: 2}\ndistance:",
            "shop.yaml:7: 'distance' beside 'position' in a beacon; expected one of the two"
        ),
        ("silent: 1m", "silence: 1m", "shop.yaml:11: unknown key 'silence' in a fault; expected 'silent'"),
        ("name: reset", "name: dead", "shop.yaml:12: a second fault 'dead'; expected another name"),
    ]

    @Test("What is wrong is named with its line", arguments: wrong)
    func errors(old: String, new: String, message: String) {
        let error = #expect(throws: FileError.self) { try parse(shop.replacing(old, with: new)) }
        #expect(error.map { "\($0)" }?.hasPrefix(message) == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("Copies of a beacon have the next minor, and a scenario cannot connect to one")
    func inScenarios() throws {
        let folder = packageFolder + "/Devices/Scenarios/x.yaml"
        let text = """
            scenario: x
            devices: [{file: ../Bluetooth/shop-beacon.yaml, name: shop, count: 3}]
            apps: [{scripted: com.example.a, name: a, uses: [{device: shop.1}]}]
            """
        let error = #expect(throws: FileError.self) { try Scenario.parse(Array(text.utf8), file: folder) }
        #expect(error?.found == "'shop.1', which has no connections")
        let good = try Scenario.parse(Array(text.replacing(", uses: [{device: shop.1}]", with: "").utf8), file: folder)
        #expect(good.devices.compactMap(\.beacon?.minor) == [7, 8, 9])
    }
}

private struct Wrong: Error {}
