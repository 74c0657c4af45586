import Foundation
import WakeBench

/// A folder with a scenario and the belt of its devices, removed after use.
enum ScenarioFolder {
    static func with(_ scenario: String, belt: String, _ body: (RunOptions) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-scenario-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(belt.utf8).write(to: folder.appending(path: "belt.yaml"))
        let file = folder.appending(path: "scenario.yaml")
        try Data(scenario.utf8).write(to: file)
        try body(RunOptions(scenario: file.path, out: folder.appending(path: "out").path))
    }
}
