import Foundation
import WakeClient
import WakeModel
import WakeWire

/// What an app takes of remote notifications, in the form from before UserNotifications.
public struct UIRemoteNotificationType: OptionSet, Sendable {
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
    /// Word of a new issue, for apps with the mode newsstand-content (NEWS-1).
    public static let newsstandContentAvailability = Self(rawValue: 8)
}

extension UIApplication {
    /// Asks for the app's device token, which the delegate is told; for an app that has one, again.
    public func registerForRemoteNotifications() { PushHandlers.register() }

    /// The app takes no pushes any more, but for VoIP pushes.
    public func unregisterForRemoteNotifications() { PushHandlers.unregister() }

    /// Whether the app has a device token, from this process or an earlier one.
    public var isRegisteredForRemoteNotifications: Bool { PushHandlers.isRegistered }

    /// The form from before iOS 8; what the types are for, the user of this phone always allows.
    public func registerForRemoteNotifications(matching types: UIRemoteNotificationType) { PushHandlers.register() }

    /// The form from before iOS 8: everything, or nothing for an app without a device token.
    public func enabledRemoteNotificationTypes() -> UIRemoteNotificationType {
        isRegisteredForRemoteNotifications ? [.badge, .sound, .alert, .newsstandContentAvailability] : []
    }

    /// Hears of the device token, and of pushes that are for the app (PUSH-1, NEWS-1).
    func hearOfPushes() {
        PushHandlers.set { event in UIApplication.shared.receive(event) }
    }

    private func receive(_ event: WirePushEvent) {
        switch event {
        case .registered(let token, _):
            delegate?.application(self, didRegisterForRemoteNotificationsWithDeviceToken: Data(token))
        case .failed(_, let message):
            let error = NSError(domain: NSCocoaErrorDomain, code: 3_000, userInfo: [NSLocalizedDescriptionKey: message])
            delegate?.application(self, didFailToRegisterForRemoteNotificationsWithError: error)
        case .received(let number, let payload):
            let answer = FetchAnswer { BenchClient.shared.send(.push(.completed(number: number, result: $0))) }
            tell(payload) { answer.give($0) }
        case .called, .extend, .extensionExpires: break
        }
    }

    private func tell(_ payload: String, completion: @escaping (UIBackgroundFetchResult) -> Void) {
        guard let delegate else { return completion(.noData) }
        let userInfo = UserInfo.values(payload) ?? [:]
        delegate.application(self, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completion)
    }

    /// A remote notification in the foreground, or the tap on one, which no centre with a delegate hears of.
    ///
    /// - Returns: whether it is one.
    func takesRemote(_ event: WireNotificationEvent) -> Bool {
        switch event {
        case .due(let number, let wire):
            guard wire.isRemote else { return false }
            NotificationHandlers.present(number, shows: false)
            // What is for the app as well has come to it as a push.
            if !UserInfo.isContentAvailable(wire.userInfo) { tell(wire.userInfo) { _ in } }
        case .tapped(let wire):
            guard wire.isRemote else { return false }
            tell(wire.userInfo) { _ in }
        }
        return true
    }
}

extension UserInfo {
    /// Whether a payload is for the app as well as for its user.
    fileprivate static func isContentAvailable(_ payload: String) -> Bool {
        let aps = values(payload)?["aps"] as? [String: Any]
        return (aps?["content-available"] as? NSNumber)?.intValue == 1
    }
}
