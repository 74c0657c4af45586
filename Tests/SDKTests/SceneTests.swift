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
    /// What it sent until it had launched.
    let start: [AppMessage]
    private let folder: URL

    /// - Parameters:
    ///   - options: What it is told of its launch.
    ///   - list: More of its Info.plist.
    init(
        scenes: Bool,
        state: WireAppState,
        options: LaunchOptions = LaunchOptions(),
        arguments: [String] = [],
        list more: String = ""
    ) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "scene-app-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let executable = folder.appending(path: "SceneApp")
        let built = AppProcess.repository.appending(path: ".build/debug/SceneApp")
        try FileManager.default.copyItem(at: built.resolvingSymlinksInPath(), to: executable)
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>\(scenes ? Self.manifest : "")\(more)</dict></plist>
            """
        try list.write(to: folder.appending(path: "Info.plist"), atomically: true, encoding: .utf8)
        app = try AppProcess([executable.path] + arguments)
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: state, options: options)))
        start = try app.bench.wait { $0 == .launched }
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

    @Test("SCN-1: with a scene manifest launch options are nil, whatever started the app", arguments: [true, false])
    func launchOptions(scenes: Bool) throws {
        let starts: [(LaunchOptions, String)] = [
            (LaunchOptions(bluetoothCentrals: ["belt"]), "UIApplicationLaunchOptionsBluetoothCentralsKey"),
            (LaunchOptions(bluetoothPeripherals: ["lamp"]), "UIApplicationLaunchOptionsBluetoothPeripheralsKey"),
            (LaunchOptions(isForLocation: true), "UIApplicationLaunchOptionsLocationKey"),
            (LaunchOptions(remoteNotification: "{}"), "UIApplicationLaunchOptionsRemoteNotificationKey"),
        ]
        for (options, key) in starts {
            let end = try SceneAppEnd(scenes: scenes, state: .background, options: options, arguments: ["options"])
            let line = scenes ? "options nil" : "options [\"\(key)\"]"
            #expect(try end.end().lines == [line, "didFinishLaunching scenes=0", line])
        }
    }

    @Test("RESP-6: a memory warning reaches the app's delegate, with scenes and without", arguments: [true, false])
    func memoryWarning(scenes: Bool) throws {
        let end = try SceneAppEnd(scenes: scenes, state: .background)
        try end.tell((.didReceiveMemoryWarning, .background))
        #expect(try end.end().lines == ["didFinishLaunching scenes=0", "applicationDidReceiveMemoryWarning"])
    }

    @Test("RESP-1: an app that says that it has drawn is heard")
    func drew() throws {
        let end = try SceneAppEnd(scenes: false, state: .inactive, arguments: ["draws"])
        end.app.bench.send(.callback(delivery: 1, .didEnterBackground, state: .background))
        #expect(try end.app.bench.untilAcknowledged(1).contains(.drew))
        _ = try end.end()
    }

    @Test("FETCH-1, FETCH-2: the app asks for fetches, is told of each, and its first answer is heard")
    func fetch() throws {
        let end = try SceneAppEnd(scenes: false, state: .background, arguments: ["fetches"])
        #expect(end.start.contains(.backgroundTask(.setFetchInterval(600))))
        #expect(end.start.contains(.backgroundTask(.setFetchInterval(nil))))
        end.app.bench.deliver(1, manager: 0, .backgroundTask(.fetch(number: 7)))
        let answers = try end.app.bench.untilAcknowledged(1)
        #expect(answers == [.backgroundTask(.fetched(number: 7, result: .newData))])
        #expect(try end.end().lines.last == "performFetch")
    }

    @Test("What the bench does not decide is said once: the battery, other apps")
    func notDecided() throws {
        let end = try SceneAppEnd(scenes: false, state: .inactive)
        try end.tell((.didBecomeActive, .active))
        let done = try end.app.end()
        #expect(done.lines.filter { $0 == "opened false" }.count == 2)
        #expect(done.lines.contains("battery -1.0 unknown"))
        #expect(
            done.errors == [
                "wakebench: UIDevice.isBatteryMonitoringEnabled: the phone has no battery, its level is -1, "
                    + "its state unknown",
                "wakebench: UIApplication.open: the phone has no other app, nothing is opened",
            ]
        )
    }

    @Test("What nobody here asks the app for is said once: URLs of its own, user activities, a second scene")
    func declaredInVain() throws {
        let list = """
            <key>CFBundleURLTypes</key><array/><key>NSUserActivityTypes</key><array><string>a.b</string></array>
            """
        let end = try SceneAppEnd(scenes: true, state: .inactive, arguments: ["activities"], list: list)
        let done = try end.app.end()
        let errors = done.errors
        #expect(done.lines.count { $0 == "opened no scene" } == 2)
        #expect(errors.count { $0.contains("a phone has one scene, none is added") } == 1)
        #expect(
            errors.filter { $0.contains("Info.plist") } == [
                "wakebench: Info.plist has CFBundleURLTypes: the phone has no other app, application(_:open:options:) "
                    + "and scene(_:openURLContexts:) are never called",
                "wakebench: Info.plist has NSUserActivityTypes: there is no other device, "
                    + "application(_:continue:restorationHandler:) and scene(_:continue:) are never called",
            ]
        )
        #expect(
            errors.filter { $0.contains("NSUserActivity.") } == [
                "wakebench: NSUserActivity.becomeCurrent: there is no other device, nobody goes on with an activity"
            ]
        )
    }

    @Test("Signposts are told to the bench as they are made, with the time of each, and stay lines of the log")
    func signposts() throws {
        var before = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &before)
        let end = try SceneAppEnd(scenes: false, state: .background, arguments: ["signposts"])
        let marks = end.start.compactMap { message -> WireSignpost? in
            if case .signpost(let signpost) = message { signpost } else { nil }
        }
        let times = marks.compactMap(\.time)
        #expect(times.count == 4 && times == times.sorted())
        #expect(try #require(times.first) >= Double(before.tv_sec))
        let expected = [
            WireSignpost(
                .begin,
                name: "load",
                span: "18446744073709551614",
                subsystem: "test.scenes",
                category: "launch",
                message: "from disk"
            ), WireSignpost(.event, name: "found", subsystem: "test.scenes", category: "launch"),
            WireSignpost(
                .end,
                name: "load",
                span: "18446744073709551614",
                subsystem: "test.scenes",
                category: "launch",
                message: "3 records"
            ), WireSignpost(.event, name: "plain", message: "50%"),
        ]
        #expect(
            marks.map {
                WireSignpost(
                    $0.mark,
                    name: $0.name,
                    span: $0.span,
                    subsystem: $0.subsystem,
                    category: $0.category,
                    message: $0.message
                )
            } == expected
        )
        let lines = try end.app.end().errors.filter { $0.hasPrefix("signpost") }
        #expect(lines.count == 4)
    }
}
