import Testing
import WakeDevices
import WakeModel
import WakePorts

@testable import WakeBluetooth

/// A simulated radio with one device that answers, and a client that is connected to it.
private final class AnswerRig {
    let radio: SimulatedBluetooth
    let names = NameTable()
    let device: NameID
    let client = BluetoothClient(app: AppID(0), slot: 0)
    var now = Instant.zero
    var reports: [(at: Instant, report: SourceReport)] = []

    init(_ characteristics: String, mtu: Int = 185) throws {
        let text = """
            device: bluetooth-peripheral
            address: "F0:11:22:33:44:66"
            mtu: \(mtu)
            states: [free, held]
            variables: {n: 0}
            gatt:
              - service: 1815
                characteristics:
            \(characteristics.split(separator: "\n").map { "      " + $0 }.joined(separator: "\n"))
            """
        let peripheral = try BluetoothPeripheral.parse(Array(text.utf8), file: "lamp.yaml")
        let scenario = ScenarioDevice(name: "lamp", group: "lamp", line: 1, form: .peripheral(peripheral))
        radio = SimulatedBluetooth(devices: [scenario], names: names, seed: 1)
        device = names.intern("lamp")
        radio.report = { [unowned self] in reports.append((now, $0)) }
        connect()
    }

    func connect() {
        radio.perform(.connect(client, peripheral: device), at: now)
        pass(.seconds(1))
    }

    func pass(_ span: Instant.Span) {
        let end = now.advanced(by: span)
        while let next = radio.nextDeadline, next <= end {
            now = next
            radio.timeReached(next)
        }
        now = end
    }

    /// The handle of the characteristic at a position, none of which has descriptors but for its configuration.
    func handle(_ uuid: String) throws -> AttributeHandle {
        let all = radio.knownPeripheral(device)?.characteristics ?? []
        return try #require(all.first { $0.uuid == uuid }?.handle)
    }

    /// Does an operation, lets it be answered, and gives the answer.
    @discardableResult
    func operate(_ operation: BluetoothOperation, within span: Instant.Span = .seconds(1)) throws -> EventPayload {
        let before = reports.count
        radio.perform(.operate(client, peripheral: device, operation), at: now)
        pass(span)
        let kinds: [EventKind] = [.valueRead, .valueWritten, .notificationStateChanged, .readyToWrite]
        return try #require(reports[before...].first { kinds.contains($0.report.event.kind) }?.report.payload)
    }

    func values() -> [[UInt8]] {
        reports.compactMap { _, report in
            guard report.event.kind == .characteristicNotified, case .value(let value) = report.payload else {
                return nil
            }
            return value
        }
    }
}

@Suite("The simulated radio's devices that answer")
struct SimulatedAnswerTests {
    @Test("What a write brings comes after its response, from the line of the rule")
    func order() throws {
        let rig = try AnswerRig(
            """
            - uuid: 2A56
              properties: [write, notify]
              answers: [{write: "01", do: [{notify: "aa"}, {notify: "bb", after: 2s}]}]
            """
        )
        let handle = try rig.handle("2A56")
        try rig.operate(.setNotify(handle, true))
        try rig.operate(.write(handle, [1], withResponse: true))
        #expect(rig.values() == [[0xaa]])
        rig.pass(.seconds(2))
        #expect(rig.values() == [[0xaa], [0xbb]])
        let last = rig.reports.suffix(3)
        #expect(last.map(\.report.event.kind) == [.valueWritten, .characteristicNotified, .characteristicNotified])
        #expect(rig.names.text(last.last?.report.event.origin ?? .none) == "lamp.yaml:11")
        let times = last.map(\.at)
        #expect(times[times.endIndex - 1].since(times[times.endIndex - 2]) == .seconds(2))
    }

    @Test("A request that the device refuses fails with its ATT error, and the value stays")
    func refused() throws {
        let rig = try AnswerRig(
            """
            - uuid: 2A56
              properties: [read, write]
              value: "07"
              answers: [{write: "01", do: [{error: "0x85"}]}, {write: "02", do: [{error: value-not-allowed}]}]
            """
        )
        let handle = try rig.handle("2A56")
        for (value, code) in [(UInt8(1), Int32(0x85)), (2, 0x13)] {
            guard case .failure(let failure) = try rig.operate(.write(handle, [value], withResponse: true)) else {
                Issue.record("the write did not fail")
                continue
            }
            #expect(failure.domain == .att)
            #expect(failure.code == code)
        }
        #expect(try rig.operate(.read(handle)) == .value([7]))
        #expect(try rig.operate(.write(handle, [3], withResponse: true)) == .none)
        #expect(try rig.operate(.read(handle)) == .value([3]), "what no rule fits is kept")
    }

    @Test("A read gives what its answer sets, each time anew")
    func counts() throws {
        let rig = try AnswerRig(
            """
            - uuid: 2A56
              properties: [read]
              answers: [{read: any, do: [{variable: n, add: 1}, {set: {variable: n, width: 2}}]}]
            """
        )
        let handle = try rig.handle("2A56")
        #expect(try rig.operate(.read(handle)) == .value([1, 0]))
        #expect(try rig.operate(.read(handle)) == .value([2, 0]))
    }

