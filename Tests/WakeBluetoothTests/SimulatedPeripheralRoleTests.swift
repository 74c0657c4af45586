import Glibc
import Testing
import WakeModel
import WakePorts

@testable import WakeBluetooth
@testable import WakeDevices

/// Scripted centrals whose time the test moves.
final class Ether {
    let names: NameTable
    let role: SimulatedPeripheralRole
    var now = Instant.zero
    var lines: [(at: Instant, line: String)] = []

    init(_ devices: [ScenarioDevice], seed: UInt64 = 1) throws {
        let names = NameTable()
        self.names = names
        role = SimulatedPeripheralRole(devices: devices, names: names, seed: seed)
        try role.start(at: .zero)
    }

    /// A rig on this role, whose time passes as it is asked for.
    func rig() -> RoleRig {
        let rig = RoleRig(
            port: role,
            names: names,
            now: { self.now },
            power: { _ in },
            pass: { condition in
                let end = self.now.advanced(by: .seconds(600))
                while !condition() {
                    guard let next = self.role.nextDeadline, next <= end else { return false }
                    self.now = max(self.now, next)
                    self.role.timeReached(self.now)
                }
                return true
            }
        )
        role.transcript = { [weak rig, unowned self] central, line, at in
            rig?.transcript.append(line)
            self.lines.append((at, line))
        }
        return rig
    }

    func run(for span: Instant.Span) {
        let end = now.advanced(by: span)
        while let next = role.nextDeadline, next <= end {
            now = max(now, next)
            role.timeReached(now)
        }
        now = end
    }

    func time(of line: String) -> Instant? { lines.first { $0.line == line }?.at }
}

@Suite("Scripted centrals")
struct SimulatedPeripheralRoleTests {
    @Test("Scripted centrals keep the promises of the port", arguments: RolePromise.allCases)
    func contract(promise: RolePromise) throws {
        let ether = try Ether([try RoleRig.central(promise.script, mtu: promise.mtu)])
        try promise.check(ether.rig())
    }

    @Test("The same devices, seed and calls give the same lines at the same times")
    func repeatable() throws {
        func lines() throws -> [String] {
            let script = ["wait: 1s", "connect: 180D", "read: 2A38", "subscribe: 2A37", "{await: 2A37, count: 3}"]
            let ether = try Ether([try RoleRig.central(script, mtu: 23)])
            let rig = ether.rig()
            rig.values[12] = Array(0..<30)
            try rig.offer()
            try rig.wait(for: "subscribed 2A37")
            for value: UInt8 in 1...3 {
                rig.perform(.update(rig.first, characteristic: 11, value: [value], centrals: []))
            }
            try rig.wait(for: "finished")
            return ether.lines.map { "\($0.at.nanoseconds) \($0.line)" }
        }
        #expect(try lines() == lines())
        #expect(try lines().count == 7)
    }

    @Test("A request that no app answers ends the link after 30 s, and the script goes on after its disconnect")
    func unanswered() throws {
        let script = ["connect: 180D", "read: 2A38", "read: 2A3A", "disconnect", "connect: 180D", "read: 2A3A"]
        let ether = try Ether([try RoleRig.central(script, mtu: 185)])
        let rig = ether.rig()
        rig.answers = false
        try rig.offer()
        let asked = try rig.wait(for: .readRequested)
        let at = ether.now
        try rig.wait(for: "disconnected")
        #expect(ether.now.since(at) == .seconds(30))
        try rig.wait(for: "read 2A3A 010203")
        // An answer that is too late means nothing.
        rig.perform(.respond(rig.first, request: asked.event.request, result: 0, value: [1]))
        ether.run(for: .seconds(1))
        #expect(rig.transcript == ["connected", "disconnected", "connected", "read 2A3A 010203", "finished"])
    }

    @Test("A central that never confirms an indication loses its link after 30 s")
    func neverConfirms() throws {
        let script = ["connect: 180D", "subscribe: 2A39", "{await: 2A39, count: 2}"]
        let ether = try Ether([try RoleRig.central(script, mtu: 185)])
        let rig = ether.rig()
        try ether.role.arm(fault: "mute", device: "reader", at: .zero)
        try rig.offer()
        try rig.wait(for: "subscribed 2A39")
        rig.perform(.update(rig.first, characteristic: 13, value: [1], centrals: []))
        rig.perform(.update(rig.first, characteristic: 13, value: [2], centrals: []))
        try rig.wait(for: "disconnected")
        #expect(rig.transcript.filter { $0.hasPrefix("indicated") } == ["indicated 2A39 01"])
        let heard = try #require(ether.time(of: "indicated 2A39 01"))
        #expect(ether.time(of: "disconnected") == heard.advanced(by: .seconds(30)))
        try rig.wait(for: .centralUnsubscribed)
    }

