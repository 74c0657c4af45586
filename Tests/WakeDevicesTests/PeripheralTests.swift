import Foundation
import Testing
import WakeDevices
import WakeModel

/// The folder of this package.
let packageFolder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

private let plain = """
    device: bluetooth-peripheral
    name: Belt
    address: "F0:11:22:33:44:55"
    advertising: {interval: 100ms, services: [180d], manufacturer-data: "4c 00 02", tx-power: 4}
    gatt:
      - service: 180D
        characteristics:
          - uuid: 2A37
            properties: [notify]
            stream: true
            notifications:
              - {after: 2s, values: ["0048", "0049"], every: 1s}
              - {after: 30s, counter: {from: 254, count: 3, every: 30s, width: 1, prefix: "01"}}
            descriptors: [{uuid: 2901, value: "41"}]
          - {uuid: 2A38, properties: [read, write], value: "01"}
    faults:
      - {name: late-ccc, late-subscribe-answer: 3s}
      - {name: drop, disconnect-after: 5}
    """

extension BluetoothPeripheral {
    /// The first characteristic of a UUID.
    func characteristic(_ uuid: String) -> Characteristic? {
        services.flatMap(\.characteristics).first { $0.uuid == uuid }
    }
}

extension Timetable {
    /// How many values there are before the end or the repetition.
    var count: Int { entries.reduce(0) { $0 + $1.values.count } }
}

private func parse(_ text: String) throws(FileError) -> BluetoothPeripheral {
    try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
}

@Suite("Device files")
struct PeripheralTests {
    @Test("A connection has an iPhone's first parameters, or those that the file asks for")
    func connection() throws {
        let usual = try parse(plain).connection
        #expect(usual.interval == .milliseconds(30))
        #expect(usual.latency == 0)
        #expect(usual.supervisionTimeout == .milliseconds(720))
        #expect(usual.phy == .twoMegabit)
        #expect(usual.dataLength == 251)
        let asked = try parse(
            plain + "\nconnection: {interval: 45ms, latency: 4, supervision-timeout: 2s, phy: 1M, data-length: 27}"
        ).connection
        #expect(asked.interval == .milliseconds(45))
        #expect(asked.latency == 4)
        #expect(asked.supervisionTimeout == .seconds(2))
        #expect(asked.phy == .oneMegabit)
        #expect(asked.dataLength == 27)
        #expect(try parse(plain + "\nconnection: {latency: 1}").connection.supervisionTimeout == .seconds(6))
    }

    @Test(
        "A connection that no iPhone grants is refused with what is wrong",
        arguments: [
            ("interval: 10ms", "'10ms'", "15ms to 2s"), ("interval: 16ms", "'16ms'", "a multiple of 5ms"),
            ("interval: 3s", "'3s'", "15ms to 2s"), ("latency: 31", "'31'", "0 to 30"),
            ("supervision-timeout: 1s", "'1s'", "2s to 18s"), ("supervision-timeout: 20s", "'20s'", "2s to 18s"),
            ("interval: 1s, latency: 6", "silent for 7s", "at most 6s"),
            ("interval: 500ms, latency: 3, supervision-timeout: 6s", "timeout of 6s", "6s here"),
            ("phy: coded", "unknown PHY 'coded'", "1M, 2M"), ("data-length: 26", "'26'", "27 to 251"),
            ("mtu: 185", "unknown key 'mtu'", "interval"),
        ]
    )
    func impossibleConnection(text: String, found: String, expected: String) throws {
        let error = #expect(throws: FileError.self) { try parse(plain + "\nconnection: {\(text)}") }
        let line = try #require(error).description
        #expect(line.hasPrefix("belt.yaml:"), "\(line)")
        #expect(line.contains(found), "\(line)")
        #expect(line.contains(expected), "\(line)")
    }

    @Test("A write command takes as many packets as its data length asks for, and each takes the air by its PHY")
    func packets() throws {
        var connection = BluetoothPeripheral.Connection()
        #expect(connection.packets(ofCommand: 20) == [27])
        #expect(connection.packets(ofCommand: 244) == [251])
        connection.dataLength = 27
        #expect(connection.packets(ofCommand: 20) == [27])
        #expect(connection.packets(ofCommand: 21) == [27, 1])
        // 11 bytes around the data at 4 us each, twice, and two pauses of 150 us.
        #expect(connection.exchange(27).nanoseconds == ((11 + 27) * 4 + 150 + 11 * 4 + 150) * 1_000)
        connection.phy = .oneMegabit
        #expect(connection.exchange(27).nanoseconds == ((10 + 27) * 8 + 150 + 10 * 8 + 150) * 1_000)
    }

