import Foundation
import Synchronization
import WakeClient

/// What came of the conditions of the app's monitors, in a file of its folder: it outlives the process and a reboot (MON-3).
///
/// A process that no bench started keeps nothing.
enum KeptConditions {
    /// How a condition stood, and since when.
    struct Moment: Codable {
        private let number: UInt
        let date: Date

        init(_ state: CLMonitor.Event.State, _ date: Date) {
            number = state.rawValue
            self.date = date
        }

        init(_ event: CLMonitor.Event) { self.init(event.state, event.date) }

        var state: CLMonitor.Event.State { CLMonitor.Event.State(rawValue: number) ?? .unknown }
    }

    /// What was handled last of a condition, and what came and was not.
    struct Entry: Codable {
        let handled: Moment
        let coming: Moment?

        init(handled: CLMonitor.Event, coming: CLMonitor.Event?) {
            self.handled = Moment(handled)
            self.coming = coming.map { Moment($0) }
        }
    }

    /// Nil where nothing is kept.
    private static let file: URL? = {
        guard BenchClient.shared.hasBench else { return nil }
        // As for defaults: Foundation goes by the environment here, and elsewhere by the user.
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        return URL(filePath: home).appending(path: ".config/wakebench-monitors")
    }()

    /// By the identifier of the condition's region.
    private static let entries = Mutex(load())

    static func entry(_ region: String) -> Entry? { entries.withLock { $0[region] } }

    static func set(_ entry: Entry?, of region: String) {
        entries.withLock { entries in
            entries[region] = entry
            store(entries)
        }
    }

    private static func load() -> [String: Entry] {
        guard let file, FileManager.default.fileExists(atPath: file.path) else { return [:] }
        do {
            return try JSONDecoder().decode([String: Entry].self, from: Data(contentsOf: file))
        } catch {
            notDecided("CLMonitor: \(file.path) cannot be read; what came of conditions before is lost")
            return [:]
        }
    }

    private static func store(_ entries: [String: Entry]) {
        guard let file else { return }
        do {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try JSONEncoder().encode(entries).write(to: file, options: .atomic)
        } catch {
            notDecided("CLMonitor: \(file.path) cannot be written; what comes of conditions may end with the process")
        }
    }
}