    @Test("A channel that nobody offers any more is refused, and one that nobody answers on is given up")
    func channels() throws {
        let exchange = "{exchange: 128, value: \"0102\", within: 5s}"
        let ether = try Ether([try RoleRig.central(["connect: 180D", exchange, "wait: 10s", exchange], mtu: 185)])
        let rig = ether.rig()
        var said: [String] = []
        ether.role.missed = { line, _ in said.append(line) }
        rig.perform(.publishChannel(rig.first, encrypted: false))
        #expect(try rig.wait(for: .channelPublished).event.local == 128)
        try rig.offer()
        let opened = try rig.wait(for: .channelOpened)
        #expect(opened.payload == .psm(128))
        let descriptor = try #require(ether.role.table.take(opened.event.local))
        defer { close(descriptor) }
        var bytes: [UInt8] = [0, 0, 0]
        #expect(unsafe recv(descriptor, &bytes, 3, 0) == 2)
        let at = ether.now
        #expect(ether.role.unfinished == ["script of reader: still awaits 2 bytes over channel 128 at the end, 0 came"])
        try rig.wait(for: "gave up channel 128")
        #expect(said == ["script of reader: waited 5 s for 2 bytes over channel 128, 0 came"])
        #expect(ether.now.since(at) == .seconds(5))
        #expect(unsafe recv(descriptor, &bytes, 3, 0) == 0)
        rig.perform(.unpublishChannel(rig.first, psm: 128))
        #expect(try !rig.wait(for: .channelUnpublished).event.failed)
        try rig.wait(for: "refused channel 128")
        try rig.wait(for: "finished")
    }

    @Test("A slow reader takes one value each time, and the queue fills")
    func slowReader() throws {
        let script = ["connect: 180D", "subscribe: 2A37", "{await: 2A37, count: 9}"]
        let ether = try Ether([try RoleRig.central(script, mtu: 185)])
        let rig = ether.rig()
        try ether.role.arm(fault: "slow", device: "reader", at: .zero)
        try rig.offer()
        try rig.wait(for: "subscribed 2A37")
        let start = ether.now
        for value: UInt8 in 0..<40 {
            rig.perform(.update(rig.first, characteristic: 11, value: [value], centrals: []))
        }
        try rig.wait(for: .readyToUpdate)
        #expect(ether.now.since(start) == .seconds(8))
        ether.run(for: .seconds(60))
        #expect(rig.transcript.filter { $0.hasPrefix("notified") }.count == PeripheralRole.updateQueueLength)
    }

    @Test("A central out of range is lost after 720 ms, and comes back when it is in range")
    func range() throws {
        let script = ["connect: 180D", "subscribe: 2A37", "await: 2A37", "disconnect", "connect: 180D"]
        let ether = try Ether([try RoleRig.central(script, mtu: 185)])
        let rig = ether.rig()
        try rig.offer()
        try rig.wait(for: "subscribed 2A37")
        let start = ether.now
        try ether.role.simulateRange(device: "reader", inRange: false, at: start)
        try rig.wait(for: "disconnected")
        #expect(ether.now.since(start) == .milliseconds(720))
        ether.run(for: .seconds(5))
        #expect(rig.transcript.last == "disconnected")
        try ether.role.simulateRange(device: "reader", inRange: true, at: ether.now)
        try rig.wait(for: "the link") { rig.transcript.last == "connected" || rig.transcript.last == "finished" }
    }

    @Test("A central that goes out of range while it connects has no link until it is back")
    func rangeWhileConnecting() throws {
        let ether = try Ether([try RoleRig.central(["connect: 180D"], mtu: 185)])
        let rig = ether.rig()
        try rig.offer()
        ether.run(for: .milliseconds(20))
        try ether.role.simulateRange(device: "reader", inRange: false, at: ether.now)
        ether.run(for: .seconds(60))
        #expect(rig.transcript == [])
        try ether.role.simulateRange(device: "reader", inRange: true, at: ether.now)
        try rig.wait(for: "connected")
    }

    @Test("A central that finds nothing within its time gives up, and leaves out what needs the link")
    func givesUp() throws {
        let script = ["{connect: 180D, within: 3s}", "read: 2A38", "disconnect"]
        let ether = try Ether([try RoleRig.central(script, mtu: 185)])
        let rig = ether.rig()
        try rig.wait(for: "finished")
        #expect(rig.transcript == ["gave up 180D", "finished"])
        #expect(ether.time(of: "gave up 180D") == .zero.advanced(by: .seconds(3)))
    }

