import Testing
import WakeDevices
import WakeModel
import WakePorts

@testable import WakeBluetooth

extension Beacon {
    /// The data of Apple's company number as it is advertised, without the number: 02 15, UUID, major, minor, power.
    var payload: [UInt8] {
        var bytes: [UInt8] = [0x02, 0x15]
        let digits = Array(uuid.utf8.filter { $0 != UInt8(ascii: "-") })
        for place in stride(from: 0, to: digits.count, by: 2) {
            bytes.append(UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) ?? 0)
        }
        for number in [major, minor] {
            bytes.append(UInt8(truncatingIfNeeded: number >> 8))
            bytes.append(UInt8(truncatingIfNeeded: number))
        }
        return bytes + [UInt8(bitPattern: measuredPower)]
    }
}

/// A beacon, a simulated radio, and time that the test moves.
private final class Shop {
    static let file = """
        device: ibeacon
        address: "C2:5B:00:00:00:01"
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 7
        PLACE
        interval: 100ms
        radio: {path-loss: 2, fading: 2, loss: 0.1}
        faults:
          - {name: dead, silent: 1m}
          - {name: shelf, weaken: 20}
          - {name: wall, weaken: 100}
          - {name: open, weaken: 0}
          - {name: calibration, measured-power: -39}
          - {name: reset, renumber: {major: 2, minor: 9}}
        """

    let names = NameTable()
    let radio: SimulatedBluetooth
    var now = Instant.zero
    var reports: [(at: Instant, SourceReport)] = []

    /// - Parameter isClear: whether each advertisement is heard, and as strong as it is on average.
    init(
        _ place: String = "distance: [{metres: 2}]",
        interval: String = "100ms",
        isClear: Bool = false,
        seed: UInt64 = 1
    ) throws {
        var text = Self.file.replacing("PLACE", with: place).replacing("interval: 100ms", with: "interval: \(interval)")
        if isClear { text = text.replacing("fading: 2, loss: 0.1", with: "fading: 0, loss: 0") }
        let beacon = try Beacon.parse(Array(text.utf8), file: "shop.yaml")
        let device = ScenarioDevice(name: "shop", group: "shop", line: 1, form: .beacon(beacon))
        radio = SimulatedBluetooth(devices: [device], names: names, seed: seed)
        radio.report = { [unowned self] in reports.append((now, $0)) }
        watch()
    }

