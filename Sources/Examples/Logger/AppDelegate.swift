import CoreBluetooth
import UIKit

/// An ordinary iOS app delegate that collects what a data logger sends over a channel.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var collector: Collector?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let keys = launchOptions.map { $0.keys.map(\.rawValue).sorted() } ?? []
        log("didFinishLaunching pid=\(ProcessInfo.processInfo.processIdentifier) launchOptions=\(keys)")
        collector = Collector()
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) { log("didBecomeActive") }
    func applicationWillResignActive(_ application: UIApplication) { log("willResignActive") }
    func applicationDidEnterBackground(_ application: UIApplication) { log("didEnterBackground") }
    func applicationWillEnterForeground(_ application: UIApplication) { log("willEnterForeground") }
    func applicationWillTerminate(_ application: UIApplication) { log("willTerminate") }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
