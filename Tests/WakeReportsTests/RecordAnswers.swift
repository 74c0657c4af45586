import Foundation
import Testing

/// Records as the router made them and the log wrote them, one check a line, in files beside the tests.
///
/// `WAKEBENCH_RECORD=1` writes them anew; what changed is then to be read, and not to be typed.
enum RecordAnswers {
    static func check(_ line: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Answers")
        let file = folder.appending(path: "\(name).txt")
        let text = folded(line)
        if ProcessInfo.processInfo.environment["WAKEBENCH_RECORD"] != nil {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        #expect(text == (try String(contentsOf: file, encoding: .utf8)), sourceLocation: sourceLocation)
    }

    /// A record with each of its parts, and each of its checks, on a line of its own.
    private static func folded(_ line: String) -> String {
        var text = line
        let parts = ["event", "app", "interest", "budget", "verdict", "checks", "would_have", "fix", "census"]
        for part in parts { text = text.replacingOccurrences(of: ",\"\(part)\":", with: ",\n\"\(part)\":") }
        text = text.replacingOccurrences(of: "{\"rule\":", with: "\n  {\"rule\":")
        // The verdict that would have been is no part of its own.
        return text.replacingOccurrences(of: "\"would_have\":{\n", with: "\"would_have\":{") + "\n"
    }
}
