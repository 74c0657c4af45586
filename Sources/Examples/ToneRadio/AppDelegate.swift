import AVFoundation
import UIKit

/// An ordinary iOS app delegate of an app that plays in the background.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let player = TonePlayer()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("didFinishLaunching pid=\(ProcessInfo.processInfo.processIdentifier)")
        player.play()
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        log("didEnterBackground playing=\(player.isPlaying)")
    }

    func applicationWillEnterForeground(_ application: UIApplication) {
        log("willEnterForeground playing=\(player.isPlaying)")
    }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
