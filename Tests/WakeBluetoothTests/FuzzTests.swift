import Testing
import WakeSystem

@testable import WakeBluetooth

private func fuzz(
    _ bug: PretendServer.Bug = .none,
    length: Int = .max,
    writes: FuzzPlan.Writes = .all,
    operations: Int = 400
) throws -> (summary: FuzzSummary, records: [FuzzRecord], server: PretendServer) {
    let server = PretendServer(try EventLoop(), bug: bug, length: length)
    let patience = PeripheralFuzz.Patience(probe: .milliseconds(200), malformed: .milliseconds(50))
    let fuzz = try PeripheralFuzz(server, seed: 7, writes: writes, patience: patience)
    var records: [FuzzRecord] = []
    let summary = try fuzz.run(for: .seconds(60), isStopped: { records.count >= operations }) { records.append($0) }
    return (summary, records, server)
}

@Suite("Fuzzing a device")
struct FuzzTests {
    private static let target = FuzzTarget([
        .init(handle: 3, properties: 0x02, uuid: "2A24", service: "180A"),
        .init(handle: 5, properties: 0x0a, uuid: "2A39", service: "180D"),
        .init(handle: 8, properties: 0x10, uuid: "2A37", service: "180D", configuration: 9),
        .init(handle: 11, properties: 0x0c, uuid: "2A52", service: "1808"),
    ])

    private static func operations(_ seed: UInt64, _ writes: FuzzPlan.Writes) -> [FuzzOperation] {
        var plan = FuzzPlan(target, seed: seed, writes: writes)
        return (0..<2_000).map { _ in plan.next() }
    }

    @Test("The same seed does the same in the same order, and another seed something else")
    func seeds() {
        #expect(Self.operations(1, .all) == Self.operations(1, .all))
        #expect(Self.operations(1, .all) != Self.operations(2, .all))
    }

    @Test("Every kind of operation has its turn")
    func kinds() {
        #expect(Set(Self.operations(1, .all).map(\.word)).count == 13)
    }

    @Test("Lengths of values are all there are, from none to what a link and an attribute hold")
    func lengths() {
        let values = Self.operations(1, .all).compactMap { operation -> Int? in
            if case .writeLong(_, let value) = operation { value.count } else { nil }
        }
        #expect(values.contains(0) && values.contains(512) && Set(values).count > 50)
        #expect(values.allSatisfy { $0 <= 512 })
    }

    @Test(
        "A value in one packet is no longer than the link holds, and the longest are exactly so long",
        arguments: [23, 64, 185, 517]
    )
    func fitting(mtu: Int) {
        let lengths = Self.operations(1, .all).compactMap { operation -> Int? in
            if case .write(_, let value) = operation.fitting(mtu) { value.count } else { nil }
        }
        #expect(lengths.max() == mtu - 3 && lengths.contains(mtu - 4) && lengths.contains(0))
        #expect(Set(lengths).count > 15)
    }

    @Test("What a record says was written is what went over the link")
    func told() throws {
        let (_, records, server) = try fuzz()
        let told = records.compactMap { record -> [UInt8]? in
            if case .write(let handle, let value) = record.operation { [0x12] + word(handle) + value } else { nil }
        }
        #expect(told.count > 20)
        #expect(told.allSatisfy(server.requests.contains))
        #expect(server.requests.allSatisfy { $0.count <= 64 })
    }

    @Test("Nothing is written to a characteristic that was not named, but what it holds already")
    func safe() {
        for (writes, allowed) in [(.none, []), (.some(["2A39"]), [5])] as [(FuzzPlan.Writes, Set<UInt16>)] {
            for operation in Self.operations(1, writes) {
                switch operation {
                case .write(let handle, _), .writeLong(let handle, _), .commands(let handle, _, _):
                    #expect(allowed.contains(handle))
                case .prepare(let handle, _): #expect(allowed.union([3]).contains(handle))
                case .writeBack(let handle): #expect(handle == 3)
                case .configure(let handle, _): #expect(handle == 9)
                case .read, .readPart, .readLong, .readType, .storm, .malformed, .reconnect: break
                }
            }
            let left = FuzzPlan.leftOut(Self.target, writes).map(\.handle)
            #expect(left == [5, 11].filter { !allowed.contains($0) })
        }
    }

    @Test("No packet that no client should send can change a value")
    func harmless() {
        for operation in Self.operations(1, .none) {
            guard case .malformed(let packet) = operation else { continue }
            // A write needs a handle, and a prepared one an offset; nothing prepared is executed by a wrong flag.
            #expect(packet[0] != 0x12 || packet.count < 3)
            #expect(packet[0] != 0x16 || packet.count < 5)
            #expect(![0x52, 0xd2].contains(packet[0]))
        }
    }

    @Test("A healthy device answers all, and is there at the end")
    func healthy() throws {
        let (summary, records, server) = try fuzz()
        #expect(summary.end == .answered)
        #expect(summary.operations == 400 && summary.answered == 400)
        #expect(summary.hangs.isEmpty && summary.disconnects.isEmpty && summary.diedOf == nil)
        #expect(records.map(\.number) == Array(1...400))
        #expect(records.contains { $0.answer == .refused(0x03) })
        #expect(server.requests.count > 400)
    }

    @Test("By default a device's values are what they were")
    func untouched() throws {
        let (summary, _, server) = try fuzz(writes: .none)
        #expect(server.values == [3: [1], 5: [2], 8: [3], 11: [9]])
        #expect(summary.leftOut.map(\.uuid) == ["2A39", "2A52"])
        #expect(summary.changed == [])
    }

    @Test("A device that stops answering is said to hang, with what it hung of")
    func hangs() throws {
        let (summary, records, _) = try fuzz(.hangs, length: 40)
        #expect(summary.end == .silent)
        #expect(summary.hangs.count == 1)
        #expect(summary.diedOf == records.last)
        #expect(records.last?.answer == .silence)
        #expect(try #require(records.last?.operation.value?.count) >= 40)
    }

    @Test("A device that goes from the air is said to be gone, with what it went of")
    func vanishes() throws {
        let (summary, records, _) = try fuzz(.vanishes, length: 40)
        #expect(summary.end == .gone)
        #expect(summary.diedOf == records.last && records.last?.answer == .gone)
    }

    @Test("A link that is lost is made again, and the operation that lost it is named")
    func drops() throws {
        let (summary, _, _) = try fuzz(.drops, length: 40)
        #expect(summary.end == .answered)
        #expect(summary.disconnects.count == 1)
        #expect(summary.operations == 400)
    }

    @Test("A value that takes no writes and takes one is named")
    func open() throws {
        #expect(try fuzz(.open, writes: .none).summary.opened.sorted() == [3, 8])
    }

    @Test("A link that a device ends is no finding; a lost device, a request left open and a write taken are")
    func findings() throws {
        let (summary, records, _) = try fuzz(.drops, length: 40)
        #expect(summary.isClean)
        var unanswered = summary
        unanswered.hangs = Array(records.prefix(1))
        #expect(!unanswered.isClean)
        var writable = summary
        writable.opened = [3]
        #expect(!writable.isClean)
        for end in [FuzzSummary.End.silent, .unreachable, .gone] {
            var lost = summary
            lost.end = end
            #expect(!lost.isClean)
        }
    }
}
