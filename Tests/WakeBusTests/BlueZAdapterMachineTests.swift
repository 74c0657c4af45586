import Testing

@testable import WakeBlueZ

private typealias Machine = BlueZAdapterMachine

private let adapter = "/org/bluez/hci0"
private let belt = BlueZDeviceID(address: "F0:11:22:33:44:55", isRandom: true)
private let beltPath = adapter + "/dev_F0_11_22_33_44_55"
private let everything = BlueZScan(services: [], duplicates: false)

private let connect = Machine.Call.connect(belt, path: beltPath, patience: Machine.connectPatience)

private func beltFacts(connected: Bool = false, resolved: Bool = false) -> BlueZDeviceFacts {
    BlueZDeviceFacts(path: beltPath, id: belt, isConnected: connected, isResolved: resolved)
}

extension Machine {
    /// What is done after an input, and what is asked for then.
    fileprivate mutating func turn(_ input: (inout Machine) -> [Command]) -> [Command] {
        let commands = input(&self)
        return commands + settle(isSeeking: false, isConnecting: false)
    }

    /// A machine whose adapter is there and on.
    fileprivate static func ready(_ devices: [BlueZDeviceFacts] = []) -> Machine {
        var machine = Machine(.any)
        _ = machine.daemonAppeared()
        let own = BlueZAdapterFacts(path: adapter, address: "00:01", isOn: true)
        _ = machine.turn { $0.objectsListed([own], devices) }
        return machine
    }

    /// A machine with a link to the belt.
    fileprivate static func connected() -> Machine {
        var machine = ready([beltFacts()])
        _ = machine.turn { $0.want(belt) }
        _ = machine.turn { $0.hear(.deviceChanged(beltFacts(connected: true), .connected)) }
        _ = machine.turn { $0.answered(connect, .done) }
        return machine
    }
}

@Suite("What is asked of an adapter")
struct BlueZAdapterMachineTests {
    @Test("An adapter that is off is switched on, again and again, and told as ready when it says so")
    func power() {
        var machine = Machine(.address("00:01"))
        #expect(machine.daemonAppeared() == [.call(.listObjects)])
        let other = BlueZAdapterFacts(path: "/org/bluez/hci1", address: "00:02", isOn: true)
        var own = BlueZAdapterFacts(path: adapter, address: "00:01", isOn: false)
        let ask = Machine.Call.setPower(adapter: adapter, true)
        #expect(machine.objectsListed([own, other], []) == [.call(ask)])
        #expect(machine.answered(ask, .failed("Busy")) == [.wait(.power, 500)])
        #expect(machine.elapsed(.power) == [.call(ask)])
        #expect(machine.answered(ask, .failed("Busy")) == [.wait(.power, 1_000)])
        own.isOn = true
        #expect(machine.hear(.adapterChanged(own)) == [.cancel(.power), .say(.ready)])
        #expect(machine.address == "00:01")
    }

    @Test("bluetoothd is asked for its objects until it lists them, with longer pauses")
    func listing() {
        var machine = Machine(.any)
        _ = machine.daemonAppeared()
        #expect(machine.listingFailed() == [.wait(.objects, 100)])
        #expect(machine.elapsed(.objects) == [.call(.listObjects)])
        #expect(machine.listingFailed() == [.wait(.objects, 200)])
        #expect(!machine.isSynchronised)
    }

