import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Devices that answer, made of captures")
struct AnswerLiftTests {
    /// A meter's measurement and control point, and another value that it sends.
    private static let meter: [(uuid: String, properties: UInt8)] = [("2A18", 0x10), ("2A52", 0x28), ("2A19", 0x10)]
    private static let measurement = 0
    private static let control = 1
    private static let battery = 2

    private static func session(subscribing places: [Int] = [measurement, control]) -> HCISession {
        var session = HCISession()
        session.connect()
        session.discover("1808", meter)
        for place in places { session.subscribe(place, indications: place == control) }
        session.wait(3_000)
        return session
    }

    /// The rules of the control point, as lines of a file.
    private static func answers(_ lift: PeripheralLift) throws -> [String] {
        let text = lift.peripheral.text()
        // What is written is read again as the same.
        var read = try BluetoothPeripheral.parse(Array(text.utf8), file: "").answers
        for position in read.rules.indices {
            read.rules[position] = read.rules[position].map { BluetoothAnswers.Rule(withoutLine: $0) }
        }
        #expect(read == lift.peripheral.answers)
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        return lines.filter {
            $0.hasPrefix("- write:") || $0.hasPrefix("- {notify") || $0.hasPrefix("- {indicate")
                || $0.hasPrefix("- {error")
        }
        .map(String.init)
    }

    private static func timetable(_ lift: PeripheralLift, _ place: Int) throws -> [[UInt8]] {
        try #require(lift.peripheral.characteristic(meter[place].uuid)).timetable.values
    }

    // MARK: Answers

