import Foundation
import Testing
import WakeModel
import WakeRouter

@Suite("The random world")
struct RandomWorldTests {
    /// The seeds from 1; WAKEBENCH_SEEDS sets another number of them, for a longer search.
    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["WAKEBENCH_SEEDS"].flatMap { UInt64($0) } ?? 14
        return Array(1...max(14, count))
    }()
    private static let stepsPerSeed = 75_000

    @Test("LIFE-1, SYS-4: a million random inputs never reach an illegal state nor lose an event")
    func aMillionInputs() async {
        let worlds = await withTaskGroup(of: (failure: String?, tally: Tally).self) { group in
            for seed in Self.seeds {
                group.addTask {
                    var world = RandomWorld(seed: seed)
                    world.run(steps: Self.stepsPerSeed)
                    world.finish()
                    return (world.failure, world.observer.tally)
                }
            }
            var worlds: [(failure: String?, tally: Tally)] = []
            for await world in group { worlds.append(world) }
            return worlds
        }
        var total = Tally()
        for world in worlds {
            total.add(world.tally)
            if let failure = world.failure { Issue.record("\(failure)") }
        }
        print(total.text)
        #expect(total.steps >= 1_000_000)
        #expect(total.missing == [])
    }

    @Test("SYS-3: the same seed gives the same actions and decisions", arguments: [1, 5] as [UInt64])
    func sameSeedSameLog(seed: UInt64) {
        var first = RandomWorld(seed: seed)
        var second = RandomWorld(seed: seed)
        first.run(steps: 20_000)
        second.run(steps: 20_000)
        #expect(first.failure == nil)
        #expect(first.digest == second.digest)
    }

    @Test("SYS-3: another seed gives other actions and decisions")
    func otherSeedOtherLog() {
        var first = RandomWorld(seed: 1)
        var second = RandomWorld(seed: 7)
        first.run(steps: 2_000)
        second.run(steps: 2_000)
        #expect(first.digest != second.digest)
    }
}
