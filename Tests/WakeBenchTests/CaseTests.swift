import Foundation
import Testing
import WakeBench
import WakeModel
import WakeReports

/// Scenarios of public reports and of Apple's documents, and what comes of each on a phone: `Cases/answers.txt`.
@Suite("Cases of reports and documents")
struct CaseTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases")

    /// What comes of each case, by the name of its file.
    private static let answers: [String: [String]] = {
        let text = (try? String(contentsOf: folder.appending(path: "answers.txt"), encoding: .utf8)) ?? ""
        var answers: [String: [String]] = [:]
        for block in text.components(separatedBy: "== ") where !block.isEmpty {
            let lines = block.split(separator: "\n").map(String.init)
            answers[lines[0]] = Array(lines.dropFirst())
        }
        return answers
    }()

    static let names = answers.keys.sorted()

    @Test("A case comes to what phones do", arguments: names)
    func holds(name: String) throws {
        let out = FileManager.default.temporaryDirectory.path + "/case-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: out) }
        let file = Self.folder.appending(path: name + ".yaml").path
        try Run(RunOptions(scenario: file, out: out)).execute()
        #expect(Self.told(try RunLog(folder: out)) == Self.answers[name])
    }

    @Test("Each scenario beside the answers has one")
    func complete() throws {
        var scenarios: [String] = []
        for part in ["fidelity", "logic", "reports"] {
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: part).path)
            for file in files where file.hasSuffix(".yaml") {
                let text = try String(contentsOf: Self.folder.appending(path: "\(part)/\(file)"), encoding: .utf8)
                if text.contains("\nsteps:") { scenarios.append("\(part)/\(file.dropLast(5))") }
            }
        }
        #expect(scenarios.sorted() == Self.names)
    }

    // MARK: What is told of a run

    /// The steps by which an app comes to what it waits for, while it runs.
    private static let preparations: Set = [
        "peripheral-connected", "services-discovered", "characteristics-discovered", "notification-state-changed",
        "location-authorization-changed", "monitoring-started", "position-fixed", "service-added",
        "advertising-started", "audio-activated", "audio-started", "audio-in-background", "accessory-session-opened",
    ]

    /// Decisions in their order, repeats of one as their count; then ends of processes, notes, and deeds that are not everyday.
    private static func told(_ log: RunLog) -> [String] {
        var folds: [(line: String, text: String, count: Int)] = []
        for decision in log.decisions where isTold(decision) {
            let text = "\(short(decision.app)) \(decision.kind) \(decision.verdict.word) \(decision.reason.word)"
            if let last = folds.last, last.text == text {
                folds[folds.count - 1].count += 1
            } else {
                folds.append((line: "\(LogTime.shortText(decision.at)) \(text)", text: text, count: 1))
            }
        }
        var rest = log.exits.map { "\(LogTime.shortText($0.at)) \(short($0.app)) ended \($0.cause.word)" }
        rest += log.notes.map { "\(LogTime.shortText($0.at)) \(short($0.app)) note \($0.text)" }
        for entry in log.deeds where !entry.deed.row.isEveryday {
            rest.append("\(LogTime.shortText(entry.at)) \(short(entry.app)) deed \(entry.deed.row.word)")
        }
        return folds.map { $0.count > 1 ? "\($0.line) x\($0.count)" : $0.line } + rest.sorted()
    }

    private static func isTold(_ decision: DecisionRecord) -> Bool {
        switch decision.verdict {
        case .drop, .coalesce: false
        case .foregroundDeliver, .backgroundDeliver: !preparations.contains(decision.kind)
        default: true
        }
    }

    /// The last word of a bundle identifier.
    private static func short(_ app: String?) -> String { app?.split(separator: ".").last.map(String.init) ?? "-" }
}