    func watch(major: UInt16? = nil) {
        let uuid = names.intern("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        radio.watchBeacons([BeaconIdentity(uuid: uuid, major: major)], at: now)
    }

    func run(for span: Instant.Span) {
        let end = now.advanced(by: span)
        while let next = radio.nextDeadline, next <= end {
            now = max(now, next)
            radio.timeReached(now)
        }
        now = end
        radio.timeReached(now)
    }

    /// When it was heard last, by each report.
    var heard: [Instant] { reports.compactMap { at, report in report.event.beacon?.heard(reported: at) } }

    var distances: [Float] { reports.compactMap { $0.1.event.beacon?.distance } }

    func forget() { reports.removeAll() }
}

@Suite("Simulated beacons")
struct SimulatedBeaconTests {
    @Test("A beacon is heard about once a second, never more often, and about where it is", arguments: [0.3, 2, 15])
    func heard(metres: Double) throws {
        let shop = try Shop("distance: [{metres: \(metres)}]")
        shop.run(for: .seconds(60))
        #expect((58...61).contains(shop.reports.count))
        let times = shop.reports.map(\.at)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1.since($0) >= .seconds(1) })
        let mean = shop.distances.reduce(0, +) / Float(shop.distances.count)
        #expect(abs(Double(mean) - metres) < metres / 4)
    }

    @Test("A beacon follows its timetable: it comes, is near, and goes")
    func timetable() throws {
        let shop = try Shop("distance: [{after: 30s, metres: 20}, {over: 30s, metres: 1}, {after: 30s, metres: away}]")
        shop.run(for: .seconds(30))
        #expect(shop.reports.isEmpty)
        shop.run(for: .seconds(60))
        let (first, last) = (try #require(shop.distances.first), try #require(shop.distances.last))
        #expect(first > 10)
        #expect(last < 2)
        shop.run(for: .seconds(1))
        shop.forget()
        shop.run(for: .seconds(1_000))
        #expect(shop.reports.isEmpty)
    }

    @Test("What is too far away is not heard")
    func tooFar() throws {
        let shop = try Shop("distance: [{metres: 2000}]")
        shop.run(for: .seconds(100))
        #expect(shop.reports.isEmpty)
    }

    @Test("Range, and Bluetooth itself, decide whether a beacon is heard")
    func range() throws {
        let shop = try Shop()
        for heard in [false, true] {
            try shop.radio.simulateRange(device: "shop", inRange: heard, at: shop.now)
            shop.run(for: .seconds(1))
            shop.forget()
            shop.run(for: .seconds(10))
            #expect(shop.distances.isEmpty == !heard)
        }
        for heard in [false, true] {
            shop.radio.setPower(heard, at: shop.now)
            shop.run(for: .seconds(1))
            shop.forget()
            shop.run(for: .seconds(10))
            #expect(shop.distances.isEmpty == !heard)
        }
    }

    @Test("A beacon that stands somewhere is as far as the phone is from there")
    func places() throws {
        let shop = try Shop("position: {latitude: 50.0, longitude: 8.0}")
        shop.run(for: .seconds(10))
        #expect(shop.reports.isEmpty)
        shop.radio.phoneMoved(latitude: 50.00009, longitude: 8.0, at: shop.now)
        shop.run(for: .seconds(60))
        let mean = shop.distances.reduce(0, +) / Float(shop.distances.count)
        #expect((8...12.5).contains(mean))
        let plan = try Shop("position: {x: 3, y: 4}")
        plan.run(for: .seconds(60))
        let far = plan.distances.reduce(0, +) / Float(plan.distances.count)
        plan.forget()
        plan.radio.simulatePhone(x: 3, y: 3, at: plan.now)
        plan.run(for: .seconds(60))
        #expect((4...6.5).contains(far))
        #expect(plan.distances.reduce(0, +) / Float(plan.distances.count) < 1.5)
    }

    @Test("Faults silence a beacon, weaken it, spoil its calibration and renumber it")
    func faults() throws {
        let shop = try Shop()
        try shop.radio.arm(fault: "dead", device: "shop", at: shop.now)
        shop.run(for: .seconds(59))
        #expect(shop.reports.isEmpty)
        shop.run(for: .seconds(10))
        #expect(!shop.reports.isEmpty)
        for fault in ["shelf", "calibration"] {
            let shop = try Shop()
            try shop.radio.arm(fault: fault, device: "shop", at: shop.now)
            shop.run(for: .seconds(30))
            let mean = shop.distances.reduce(0, +) / Float(shop.distances.count)
            #expect((15...26).contains(mean))
        }
        shop.watch(major: 2)
        shop.forget()
        shop.run(for: .seconds(10))
        #expect(shop.reports.isEmpty)
        try shop.radio.arm(fault: "reset", device: "shop", at: shop.now)
        shop.run(for: .seconds(10))
        #expect(shop.reports.first?.1.event.beacon?.minor == 9)
    }

    /// A distance that is away from 55 s on.
    private static let leaving = "distance: [{metres: 2}, {after: 55s, metres: away}]"

    @Test(
        "BCN-2: a report says when the beacon was heard last: to the interval of what it sends when it goes",
        arguments: [20, 100, 300, 1_000, 1_285] as [Int64],
        [1, 2, 3] as [UInt64]
    )
    func lastHeard(interval: Int64, seed: UInt64) throws {
        let shop = try Shop(Self.leaving, interval: "\(interval)ms", isClear: true, seed: seed)
        shop.run(for: .seconds(90))
        let last = try #require(shop.heard.last)
        let end = Instant.zero.advanced(by: .seconds(55))
        #expect(last < end)
        #expect(end.since(last) <= .milliseconds(interval))
        #expect(zip(shop.reports.map(\.at), shop.heard).allSatisfy { $0.since($1) < .seconds(1) })
        #expect(zip(shop.heard, shop.heard.dropFirst()).allSatisfy { $0 < $1 })
        #expect(shop.radio.nextDeadline == nil)
    }

    @Test(
        "BCN-2: the first that is heard after a silence is told at once, so that a silence is no longer than it was",
        arguments: [28_200, 28_500, 28_900, 29_000, 29_500, 29_900] as [Int64],
        Array(1...8) as [UInt64]
    )
    func comesAgain(away: Int64, seed: UInt64) throws {
        let shop = try Shop(
            "distance: [{metres: 2}, {after: 10s, metres: away}, {after: \(away)ms, metres: 2}]",
            isClear: true,
            seed: seed
        )
        shop.run(for: .seconds(60))
        let back = Instant.zero.advanced(by: .seconds(10)).advanced(by: .milliseconds(away))
        let first = try #require(shop.reports.firstIndex { $0.at >= back })
        #expect(shop.reports[first].at.since(back) < .milliseconds(100))
        #expect(shop.reports[first].1.event.beacon?.age == .zero)
        let gaps = zip(shop.heard.dropFirst(), shop.heard).map { $0.since($1) }
        let longest = try #require(gaps.max())
        #expect(longest > .milliseconds(away - 100))
        #expect(longest <= .seconds(30))
    }

    @Test("What is heard in the second in which a beacon goes out of range, or is silent, is told when it is over")
    func goesWithinSecond() throws {
        for isFault in [true, false] {
            let shop = try Shop(isClear: true)
            shop.run(for: .milliseconds(20_750))
            if isFault {
                try shop.radio.arm(fault: "dead", device: "shop", at: shop.now)
            } else {
                try shop.radio.simulateRange(device: "shop", inRange: false, at: shop.now)
            }
            let gone = shop.now
            shop.run(for: .seconds(20))
            let last = try #require(shop.heard.last)
            #expect(last <= gone)
            #expect(gone.since(last) < .milliseconds(100))
        }
    }

    @Test("What is heard before Bluetooth goes off is not told afterwards")
    func offWithinSecond() throws {
        let shop = try Shop(isClear: true)
        shop.run(for: .milliseconds(20_750))
        shop.forget()
        shop.radio.setPower(false, at: shop.now)
        shop.run(for: .seconds(20))
        #expect(shop.distances.isEmpty)
    }

    @Test("A beacon that gets other numbers has said by its old ones what was heard before")
    func renumbered() throws {
        let shop = try Shop(isClear: true)
        shop.run(for: .milliseconds(20_750))
        shop.forget()
        let reset = shop.now
        try shop.radio.arm(fault: "reset", device: "shop", at: reset)
        shop.run(for: .seconds(2))
        let numbers = shop.reports.compactMap { $0.1.event.beacon?.minor }
        #expect(numbers.first == 7)
        #expect(numbers.dropFirst().allSatisfy { $0 == 9 })
        #expect(numbers.count >= 2)
        #expect(try #require(shop.heard.first) <= reset)
    }

    @Test("Nobody listens while nothing can be heard, and the first that can be is told at once")
    func sleeps() throws {
        let shop = try Shop("distance: [{after: 1h, metres: 5000}, {after: 1h, metres: 2}]", isClear: true)
        let comes = Instant.zero.advanced(by: .seconds(7_200))
        let first = try #require(shop.radio.nextDeadline)
        #expect(first >= comes && first.since(comes) < .milliseconds(100))
        shop.run(for: .seconds(7_210))
        #expect(shop.reports.first?.at == first)
        try shop.radio.arm(fault: "wall", device: "shop", at: shop.now)
        shop.run(for: .seconds(2))
        shop.forget()
        #expect(shop.radio.nextDeadline == nil)
        shop.run(for: .seconds(100))
        #expect(shop.reports.isEmpty)
        let opened = shop.now
        try shop.radio.arm(fault: "open", device: "shop", at: opened)
        shop.run(for: .seconds(1))
        #expect(try #require(shop.reports.first).at.since(opened) < .milliseconds(100))
    }

    @Test("A beacon that comes again and again for less than its interval is heard where an advertisement falls there")
    func rare() throws {
        // It is there for one second in seven, and sends each 10 s: one advertisement in seven falls into it.
        let shop = try Shop(
            "distance: [{after: 6s, metres: 2}, {after: 1s, metres: away}]\nrepeat: true",
            interval: "10s",
            isClear: true
        )
        shop.run(for: .seconds(7_000))
        #expect((99...101).contains(shop.reports.count))
        #expect(shop.reports.allSatisfy { $0.at.nanoseconds % 7_000_000_000 >= 6_000_000_000 })
    }

    @Test("The same seed gives the same sightings, another seed others")
    func deterministic() throws {
        func play(_ seed: UInt64) throws -> [Float] {
            let shop = try Shop(seed: seed)
            shop.run(for: .seconds(30))
            return shop.distances
        }
        #expect(try play(1) == play(1))
        #expect(try play(1) != play(2))
    }

    @Test("Bytes that are no beacon are none, at any length")
    func parsing() throws {
        let beacon = try Beacon.parse(
            Array(Shop.file.replacing("PLACE", with: "distance: [{metres: 2}]").utf8),
            file: ""
        )
        let data = [0x4c, 0x00] + beacon.payload
        let signal = try #require(BeaconSignal(manufacturerData: data))
        #expect(signal.uuid == beacon.uuid)
        #expect((signal.major, signal.minor) == (1, 7))
        #expect(signal.measuredPower == -59)
        for length in 0..<25 { #expect(BeaconSignal(manufacturerData: Array(data[..<length])) == nil) }
        #expect(BeaconSignal(manufacturerData: [0x59, 0x00] + beacon.payload) == nil)
        #expect(signal.distance(signalStrength: nil) == -1)
        #expect(signal.distance(signalStrength: -59) == 1)
    }
}
