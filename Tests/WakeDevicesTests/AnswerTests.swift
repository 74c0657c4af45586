import Foundation
import Testing
import WakeModel

@testable import WakeDevices

private let lamp = """
    device: bluetooth-peripheral
    address: "F0:11:22:33:44:66"
    states: [free, held]
    variables: {count: 3}
    records: {log: ["01", "02"]}
    gatt:
      - service: 1815
        characteristics:
          - uuid: 2A56
            properties: [write, notify]
            answers:
              - write: "01 0? *"
                if: {state: free, count: {from: 1}}
                do: [{state: held}, {notify: "aa", after: 2s}]
              - {write: any, do: [{error: value-not-allowed}]}
          - {uuid: 2A57, properties: [read]}
    """

private func parse(_ text: String) throws(FileError) -> BluetoothPeripheral {
    try BluetoothPeripheral.parse(Array(text.utf8), file: "lamp.yaml")
}

/// A device under test, whose clients are subscribed to everything.
private struct Player {
    var machine: BluetoothAnswerMachine
    var now = Instant.zero

    init(_ actions: String, mtu: Int = 185) throws {
        let text = """
            device: bluetooth-peripheral
            address: "F0:11:22:33:44:66"
            states: [free, held]
            variables: {n: 258, sum: 0}
            records: {log: {number: {at: 0, width: 1}, values: ["01aa", "03bb", "02cc"]}}
            gatt:
              - service: 1815
                characteristics:
                  - uuid: 2A56
                    properties: [read, write, notify, indicate]
                    answers:
                      - \(actions)
            """
        machine = BluetoothAnswerMachine(try parse(text).answers, mtu: mtu)
    }

    /// What a write brings at once, and then until nothing is under way any more.
    mutating func write(_ value: [UInt8]) -> (error: UInt8?, effects: [String]) {
        let reply = machine.answer(.write(value), of: 0, at: now) { _ in true }
        var effects = reply.effects.map(\.text)
        while let due = machine.nextDue {
            effects += machine.advance(to: due) { _ in true }.map { effect in
                due > now ? "\(due.since(now).milliseconds) ms: \(effect.text)" : effect.text
            }
        }
        return (reply.error, effects)
    }
}

@Suite("What devices answer")
struct AnswerTests {
    @Test(
        "A value is made of bytes, pieces of the request, numbers, lengths and checksums",
        arguments: [
            ("\"0102\"", "0102"), ("{request: 1}", "3233343536373839"), ("{request: 7, count: 9}", "3839"),
            ("{request: 20}", ""), ("{variable: n}", "02"), ("{variable: n, width: 2}", "0201"),
            ("{variable: n, width: 3, order: big}", "000102"), ("[{length: after}, {request: 6}]", "03373839"),
            ("[\"aabb\", {length: before, width: 2}]", "aabb0200"), ("{length: {request: 0}}", "09"),
            ("{crc: crc-16-ccitt, of: {request: 0}, order: big}", "29b1"),
            ("{crc: crc-16-mcrf4xx, of: {request: 0}, order: big}", "6f91"),
            ("{crc: crc-32, of: {request: 0}, order: big}", "cbf43926"),
            ("[{request: 0}, {crc: crc-32}]", "3132333435363738392639f4cb"),
        ]
    )
    func values(_ value: String, made: String) throws {
        var player = try Player("{write: any, do: [{notify: \(value)}]}")
        #expect(player.write(Array("123456789".utf8)).effects == ["notify 0 \(made)"])
    }

    @Test("A checksum goes on from a variable as if the bytes had come at once")
    func continues() throws {
        let sum = "{variable: sum, to: {crc: crc-32, of: {request: 0}, continues: sum}}"
        var player = try Player("{write: any, do: [\(sum), {notify: {variable: sum, width: 4, order: big}}]}")
        _ = player.write(Array("1234".utf8))
        #expect(player.write(Array("56789".utf8)).effects == ["notify 0 cbf43926"])
    }

