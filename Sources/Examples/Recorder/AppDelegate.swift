import AVFoundation
import UIKit

/// An ordinary iOS app delegate of an app that records.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let recorder = VoiceRecorder()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        log("didFinishLaunching pid=\(ProcessInfo.processInfo.processIdentifier)")
        recorder.begin()
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        log("didEnterBackground")
    }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