    @Test("A notified value is cut to the MTU, and one in fragments is not")
    func cut() throws {
        let rig = try AnswerRig(
            """
            - uuid: 2A56
              properties: [write, notify]
              answers:
                - {write: "00 *", do: [{notify: {request: 0}}]}
                - {write: "01 *", do: [{notify: {request: 0}, fragments: true}]}
            """,
            mtu: 23
        )
        let handle = try rig.handle("2A56")
        try rig.operate(.setNotify(handle, true))
        try rig.operate(.write(handle, [0] + Array(repeating: 9, count: 49), withResponse: true))
        #expect(rig.values().map(\.count) == [20])
        try rig.operate(.write(handle, [1] + Array(repeating: 9, count: 49), withResponse: true))
        #expect(rig.values().map(\.count) == [20, 20, 20, 10])
    }

    @Test("A value longer than a packet takes more requests, and a command that is longer is lost")
    func long() throws {
        let text = "- {uuid: 2A56, properties: [read, write, write-without-response]}"
        var spans: [Instant.Span] = []
        for length in [18, 500] {
            let rig = try AnswerRig(text, mtu: 23)
            let handle = try rig.handle("2A56")
            let value = [UInt8](repeating: 5, count: length)
            let before = rig.now
            #expect(try rig.operate(.write(handle, value, withResponse: true), within: .seconds(5)) == .none)
            spans.append(try #require(rig.reports.last).at.since(before))
            #expect(try rig.operate(.read(handle), within: .seconds(5)) == .value(value))
        }
        #expect(spans[1] > spans[0] + .milliseconds(15 * 20))
        let rig = try AnswerRig(text, mtu: 23)
        let handle = try rig.handle("2A56")
        for length in [20, 21] {
            let value = [UInt8](repeating: UInt8(length), count: length)
            let command = BluetoothOperation.write(handle, value, withResponse: false)
            rig.radio.perform(.operate(rig.client, peripheral: rig.device, command), at: rig.now)
            rig.pass(.seconds(1))
            #expect(try rig.operate(.read(handle)) == .value([UInt8](repeating: 20, count: 20)))
        }
    }

    @Test("What a device is about to send waits while it is out of range, and is given up with the link")
    func range() throws {
        let rig = try AnswerRig(
            """
            - uuid: 2A56
              properties: [write, notify]
              answers: [{write: any, do: [{notify: "aa", after: 2s}]}]
            """
        )
        let handle = try rig.handle("2A56")
        try rig.operate(.setNotify(handle, true))
        try rig.operate(.write(handle, [1], withResponse: true), within: .milliseconds(1900))
        try rig.radio.simulateRange(device: "lamp", inRange: false, at: rig.now)
        rig.pass(.milliseconds(500))
        #expect(rig.values().isEmpty)
        try rig.radio.simulateRange(device: "lamp", inRange: true, at: rig.now)
        rig.pass(.milliseconds(1))
        #expect(rig.values() == [[0xaa]])
        try rig.operate(.write(handle, [1], withResponse: true), within: .milliseconds(100))
        try rig.radio.simulateDisconnect(device: "lamp", at: rig.now)
        rig.connect()
        try rig.operate(.setNotify(handle, true), within: .seconds(5))
        #expect(rig.values() == [[0xaa]])
    }

    @Test("A device that drops its link after a request does so once it was answered")
    func disconnects() throws {
        let rig = try AnswerRig(
            "- {uuid: 2A56, properties: [write], answers: [{write: any, do: [{disconnect: true}]}]}"
        )
        #expect(try rig.operate(.write(try rig.handle("2A56"), [1], withResponse: true)) == .none)
        let kinds = rig.reports.map(\.report.event.kind)
        #expect(kinds == [.peripheralConnected, .valueWritten, .peripheralDisconnected])
    }

    @Test("A radio that is kept in mid-answer goes on as the one that was not")
    func snapshot() throws {
        let text = """
            - uuid: 2A56
              properties: [write, notify]
              answers: [{write: any, do: [{state: held}, {variable: n, to: 7}, {notify: {variable: n}, after: 2s}]}]
            """
        let (rig, other) = (try AnswerRig(text), try AnswerRig(text))
        let handle = try rig.handle("2A56")
        try rig.operate(.setNotify(handle, true))
        try rig.operate(.write(handle, [1], withResponse: true))
        var writer = SnapshotCoder()
        try rig.radio.code(with: &writer)
        var reader = SnapshotCoder(reading: writer.bytes)
        try other.radio.code(with: &reader)
        other.now = rig.now
        let before = other.reports.count
        rig.pass(.seconds(3))
        other.pass(.seconds(3))
        #expect(rig.values() == [[7]])
        #expect(other.reports[before...].map(\.report.event.kind) == [.characteristicNotified])
        #expect(other.reports.last?.at == rig.reports.last?.at)
    }
}
