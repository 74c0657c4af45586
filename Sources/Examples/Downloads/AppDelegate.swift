import UIKit

/// An ordinary iOS app delegate that downloads an episode and uploads what its user has heard, in the background.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let downloads = Downloads()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("didFinishLaunching")
        downloads.begin()
        return true
    }

    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        log("handleEvents \(identifier)")
        downloads.completionHandler = completionHandler
    }

    func applicationDidBecomeActive(_ application: UIApplication) { log("didBecomeActive") }
    func applicationDidEnterBackground(_ application: UIApplication) { log("didEnterBackground") }
    func applicationWillTerminate(_ application: UIApplication) { log("willTerminate") }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
