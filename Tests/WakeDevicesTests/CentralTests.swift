import Testing
import WakeDevices
import WakeModel

private let plain = """
    device: bluetooth-central
    name: Reader
    address: "F0:AA:00:00:00:01"
    mtu: 100
    interval: 15ms
    overflow: false
    script:
      - wait: 2s
      - {connect: 180d, within: 30s}
      - discover
      - read: 2A38
      - {write: 2A39, value: "01 02"}
      - {write: 2A39, value: "03", how: prepared}
      - {subscribe: 2A37, indications: true}
      - {await: 2A37, count: 3, within: 10s}
      - unsubscribe: 2A37
      - disconnect
    repeat: true
    faults:
      - {name: mute, never-confirm: true}
      - {name: slow, slow-reader: 500ms}
      - {name: drop, disconnect-after: 4}
    """

private func parse(_ text: String) throws(FileError) -> BluetoothCentral {
    try BluetoothCentral.parse(Array(text.utf8), file: "reader.yaml")
}

@Suite("Device files of centrals")
struct CentralTests {
    @Test("A device file is read whole")
    func reads() throws {
        let central = try parse(plain)
        #expect(central.name == "Reader")
        #expect(central.addressText == "F0:AA:00:00:00:01")
        #expect(central.mtu == 100)
        #expect(central.interval == .milliseconds(15))
        #expect(!central.readsOverflow)
        #expect(
            central.script.map(\.action) == [
                .wait(.seconds(2)), .connect(service: "180D", within: .seconds(30)), .discover, .read("2A38"),
                .write("2A39", [1, 2], .request), .write("2A39", [3], .prepared),
                .subscribe("2A37", indications: true), .awaitValues("2A37", count: 3, within: .seconds(10)),
                .unsubscribe("2A37"), .disconnect,
            ]
        )
        #expect(central.script.map(\.line) == Array(8...17))
        #expect(central.repeats)
        #expect(
            central.faults.map(\.effect) == [.neverConfirm, .slowReader(.milliseconds(500)), .disconnectAfter(4)]
        )
    }

    @Test("A step opens a channel for an exchange")
    func exchange() throws {
        let text = plain.replacing("- discover", with: "- {exchange: 128, value: \"0102\", within: 10s}")
        let central = try parse(text)
        #expect(central.script[2].action == .exchange(psm: 128, [1, 2], within: .seconds(10)))
    }

    @Test("What a file leaves out has its usual value")
    func usual() throws {
        let central = try parse("{device: bluetooth-central, address: \"F0:AA:00:00:00:01\", script: []}")
        #expect(central.name == nil)
        #expect(central.mtu == 185)
        #expect(central.interval == .milliseconds(30))
        #expect(!central.repeats)
    }

    @Test(
        "A wrong device file is one line with its place and what was expected",
        arguments: [
            ("bluetooth-central", "toaster", "reader.yaml:1: unknown kind of device 'toaster'"),
            ("mtu: 100", "mtu: 22", "reader.yaml:4: '22'; expected a whole number from 23 to 517"),
            ("interval: 15ms", "interval: 5ms", "reader.yaml:5: '5ms'; expected a connection interval from 8ms to 4s"),
            ("- discover", "- explode", "reader.yaml:10: unknown step 'explode'"),
            ("- discover", "- read", "unknown step 'read'; expected"),
            ("- discover", "- discover: 180D", "'discover' with a value; expected '- discover'"),
            ("- read: 2A38", "- {read: 2A38, write: 2A39}", "'write' beside 'read' in a step"),
            ("- read: 2A38", "- {read: 2A38, value: \"01\"}", "'value' beside 'read' in a step"),
            ("- read: 2A38", "- reed: 2A38", "unknown key 'reed' in a step; expected 'read'"),
            ("value: \"01 02\"", "how: request", "reader.yaml:12: a step without 'value'"),
            ("how: prepared", "how: quickly", "unknown way to write 'quickly'; expected one of request, command"),
            ("count: 3", "count: 0", "a whole number from 1 to 1000000"),
            ("- wait: 2s", "- read: 2A38", "reader.yaml:8: 'read' without a link; expected 'connect' before it"),
            ("- discover", "- connect: 180D", "'connect' on a link that is up; expected 'disconnect' before it"),
            ("  - disconnect\n", "", "a repetition that begins with a link; expected 'disconnect' at the end"),
            ("never-confirm: true", "never-confirm: false", "true, or no such fault"),
            ("name: slow", "name: mute", "reader.yaml:21: a second fault 'mute'"),
            ("slow-reader: 500ms", "slow-reader: 0", "a time longer than 0"),
        ]
    )
    func wrong(what: String, with replacement: String, part: String) throws {
        let text = plain.replacing(what, with: replacement, maxReplacements: 1)
        try #require(text != plain)
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
    }

    @Test("A repetition that takes no time is refused", arguments: ["[]", "[wait: 0]"])
    func endless(script: String) {
        let text = "{device: bluetooth-central, address: \"F0:AA:00:00:00:01\", script: \(script), repeat: true}"
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error?.found == "a repetition that takes no time")
    }

    @Test("A device file cut at each byte, or scrambled, never crashes")
    func cut() throws {
        let bytes = Array(plain.utf8)
        var random = Scrambler(seed: 5)
        let cut = bytes.indices.map { Array(bytes[..<$0]) }
        let scrambled = (0..<1500).map { _ in random.scramble(bytes) }
        for other in cut + scrambled { damaged(other, of: "reader.yaml") { try BluetoothCentral.parse($0, file: $1) } }
    }
}
