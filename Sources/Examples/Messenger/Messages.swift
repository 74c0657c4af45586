import Foundation
import UserNotifications

/// The messages: fetched when a push says that there are some, and shown to the user by the phone.
@MainActor
final class Messages: NSObject, UNUserNotificationCenterDelegate {
    private let center = UNUserNotificationCenter.current()

    func begin() {
        center.delegate = self
        center.requestAuthorization(options: [.alert, .sound, .badge]) { granted, _ in
            log("requestAuthorization \(granted)")
        }
    }

    /// Stands for a server that answers after two seconds.
    func fetch(_ completion: @escaping @MainActor (Bool) -> Void) {
        DispatchQueue.main.asyncAfter(deadline: .now() + 2) { completion(true) }
    }

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        let request = notification.request
        let isPush = request.trigger is UNPushNotificationTrigger
        log("willPresent \(request.identifier) \(request.content.body) push=\(isPush)")
        completionHandler([.banner, .sound])
    }

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let content = response.notification.request.content
        log("didReceive \(content.body) thread=\(content.userInfo["thread"] ?? "none")")
        completionHandler()
    }
}