    @Test("Looking begins with the filter, changes it in place, and stops")
    func discovery() {
        var machine = Machine.ready()
        let narrow = BlueZScan(services: ["180d"], duplicates: false)
        machine.wantedScan = everything
        #expect(machine.turn { _ in [] } == [.call(.setFilter(adapter: adapter, everything))])
        let filter = Machine.Call.setFilter(adapter: adapter, everything)
        #expect(machine.turn { $0.answered(filter, .done) } == [.call(.startDiscovery(adapter: adapter))])
        let started = machine.turn { $0.answered(.startDiscovery(adapter: adapter), .done) }
        #expect(started == [.discoverySettled])
        machine.wantedScan = narrow
        #expect(machine.turn { _ in [] } == [.call(.setFilter(adapter: adapter, narrow))])
        machine.wantedScan = nil
        #expect(machine.turn { _ in [] } == [])
        let changed = machine.turn { $0.answered(.setFilter(adapter: adapter, narrow), .done) }
        #expect(changed == [.discoverySettled, .call(.stopDiscovery(adapter: adapter))])
        #expect(
            machine.turn { $0.answered(.stopDiscovery(adapter: adapter), .failed("Failed")) } == [.discoverySettled]
        )
        #expect(machine.discovery == .idle)
    }

    @Test("A discovery that is refused is asked for again after a pause")
    func refusedDiscovery() {
        var machine = Machine.ready()
        machine.wantedScan = everything
        let filter = Machine.Call.setFilter(adapter: adapter, everything)
        #expect(machine.turn { _ in [] } == [.call(filter)])
        let refused = machine.turn { $0.answered(filter, .failed("NotReady")) }
        #expect(refused == [.wait(.discovery, 500), .discoverySettled])
        #expect(machine.turn { $0.elapsed(.discovery) } == [.call(filter)])
    }

    @Test("Looking rests while a link is being made, and goes on when it is up")
    func rest() {
        var machine = Machine.ready([beltFacts()])
        machine.wantedScan = everything
        for call: Machine.Call in [.setFilter(adapter: adapter, everything), .startDiscovery(adapter: adapter)] {
            _ = machine.turn { _ in [] }
            _ = machine.turn { $0.answered(call, .done) }
        }
        #expect(machine.turn { $0.want(belt) } == [.call(.stopDiscovery(adapter: adapter))])
        let stopped = machine.turn { $0.answered(.stopDiscovery(adapter: adapter), .done) }
        #expect(stopped == [.discoverySettled, .call(connect)])
        #expect(machine.turn { $0.hear(.deviceChanged(beltFacts(connected: true), .connected)) } == [])
        let up = machine.turn { $0.answered(connect, .done) }
        #expect(up == [.cancel(.retry(belt)), .say(.connected(belt)), .call(.setFilter(adapter: adapter, everything))])
    }

    @Test("A device without an object is looked for")
    func seeking() {
        var machine = Machine.ready()
        #expect(machine.turn { $0.want(belt) } == [.call(.setFilter(adapter: adapter, everything))])
    }

    /// How an attempt is answered while the link is up or not, and what is done then.
    private static let answers: [(Machine.Outcome, Bool, [Machine.Command])] = [
        (.done, true, [.cancel(.retry(belt)), .say(.connected(belt))]),
        (.done, false, [.call(.askWhetherConnected(belt, path: beltPath))]),
        (.failed("AlreadyConnected"), true, [.cancel(.retry(belt)), .say(.connected(belt))]),
        (.failed("InProgress"), true, [.cancel(.retry(belt)), .say(.connected(belt))]),
        (.failed("AlreadyConnected"), false, [.wait(.retry(belt), 200)]),
        (.failed("Failed"), true, [.wait(.retry(belt), 200)]),
        (.failed("Failed"), false, [.wait(.retry(belt), 200)]),
        (.timedOut, false, [.call(.abandon(path: beltPath)), .wait(.retry(belt), 200)]),
    ]

    @Test("An attempt makes a link only where one is", arguments: answers.indices)
    func answered(row: Int) {
        let (outcome, isUp, commands) = Self.answers[row]
        var machine = Machine.ready([beltFacts()])
        #expect(machine.turn { $0.want(belt) } == [.call(connect)])
        if isUp { _ = machine.turn { $0.hear(.deviceChanged(beltFacts(connected: true), .connected)) } }
        #expect(machine.answered(connect, outcome) == commands)
    }

    @Test("A link without a signal is found by looking, and what is not there is asked for again")
    func looked() {
        for isUp in [true, false] {
            var machine = Machine.ready([beltFacts()])
            _ = machine.turn { $0.want(belt) }
            _ = machine.turn { $0.answered(connect, .done) }
            let looked = machine.looked(belt, beltPath, beltFacts(connected: isUp))
            #expect(looked == (isUp ? [.cancel(.retry(belt)), .say(.connected(belt))] : [.wait(.retry(belt), 200)]))
        }
    }

    @Test("An answer for a link that was given up closes it")
    func late() {
        var machine = Machine.ready([beltFacts()])
        _ = machine.turn { $0.want(belt) }
        _ = machine.turn { $0.giveUp(belt) }
        #expect(machine.answered(connect, .done) == [.call(.abandon(path: beltPath))])
    }

    @Test("A link that others of this program hold is let go of, and neither closed nor abandoned")
    func shared() {
        var machine = Machine.connected()
        machine.heldByOthers = [beltPath]
        #expect(machine.turn { $0.giveUp(belt) } == [.cancel(.retry(belt)), .letGo(below: beltPath)])
        #expect(machine.turn { $0.want(belt) } == [.wait(.retry(belt), 3_000)])
        var late = Machine.ready([beltFacts()])
        late.heldByOthers = [beltPath]
        _ = late.turn { $0.want(belt) }
        _ = late.turn { $0.giveUp(belt) }
        #expect(late.answered(connect, .done) == [.letGo(below: beltPath)])
        var ending = Machine.connected()
        ending.heldByOthers = [beltPath]
        #expect(ending.stop() == [.letGo(below: beltPath)])
    }

    @Test("At the start a link that others of this program hold is no leftover")
    func sharedAtStart() {
        for (others, commands) in [([beltPath], []), ([], [.call(.disconnect(belt, path: beltPath))])]
            as [(Set<String>, [Machine.Command])]
        {
            var machine = Machine.ready([beltFacts()])
            machine.ownDevices = [belt.address: belt]
            machine.heldByOthers = others
            #expect(machine.settleConnected(belt, beltFacts(connected: true)) == commands)
        }
    }

    @Test("The end of a link is told once, with its reason, after what was asked over it failed")
    func end() {
        var machine = Machine.connected()
        _ = machine.hear(.reason(path: beltPath, "org.bluez.Reason.Timeout"))
        let ended = machine.hear(.deviceChanged(beltFacts(), .disconnected))
        #expect(
            ended == [
                .cancel(.retry(belt)), .endOperations(below: beltPath), .linkEnded(belt),
                .say(.disconnected(belt, reason: "org.bluez.Reason.Timeout")),
            ]
        )
        #expect(machine.hear(.vanished([beltPath])) == [])
    }

    @Test("A table that changes on a link is told once all that came or went together is known")
    func attributes() {
        var machine = Machine.connected()
        let service = beltPath + "/service0020"
        #expect(machine.hear(.attributeAppeared(path: service)) == [])
        _ = machine.hear(.deviceChanged(beltFacts(connected: true, resolved: true), .resolved))
        let wait = Machine.Command.wait(.attributes(belt), Machine.attributesTogether)
        #expect(machine.hear(.attributeAppeared(path: service)) == [wait])
        #expect(machine.hear(.attributeAppeared(path: service + "/char0021")) == [wait])
        #expect(machine.elapsed(.attributes(belt)) == [.say(.resolved(belt))])
        #expect(machine.hear(.vanished([service + "/char0021"])) == [])
        #expect(machine.hear(.vanished([service])) == [wait])
        _ = machine.hear(.deviceChanged(beltFacts(), .disconnected))
        #expect(machine.elapsed(.attributes(belt)) == [])
        #expect(machine.hear(.vanished([beltPath + "/service000a"])) == [])
    }

    @Test("Another name of a device is told while it has a link, and else left to its advertisement")
    func names() {
        var machine = Machine.ready([beltFacts()])
        #expect(machine.hear(.deviceChanged(beltFacts(), [.renamed])) == [])
        machine = Machine.connected()
        let renamed = machine.hear(.deviceChanged(beltFacts(connected: true), [.renamed]))
        #expect(renamed == [.say(.renamed(belt))])
    }

    @Test("A link that is given up is closed, and wanted again only when it is")
    func closing() {
        var machine = Machine.connected()
        let closed = machine.turn { $0.giveUp(belt) }
        let close = Machine.Call.disconnect(belt, path: beltPath)
        #expect(closed == [.cancel(.retry(belt)), .endOperations(below: beltPath), .call(close)])
        _ = machine.want(belt)
        #expect(!machine.settle(isSeeking: false, isConnecting: false).contains(.call(connect)))
        let ended = machine.turn { $0.hear(.deviceChanged(beltFacts(), .disconnected)) }
        #expect(ended.last == .call(connect))
    }

    @Test("A link that is there already is taken over when wanted and resolved, closed when ours, and else let alone")
    func adoption() {
        let up = BlueZAdapterFacts(path: adapter, address: "00:01", isOn: true)
        var wanting = Machine(.any)
        _ = wanting.want(belt)
        #expect(
            wanting.objectsListed([up], [beltFacts(connected: true, resolved: true)]) == [
                .cancel(.power), .say(.ready), .cancel(.retry(belt)), .say(.connected(belt)), .say(.resolved(belt)),
            ]
        )
        var owning = Machine(.any)
        owning.ownDevices[belt.address] = belt
        let closes = owning.objectsListed([up], [beltFacts(connected: true)])
        #expect(closes == [.cancel(.power), .say(.ready), .call(.disconnect(belt, path: beltPath))])
        var foreign = Machine(.any)
        #expect(foreign.objectsListed([up], [beltFacts(connected: true)]) == [.cancel(.power), .say(.ready)])
    }

    @Test("When bluetoothd goes, links end, answers are dropped, and a link that it left behind is not trusted")
    func restart() {
        var machine = Machine.connected()
        let epoch = machine.epoch
        let gone: [Machine.Command] = [
            .cancelDelays, .endOperations(below: ""), .say(.disconnected(belt, reason: nil)), .say(.gone),
        ]
        #expect(machine.daemonLeft() == gone)
        #expect(machine.epoch > epoch)
        _ = machine.want(belt)
        #expect(machine.daemonAppeared() == [.wait(.leftOverLinks, 4_000), .call(.listObjects)])
        let up = BlueZAdapterFacts(path: adapter, address: "00:01", isOn: true)
        let listed = machine.objectsListed([up], [beltFacts(connected: true)])
        #expect(listed == [.cancel(.power), .say(.ready), .wait(.retry(belt), 3_000)])
    }

    @Test("Whoever must hear everything is given pauses between attempts")
    func sharing() {
        var machine = Machine.ready([beltFacts()])
        machine.wantedScan = BlueZScan(services: [], duplicates: true)
        let attempt = Machine.Call.connect(belt, path: beltPath, patience: .seconds(15))
        #expect(machine.turn { $0.want(belt) } == [.call(attempt)])
        let ended = machine.turn { $0.answered(attempt, .timedOut) }
        #expect(ended.contains(.wait(.listening, 5_000)))
        _ = machine.turn { $0.elapsed(.retry(belt)) }
        #expect(machine.nextWish == nil)
        _ = machine.elapsed(.listening)
        #expect(machine.nextWish == 0)
    }

    @Test("Whatever bluetoothd does, links are told in order, one thing is asked at a time, and all wishes come true")
    func chance() {
        for seed in 1...UInt64(300) {
            var world = ChanceBlueZ(seed: seed)
            world.appear()
            for _ in 0..<400 {
                world.step()
                guard world.faults.isEmpty else { break }
            }
            world.comeToRest()
            #expect(world.faults == [], "seed \(seed)")
            #expect(world.told.map(\.address).sorted() == world.wanted.map(\.address).sorted(), "seed \(seed)")
            #expect(world.machine.discovery.running == world.machine.wantedScan, "seed \(seed)")
            let stray = world.devices.filter { $0.isConnected && !world.wanted.contains($0.id) }.map(\.id)
            #expect(stray.allSatisfy { $0 == ChanceBlueZ.ids.last }, "seed \(seed)")
        }
    }

    @Test("The same seed asks for the same in the same order")
    func repeated() {
        let runs = (0..<2).map { _ in
            var world = ChanceBlueZ(seed: 7)
            world.appear()
            for _ in 0..<1_000 { world.step() }
            return world.said
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0].count > 100)
    }
}
