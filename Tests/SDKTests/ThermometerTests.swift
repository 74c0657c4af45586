import Foundation
import Testing
import WakeModel
import WakeWire

@Suite("The example ThermometerPeripheral")
struct ThermometerTests {
    private static let central = BluetoothAppEnd.central
    private static let manual = "6E1F0001-5C2D-4A0B-9B4C-2F7A8D1E3C50"

    private static func start(restoring: [String] = []) throws -> AppProcess {
        let app = try AppProcess([AppProcess.repository.appending(path: ".build/debug/ThermometerPeripheral").path])
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions(bluetoothPeripherals: restoring))))
        let start = try app.bench.wait { $0 == .launched }
        let create = WirePeripheralManagerRequest.create(
            id: 1,
            restoreIdentifier: "thermometer",
            showPowerAlert: false
        )
        #expect(start == [.peripheralManager(manager: 1, create), .launched])
        return app
    }

    /// Tells of an event and takes every update; what the app asked until it had handled it.
    private static func tell(
        _ event: WirePeripheralManagerEvent,
        _ number: UInt64,
        _ app: AppProcess
    ) throws -> [WirePeripheralManagerRequest] {
        app.bench.deliver(number, .peripheralManager(event))
        var asked: [WirePeripheralManagerRequest] = []
        while true {
            switch try app.bench.next() {
            case .acknowledge(number, nil): return asked
            case .peripheralManager(1, .updateValue(let id, let characteristic, let value, let centrals)):
                app.bench.send(.reply(id: id, WireReply(taken: true)))
                asked.append(.updateValue(id: 0, characteristic: characteristic, value: value, centrals: centrals))
            case .peripheralManager(1, let request): asked.append(request)
            case let other: throw BenchFailure(description: "unexpected: \(other)")
            }
        }
    }

    @Test("It publishes, advertises, serves a long text in parts, takes an interval, and measures for who listens")
    func serving() throws {
        let app = try Self.start()
        let asked = try Self.tell(.state(.poweredOn), 1, app)
        guard case .addService(let service) = asked.first else {
            Issue.record("no service: \(asked)")
            return
        }
        #expect(service.characteristics.map(\.uuid) == ["2A1C", "2A1E", "2A1D", "2A21", Self.manual])
        #expect(service.characteristics.map(\.value) == [nil, nil, [2], nil, nil])
        #expect(
            try Self.tell(.serviceAdded(service: service.number, failure: nil), 2, app) == [
                .publishChannel(encrypted: false), .startAdvertising(localName: "Oven", services: ["1809"]),
            ]
        )
        let numbers = service.characteristics.map(\.number)
        let read = WirePeripheralManagerEvent.readRequest(
            Self.central,
            request: 1,
            characteristic: numbers[4],
            offset: 290
        )
        let rest = (290..<300).map { UInt8(97 + $0 % 26) }
        #expect(try Self.tell(read, 3, app) == [.respond(request: 1, result: 0, value: rest)])
        let write = WirePeripheralManagerEvent.writeRequests(
            Self.central,
            request: 2,
            [.init(characteristic: numbers[3], offset: 0, value: [30, 0])]
        )
        let answers = try Self.tell(write, 4, app)
        #expect(
            answers == [
                .respond(request: 2, result: 0, value: nil),
                .updateValue(id: 0, characteristic: numbers[0], value: [0, 111, 1, 0, 255], centrals: nil),
                .updateValue(id: 0, characteristic: numbers[1], value: [0, 112, 1, 0, 255], centrals: nil),
            ]
        )
        let end = try app.end()
        #expect(end.errors == [])
        #expect(
            end.lines.dropFirst().map { $0.replacing(/pid=\d+/, with: "pid=N") } == [
                "didUpdateState poweredOn", "didAdd 1809 error=none",
                "didReceiveRead \(Self.manual) offset=290 pid=N count=1",
                #"didReceiveWrite 2A21 ["1e00"] pid=N count=1"#, "updateValue 2A1C count=1", "updateValue 2A1E count=2",
            ]
        )
    }

    @Test("BTP-4: relaunched, it serves what it had published without publishing it again")
    func restored() throws {
        let app = try Self.start(restoring: ["thermometer"])
        let service = LocalService(
            number: 5,
            uuid: "1809",
            characteristics: [
                LocalCharacteristic(number: 6, uuid: "2A21", properties: 0xa, permissions: 1)
            ]
        )
        let past = WirePeripheralRestoration(
            services: [service],
            advertisement: .init(localName: "Oven", services: ["1809"])
        )
        #expect(try Self.tell(.willRestore(past), 1, app) == [])
        // A channel is nothing that is preserved.
        #expect(
            try Self.tell(.state(.poweredOn), 2, app) == [.publishChannel(encrypted: false)]
        )
        let read = WirePeripheralManagerEvent.readRequest(Self.central, request: 1, characteristic: 6, offset: 0)
        #expect(try Self.tell(read, 3, app) == [.respond(request: 1, result: 0, value: [60, 0])])
        let lines = try app.end().lines
        #expect(lines[0].hasSuffix(#"bluetoothPeripherals=["thermometer"]"#))
        #expect(lines[1] == "willRestoreState services=1 advertising=true")
    }

    @Test("Its channel sends back what comes, until the other end closes it")
    func echo() throws {
        let app = try Self.start()
        _ = try Self.tell(.state(.poweredOn), 1, app)
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let opened = WirePeripheralManagerEvent.channelOpened(Self.central, psm: 192, failure: nil)
        app.bench.send(
            .deliver(WireDelivery(delivery: 2, manager: 1, body: .peripheralManager(opened))),
            descriptor: ends[1]
        )
        close(ends[1])
        #expect(try app.bench.untilAcknowledged(2) == [])
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let far = ends[0]
        let sender = Thread {
            var start = 0
            while start < bytes.count {
                let part = Array(bytes[start..<min(start + 10_000, bytes.count)])
                start += unsafe Glibc.send(far, part, part.count, Int32(MSG_NOSIGNAL))
            }
        }
        sender.start()
        var back: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while back.count < bytes.count {
            let count = unsafe recv(far, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            back += buffer[..<count]
        }
        #expect(back == bytes)
        close(far)
        #expect(try app.waitForLine("channel closed echoed=200000"))
        #expect(try app.end().errors == [])
    }
}
