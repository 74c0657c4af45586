import UIKit
import os

// Prints a line for everything that its delegates are told, and asks for what the bench does not decide.

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

@MainActor func sayOptions(_ options: [UIApplication.LaunchOptionsKey: Any]?) {
    say("options \(options.map { "\($0.keys.map(\.rawValue).sorted())" } ?? "nil")")
}

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        if CommandLine.arguments.contains("options") { sayOptions(launchOptions) }
        return true
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        say("didFinishLaunching scenes=\(application.connectedScenes.count)")
        if CommandLine.arguments.contains("options") { sayOptions(launchOptions) }
        for _ in 0..<2 {
            UIDevice.current.isBatteryMonitoringEnabled = true
            application.open(URL(string: "https://example.com")!) { say("opened \($0)") }
        }
        if CommandLine.arguments.contains("fetches") {
            application.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalNever)
            application.setMinimumBackgroundFetchInterval(600)
        }
        if CommandLine.arguments.contains("signposts") { markSignposts() }
        if CommandLine.arguments.contains("activities") {
            for _ in 0..<2 {
                NSUserActivity(activityType: "a.b").becomeCurrent()
                application.requestSceneSessionActivation(nil, userActivity: nil, options: nil) { _ in
                    say("opened no scene")
                }
            }
        }
        say("battery \(UIDevice.current.batteryLevel) \(UIDevice.current.batteryState)")
        return true
    }

    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        say("performFetch")
        completionHandler(.newData)
        completionHandler(.failed)
    }

    private func markSignposts() {
        let signposter = OSSignposter(subsystem: "test.scenes", category: "launch")
        let state = signposter.beginInterval("load", id: OSSignpostID(.max - 1), "from \("disk")")
        Thread.sleep(forTimeInterval: 0.001)
        signposter.emitEvent("found")
        signposter.endInterval("load", state, "\(3) records")
        os_signpost(.event, log: .default, name: "plain", "%d%%", 50)
        OSSignposter.disabled.emitEvent("never")
    }

    func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        say("configurationForConnecting \(connectingSceneSession.configuration.name ?? "none")")
        return UISceneConfiguration(name: "Main", sessionRole: connectingSceneSession.role)
    }

    func applicationDidBecomeActive(_ application: UIApplication) { say("applicationDidBecomeActive") }
    func applicationWillResignActive(_ application: UIApplication) { say("applicationWillResignActive") }
    func applicationDidEnterBackground(_ application: UIApplication) {
        say("applicationDidEnterBackground")
        if CommandLine.arguments.contains("draws") { Wakebench.drew() }
    }
    func applicationWillEnterForeground(_ application: UIApplication) { say("applicationWillEnterForeground") }
    func applicationDidReceiveMemoryWarning(_ application: UIApplication) { say("applicationDidReceiveMemoryWarning") }
    func applicationWillTerminate(_ application: UIApplication) { say("applicationWillTerminate") }
}

final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let scene = scene as? UIWindowScene else { return }
        window = UIWindow(windowScene: scene)
        window?.makeKeyAndVisible()
        say("willConnectTo key=\(scene.keyWindow === window) urls=\(connectionOptions.urlContexts.count)")
    }

    func sceneWillEnterForeground(_ scene: UIScene) { say("sceneWillEnterForeground \(scene.activationState)") }
    func sceneDidBecomeActive(_ scene: UIScene) { say("sceneDidBecomeActive \(scene.activationState)") }
    func sceneWillResignActive(_ scene: UIScene) { say("sceneWillResignActive \(scene.activationState)") }
    func sceneDidEnterBackground(_ scene: UIScene) { say("sceneDidEnterBackground \(scene.activationState)") }
}