    @Test("Several things are done in order, each after its pause")
    func order() throws {
        var player = try Player(
            "{write: any, do: [{notify: \"01\"}, {indicate: \"02\", after: 1s}, {set: \"03\", after: 500ms}, {notify: \"04\"}]}"
        )
        let came = ["notify 0 01", "1000 ms: indicate 0 02", "1500 ms: set 0 03", "1500 ms: notify 0 04"]
        #expect(player.write([1]).effects == came)
    }

    @Test("What is set before anything is sent counts at once, and what is sent comes after the response")
    func reply() throws {
        var player = try Player("{write: any, do: [{set: \"01\"}, {notify: \"02\"}, {set: \"03\"}]}")
        let reply = player.machine.answer(.write([1]), of: 0, at: .zero) { _ in true }
        #expect(reply.effects.map(\.text) == ["set 0 01"])
        #expect(player.machine.nextDue == .zero)
        #expect(player.machine.advance(to: .zero) { _ in true }.map(\.text) == ["notify 0 02", "set 0 03"])
    }

    @Test("An error ends the answer, and what stands before it is done")
    func error() throws {
        var player = try Player("{write: any, do: [{variable: n, add: -258}, {error: \"0x80\"}, {notify: \"01\"}]}")
        let first = player.write([1])
        #expect(first.error == 0x80)
        #expect(first.effects.isEmpty)
        #expect(player.machine.memory.variables == [0, 0])
    }

    @Test("A value longer than the MTU is sent in pieces where the file says so")
    func fragments() throws {
        var pieces = try Player("{write: any, do: [{notify: {request: 0}, fragments: true, every: 10ms}]}", mtu: 23)
        let long = [UInt8](repeating: 7, count: 45)
        let made = pieces.write(long).effects.map { $0.split(separator: " ").last?.utf8.count }
        #expect(made == [40, 40, 10])
        var whole = try Player("{write: any, do: [{notify: {request: 0}}]}", mtu: 23)
        #expect(whole.write(long).effects.count == 1)
    }

    @Test(
        "Records are chosen by number, or the first or last of those left",
        arguments: [
            ("", ["01aa", "03bb", "02cc"]), (", from: 2", ["03bb", "02cc"]), (", to: 2", ["01aa", "02cc"]),
            (", from: 2, to: 2", ["02cc"]), (", pick: first", ["01aa"]), (", pick: last", ["02cc"]),
            (", from: 2, pick: first", ["03bb"]), (", from: 9", []),
        ]
    )
    func records(_ selection: String, chosen: [String]) throws {
        var player = try Player("{write: any, do: [{report: log\(selection)}, {delete: log\(selection)}]}")
        #expect(player.write([1]).effects == chosen.map { "notify 0 \($0)" })
        let gone = player.machine.memory.records[0].count
        #expect(gone == 3 - chosen.count)
    }

    @Test("A state belongs to the link, a variable and a record to the device")
    func link() throws {
        var player = try Player(
            "{write: any, do: [{state: held}, {variable: n, to: 9}, {delete: log, pick: first}, {notify: \"01\", after: 1s}]}"
        )
        _ = player.machine.answer(.write([1]), of: 0, at: .zero) { _ in true }
        #expect(player.machine.memory.state == 1)
        player.machine.linkGone()
        #expect(player.machine.memory.state == 0)
        #expect(player.machine.memory.variables.first == 9)
        #expect(player.machine.memory.records == [[1, 2]])
        #expect(player.machine.nextDue == nil, "what was under way is given up")
    }

    @Test("More than 64 answers under way fail for lack of resources")
    func bounded() throws {
        var player = try Player("{write: any, do: [{notify: \"01\", after: 1s}]}")
        let errors = (0..<70).map { _ in player.machine.answer(.write([1]), of: 0, at: .zero) { _ in true }.error }
        #expect(errors == Array(repeating: nil, count: 64) + Array(repeating: 0x11, count: 6))
    }

