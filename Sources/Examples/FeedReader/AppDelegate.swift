import UIKit

/// An ordinary iOS app delegate whose feed is refreshed and cleaned in the background.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let feed = Feed()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("didFinishLaunching")
        feed.register()
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        log("didEnterBackground")
        feed.scheduleRefresh()
        feed.scheduleCleaning()
    }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
