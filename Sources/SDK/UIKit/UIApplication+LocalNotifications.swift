import Foundation
import WakeClient
import WakeWire

/// What an app asks its user for, in the form from before UserNotifications.
public struct UIUserNotificationType: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Types from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// A number on the icon.
    public static let badge = Self(rawValue: 1)
    /// Sounds.
    public static let sound = Self(rawValue: 2)
    /// Alerts.
    public static let alert = Self(rawValue: 4)
}

/// What the user is asked for and allows: on this phone, all or nothing.
open class UIUserNotificationSettings: NSObject, @unchecked Sendable {
    /// What was asked for.
    public let types: UIUserNotificationType

    /// Settings; categories are noted, nothing else.
    public init(types: UIUserNotificationType, categories: Set<NSObject>? = nil) {
        self.types = types
        super.init()
    }
}

// Notifications in the form from before UserNotifications. A centre of that framework with a delegate hears of them instead.
extension UIApplication {
    /// Asks the user; the delegate is told what is allowed, which is all unless the bench says otherwise (NOTE-7).
    public func registerUserNotificationSettings(_ notificationSettings: UIUserNotificationSettings) {
        let allowed =
            NotificationHandlers.isAllowed ? notificationSettings : UIUserNotificationSettings(types: [])
        DispatchQueue.main.async { [self] in
            delegate?.application(self, didRegister: allowed)
        }
    }

    /// Has the user notified when it is due (NOTE-1). Of more than 64 the soonest stay (NOTE-2).
    public func scheduleLocalNotification(_ notification: UILocalNotification) {
        BenchClient.shared.send(.notification(.schedule(notification.wire(now: false))))
    }

    /// Has the user notified at once.
    public func presentLocalNotificationNow(_ notification: UILocalNotification) {
        BenchClient.shared.send(.notification(.schedule(notification.wire(now: true))))
    }

    /// Takes one back, due or not (NOTE-4).
    public func cancelLocalNotification(_ notification: UILocalNotification) {
        let identifiers = [notification.wireIdentifier]
        BenchClient.shared.send(.notification(.cancel(identifiers: identifiers)))
        BenchClient.shared.send(.notification(.withdraw(identifiers: identifiers)))
    }

    /// Takes all back, due or not (NOTE-4).
    public func cancelAllLocalNotifications() {
        BenchClient.shared.send(.notification(.cancelAll))
        BenchClient.shared.send(.notification(.withdrawAll))
    }

    /// Those that are not due yet (NOTE-4).
    public var scheduledLocalNotifications: [UILocalNotification]? {
        get { NotificationHandlers.list(delivered: false).compactMap { UILocalNotification($0) } }
        set {
            BenchClient.shared.send(.notification(.cancelAll))
            for notification in newValue ?? [] { scheduleLocalNotification(notification) }
        }
    }

    /// The number on the app's icon (NOTE-1).
    public var applicationIconBadgeNumber: Int {
        get { NotificationHandlers.badge }
        set { NotificationHandlers.setBadge(newValue) }
    }

    /// Hears of the notifications of this form, in the foreground (NOTE-3) and when the user taps one (NOTE-6).
    func hearOfLocalNotifications() {
        NotificationHandlers.setApplication { event in
            let application = UIApplication.shared
            if application.takesRemote(event) { return true }
            switch event {
            case .due(let number, let wire):
                guard let notification = UILocalNotification(wire) else { return false }
                NotificationHandlers.present(number, shows: false)
                application.delegate?.application(application, didReceive: notification)
            case .tapped(let wire):
                guard let notification = UILocalNotification(wire) else { return false }
                application.delegate?.application(application, didReceive: notification)
            }
            return true
        }
    }
}
