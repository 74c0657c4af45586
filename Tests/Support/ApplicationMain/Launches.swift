// A second file: of a target with one, SwiftPM asks for @main.

import UIKit

var launches = 0

/// Code of before there were actors calls UIKit from any function, and hands it what is not Sendable.
final class Reachability {
    var onChange: (() -> Void)?

    func start() -> String {
        let application = UIApplication.shared
        let task = application.beginBackgroundTask { self.onChange?() }
        application.endBackgroundTask(task)
        return UIDevice.current.model + (application.delegate is AppDelegate ? "" : "?")
    }
}
