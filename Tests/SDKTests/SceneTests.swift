import Foundation
import Testing
import WakeWire

/// An app with or without a scene manifest, in a bundle of its own.
private struct SceneAppEnd {
    private static let manifest = """
        <key>UIApplicationSceneManifest</key>
        <dict>
            <key>UISceneConfigurations</key>
            <dict>
                <key>UIWindowSceneSessionRoleApplication</key>
                <array>
                    <dict>
                        <key>UISceneConfigurationName</key><string>Main</string>
                        <key>UISceneDelegateClassName</key><string>$(PRODUCT_MODULE_NAME).SceneDelegate</string>
                    </dict>
                </array>
            </dict>
        </dict>
        """

    let app: AppProcess
    private let folder: URL

    init(scenes: Bool, state: WireAppState) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "scene-app-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let executable = folder.appending(path: "SceneApp")
        let built = AppProcess.repository.appending(path: ".build/debug/SceneApp")
        try FileManager.default.copyItem(at: built.resolvingSymlinksInPath(), to: executable)
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>\(scenes ? Self.manifest : "")</dict></plist>
            """
        try list.write(to: folder.appending(path: "Info.plist"), atomically: true, encoding: .utf8)
        app = try AppProcess([executable.path])
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: state)))
        try app.bench.wait { $0 == .launched }
    }

    /// Tells callbacks, each with the state after it.
    func tell(_ callbacks: (WireCallback, WireAppState)...) throws {
        for (number, (callback, state)) in callbacks.enumerated() {
            app.bench.send(.callback(delivery: UInt64(number + 1), callback, state: state))
            try app.bench.untilAcknowledged(UInt64(number + 1))
        }
    }

    func end() throws -> (lines: [String], errors: [String]) {
        let end = try app.end()
        try FileManager.default.removeItem(at: folder)
        return (end.lines.filter { !$0.hasPrefix("opened") && !$0.hasPrefix("battery") }, end.errors)
    }
}

@Suite("An app with scenes")
struct SceneTests {
    private static let connecting = [
        "configurationForConnecting Main", "willConnectTo key=true urls=0",
        "sceneWillEnterForeground foregroundInactive", "sceneDidBecomeActive foregroundActive",
    ]

    @Test("Launched by the user it makes its scene, which hears of the foreground and the background in its place")
    func byUser() throws {
        let end = try SceneAppEnd(scenes: true, state: .inactive)
        try end.tell(
            (.didBecomeActive, .active),
            (.willResignActive, .inactive),
            (.didEnterBackground, .background),
            (.willEnterForeground, .inactive),
            (.didBecomeActive, .active),
            (.willTerminate, .active)
        )
        #expect(
            try end.end().lines == ["didFinishLaunching scenes=0"] + Self.connecting + [
                "sceneWillResignActive foregroundActive", "sceneDidEnterBackground background",
                "sceneWillEnterForeground foregroundInactive", "sceneDidBecomeActive foregroundActive",
                "applicationWillTerminate",
            ]
        )
    }

    @Test("Launched in the background it has no scene until it comes to the foreground")
    func inBackground() throws {
        let end = try SceneAppEnd(scenes: true, state: .background)
        try end.tell((.willEnterForeground, .inactive), (.didBecomeActive, .active))
        #expect(try end.end().lines == ["didFinishLaunching scenes=0"] + Self.connecting)
    }

    @Test("Without a manifest the app's delegate hears of all, and no scene is made")
    func withoutManifest() throws {
        let end = try SceneAppEnd(scenes: false, state: .inactive)
        try end.tell((.didBecomeActive, .active), (.willResignActive, .inactive), (.didEnterBackground, .background))
        #expect(
            try end.end().lines == [
                "didFinishLaunching scenes=0", "applicationDidBecomeActive", "applicationWillResignActive",
                "applicationDidEnterBackground",
            ]
        )
    }

    @Test("What the bench does not decide is said once: background fetch, the battery, other apps")
    func notDecided() throws {
        let end = try SceneAppEnd(scenes: false, state: .inactive)
        try end.tell((.didBecomeActive, .active))
        let done = try end.app.end()
        #expect(done.lines.filter { $0 == "opened false" }.count == 2)
        #expect(done.lines.contains("battery -1.0 unknown"))
        #expect(
            done.errors == [
                "wakebench: UIApplication.setMinimumBackgroundFetchInterval: the bench decides no background fetch, "
                    + "performFetchWithCompletionHandler is never called",
                "wakebench: UIDevice.isBatteryMonitoringEnabled: the phone has no battery, its level is -1, "
                    + "its state unknown",
                "wakebench: UIApplication.open: the phone has no other app, nothing is opened",
            ]
        )
    }
}
