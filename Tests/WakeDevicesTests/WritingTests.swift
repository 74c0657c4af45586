import Testing
import WakeModel

@testable import WakeDevices

@Suite("Device files that are written")
struct WritingTests {
    @Test("A peripheral that is written and read again is the same", arguments: 0..<200)
    func peripheral(seed: UInt64) throws {
        var chance = DeviceChance(state: seed &* 0x9e37_79b9)
        let device = chance.peripheral()
        let text = device.text(comments: ["seed \(seed)"])
        var read = try BluetoothPeripheral.parse(Array(text.utf8), file: "")
        read.forgetLines()
        #expect(read == device, "\(text)")
        #expect(read.text(comments: ["seed \(seed)"]) == text)
    }

    @Test(
        "An accessory that is written and read again is the same",
        arguments: ["rfcomm-printer", "hid-scanner", "serial-dock"]
    )
    func accessory(name: String) throws {
        let folder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        var device = try ExternalAccessory.load(file: "\(folder)/Devices/Accessory/\(name).yaml")
        let text = device.text(comments: ["as it was shipped"])
        var read = try ExternalAccessory.parse(Array(text.utf8), file: "")
        device.file = ""
        for index in device.protocols.indices { (device.protocols[index].line, read.protocols[index].line) = (0, 0) }
        #expect(read == device, "\(text)")
    }

    @Test("Answers to just these bytes are written as they are read, and other rules are left out")
    func answers() throws {
        var device = BluetoothPeripheral(name: nil, address: [0xf0, 0, 0, 0, 0, 1])
        device.services = [.init("180D", primary: true), .init("1815", primary: true)]
        device.services[0].characteristics = [.init("2A37", .notify)]
        device.services[1].characteristics = [.init("2A56", [.write, .indicate]), .init("2A57", .notify)]
        let rules: [BluetoothAnswers.Rule] = [
            .init(
                to: [0x04, 0xff],
                [
                    .init(after: .milliseconds(1_500), send: [0, 1], on: 2, isIndication: false),
                    .init(after: .zero, send: [], on: 0, isIndication: false),
                    .init(after: Instant.Span(nanoseconds: 2_500_000), send: [5], on: 1, isIndication: true),
                ]
            ),
            .init(to: [7], [.init(error: 0x80)]),
        ]
        device.answers.rules = [[], rules, []]
        let text = device.text()
        var read = try BluetoothPeripheral.parse(Array(text.utf8), file: "")
        read.forgetLines()
        #expect(read == device, "\(text)")
        #expect(text.contains("- {notify: \"0001\", on: \"2A57\", after: 1s500ms}"))
        #expect(text.contains("- {error: 0x80}"))
        // A rule of a file that says more.
        let open = try BluetoothPeripheral.parse(
            Array(text.replacing("\"04ff\"", with: "\"04 *\"").utf8),
            file: ""
        )
        let rest = open.text()
        #expect(!rest.contains("after: 1s500ms") && rest.contains("- {error: 0x80}"))
    }

    @Test("What an accessory sends is written as text where it is text, and else as its bytes")
    func textAndBytes() throws {
        let values: [[UInt8]] = [
            Array("a\r\n\t\"\\é".utf8), [0xff, 0], [0x1b], [], [UInt8](repeating: 0x41, count: 512),
        ]
        var timetable = Timetable()
        timetable.entries = values.map { Timetable.Entry(after: .seconds(1), every: .zero, values: .list([$0])) }
        let script = ExternalAccessory.Script(
            timetable,
            [.init([0x10, 0x04, 1], timetable), .init([0x41, 0x0a], timetable)]
        )
        var device = ExternalAccessory("Port", .usb(1, 2))
        device.protocols = [.init("com.example.port", .tty(interface: 0), script)]
        let text = device.text()
        let read = try ExternalAccessory.parse(Array(text.utf8), file: "")
        #expect(read.protocols[0].script == script, "\(text)")
        #expect(text.contains("text: [\"a\\r\\n\\t\\\"\\\\é\"]"))
        #expect(text.contains("- hex: \"100401\"") && text.contains("- text: \"A\\n\""))
    }