    @Test("Several centrals are each told and each get the value; one that is named gets it alone")
    func several() throws {
        let script = ["connect: 180D", "subscribe: 2A37", "{await: 2A37, count: 2}"]
        var devices = [try RoleRig.central(script, mtu: 185), try RoleRig.central(script, mtu: 23)]
        devices[1].name = "watch"
        let ether = try Ether(devices)
        let rig = ether.rig()
        try rig.offer()
        try rig.wait(for: .centralSubscribed, count: 2)
        let lengths = rig.all(.centralSubscribed).map(\.payload)
        #expect(Set(lengths) == [.central(maximumUpdateLength: 182), .central(maximumUpdateLength: 20)])
        rig.perform(.update(rig.first, characteristic: 11, value: [1], centrals: []))
        rig.perform(.update(rig.first, characteristic: 11, value: [2], centrals: [rig.names.intern("watch")]))
        ether.run(for: .seconds(1))
        #expect(rig.transcript.filter { $0 == "notified 2A37 01" }.count == 2)
        #expect(rig.transcript.filter { $0 == "notified 2A37 02" }.count == 1)
    }

    @Test("A value that is longer than the central takes is cut")
    func cut() throws {
        let ether = try Ether([try RoleRig.central(["connect: 180D", "subscribe: 2A37", "await: 2A37"], mtu: 23)])
        let rig = ether.rig()
        try rig.offer()
        try rig.wait(for: .centralSubscribed)
        rig.perform(.update(rig.first, characteristic: 11, value: Array(repeating: 1, count: 30), centrals: []))
        try rig.wait(for: "notified 2A37 " + String(repeating: "01", count: 20))
    }

    @Test("An unknown central or fault is refused with what there is")
    func unknown() throws {
        let ether = try Ether([try RoleRig.central([], mtu: 185)])
        let fault = #expect(throws: SourceFailure.self) {
            try ether.role.arm(fault: "loud", device: "reader", at: .zero)
        }
        #expect(fault?.message == "central reader has no fault 'loud'; its file has mute, slow")
        let device = #expect(throws: SourceFailure.self) {
            try ether.role.arm(fault: "mute", device: "phone", at: .zero)
        }
        #expect(device?.message == "there is no central 'phone'; the scenario has reader")
    }
}

@Suite("The phone's advertisement")
struct PhoneAdvertisementTests {
    private func advertise(_ services: [String], overflow: [String] = [], name: String? = nil) -> PhoneAdvertisement? {
        PhoneAdvertisement([.init(localName: name, services: services, overflow: overflow)])
    }

    @Test("Services that have room are all said, and nothing is in the overflow area")
    func room() throws {
        let long = "F0001110-0451-4000-B000-000000000000"
        let said = try #require(advertise(["180D", "180F", long], name: "Strap"))
        #expect(said.services == ["180D", "180F", long])
        #expect(said.overflow.isEmpty)
        #expect(said.localName == "Strap")
    }

    @Test("BTP-2: Services that have no room go into the overflow area")
    func noRoom() throws {
        let long = ["F0001110-0451-4000-B000-000000000000", "F0001120-0451-4000-B000-000000000000"]
        let said = try #require(advertise(["180D"] + long))
        #expect(said.services == ["180D"])
        #expect(long.allSatisfy(said.overflow.contains))
        #expect(PhoneAdvertisement.size(of: said.services) + PhoneAdvertisement.overflowSize <= PhoneAdvertisement.room)
    }

    @Test("Apps share one advertisement: the first name, every service once")
    func shared() throws {
        let said = try #require(
            PhoneAdvertisement([
                .init(localName: nil, services: ["180D"], overflow: []),
                .init(localName: "Second", services: ["180F", "180D"], overflow: ["180D", "1810"]),
            ])
        )
        #expect(said.localName == "Second")
        #expect(said.services == ["180D", "180F"])
        #expect(said.overflow == OverflowArea(["1810"]))
        #expect(PhoneAdvertisement([]) == nil)
    }

    @Test("The overflow area is read back from manufacturer data, and from nothing else")
    func readBack() {
        let area = OverflowArea(["180D", "180F"])
        #expect(OverflowArea(manufacturerData: [0x4C, 0x00, 0x01] + area.bytes) == area)
        #expect(area.contains("180D") && area.contains("180F") && !area.contains("1810"))
        #expect(OverflowArea(manufacturerData: [0x4C, 0x00, 0x02] + area.bytes) == nil)
        #expect(OverflowArea(manufacturerData: [0x4C, 0x00, 0x01] + area.bytes.dropLast()) == nil)
        #expect(OverflowArea(manufacturerData: []) == nil)
    }

    @Test(
        "The bits of some services, which the lab's central computes too",
        arguments: [("180D", 42), ("180F", 68), ("1810", 75), ("F0001110-0451-4000-B000-000000000000", 12)]
    )
    func bits(service: String, bit: Int) {
        #expect(OverflowArea.bit(of: service) == bit)
    }
}