    @Test("Faults change services and names")
    func changes() throws {
        let belt = try parse(
            plain + """

                  - name: update
                    change-services:
                      remove: [180D]
                      add: [{service: 180F, characteristics: [{uuid: 2A19, properties: [read], value: "5a"}]}]
                  - {name: gone, change-services: {remove: [180f]}}
                  - {name: renamed, change-name: Belt 2}
                """
        )
        let battery = try #require(belt.servicesToCome.first)
        #expect(battery.uuid == "180F")
        #expect(
            belt.faults.map(\.effect).suffix(3) == [
                .changeServices(.init(removed: ["180D"], added: [battery])), .changeServices(.init(removed: ["180F"])),
                .changeName("Belt 2"),
            ]
        )
    }

    @Test(
        "A change of services that means nothing is refused",
        arguments: [
            ("{remove: [1810]}", "fault 'odd' removes 1810, which the device has not"),
            ("{}", "a change of no service"),
        ]
    )
    func oddChanges(text: String, found: String) throws {
        let error = #expect(throws: FileError.self) { try parse(plain + "\n  - {name: odd, change-services: \(text)}") }
        let line = try #require(error).description
        #expect(line.contains(found), "\(line)")
    }

    @Test("A device file is read whole")
    func reads() throws {
        let belt = try parse(plain)
        #expect(belt.name == "Belt")
        #expect(belt.addressText == "F0:11:22:33:44:55")
        #expect(belt.advertising.interval == .milliseconds(100))
        #expect(belt.advertising.services == ["180D"])
        #expect(belt.advertising.manufacturerData == [0x4c, 0, 2])
        #expect(belt.advertising.txPower == 4)
        #expect(belt.advertising.connectable)
        let rate = try #require(belt.characteristic("2A37"))
        #expect(rate.properties == .notify)
        #expect(rate.stream)
        #expect(rate.descriptors.map(\.uuid) == ["2901"])
        #expect(rate.descriptors.map(\.value) == [[0x41]])
        #expect(belt.characteristic("2A38")?.properties == [.read, .write])
        #expect(belt.characteristic("2A38")?.value == [1])
        #expect(belt.faults.map(\.effect) == [.lateSubscribeAnswer(.seconds(3)), .disconnectAfter(5)])
    }

    @Test("A timetable gives its values with the pauses before them, and wraps its counter")
    func timetable() throws {
        let timetable = try #require(try parse(plain).characteristic("2A37")).timetable
        var place = Timetable.Position()
        var played: [String] = []
        while let pause = timetable.pause(before: place), let value = timetable.take(&place) {
            played.append("\(pause.milliseconds) \(value)")
        }
        #expect(
            played == ["2000 [0, 72]", "1000 [0, 73]", "30000 [1, 254]", "30000 [1, 255]", "30000 [1, 0]"]
        )
        #expect(timetable.take(&place) == nil)
        #expect(timetable.count == 5)
    }

    @Test(
        "A wrong device file is one line with its place and what was expected",
        arguments: [
            ("device: bluetooth-peripheral", "device: toaster", "belt.yaml:1: unknown kind of device 'toaster'"),
            ("name: Belt", "nane: Belt", "belt.yaml:2: unknown key 'nane' in a device; expected 'name'"),
            ("\"F0:11:22:33:44:55\"", "F0:11:22:33:44", "belt.yaml:3: 'F0:11:22:33:44'; expected an address"),
            ("interval: 100ms", "interval: soon", "belt.yaml:4: 'soon'; expected a time such as 250ms"),
            ("interval: 100ms", "interval: 1ms", "from 20ms to 1h"),
            ("[180d]", "[180x]", "belt.yaml:4: '180x'; expected a UUID"),
            ("[180d]", "180d", "belt.yaml:4: '180d'; expected a list of UUIDs"),
            ("tx-power: 4", "tx-power: 40", "a whole number from -127 to 20"),
            ("- service: 180D", "- services: 180D", "unknown key 'services' in a service; expected 'service'"),
            ("properties: [notify]", "properties: [notfy]", "belt.yaml:9: unknown property 'notfy'; expected 'notify'"),
            ("properties: [notify]", "properties: [read]", "one of the two among its properties"),
            ("        properties: [notify]\n", "", "a characteristic without 'properties'"),
            ("\"0048\"", "\"004\"", "belt.yaml:12: '004'; expected pairs of hexadecimal digits"),
            (", every: 1s}", "}", "several values without 'every'"),
            ("every: 30s, width: 1", "every: 0, width: 1", "a time longer than 0"),
            ("width: 1", "width: 3", "expected 1, 2 or 4"),
            ("{uuid: 2901, value: \"41\"}", "{uuid: 2902}", "none: notify and indicate bring it"),
            ("name: drop", "name: late-ccc", "belt.yaml:18: a second fault 'late-ccc'"),
            ("disconnect-after: 5", "disconnect-after: 0", "a whole number from 1 to 1000000"),
            ("disconnect-after: 5", "explode: 5", "unknown key 'explode' in a fault"),
            (", disconnect-after: 5", "", "a fault without an effect"),
            (
                "        stream: true\n", "        repeat: true\n        notifications: []\n",
                "a second key 'notifications'"
            ),
        ]
    )
    func wrong(what: String, with replacement: String, part: String) throws {
        let text = plain.replacing(what, with: replacement, maxReplacements: 1)
        try #require(text != plain)
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
    }

    @Test("A repetition that takes no time is refused")
    func endless() {
        let text = plain.replacing("stream: true", with: "repeat: true").replacing("after: 2s, ", with: "")
            .replacing(", \"0049\"], every: 1s", with: "], every: 1s")
            .replacing(
                "          - {after: 30s, counter: {from: 254, count: 3, every: 30s, width: 1, prefix: \"01\"}}\n",
                with: ""
            )
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error?.found == "a repetition that takes no time")
    }

    @Test("A missing file is one line")
    func missing() {
        let error = #expect(throws: FileError.self) { try BluetoothPeripheral.load(file: "/nowhere/belt.yaml") }
        #expect(
            error.map { "\($0)" } == "/nowhere/belt.yaml: no such file; expected a readable file"
        )
    }

    @Test("A device file cut at each byte never crashes, and what is read of it is a beginning")
    func cut() throws {
        let bytes = Array(plain.utf8)
        let whole = try parse(plain)
        for length in bytes.indices {
            if let cut = try? BluetoothPeripheral.parse(Array(bytes[..<length]), file: "belt.yaml") {
                #expect(cut.address == whole.address)
            }
        }
    }

    @Test("A scrambled device file never crashes", arguments: 1...4)
    func scrambled(seed: UInt64) {
        let bytes = Array(plain.utf8)
        var random = Scrambler(seed: seed)
        for _ in 0..<1500 {
            damaged(random.scramble(bytes), of: "belt.yaml") { try BluetoothPeripheral.parse($0, file: $1) }
        }
    }

    @Test("Every shipped device file is read")
    func shipped() throws {
        let folder = packageFolder + "/Devices/Bluetooth"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
        #expect(!names.isEmpty)
        for name in names { _ = try DeviceFile.load(file: folder + "/" + name) }
    }
}

/// What is read of a file that was cut or scrambled. A refusal names it, and a line that so many bytes may have.
@discardableResult
func damaged<Value>(_ bytes: [UInt8], of file: String, _ read: ([UInt8], String) throws -> Value) -> Value? {
    do {
        return try read(bytes, file)
    } catch {
        let refusal = error as? FileError
        #expect(refusal?.file == file && (1...bytes.count + 1).contains(refusal?.line ?? 0), "\(error)")
        return nil
    }
}

/// Changes bytes of a text: some set at random, some taken from elsewhere in it, some taken out.
struct Scrambler {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func scramble(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...below(6) {
            let place = below(bytes.count)
            switch below(4) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: below(256))
            case 1: bytes[place] = bytes[below(bytes.count)]
            case 2: bytes.remove(at: place)
            default:
                bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + below(40))], at: below(bytes.count))
            }
        }
        return bytes
    }
}
