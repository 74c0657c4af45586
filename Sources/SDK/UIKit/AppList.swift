import Foundation
import WakeClient

/// The Info.plist of the running app.
enum AppList {
    /// The program that runs, which stands beside the list.
    static let executable: URL? =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map { URL(filePath: $0) }

    /// What is in it; nothing for a program without one.
    static func read() -> [String: Any] {
        guard let list = executable?.deletingLastPathComponent().appending(path: "Info.plist"),
            let data = try? Data(contentsOf: list)
        else { return [:] }
        return unsafe (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any] ?? [:]
    }

    /// Says on stderr what the list declares and nobody here asks the app for.
    static func tellNotDecided() {
        let list = read()
        if list["CFBundleURLTypes"] != nil {
            notDecided(
                "Info.plist has CFBundleURLTypes: the phone has no other app, application(_:open:options:) and "
                    + "scene(_:openURLContexts:) are never called"
            )
        }
        if list["NSUserActivityTypes"] != nil {
            notDecided(
                "Info.plist has NSUserActivityTypes: there is no other device, application(_:continue:restorationHandler:) "
                    + "and scene(_:continue:) are never called"
            )
        }
    }
}
