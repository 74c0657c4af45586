import UIKit.UIApplication
import UIKit.UIDevice
import UIKit.UIScene
import UIKit.UIWindowScene

final class Lifecycle: UIResponder, UIApplicationDelegate {
    func applicationDidEnterBackground(_ application: UIApplication) {
        let task = application.beginBackgroundTask(expirationHandler: nil)
        application.endBackgroundTask(task)
    }

    static let lockings = [
        UIApplication.protectedDataDidBecomeAvailableNotification,
        UIApplication.protectedDataWillBecomeUnavailableNotification,
    ]

    @MainActor static var model: String { UIDevice.current.model }
}
