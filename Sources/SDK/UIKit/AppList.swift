import Foundation
import WakeClient

extension AppList {
    /// Says on stderr what the list declares and nobody here asks the app for.
    static func tellNotDecided() {
        let list = read()
        if list["CFBundleURLTypes"] != nil {
            notDecided(
                "Info.plist has CFBundleURLTypes: the phone has no other app, application(_:open:options:) and "
                    + "scene(_:openURLContexts:) are never called"
            )
        }
        if list["NSUserActivityTypes"] != nil {
            notDecided(
                "Info.plist has NSUserActivityTypes: there is no other device, application(_:continue:restorationHandler:) "
                    + "and scene(_:continue:) are never called"
            )
        }
    }
}