    @Test(
        "A message of a server is read as it was written",
        arguments: [
            "A\n\n", "A", "A\nB", " A\n", "\nA", "A\n\n\n", "A\tB: #\n--- \n", "A\u{1}\r\n", "A\u{2028}B\n", "- A: |\n",
        ]
    )
    func message(text: String) throws {
        var server = CallServer()
        server.plan = [.send(text), .await("A"), .pause(.seconds(1)), .send(text), .close]
        server.answers = [.init(to: "B", text), .init(to: "C", text)]
        server.faults = [.init(name: "says", effect: .send(text)), .init(name: "ends", effect: .reset)]
        let written = server.text()
        #expect(try CallServer.parse(Array(written.utf8), file: "") == server, "\(written)")
    }

    @Test("A recorded stream says the same as an entry for each value")
    func recorded() throws {
        func timetable(_ notifications: String) throws -> Timetable {
            let text = """
                device: bluetooth-peripheral
                address: "F0:11:22:33:44:55"
                gatt:
                  - service: 180D
                    characteristics:
                      - uuid: 2A37
                        properties: [notify]
                        notifications:
                \(notifications)
                """
            let device = try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
            return device.services[0].characteristics[0].timetable
        }
        let short = try timetable(
            """
                      - recorded: |
                          1s2.003ms 0048
                          0 -
                          250ms 00 49
                      - {after: 2s, values: ["0050"]}
            """.replacing("00 49", with: "0049")
        )
        let long = try timetable(
            """
                      - {after: 1s2.003ms, values: ["0048"]}
                      - {values: [""]}
                      - {after: 250ms, values: ["0049"]}
                      - {after: 2s, values: ["0050"]}
            """
        )
        #expect(short == long)
    }

    @Test(
        "A line of a recording that is none is named, with its number",
        arguments: ["0048", "1s 004", "1 0048", "1s 0048 1", "soon 0048", "1s zz"]
    )
    func badRecording(line: String) throws {
        let text = """
            device: bluetooth-peripheral
            address: "F0:11:22:33:44:55"
            gatt:
              - service: 180D
                characteristics:
                  - uuid: 2A37
                    properties: [notify]
                    notifications:
                      - recorded: |
                          1s 0048
                          \(line)
            """
        let error = #expect(throws: FileError.self) {
            try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
        }
        #expect(error?.line == 11)
        #expect(error?.found == "'\(line)'")
    }
}

extension BluetoothPeripheral {
    /// Without the places in its file.
    fileprivate mutating func forgetLines() {
        file = ""
        for place in answers.rules.indices {
            for rule in answers.rules[place].indices { answers.rules[place][rule].line = 0 }
        }
        for service in services.indices {
            for place in services[service].characteristics.indices { services[service].characteristics[place].line = 0 }
        }
        for channel in channels.indices { channels[channel].line = 0 }
    }
}

/// Devices by chance, the same for the same seed.
private struct DeviceChance {
    var state: UInt64

    mutating func number(_ bound: Int) -> Int { Int(Mixing.next(&state) % UInt64(bound)) }
    mutating func often() -> Bool { number(2) == 0 }
    mutating func bytes(_ most: Int) -> [UInt8] { (0..<number(most + 1)).map { _ in UInt8(number(256)) } }
    mutating func list<Value>(_ most: Int, _ make: (inout Self) -> Value) -> [Value] {
        (0..<number(most + 1)).map { _ in make(&self) }
    }

    mutating func span(least: Int64 = 0) -> Instant.Span {
        Instant.Span(nanoseconds: (Int64(number(1_000_000_000)) + least) * 1000)
    }

    mutating func uuid() -> String {
        let short = UInt16(number(65_536)).hexadecimal.uppercased()
        if short != "2902", often() { return short }
        return "\(UInt32(number(1 << 32)).hexadecimal)-1234-5678-9abc-def012345678".uppercased()
    }

