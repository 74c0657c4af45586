import UIKit

/// An ordinary iOS app delegate of a phone that takes calls over SIP.
///
/// The server is `HOST:PORT` in the environment variable `VOIP_SERVER`.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var line: Line?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("didFinishLaunching pid=\(ProcessInfo.processInfo.processIdentifier)")
        let server = (ProcessInfo.processInfo.environment["VOIP_SERVER"] ?? "127.0.0.1:5060").split(separator: ":")
        line = Line(host: String(server.first ?? ""), port: Int(server.last ?? "") ?? 5060)
        line?.connect()
        let keepsAlive = application.setKeepAliveTimeout(UIMinimumKeepAliveTimeout) { [weak self] in
            self?.line?.keepAlive()
        }
        log("setKeepAliveTimeout \(keepsAlive)")
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) { log("didEnterBackground") }
    func applicationWillEnterForeground(_ application: UIApplication) { log("willEnterForeground") }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
