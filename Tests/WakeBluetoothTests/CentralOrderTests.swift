import Testing
import WakeModel
import WakePorts

@testable import WakeBluetooth
@testable import WakeDevices

extension Ether {
    /// Has the reader do something at once.
    func order(_ action: BluetoothCentral.Action, of device: String = "reader") throws {
        try role.simulate([(device, action)], at: now)
    }
}

@Suite("What centrals do at once, beside their scripts")
struct CentralOrderTests {
    private let connect = BluetoothCentral.Action.connect(service: "180D", within: nil)
    private let write = BluetoothCentral.Action.write("2A38", [1], .request)

    private func ether(_ script: String...) throws -> (Ether, RoleRig) {
        let ether = try Ether([try RoleRig.central(script, mtu: 185)])
        return (ether, ether.rig())
    }

    @Test("In a pause an order is carried out at once, and the pause ends when it would have")
    func pausing() throws {
        let (ether, rig) = try ether("wait: 10s", "connect: 180D", "read: 2A3A")
        try rig.offer()
        ether.run(for: .seconds(1))
        try ether.order(connect)
        try ether.order(write)
        ether.run(for: .seconds(1))
        #expect(rig.transcript == ["connected", "wrote 2A38 01"])
        ether.run(for: .seconds(10))
        #expect(rig.transcript == ["connected", "wrote 2A38 01", "read 2A3A 010203", "finished"])
        #expect(ether.time(of: "read 2A3A 010203") == .zero.advanced(by: .seconds(10) + .milliseconds(60)))
    }