    /// Names as no decent device has them.
    mutating func name() -> String {
        let odd: [Unicode.Scalar] = [
            "a", "B", "é", "水", "\"", "\\", "'", ":", "#", "-", " ", "\n", "\t", "\0", "\u{1b}", "\u{7f}", "\u{85}",
            "\u{202e}",
            "\u{feff}", "\u{2028}", "\u{1F600}", "\u{10FFFF}", "{", "}", "%", "&", "*", "!", "|", ">", "@", "`",
        ]
        var name = String.UnicodeScalarView()
        for _ in 0...number(12) { name.append(odd[number(odd.count)]) }
        return String(name)
    }

    mutating func timetable() -> Timetable {
        var timetable = Timetable()
        timetable.entries = list(6) { chance in
            if chance.number(5) == 0 {
                let counter = Timetable.Counter(
                    from: UInt32(chance.number(1 << 32)),
                    count: 1 + chance.number(1000),
                    width: [1, 2, 4][chance.number(3)],
                    prefix: chance.bytes(4)
                )
                return Timetable.Entry(after: chance.span(), every: chance.span(least: 1), values: .counter(counter))
            }
            let values = [chance.bytes(20)] + chance.list(2) { $0.bytes(20) }
            let every = values.count > 1 || chance.number(4) == 0 ? chance.span(least: 1) : .zero
            return Timetable.Entry(after: chance.often() ? .zero : chance.span(), every: every, values: .list(values))
        }
        timetable.repeats = timetable.takesTime && often()
        return timetable
    }

    mutating func characteristic() -> BluetoothPeripheral.Characteristic {
        var made = BluetoothPeripheral.Characteristic(uuid(), CharacteristicProperties(rawValue: UInt16(number(256))))
        made.stream = often()
        made.value = bytes(40)
        made.security = BluetoothPeripheral.Security.allCases[number(3)]
        if made.properties.canNotify { made.timetable = timetable() }
        made.descriptors = list(3) { BluetoothPeripheral.Descriptor($0.uuid(), $0.bytes(8)) }
        return made
    }

    mutating func effect() -> BluetoothPeripheral.Effect {
        switch number(8) {
        case 0: .lateSubscribeAnswer(span(least: 1))
        case 1: .disconnectAfter(1 + number(1000))
        case 2: .staleHandles(1 + number(1000))
        case 3: .noAnswer(span(least: 1))
        case 4: .holdNotifications(span(least: 1))
        case 5: .closeChannelAfter(1 + number(1000))
        case 6: .refuseChannels
        default: .cutValues(number(513))
        }
    }

    mutating func peripheral() -> BluetoothPeripheral {
        var device = BluetoothPeripheral(name: often() ? name() : nil, address: (0..<6).map { _ in UInt8(number(256)) })
        device.advertising.interval = .milliseconds(20 + Int64(number(100_000)))
        device.advertising.services = list(3) { $0.uuid() }
        device.advertising.manufacturerData = often() ? bytes(20) : nil
        device.advertising.serviceData = list(2) { Advertisement.ServiceData(service: $0.uuid(), data: $0.bytes(8)) }
        device.advertising.connectable = often()
        device.advertising.whileConnected = often()
        device.advertising.txPower = often() ? Int16(number(148) - 127) : nil
        device.advertising.signalStrength = Int16(number(148) - 127)
        device.services = list(3) { chance in
            var service = BluetoothPeripheral.Service(chance.uuid(), primary: chance.often())
            service.characteristics = chance.list(3) { $0.characteristic() }
            return service
        }
        for place in 0..<number(3) {
            let security = BluetoothPeripheral.Security.allCases[number(3)]
            device.channels.append(
                BluetoothPeripheral.Channel(
                    psm: UInt16(128 + place),
                    echo: often(),
                    security: security,
                    timetable: timetable(),
                    line: 0
                )
            )
        }
        device.pairing = [.justWorks, .numeric, .passkey(UInt32(number(1_000_000))), .reject][number(4)]
        for place in 0..<number(4) { device.faults.append(DeviceFault("\(place) \(name())", effect())) }
        return device
    }
}
