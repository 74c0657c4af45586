import Foundation
import Testing
import WakeModel

@testable import WakeRouter

@Suite("The random world")
struct RandomWorldTests {
    /// The seeds from 1. WAKEBENCH_SEEDS sets another number of them: more for a longer search, or 8, which a million inputs take.
    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["WAKEBENCH_SEEDS"].flatMap { UInt64($0) } ?? 20
        return Array(1...max(8, count))
    }()
    private static let stepsPerSeed = 130_000

    /// What one seed came to.
    private struct World {
        var failure: String?
        var tally: Tally
        var evidence: EvidenceTally
        var redecision: Redecision

        init(_ world: RandomWorld) {
            failure = world.failure
            tally = world.observer.tally
            evidence = world.observer.evidence.tally
            redecision = world.redecision
        }
    }

    @Test(
        "LIFE-1, SYS-4: a million random inputs never reach an illegal state, lose an event, or leave one without its one reason"
    )
    func aMillionInputs() async {
        let worlds = await withTaskGroup(of: World.self) { group in
            for seed in Self.seeds {
                group.addTask {
                    var world = RandomWorld(seed: seed)
                    world.run(steps: Self.stepsPerSeed)
                    world.finish()
                    return World(world)
                }
            }
            var worlds: [World] = []
            for await world in group { worlds.append(world) }
            return worlds
        }
        var total = Tally()
        var evidence = EvidenceTally()
        var redecision = Redecision()
        for world in worlds {
            total.add(world.tally)
            evidence.add(world.evidence)
            redecision.add(world.redecision)
            if let failure = world.failure { Issue.record("\(failure)") }
        }
        print(total.text)
        print(evidence.text)
        print(redecision.text)
        #expect(total.steps >= 1_000_000)
        #expect(total.missing == [])
        #expect(evidence.missing == [])
        #expect(redecision.missing == [])
        #expect(evidence.withoutDecisive == 0)
        #expect(evidence.withTwoDecisive == 0)
    }

    @Test("LIFE-1: the router's table of moves is the rulebook's")
    func tableOfMoves() {
        for from in AppState.allCases {
            for to in AppState.allCases {
                #expect(LifecycleRules.allows(from: from, to: to) == LegalMoves.contains(from: from, to: to))
            }
        }
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
