import UIKit
import os.signpost

final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let scene = scene as? UIWindowScene else { return }
        window = UIWindow(windowScene: scene)
        if let activity = connectionOptions.userActivities.first { self.scene(scene, continue: activity) }
        self.scene(scene, openURLContexts: connectionOptions.urlContexts)
    }

    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {
        for context in URLContexts { print(context.url, context.options.sourceApplication ?? "") }
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        if userActivity.activityType == NSUserActivityTypeBrowsingWeb { print(userActivity.webpageURL as Any) }
    }

    func sceneDidDisconnect(_ scene: UIScene) {}
    func sceneWillEnterForeground(_ scene: UIScene) {}

    func sceneDidBecomeActive(_ scene: UIScene) {
        precondition(scene.activationState == .foregroundActive && scene.session.role == .windowApplication)
    }

    func sceneWillResignActive(_ scene: UIScene) {}
    func sceneDidEnterBackground(_ scene: UIScene) {}
}

final class SceneAppDelegate: UIResponder, UIApplicationDelegate {
    private var watch: (any NSObjectProtocol)?
    private let signposter = OSSignposter(subsystem: "com.example.outside", category: "fetch")

    func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        let configuration = UISceneConfiguration(name: nil, sessionRole: connectingSceneSession.role)
        configuration.delegateClass = SceneDelegate.self
        return configuration
    }

    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        let state = signposter.beginInterval("fetch", id: signposter.makeSignpostID())
        completionHandler(.newData)
        signposter.endInterval("fetch", state, "\(1) record")
    }

    func application(
        _ app: UIApplication,
        open url: URL,
        options: [UIApplication.OpenURLOptionsKey: Any] = [:]
    ) -> Bool {
        options[.sourceApplication] as? String == "com.example"
    }

    func application(
        _ application: UIApplication,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        restorationHandler(nil)
        return userActivity.userInfo?.isEmpty ?? true
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        application.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalMinimum)
        UIDevice.current.isBatteryMonitoringEnabled = true
        watch = NotificationCenter.default.addObserver(
            forName: UIDevice.batteryLevelDidChangeNotification,
            object: nil,
            queue: .main
        ) { _ in print("never") }
        if UIDevice.current.batteryState == .charging { print(UIDevice.current.batteryLevel) }
        if let settings = URL(string: UIApplication.openSettingsURLString) { application.open(settings) }
        os_signpost(.event, log: log, name: "active")
    }
}