    @Test("A pause that was to be over during an order is over when the order is")
    func overdue() throws {
        let (ether, rig) = try ether("connect: 180D", "wait: 1s", "read: 2A3A")
        rig.answers = false
        try rig.offer()
        try rig.wait(for: "connected")
        try ether.order(write)
        let asked = try rig.wait(for: .writeRequested)
        ether.run(for: .seconds(5))
        rig.perform(.respond(rig.first, request: asked.event.request, result: 0, value: nil))
        let answered = ether.now
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["connected", "wrote 2A38 01", "read 2A3A 010203", "finished"])
        #expect(try #require(ether.time(of: "read 2A3A 010203")).since(answered) == .milliseconds(90))
    }

    @Test("A central whose script is over takes orders, and is not over again")
    func done() throws {
        let (ether, rig) = try ether()
        try rig.offer()
        try rig.wait(for: "finished")
        try ether.order(connect)
        try ether.order(.read("2A3A"))
        ether.run(for: .seconds(1))
        #expect(rig.transcript == ["finished", "connected", "read 2A3A 010203"])
    }

    @Test("A search of the script is satisfied by the link that an order makes")
    func satisfied() throws {
        let (ether, rig) = try ether("connect: 1810", "read: 2A3A")
        try rig.offer()
        ether.run(for: .seconds(1))
        try ether.order(connect)
        try ether.order(write)
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["connected", "wrote 2A38 01", "read 2A3A 010203", "finished"])
    }

    @Test("Values that come during an order count for what the script awaits")
    func awaiting() throws {
        let (ether, rig) = try ether("connect: 180D", "subscribe: 2A37", "{await: 2A37, count: 2}", "read: 2A3A")
        try rig.offer()
        try rig.wait(for: "subscribed 2A37")
        ether.run(for: .seconds(1))
        try ether.order(write)
        for value: UInt8 in 1...2 {
            rig.perform(.update(rig.first, characteristic: 11, value: [value], centrals: []))
        }
        try rig.wait(for: "finished")
        #expect(
            rig.transcript.suffix(5) == [
                "notified 2A37 01", "notified 2A37 02", "wrote 2A38 01", "read 2A3A 010203", "finished",
            ]
        )
    }

    @Test("An order waits for the answer to what the script asked, and goes before its next step")
    func transaction() throws {
        let (ether, rig) = try ether("connect: 180D", "read: 2A38", "read: 2A3A")
        rig.answers = false
        try rig.offer()
        let asked = try rig.wait(for: .readRequested)
        try ether.order(write)
        ether.run(for: .seconds(1))
        #expect(rig.all(.writeRequested).isEmpty)
        rig.answers = true
        rig.perform(.respond(rig.first, request: asked.event.request, result: 0, value: [7]))
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["connected", "read 2A38 07", "wrote 2A38 01", "read 2A3A 010203", "finished"])
    }

    @Test("An order waits for the link that the script is making; a connect is nothing on it")
    func connecting() throws {
        let (ether, rig) = try ether("connect: 180D", "read: 2A3A")
        try rig.offer()
        ether.run(for: .milliseconds(1))
        try ether.order(connect)
        try ether.order(write)
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["connected", "wrote 2A38 01", "read 2A3A 010203", "finished"])
    }

    @Test("Where the advertisement ends before the link of the script is up, the order looks for its own")
    func another() throws {
        let (ether, rig) = try ether("connect: 180D")
        try rig.offer()
        ether.run(for: .milliseconds(1))
        try ether.order(.connect(service: "1810", within: nil))
        rig.perform(.stopAdvertising(rig.first))
        rig.perform(
            .advertise(rig.second, localName: nil, services: [rig.names.intern("1810")], overflow: [], again: false)
        )
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["connected", "finished"])
    }

    @Test("A characteristic that is not there is said to be missing, and the next order follows")
    func missing() throws {
        let (ether, rig) = try ether("connect: 180D", "wait: 1h")
        try rig.offer()
        try rig.wait(for: "connected")
        try ether.order(.write("2AFF", [1], .request))
        try ether.order(.subscribe("2A37", indications: false))
        ether.run(for: .seconds(1))
        #expect(rig.transcript == ["connected", "missing 2AFF", "subscribed 2A37"])
    }

    @Test("Orders are lost with the link, up to the next connect")
    func lost() throws {
        let (ether, rig) = try ether("connect: 180D", "wait: 1h", "disconnect")
        rig.answers = false
        try rig.offer()
        try rig.wait(for: "connected")
        for action in [write, write, connect, .read("2A3A")] { try ether.order(action) }
        try rig.wait(for: .writeRequested)
        try ether.role.endLink(of: "reader", at: ether.now)
        ether.run(for: .seconds(1))
        #expect(rig.transcript == ["connected", "disconnected", "connected", "read 2A3A 010203"])
        #expect(rig.all(.writeRequested).count == 1)
    }

    @Test("An app that does not answer an order within 30 s loses the link, as in a script")
    func unanswered() throws {
        let (ether, rig) = try ether("connect: 180D", "wait: 1m", "read: 2A38", "disconnect", "wait: 1m")
        rig.answers = false
        try rig.offer()
        try rig.wait(for: "connected")
        try ether.order(write)
        try rig.wait(for: .writeRequested)
        let asked = ether.now
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["connected", "disconnected", "finished"])
        #expect(ether.time(of: "disconnected") == asked.advanced(by: .seconds(30)))
    }

    @Test("A link that only an order made leaves the script where it is when it goes")
    func beforeTheScript() throws {
        let (ether, rig) = try ether("wait: 10s", "wait: 10s", "connect: 180D")
        try rig.offer()
        try ether.order(connect)
        ether.run(for: .seconds(5))
        try ether.role.simulateDisconnect(device: "reader", at: ether.now)
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["connected", "disconnected", "connected", "finished"])
        #expect(ether.now.since(.zero) >= .seconds(20))
    }

    @Test("A disconnect gives up what an order looks for, and all orders behind it")
    func givenUp() throws {
        let (ether, rig) = try ether("connect: 180D")
        ether.run(for: .seconds(1))
        try ether.order(.connect(service: "1810", within: nil))
        try ether.order(write)
        try rig.offer()
        ether.run(for: .seconds(60))
        #expect(rig.transcript.isEmpty)
        try ether.role.simulateDisconnect(device: "reader", at: ether.now)
        ether.run(for: .seconds(1))
        // What the script looks for was there all along.
        #expect(rig.transcript == ["gave up 1810", "connected", "finished"])
        #expect(rig.all(.writeRequested).isEmpty)
    }

    @Test("A central out of reach carries a connect out when it is back")
    func range() throws {
        let (ether, rig) = try ether("wait: 1h")
        try rig.offer()
        try ether.role.simulateRange(device: "reader", inRange: false, at: ether.now)
        try ether.order(connect)
        ether.run(for: .seconds(60))
        #expect(rig.transcript.isEmpty)
        try ether.role.simulateRange(device: "reader", inRange: true, at: ether.now)
        try rig.wait(for: "connected")
    }

    @Test("A central is busy with an order until that is over; a search may never be")
    func busy() throws {
        let (ether, rig) = try ether()
        #expect(!ether.role.isCarryingOutOrders)
        try ether.order(connect)
        #expect(!ether.role.isCarryingOutOrders)
        try rig.offer()
        #expect(ether.role.isCarryingOutOrders)
        try rig.wait(for: "connected")
        #expect(!ether.role.isCarryingOutOrders)
    }

    @Test("What needs a link is refused without one, and then nobody does anything")
    func refused() throws {
        var devices = [try RoleRig.central([], mtu: 185), try RoleRig.central(["connect: 180D"], mtu: 185)]
        devices[1].name = "watch"
        let ether = try Ether(devices)
        let rig = ether.rig()
        try rig.offer()
        try rig.wait(for: "connected")
        let error = #expect(throws: SourceFailure.self) {
            try ether.role.simulate([("watch", write), ("reader", write)], at: ether.now)
        }
        #expect(error?.message == "reader has no link: connect it first" && error?.kind == .wrongState)
        ether.run(for: .seconds(1))
        #expect(rig.all(.writeRequested).isEmpty)
    }

    @Test("What finds nobody and what is void is said, each in a line")
    func inVain() throws {
        let (ether, rig) = try ether()
        var said: [String] = []
        ether.role.missed = { line, _ in said.append(line) }
        try rig.offer()
        try ether.order(.connect(service: "180F", within: nil))
        try ether.order(write)
        #expect(said == ["connect reader 180F: nobody advertises it now, and it goes on looking"])
        #expect(
            ether.role.unfinished == [
                "reader: still looks for 180F at the end, which nobody advertises",
                "reader: 1 step that it had not carried out is void",
            ]
        )
        try ether.role.simulateDisconnect(device: "reader", at: ether.now)
        #expect(said.last == "reader: 2 steps that it had not carried out are void")
        #expect(ether.role.unfinished == [])
        try ether.order(connect)
        try rig.wait(for: "connected")
        try ether.order(.exchange(psm: 128, [1], within: nil))
        ether.run(for: .seconds(1))
        #expect(said.count == 3 && said.last == "exchange reader 128: no app offers that channel")
    }

    @Test("What a central was told to do and has done is said, and what its script does is not")
    func carriedOut() throws {
        let (ether, rig) = try ether("connect: 180D", "wait: 10s", "read: 2A3A")
        var said: [String] = []
        ether.role.carriedOut = { line, _ in said.append(line) }
        try rig.offer()
        try rig.wait(for: "connected")
        for action in [BluetoothCentral.Action.read("2A3A"), write, .subscribe("2A37", indications: false)] {
            try ether.order(action)
        }
        try rig.wait(for: "finished")
        #expect(said == ["reader: read 2A3A 010203", "reader: wrote 2A38 01", "reader: subscribed 2A37"])
    }

    @Test("More than 64 orders do not wait")
    func many() throws {
        let (ether, rig) = try ether()
        try rig.wait(for: "finished")
        for _ in 0..<65 { try ether.order(connect) }
        let error = #expect(throws: SourceFailure.self) { try ether.order(connect) }
        #expect(
            error?.message == "64 orders wait for reader: let it carry them out, or disconnect it"
                && error?.kind == .wrongState
        )
        try rig.offer()
        ether.run(for: .seconds(1))
        #expect(rig.transcript == ["finished", "connected"])
    }

    @Test(
        "Whatever it is told, a central goes on in time and comes to the end of its script",
        arguments: UInt64(0)..<40
    )
    func chance(seed: UInt64) throws {
        let (ether, rig) = try ether(
            "wait: 2s",
            "{connect: 180D, within: 5s}",
            "subscribe: 2A37",
            "{await: 2A37, count: 2, within: 9s}",
            "disconnect",
            "{connect: 1810, within: 5s}",
            "read: 2A3A",
            "disconnect"
        )
        var random = SimulatedRandom(seed: seed, name: "orders")
        try rig.offer()
        for _ in 0..<200 {
            switch random.next() % 10 {
            case 0: try ether.role.simulateDisconnect(device: "reader", at: ether.now)
            case 1: try ether.role.simulateRange(device: "reader", inRange: random.next() % 3 > 0, at: ether.now)
            case 2: rig.perform(.update(rig.first, characteristic: 11, value: [1], centrals: []))
            case 3: rig.answers = random.next() % 2 == 0
            case 4: rig.setPower(random.next() % 3 > 0)
            case 5: try? ether.order(connect)
            case 6: try? ether.order(.connect(service: "1810", within: nil))
            default: try? ether.order(random.next() % 2 == 0 ? write : .read("2A3A"))
            }
            ether.run(for: .milliseconds(Int64(random.next() % 400)))
        }
        rig.setPower(true)
        try ether.role.simulateDisconnect(device: "reader", at: ether.now)
        try ether.role.simulateRange(device: "reader", inRange: true, at: ether.now)
        rig.answers = true
        ether.run(for: .seconds(120))
        #expect(rig.transcript.filter { $0 == "finished" }.count == 1)
        #expect(zip(ether.lines, ether.lines.dropFirst()).allSatisfy { $0.at <= $1.at })
        let links = rig.transcript.filter { ["connected", "disconnected"].contains($0) }
        #expect(zip(links, links.dropFirst()).allSatisfy { $0 != $1 })
    }
}
