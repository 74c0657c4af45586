import Testing
import WakeDevices
import WakeModel

@testable import WakeCaptures

@Suite("Devices made of captures")
struct LiftTests {
    private static func lift(_ change: (inout Pace) -> Void = { _ in }) throws -> PeripheralLift {
        let reading = try Captures.reading("belt-central.btsnoop")
        var pace = Pace()
        change(&pace)
        return PeripheralLift(try #require(reading.devices.first), start: try #require(reading.first), pace: pace)
    }

    private static func stream(_ lift: PeripheralLift) throws -> Timetable {
        try #require(lift.peripheral.characteristic("2A37")).timetable
    }

    @Test("The file of a lifted device says the same when it is read")
    func text() throws {
        let lift = try Self.lift { $0.loops = true }
        let text = lift.peripheral.text(comments: lift.comments + ["a name\nof two lines \u{1b}[31m"])
        var read = try BluetoothPeripheral.parse(Array(text.utf8), file: "")
        for service in read.services.indices {
            for place in read.services[service].characteristics.indices {
                read.services[service].characteristics[place].line = 0
            }
        }
        #expect(read == lift.peripheral)
    }

    @Test("A speed divides every pause, and errors do not add up")
    func speed() throws {
        let plain = try Self.stream(try Self.lift())
        let fast = try Self.stream(try Self.lift { $0.speed = 3 })
        #expect(fast.values == plain.values)
        let (sum, fastSum) = (
            plain.pauses.reduce(0) { $0 + $1.nanoseconds }, fast.pauses.reduce(0) { $0 + $1.nanoseconds }
        )
        #expect(abs(fastSum - sum / 3) <= 1000)
        for (pause, fastPause) in zip(plain.pauses, fast.pauses) {
            #expect(abs(fastPause.nanoseconds - pause.nanoseconds / 3) <= 1000)
        }
    }

    @Test("Only what was notified between two moments is taken, and the first pause counts from the first of them")
    func part() throws {
        let told = try Notified.told("belt-central.btsnoop").filter { !$0.isIndication }
        let from = Instant.Span(nanoseconds: told[2].microseconds * 1000 - 5_000_000)
        let to = Instant.Span(nanoseconds: told[3].microseconds * 1000)
        let stream = try Self.stream(
            try Self.lift {
                $0.from = from
                $0.to = to
            }
        )
        #expect(stream.values == [told[2].value, told[3].value])
        #expect(stream.pauses.first == .milliseconds(5))
    }

    @Test("A longer pause is cut to the limit, and shorter ones stay")
    func gaps() throws {
        let plain = try Self.stream(try Self.lift())
        let cut = try Self.stream(try Self.lift { $0.gapLimit = .milliseconds(100) })
        #expect(plain.pauses.contains { $0 > .milliseconds(100) })
        #expect(cut.pauses == plain.pauses.map { min($0, .milliseconds(100)) })
    }

    @Test("A stream that loops begins again, and one that takes no time does not")
    func loops() throws {
        #expect(try Self.stream(try Self.lift()).repeats == false)
        #expect(try Self.stream(try Self.lift { $0.loops = true }).repeats)
        let atOnce = try Self.lift {
            $0.loops = true
            $0.gapLimit = .zero
        }
        #expect(try Self.stream(atOnce).repeats == false)
    }

    @Test("Only the wanted device's values are kept, and those of all are counted")
    func only() throws {
        let reading = CaptureReading(only: 1)
        var source = try CaptureBytes(file: Captures.folder + "belt-central.btsnoop")
        try reading.read(&source, .btsnoop)
        let device = try #require(reading.devices.first)
        #expect(device.notifications == 14)
        #expect(device.streams.values.allSatisfy { $0.kept == 0 })
    }

    @Test("A clock of subscriptions that is set back and forth comes to an end, and not beyond all times")
    func clocks() {
        let stream = CapturedStream()
        for round in 1...4 {
            stream.subscribe(at: -9_000_000_000_000_000_000, order: round)
            stream.unsubscribe(at: 100_000_000_000_000_000)
        }
        #expect(!stream.isSubscribed)
    }

    @Test("BTC-14: of the services that no app sees, Service Changed is in the file")
    func serviceChanged() throws {
        var session = HCISession()
        session.connect()
        session.discover("1801", [("2A05", 0x20), ("2B29", 0x0a)])
        session.notify(0, [10, 0, 31, 0], indicates: true)
        let lift = try session.lift()
        let services = lift.peripheral.services.map { ($0.uuid, $0.characteristics.map(\.uuid)) }
        #expect(services.map(\.0) == ["1801"])
        #expect(services.map(\.1) == [["2A05"]])
        #expect(lift.peripheral.services.first?.characteristics.first?.properties == .indicate)
        #expect(lift.notes.contains("Service Changed (2A05) told of a change of services; the file has none"))
    }

    @Test("What a capture shows of a table names the handles of the next")
    func twoFiles() throws {
        // Discovery stands before the first notification.
        let bytes = try Captures.bytes("belt-central.btsnoop")
        let offset = try #require(firstNotification(bytes))
        let halves = [Array(bytes.prefix(offset)), Array(bytes.prefix(16)) + Array(bytes.dropFirst(offset))]
        let reading = CaptureReading()
        for half in halves {
            var source = CaptureBytes(half, file: "half")
            try reading.read(&source, .btsnoop)
        }
        #expect(reading.recordCount == 289)
        #expect(reading.devices.first?.table == (try Captures.reading("belt-central.btsnoop")).devices.first?.table)
    }

    /// Where the record of the first notification begins.
    private func firstNotification(_ bytes: [UInt8]) -> Int? {
        var position = 16
        while position + 24 < bytes.count {
            let length = Int(bytes[position + 6]) << 8 + Int(bytes[position + 7])
            let packet = Array(bytes[position + 24..<position + 24 + length])
            if packet.count > 9, packet[0] == 2, packet[7] == 4, packet[9] == 0x1b { return position }
            position += 24 + length
        }
        return nil
    }
}
