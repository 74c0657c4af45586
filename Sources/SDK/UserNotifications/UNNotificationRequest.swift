import Foundation
import WakeClient
import WakeWire

/// A notification that the phone is to bring.
open class UNNotificationRequest: NSObject, NSCopying, @unchecked Sendable {
    /// The app's own word for it; a request with the same one gives way.
    public let identifier: String
    /// What the user sees and hears.
    public let content: UNNotificationContent
    /// What brings it; nil for at once.
    public let trigger: UNNotificationTrigger?

    /// A request; the content is copied.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.copy() as? UNNotificationContent ?? content
        self.trigger = trigger
        super.init()
    }

    /// The same request.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }
}

/// A notification that the user was shown, or that came while the app was in the foreground.
open class UNNotification: NSObject, NSCopying, @unchecked Sendable {
    /// When it came.
    public let date: Date
    /// What asked for it.
    public let request: UNNotificationRequest

    init(date: Date, request: UNNotificationRequest) {
        self.date = date
        self.request = request
        super.init()
    }

    /// The same notification.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }
}

/// The action of a user who tapped a notification itself.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The action of a user who dismissed a notification; it does not happen on this phone.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

/// What the user did with a notification.
open class UNNotificationResponse: NSObject, NSCopying, @unchecked Sendable {
    /// The notification.
    public let notification: UNNotification
    /// What the user chose: on this phone the notification itself.
    public let actionIdentifier: String

    init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
        super.init()
    }

    /// The same response.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }
}

extension WireNotification {
    /// What the phone is told of a request; nil for one that no packet holds.
    init?(_ request: UNNotificationRequest) {
        guard (1...WireLimits.notificationIdentifierBytes).contains(request.identifier.utf8.count) else { return nil }
        let content = request.content
        let sound = content.sound.map { $0.name?.rawValue ?? "" }
        let short = [
            content.title, content.subtitle, content.categoryIdentifier, content.threadIdentifier, sound ?? "",
        ]
        guard short.allSatisfy({ $0.utf8.count <= WireLimits.notificationTitleBytes }),
            content.body.utf8.count <= WireLimits.notificationBodyBytes,
            let userInfo = UserInfo.json(content.userInfo)
        else { return nil }
        self.init(
            identifier: request.identifier,
            title: content.title,
            subtitle: content.subtitle,
            body: content.body,
            badge: content.badge.map { UInt32(clamping: min(max(0, $0.intValue), Int(Int32.max))) },
            sound: sound,
            userInfo: userInfo,
            category: content.categoryIdentifier,
            thread: content.threadIdentifier,
            trigger: request.trigger?.wire
        )
    }

    /// The request behind what the phone tells.
    var request: UNNotificationRequest {
        var held = UNNotificationContent.Held()
        held.title = title
        held.subtitle = subtitle
        held.body = body
        held.badge = badge.map { NSNumber(value: $0) }
        held.sound = sound.map { UNNotificationSound(name: $0.isEmpty ? nil : UNNotificationSoundName($0)) }
        held.categoryIdentifier = category
        held.threadIdentifier = thread
        held.userInfo = UserInfo.values(userInfo) ?? [:]
        let due = date.map { Date(timeIntervalSince1970: $0) }
        return UNNotificationRequest(
            identifier: identifier,
            content: UNNotificationContent(held),
            trigger: isRemote ? UNPushNotificationTrigger(repeats: false) : trigger?.trigger(due: due)
        )
    }

    /// The notification that came: at the date that the phone tells, or now.
    var notification: UNNotification {
        UNNotification(date: date.map { Date(timeIntervalSince1970: $0) } ?? Date(), request: request)
    }
}
