import Foundation

/// The Info.plist of the running program.
package enum AppList {
    /// The program that runs, which stands beside the list.
    package static let executable: URL? =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map { URL(filePath: $0) }

    /// What is in it; nothing for a program without one.
    package static func read() -> [String: Any] {
        guard let list = executable?.deletingLastPathComponent().appending(path: "Info.plist"),
            let data = try? Data(contentsOf: list)
        else { return [:] }
        return unsafe (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any] ?? [:]
    }
}
