import ExternalAccessory
import UIKit

/// An ordinary iOS app delegate that logs what accessories say.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var accessories: Accessories?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("didFinishLaunching pid=\(ProcessInfo.processInfo.processIdentifier)")
        accessories = Accessories()
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) { log("didBecomeActive") }
    func applicationDidEnterBackground(_ application: UIApplication) { log("didEnterBackground") }
    func applicationWillEnterForeground(_ application: UIApplication) { log("willEnterForeground") }
    func applicationWillTerminate(_ application: UIApplication) { log("willTerminate") }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
