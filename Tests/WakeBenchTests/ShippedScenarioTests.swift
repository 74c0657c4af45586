import Foundation
import Testing
import WakeBench
import WakeDevices
import WakeModel
import WakeRouter

/// Counts decisions.
private final class DecisionCounter: BenchObserver {
    var delivered = 0
    var withheld = 0

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        for decision in output.decisions {
            if decision.verdict.delivers { delivered += 1 } else { withheld += 1 }
        }
    }
}

@Suite("Shipped scenarios")
struct ShippedScenarioTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Devices/Scenarios"

    private static let day = "day-of-belts.yaml"

    /// The small scenarios whose apps are all scripted.
    private static let scripted: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().filter { name in
            let text = (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? ""
            return name.hasSuffix(".yaml") && name != day && !text.contains("bundle:")
        }
    }()

    private func play(_ name: String, observer: DecisionCounter = DecisionCounter()) throws -> Run {
        let out = FileManager.default.temporaryDirectory.path + "/shipped-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: out) }
        var options = RunOptions(scenario: Self.folder + "/" + name, out: out)
        options.journal = false
        let run = try Run(options)
        run.bench.add(observer)
        try run.execute()
        return run
    }

    @Test("A shipped scenario meets its expectations in virtual time", arguments: scripted)
    func holds(name: String) throws {
        let run = try play(name)
        #expect(run.driver.failure == nil)
        for judgement in run.driver.judgements {
            #expect(judgement.met, "\(name):\(judgement.line) \(judgement.app): \(judgement)")
        }
    }

    @Test("The day of belts meets its expectations with 100 000 decisions and more, about a third of them no delivery")
    func dayOfBelts() throws {
        let counter = DecisionCounter()
        let run = try play(Self.day, observer: counter)
        let all = counter.delivered + counter.withheld
        #expect(run.scenario.apps.count == 100)
        #expect(all >= 100_000)
        #expect(!run.driver.judgements.contains { !$0.met })
        #expect((0.28...0.40).contains(Double(counter.withheld) / Double(all)))
    }
}
