import UIKit

/// An ordinary iOS app delegate of a messenger: messages and calls come as pushes.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let messages = Messages()
    private let calls = Calls()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let push = launchOptions?[.remoteNotification] as? [AnyHashable: Any]
        log("didFinishLaunching thread=\(push?["thread"] ?? "none")")
        messages.begin()
        calls.begin()
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        let token = deviceToken.map { String(format: "%02x", $0) }.joined()
        log("didRegister \(token.prefix(8)) registered=\(application.isRegisteredForRemoteNotifications)")
    }

    func application(
        _ application: UIApplication,
        didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        log("didFailToRegister \(error.localizedDescription)")
    }

    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        log("didReceiveRemoteNotification thread=\(userInfo["thread"] ?? "none")")
        messages.fetch { hasNew in
            log("fetched \(hasNew)")
            completionHandler(hasNew ? .newData : .noData)
        }
    }

    func applicationDidBecomeActive(_ application: UIApplication) { log("didBecomeActive") }
    func applicationDidEnterBackground(_ application: UIApplication) { log("didEnterBackground") }
    func applicationWillTerminate(_ application: UIApplication) { log("willTerminate") }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
