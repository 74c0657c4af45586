import Foundation
import Testing
import WakeBench
import WakeReports

@Suite("Task requests that are refused")
struct RefusedRequestTests {
    @Test("BGT-1: a request that is refused is one line, whether it is the app's own or a step's")
    func line() throws {
        let scenario = """
            scenario: refused
            profile: ios17
            apps:
              - scripted: org.invented.sync
                name: sync
                modes: [processing]
                tasks: {permitted: [org.invented.sync.job], submits: [{id: org.invented.sync.job, kind: refresh}]}
            steps:
              - {at: 0, launch: sync}
              - {at: 5s, submit: sync, request: {id: org.invented.sync.typo}}
            until: 1m

            """
        var text = ""
        try ScenarioFolder.with(scenario, belt: "") { options in
            try Run(options).execute()
            text = Timeline.text(try RunLog(folder: options.out))
        }
        let refused = text.split(separator: "\n").filter { $0.contains("refused") }
        #expect(refused.count == 2, "\(text)")
        #expect(refused.first?.hasPrefix("T+00:00:00.000") == true && refused.first?.contains("sync.job") == true)
        #expect(refused.last?.hasPrefix("T+00:00:05.000") == true && refused.last?.contains("sync.typo") == true)
    }
}
