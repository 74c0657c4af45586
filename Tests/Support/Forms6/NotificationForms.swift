import UIKit
import UserNotifications
import UserNotifications.UNUserNotificationCenter

final class Notifier: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions { [.banner, .list, .sound] }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse
    ) async {
        guard response.actionIdentifier == UNNotificationDefaultActionIdentifier else { return }
        print(response.notification.request.content.userInfo["kind"] as? String ?? "")
    }

    func remind() async throws {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        guard try await center.requestAuthorization(options: [.alert, .badge, .sound]) else { return }
        let content = UNMutableNotificationContent()
        content.title = NSString.localizedUserNotificationString(forKey: "Tea", arguments: nil)
        content.sound = UNNotificationSound(named: UNNotificationSoundName("chime.caf"))
        content.userInfo = ["kind": "tea"]
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: 5, repeats: false)
        try await center.add(UNNotificationRequest(identifier: UUID().uuidString, content: content, trigger: trigger))
        let pending = await center.pendingNotificationRequests()
        center.removePendingNotificationRequests(withIdentifiers: pending.map(\.identifier))
        center.getNotificationSettings { settings in
            guard settings.authorizationStatus == .authorized else { return }
        }
    }
}

@MainActor
func older() {
    let request = UNNotificationRequest(identifier: "now", content: UNNotificationContent(), trigger: nil)
    UNUserNotificationCenter.current().add(request)
    let application = UIApplication.shared
    application.registerUserNotificationSettings(UIUserNotificationSettings(types: [.alert, .sound], categories: nil))
    let notification = UILocalNotification()
    notification.fireDate = Date(timeIntervalSinceNow: 60)
    notification.timeZone = TimeZone.current
    notification.repeatInterval = .day
    notification.alertBody = "Tea"
    notification.soundName = UILocalNotificationDefaultSoundName
    notification.userInfo = ["kind": "tea"]
    application.scheduleLocalNotification(notification)
    application.cancelLocalNotification(notification)
    application.applicationIconBadgeNumber = (application.scheduledLocalNotifications ?? []).count
}