    @Test("What a machine knows goes through a snapshot and goes on the same")
    func snapshot() throws {
        let file = Self.folder.appending(path: "everything.yaml")
        let device = try BluetoothPeripheral.parse([UInt8](Data(contentsOf: file)), file: "everything.yaml")
        var machine = BluetoothAnswerMachine(device.answers, mtu: device.mtu)
        _ = machine.answer(.write([0x10, 0x0f] + Array(0..<60)), of: 0, at: .zero) { _ in true }
        _ = machine.advance(to: .zero.advanced(by: .milliseconds(55))) { _ in true }
        var again = BluetoothAnswerMachine(device.answers, mtu: device.mtu)
        again.memory = try JSONDecoder().decode(
            BluetoothAnswerMachine.Memory.self,
            from: try JSONEncoder().encode(machine.memory)
        )
        #expect(machine.nextDue != nil)
        #expect(again.isConsistent)
        let end = Instant.zero.advanced(by: .seconds(9))
        #expect(again.advance(to: end) { _ in true } == machine.advance(to: end) { _ in true })
    }

    @Test("What is kept of another device is known as such")
    func foreign() throws {
        let player = try Player("{write: any, do: [{report: log, every: 1s}]}")
        func spoilt(_ change: (inout BluetoothAnswerMachine.Memory) -> Void) -> Bool {
            var machine = player.machine
            _ = machine.answer(.write([1]), of: 0, at: .zero) { _ in true }
            _ = machine.advance(to: .zero) { _ in true }
            change(&machine.memory)
            return machine.isConsistent
        }
        #expect(spoilt { _ in })
        #expect(!spoilt { $0.state = 2 })
        #expect(!spoilt { $0.variables.removeLast() })
        #expect(!spoilt { $0.records[0].append(3) })
        #expect(!spoilt { $0.records.removeAll() })
        #expect(!spoilt { $0.runs[0].characteristic = 1 })
        #expect(!spoilt { $0.runs[0].rule = -1 })
        #expect(!spoilt { $0.runs[0].action = 1 })
        #expect(!spoilt { $0.runs[0].records = [7] })
    }

