import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

/// Scripted apps that report some of their calls.
@Suite("Calls of scripted apps")
struct ScriptedCallTests {
    /// An app in the background that is called at 1 and at 3 minutes.
    private func run(_ push: String) throws -> RunLog {
        let scenario = """
            scenario: calls
            profile: ios26
            apps:
              - scripted: com.example.line
                name: line
                modes: [voip, audio]
                push: {register: [voip], \(push)}
            steps:
              - {at: 0, launch: line}
              - {at: 10s, home: line}
              - {at: 1m, push: {app: line, type: voip, expires: 0, payload: {aps: {}}}}
              - {at: 3m, push: {app: line, type: voip, expires: 0, payload: {aps: {}}}}
            until: 5m

            """
        var log: RunLog?
        try ScenarioFolder.with(scenario, belt: "") { options in
            try Run(options).execute()
            log = try RunLog(folder: options.out)
        }
        return try #require(log)
    }

    @Test(
        "PUSH-10: a call that is not reported ends the app once its last call is over, and not before",
        arguments: [
            ("reports-calls: [1], call: 5m", false), ("reports-calls: [1], call: 60s", true),
            ("reports-calls: [1]", true), ("reports-calls: [1, 2], call: 5m", false), ("reports-calls: [2]", true),
        ]
    )
    func reported(push: String, isEnded: Bool) throws {
        let log = try run(push)
        #expect(log.exits.map(\.cause) == (isEnded ? [.crash] : []))
        let spared = log.deeds.filter { $0.deed == .sparedReportOnCall }
        #expect(spared.count == (push.hasSuffix("call: 5m") ? 1 : 0))
    }

    @Test("PUSH-10: a call that is reported after its app was suspended ends after its report")
    func lateReport() throws {
        let scenario = """
            scenario: calls
            profile: ios26
            apps:
              - scripted: com.example.line
                name: line
                modes: [voip]
                push: {register: [voip], reports-calls: [1], work: 10s, call: 1s}
            steps:
              - {at: 0, launch: line}
              - {at: 1s, push: {app: line, type: voip, payload: {aps: {}}}}
              - {at: 2s, home: line}
              - {at: 1m, launch: line}
              - {at: 2m, home: line}
              - {at: 3m, push: {app: line, type: voip, payload: {aps: {}}}}
            until: 5m

            """
        try ScenarioFolder.with(scenario, belt: "") { options in
            try Run(options).execute()
            let log = try RunLog(folder: options.out)
            #expect(log.deeds.filter { $0.deed == .sparedReportOnCall }.isEmpty)
        }
    }
}
