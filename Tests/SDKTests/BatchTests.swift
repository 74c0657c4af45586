import Foundation
import Testing
import WakeModel
import WakeWire

@Suite("Packets of several messages")
struct BatchTests {
    private static func delivery(_ number: UInt64, manager: UInt32 = 1, _ body: WireDeliveryBody) -> BenchMessage {
        .deliver(WireDelivery(delivery: number, manager: manager, body: body))
    }

    private static func seen(_ number: UInt64, rssi: Int16) -> BenchMessage {
        delivery(
            number,
            .central(
                .discovered(WireDiscovery(identifier: BenchEnd.belt, name: "belt", Advertisement(signalStrength: rssi)))
            )
        )
    }

    private static func isAcknowledgement(_ message: AppMessage) -> Bool {
        if case .acknowledge = message { true } else { false }
    }

    @Test("An app says at the start that it takes them")
    func hello() throws {
        let app = try AppProcess([AppProcess.repository.appending(path: ".build/debug/BluetoothApp").path, "central="])
        guard case .hello(_, _, _, let batches) = try app.bench.next() else {
            throw BenchFailure(description: "no hello")
        }
        #expect(batches)
    }

    @Test("A run of deliveries is told in order, and one acknowledgement for all comes after what the app did")
    func order() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan-all")
        let strengths = Array((-90)...(-41))
        let run = strengths.enumerated().map { Self.seen(UInt64($0.offset) + 2, rssi: Int16($0.element)) }
        end.app.bench.send([Self.delivery(1, .central(.state(.poweredOn)))] + run)
        let scan = CentralRequest.scan(services: [], allowDuplicates: true, solicitedServices: [])
        let heard = try end.app.bench.wait(until: Self.isAcknowledgement)
        #expect(heard == [.central(manager: 1, scan), .acknowledge(delivery: 1, through: 51)])
        let told = try end.lines().dropFirst().compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }
        #expect(told == strengths)
    }

    @Test("What a delegate put on the queue comes before the acknowledgement")
    func drained() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=later")
        end.app.bench.send([
            Self.delivery(1, .central(.state(.poweredOn))), Self.delivery(2, .central(.state(.poweredOff))),
            Self.delivery(3, .central(.state(.poweredOn))),
        ])
        let heard = try end.app.bench.wait(until: Self.isAcknowledgement)
        let scan = CentralRequest.scan(services: [], allowDuplicates: false, solicitedServices: [])
        #expect(
            heard == [
                .central(manager: 1, scan), .central(manager: 1, scan), .acknowledge(delivery: 1, through: 3),
            ]
        )
    }

    @Test("Deliveries for two queues are acknowledged apart: none while its queue still works at it")
    func twoQueues() throws {
        let end = try BluetoothAppEnd("central=", "global", "poweredOn=retrieve", "peripheral=")
        let bench = end.app.bench
        bench.send([
            Self.delivery(1, .central(.state(.poweredOn))),
            Self.delivery(2, manager: 2, .peripheralManager(.state(.poweredOn))),
            Self.delivery(3, manager: 2, .peripheralManager(.readyToUpdate)),
            Self.delivery(4, .central(.state(.poweredOff))),
        ])
        // The central's queue waits for the answer of its request.
        var heard = [try bench.next(), try bench.next()]
        let place = try #require(heard.firstIndex { !Self.isAcknowledgement($0) })
        guard case .central(1, .retrieve(let id, _)) = heard.remove(at: place) else {
            throw BenchFailure(description: "no request: \(heard)")
        }
        #expect(heard == [.acknowledge(delivery: 2, through: 3)])
        bench.send([.reply(id: id, WireReply(peripherals: [])), Self.delivery(5, .central(.state(.poweredOff)))])
        let rest = [try bench.next(), try bench.next(), try bench.next()]
        #expect(rest == [.acknowledge(delivery: 1), .acknowledge(delivery: 4), .acknowledge(delivery: 5)])
    }

    @Test("Numbers that do not follow each other are acknowledged apart")
    func gap() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan-all")
        end.app.bench.send([
            Self.delivery(1, .central(.state(.poweredOn))), Self.seen(2, rssi: -50), Self.seen(7, rssi: -51),
            Self.seen(8, rssi: -52), Self.seen(10, rssi: -53),
        ])
        var acknowledged: [AppMessage] = []
        for _ in 0..<3 {
            acknowledged.append(try #require(try end.app.bench.wait(until: Self.isAcknowledgement).last))
        }
        #expect(
            acknowledged == [
                .acknowledge(delivery: 1, through: 2), .acknowledge(delivery: 7, through: 8),
                .acknowledge(delivery: 10),
            ]
        )
    }

    @Test("Deliveries for two managers on one queue are told in order and acknowledged together")
    func twoManagers() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "peripheral=")
        end.app.bench.send([
            Self.delivery(1, .central(.state(.poweredOn))),
            Self.delivery(2, manager: 2, .peripheralManager(.state(.poweredOn))), Self.seen(3, rssi: -50),
        ])
        let last = try end.app.bench.wait(until: Self.isAcknowledgement).last
        #expect(last == .acknowledge(delivery: 1, through: 3))
        let lines = try end.lines()
        #expect(lines.prefix(2) == ["poweredOn", "poweredOn"])
        #expect(lines.last?.hasPrefix("didDiscover") == true)
    }

    @Test("What nobody wants is acknowledged and dropped, together too")
    func unknownManager() throws {
        let end = try BluetoothAppEnd("central=")
        end.app.bench.send([
            Self.delivery(1, manager: 9, .central(.state(.poweredOn))), Self.delivery(2, manager: 8, .channelData),
            Self.delivery(3, manager: 9, .central(.state(.poweredOn))),
            Self.delivery(4, manager: 7, .central(.state(.poweredOn))),
        ])
        let heard = [try end.app.bench.next(), try end.app.bench.next(), try end.app.bench.next()]
        #expect(
            heard == [
                .acknowledge(delivery: 1), .acknowledge(delivery: 2), .acknowledge(delivery: 3, through: 4),
            ]
        )
        #expect(try end.lines() == [])
    }

    @Test("News of a channel keeps an acknowledgement of its own")
    func channels() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan-all")
        end.app.bench.send([
            Self.delivery(1, .central(.state(.poweredOn))), Self.seen(2, rssi: -50), Self.delivery(3, .channelData),
            Self.seen(4, rssi: -51), Self.seen(5, rssi: -52),
        ])
        var acknowledged: [AppMessage] = []
        while acknowledged.count < 3 {
            acknowledged.append(try #require(try end.app.bench.wait(until: Self.isAcknowledgement).last))
        }
        let expected: [AppMessage] = [
            .acknowledge(delivery: 1, through: 2), .acknowledge(delivery: 3), .acknowledge(delivery: 4, through: 5),
        ]
        #expect(acknowledged.count == 3 && expected.allSatisfy(acknowledged.contains))
    }

    @Test("A packet with something malformed in it is dropped as a whole and said so, and the next is heard")
    func malformed() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan-all")
        var packet = BenchEnd.packet([Self.delivery(1, .central(.state(.unsupported)))])
        packet.removeLast()
        packet += Array(#",{"type":"what"}]"#.utf8)
        end.app.bench.send(bytes: packet)
        end.app.bench.send(bytes: Array("[]".utf8))
        end.app.bench.send([Self.delivery(1, .central(.state(.poweredOn))), Self.seen(2, rssi: -50)])
        let last = try end.app.bench.wait(until: Self.isAcknowledgement).last
        #expect(last == .acknowledge(delivery: 1, through: 2))
        let result = try end.end()
        #expect(result.lines.first == "poweredOn")
        #expect(
            result.complaints == [
                "wakebench: ignored a packet from the bench: unknown type 'what'",
                "wakebench: ignored a packet from the bench: packet of 0 messages, 1 to 256 are allowed",
            ]
        )
    }

    @Test("Values in one packet reach the delegate in order, with the value of each")
    func values() throws {
        let end = try BluetoothAppEnd("central=", "poweredOn=scan", "didDiscover=connect")
        try end.connectBelt()
        let values = (UInt8(0)..<40).map { number in
            Self.delivery(
                UInt64(number) + 6,
                .peripheral(BenchEnd.belt, .value(attribute: 18, value: [0, number], failure: nil))
            )
        }
        end.app.bench.send(values)
        let last = try end.app.bench.wait(until: Self.isAcknowledgement).last
        #expect(last == .acknowledge(delivery: 6, through: 45))
        let told = try end.lines().filter { $0.hasPrefix("didUpdateValue") }
        #expect(told.count == 40)
        #expect(zip(told, 0...).allSatisfy { $0.contains(String(format: "00%02x", $1)) })
    }
}
