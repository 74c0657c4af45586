import Foundation
import UserNotifications

/// Schedules what is not scheduled yet, and says what becomes of it.
@MainActor
final class Reminders: NSObject, UNUserNotificationCenterDelegate {
    private let center = UNUserNotificationCenter.current()

    func begin() {
        center.delegate = self
        center.requestAuthorization(options: [.alert, .sound, .badge]) { granted, _ in
            log("requestAuthorization \(granted)")
        }
        center.getPendingNotificationRequests { requests in
            let pending = requests.map(\.identifier).sorted()
            log("pending \(pending)")
            MainActor.assumeIsolated { self.schedule(unlessIn: pending) }
        }
    }

    private func schedule(unlessIn pending: [String]) {
        let tea = UNTimeIntervalNotificationTrigger(timeInterval: 240, repeats: false)
        if !pending.contains("tea") { add("tea", "The tea is ready.", at: tea) }
        let morning = UNCalendarNotificationTrigger(dateMatching: DateComponents(hour: 7, minute: 30), repeats: true)
        if !pending.contains("morning") { add("morning", "Good morning.", at: morning) }
    }

    private func add(_ identifier: String, _ body: String, at trigger: UNNotificationTrigger) {
        let content = UNMutableNotificationContent()
        content.body = body
        content.sound = .default
        content.badge = 1
        content.userInfo = ["kind": identifier]
        center.add(UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)) { error in
            log("add \(identifier) \(error.map { $0.localizedDescription } ?? "scheduled")")
        }
    }

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        log("willPresent \(notification.request.identifier)")
        completionHandler([.banner, .sound])
    }

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let content = response.notification.request.content
        log("didReceive \(content.userInfo["kind"] ?? "nothing") badge=\(content.badge ?? 0)")
        center.setBadgeCount(0)
        completionHandler()
    }
}