    @Test(
        "A wrong answer is one line with its place and what was expected",
        arguments: [
            ("write: \"01 0? *\"", "wrte: any", "lamp.yaml:12: unknown key 'wrte' in an answer; expected 'write'"),
            ("\"01 0? *\"", "\"01 0\"", "lamp.yaml:12: '01 0'; expected bytes such as"),
            ("\"01 0? *\"", "\"* 01\"", "expected bytes such as"),
            ("{state: free, ", "{state: fre, ", "lamp.yaml:13: unknown state 'fre'; expected 'free'"),
            (
                "count: {from: 1}", "cuont: {from: 1}",
                "lamp.yaml:13: unknown key 'cuont' in conditions; expected 'count'"
            ),
            ("count: {from: 1}", "count: {from: 2, to: 1}", "a whole number from 2 to 4294967295"),
            ("{state: held}", "{}", "lamp.yaml:14: a thing to do without what to do"),
            ("{state: held}", "{state: held, on: 2A56}", "'on' beside 'state' in a thing to do"),
            ("{state: held}", "{notfy: \"00\"}", "unknown key 'notfy' in a thing to do; expected 'notify'"),
            ("{state: held}", "{indicate: \"00\"}", "'indicate' on 2A56, which does not"),
            ("{state: held}", "{notify: \"00\", on: 2A57}", "'notify' on 2A57, which does not"),
            ("{state: held}", "{notify: \"00\", on: 2A58}", "unknown characteristic 2A58; expected '2A56'"),
            ("{state: held}", "{report: lgo}", "unknown list of records 'lgo'; expected 'log'"),
            ("{state: held}", "{variable: count}", "a thing to do without its value"),
            ("{state: held}", "{notify: {variable: cnt}}", "unknown variable 'cnt'; expected 'count'"),
            ("{state: held}", "{notify: {crc: crc32}}", "unknown checksum 'crc32'; expected 'crc-32'"),
            ("{state: held}", "{notify: {crc: crc-32, of: after}}", "expected before, or a value"),
            ("{state: held}", "{variable: count, to: {length: after}}", "there is nothing around it"),
            ("{state: held}", "{variable: count, to: {request: 0}}", "a part of a value without 'count'"),
            ("{notify: \"aa\", after: 2s}", "{notify: \"aa\"}, {error: 0x80}", "'error' after what is sent"),
            ("{notify: \"aa\", after: 2s}", "{state: free, after: 2s}, {error: 0x80}", "'error' after a pause"),
            (
                "value-not-allowed", "value-not-alowed",
                "unknown ATT error 'value-not-alowed'; expected 'value-not-allowed'"
            ),
            ("value-not-allowed", "0x100", "a code from 0x01 to 0xff"),
            ("states: [free, held]", "states: [free, free]", "a second state 'free'"),
            ("{count: 3}", "{state: 3}", "which is a condition's word"),
            ("{log: [\"01\", \"02\"]}", "{log: {number: {at: 0}, values: [\"01\"]}}", "its number at byte 0"),
            ("[write, notify]", "[read, notify]", "an answer to writes, which are not permitted"),
            ("{write: any, do", "{read: any, do", "an answer to reads, which are not permitted"),
        ]
    )
    func wrong(what: String, with replacement: String, part: String) throws {
        let text = lamp.replacing(what, with: replacement, maxReplacements: 1)
        try #require(text != lamp)
        let error = #expect(throws: FileError.self) { try parse(text) }
        #expect(error.map { "\($0)" }?.contains(part) == true, "\(error as Any)")
    }

    @Test("A device with answers that is scrambled never crashes", arguments: 1...4)
    func scrambled(seed: UInt64) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: "everything.yaml")))
        var random = Scrambler(seed: seed)
        for _ in 0..<800 {
            let read = damaged(random.scramble(bytes), of: "x.yaml") { try BluetoothPeripheral.parse($0, file: $1) }
            guard let device = read else { continue }
            var machine = BluetoothAnswerMachine(device.answers, mtu: device.mtu)
            for rule in 0..<8 {
                _ = machine.answer(.write([UInt8(rule) << 4, 0x0f, 1]), of: 0, at: .zero) { _ in true }
            }
            _ = machine.advance(to: .zero.advanced(by: .seconds(1))) { _ in true }
        }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Answers")

    @Test("The vectors that both players of device files are checked by are what the devices do")
    func vectors() throws {
        let devices = URL(filePath: packageFolder).appending(path: "Devices/Bluetooth")
        let shipped = try FileManager.default.contentsOfDirectory(atPath: devices.path).filter { $0.hasSuffix(".yaml") }
        var lives = [
            try AnswerVectors.life(
                of: "everything",
                [UInt8](Data(contentsOf: Self.folder.appending(path: "everything.yaml"))),
                steps: 600
            )
        ]
        for name in shipped.sorted() {
            let file = devices.appending(path: name)
            guard let peripheral = try? BluetoothPeripheral.load(file: file.path), !peripheral.answers.isEmpty else {
                continue
            }
            lives.append(
                try AnswerVectors.life(of: String(name.dropLast(5)), [UInt8](Data(contentsOf: file)), steps: 150)
            )
        }
        let file = Self.folder.appending(path: "vectors.json")
        let text = AnswerVectors.text(lives)
        if ProcessInfo.processInfo.environment["WAKEBENCH_RECORD"] != nil { try Data(text.utf8).write(to: file) }
        #expect(lives.count > 5)
        #expect(try String(contentsOf: file, encoding: .utf8) == text, "WAKEBENCH_RECORD=1 writes them anew")
    }
}