    @Test("What followed a written value is its answer, and comes of itself no more")
    func answer() throws {
        var session = Self.session()
        session.write(Self.control, [4, 1])
        session.wait(150)
        session.notify(Self.control, [5, 0, 6, 0], indicates: true)
        session.wait(60_000)
        session.write(Self.control, [3, 0])
        session.wait(40)
        session.notify(Self.control, [6, 0, 3, 1], indicates: true)
        let lift = try session.lift()
        #expect(
            try Self.answers(lift) == [
                "- write: \"0401\"", "- {indicate: \"05000600\", after: 150ms}", "- write: \"0300\"",
                // As long as an exchange takes of itself.
                "- {indicate: \"06000301\"}",
            ]
        )
        #expect(try Self.timetable(lift, Self.control).isEmpty)
        #expect(lift.comments.contains("2A52 answers 2 written values as captured"))
        #expect(lift.notes.contains("2A52 answers 2 written values as captured, and nothing else that is written"))
    }

    @Test("A report is an answer up to the value of the control point that ends it, however long it takes")
    func report() throws {
        var session = Self.session()
        session.write(Self.control, [1, 1])
        for number: UInt8 in 1...6 {
            session.wait(1_500)
            session.notify(Self.measurement, [3, number])
        }
        session.wait(20)
        session.notify(Self.control, [6, 0, 1, 1], indicates: true)
        let lift = try session.lift()
        let reports = (1...6).map { "- {notify: \"030\($0)\", on: \"2A18\", after: 1s500ms}" }
        let end = "- {indicate: \"06000101\", after: 20ms}"
        #expect(try Self.answers(lift) == ["- write: \"0101\""] + reports + [end])
        #expect(try Self.timetable(lift, Self.measurement).isEmpty)
    }

    @Test("A report that nothing ends is none, and that its values followed a write is told")
    func endless() throws {
        var session = Self.session()
        session.write(Self.control, [1, 1])
        for number: UInt8 in 1...6 {
            session.wait(1_500)
            session.notify(Self.measurement, [3, number])
        }
        let lift = try session.lift()
        #expect(try Self.answers(lift).isEmpty)
        #expect(try Self.timetable(lift, Self.measurement).count == 6)
        let note =
            "2A18: 1 of 6 values came within 2s of a write, and come without one here; where they answer it, write answers by hand"
        #expect(lift.notes.contains(note))
    }

    @Test("An answer comes within 2 s", arguments: [2_000, 2_001])
    func within(milliseconds: Int64) throws {
        var session = Self.session()
        session.write(Self.control, [4, 1])
        session.wait(milliseconds)
        session.notify(Self.control, [5], indicates: true)
        let lift = try session.lift()
        #expect(try Self.answers(lift).isEmpty == (milliseconds > 2_000))
        #expect(try Self.timetable(lift, Self.control).isEmpty == (milliseconds == 2_000))
    }

    @Test("What a device sends of itself stays a stream, also where it comes after a write")
    func stream() throws {
        var session = Self.session(subscribing: [Self.measurement, Self.control, Self.battery])
        session.notify(Self.battery, [90])
        session.wait(5_000)
        session.write(Self.control, [4, 1])
        session.wait(300)
        session.notify(Self.battery, [89])
        session.notify(Self.control, [5], indicates: true)
        let lift = try session.lift()
        #expect(try Self.answers(lift) == ["- write: \"0401\"", "- {indicate: \"05\", after: 300ms}"])
        #expect(try Self.timetable(lift, Self.battery) == [[90], [89]])
        #expect(lift.notes.contains { $0.hasPrefix("2A19: 1 of 2 values came within 2s of a write") })
    }

    @Test("What began with the subscription is no answer to what was written before it")
    func subscribedLater() throws {
        var session = Self.session(subscribing: [])
        session.write(Self.control, [4, 1])
        session.subscribe(Self.battery)
        session.wait(100)
        session.notify(Self.battery, [90])
        let lift = try session.lift()
        #expect(try Self.answers(lift).isEmpty)
        #expect(try Self.timetable(lift, Self.battery) == [[90]])
        #expect(!lift.notes.contains { $0.contains("of a write") })
    }

    @Test("A value over another link is no answer")
    func otherLink() throws {
        var session = Self.session()
        session.write(Self.control, [4, 1])
        session.disconnect(0x08)
        session.wait(100)
        session.connect()
        session.subscribe(Self.control, indications: true)
        session.notify(Self.control, [5], indicates: true)
        let lift = try session.lift()
        #expect(try Self.answers(lift).isEmpty)
        #expect(try Self.timetable(lift, Self.control) == [[5]])
    }

    @Test("Of several answers to the same the first is kept, and the others are counted")
    func again() throws {
        var session = Self.session()
        for count: UInt8 in [6, 5, 4] {
            session.write(Self.control, [4, 1])
            session.notify(Self.control, [5, count], indicates: true)
            session.wait(10_000)
        }
        let lift = try session.lift()
        #expect(try Self.answers(lift) == ["- write: \"0401\"", "- {indicate: \"0506\"}"])
        #expect(lift.notes.contains("2 answers beside the first to the same, or beyond what a file holds"))
    }

    @Test("A write command is answered as a request is")
    func command() throws {
        let uart: [(uuid: String, properties: UInt8)] = [("2A56", 0x0c), ("2A57", 0x10)]
        var session = HCISession()
        session.connect()
        session.discover("1815", uart)
        session.subscribe(1)
        session.command(0, Array("AT".utf8))
        session.wait(200)
        session.notify(1, Array("O".utf8))
        session.notify(1, Array("K".utf8))
        let lift = try session.lift()
        #expect(
            try Self.answers(lift) == [
                "- write: \"4154\"", "- {notify: \"4f\", on: \"2A57\", after: 200ms}",
                "- {notify: \"4b\", on: \"2A57\"}",
            ]
        )
    }

    @Test("A value that was refused is refused with the same code, but for what was taken as well")
    func refused() throws {
        var session = Self.session()
        session.write(Self.control, [1, 7], refusedWith: 0x80)
        session.write(Self.control, [4, 1], refusedWith: 0xfe)
        session.write(Self.control, [1, 9], refusedWith: 0x05)
        session.write(Self.control, [4, 1])
        session.notify(Self.control, [5], indicates: true)
        let lift = try session.lift()
        #expect(
            try Self.answers(lift) == [
                "- write: \"0401\"", "- {indicate: \"05\"}", "- write: \"0107\"", "- {error: 0x80}",
            ]
        )
    }

    @Test("An answer of more than 64 values is a stream")
    func long() throws {
        for count in [64, 65] {
            var session = Self.session()
            session.write(Self.control, [1, 1])
            for number in 1..<count { session.notify(Self.measurement, [UInt8(number)]) }
            session.notify(Self.control, [6], indicates: true)
            let lift = try session.lift()
            #expect(try Self.answers(lift).count == (count == 64 ? 65 : 0))
            #expect(try Self.timetable(lift, Self.measurement).count == (count == 64 ? 0 : 64))
        }
    }

    // MARK: A part of it

    @Test("Pauses are as much shorter as the capture is played faster, and only writes of the wanted part count")
    func pace() throws {
        var session = Self.session()
        session.write(Self.control, [4, 1])
        session.wait(1_000)
        session.notify(Self.control, [5], indicates: true)
        session.wait(60_000)
        session.write(Self.control, [3, 0])
        session.wait(1_000)
        session.notify(Self.control, [6], indicates: true)
        var pace = Pace()
        pace.speed = 4
        #expect(
            try Self.answers(try session.lift(pace)) == [
                "- write: \"0401\"", "- {indicate: \"05\", after: 250ms}", "- write: \"0300\"",
                "- {indicate: \"06\", after: 250ms}",
            ]
        )
        pace = Pace()
        pace.from = .seconds(30)
        #expect(try Self.answers(try session.lift(pace)) == ["- write: \"0300\"", "- {indicate: \"06\", after: 1s}"])
    }

    @Test("A characteristic that its UUID does not name is a stream: the rule would mean another")
    func ambiguous() throws {
        let twins: [(uuid: String, properties: UInt8)] = [("2A57", 0x10), ("2A56", 0x08), ("2A57", 0x10)]
        var session = HCISession()
        session.connect()
        session.discover("1815", twins)
        session.subscribe(0)
        session.subscribe(2)
        session.write(1, [1])
        session.notify(2, [2])
        let lift = try session.lift()
        #expect(try Self.answers(lift).isEmpty)
        #expect(lift.peripheral.services[0].characteristics.map { $0.timetable.values } == [[], [], [[2]]])
    }

    @Test("In a rule a UUID means the first characteristic of the same service, else of all; others are streams")
    func named() throws {
        func entry(_ place: Int, _ uuid: String, _ properties: UInt8 = 0x10) -> HCISession.Entry {
            HCISession.Entry(handle: HCISession.value(place) - 1, properties: properties, uuid: uuid)
        }
        let services = [
            HCISession.Entry(handle: 10, end: 16, uuid: "1815"), HCISession.Entry(handle: 19, end: 28, uuid: "1816"),
        ]
        let characteristics = [
            [entry(0, "2A57"), entry(1, "2A19")], [entry(3, "2A56", 0x08), entry(4, "2A57"), entry(5, "2A57")],
        ]
        var session = HCISession()
        session.connect()
        let exchange = AttributeExchange(mtu: 247)
        session.play(exchange.discovering(services: services))
        for (service, entries) in zip(services, characteristics) {
            session.play(exchange.discovering(characteristics: entries, from: service.handle, to: service.end))
        }
        for place in [0, 1, 4, 5] { session.subscribe(place) }
        for (number, place) in zip(UInt8(1)..., [4, 1, 5, 0]) {
            session.write(3, [number])
            session.notify(place, [number])
        }
        let lift = try session.lift()
        #expect(
            try Self.answers(lift) == [
                "- write: \"01\"", "- {notify: \"01\", on: \"2A57\"}", "- write: \"02\"",
                "- {notify: \"02\", on: \"2A19\"}",
            ]
        )
        let values = lift.peripheral.services.map { $0.characteristics.map(\.timetable.values) }
        #expect(values == [[[[4]], []], [[], [], [[3]]]])
    }
}

extension BluetoothAnswers.Rule {
    /// The rule as one that no file has.
    fileprivate init(withoutLine rule: Self) {
        self = rule
        line = 0
    }
}
