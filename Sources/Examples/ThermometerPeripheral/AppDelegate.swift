import CoreBluetooth
import UIKit

/// An ordinary iOS app delegate of an app that serves temperatures as a Bluetooth peripheral in the background.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var thermometer: Thermometer?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let peripherals = launchOptions?[.bluetoothPeripherals] as? [String] ?? []
        log("didFinishLaunching pid=\(ProcessInfo.processInfo.processIdentifier) bluetoothPeripherals=\(peripherals)")
        thermometer = Thermometer()
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
