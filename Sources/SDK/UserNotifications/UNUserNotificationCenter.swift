import Foundation
import WakeClient
import WakeWire

/// Schedules the app's notifications, and knows those that the user was shown.
///
/// On this phone each app may notify unless its user refuses it (NOTE-7). Handlers are called on the main queue.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    private static let instance = UNUserNotificationCenter()

    private let lock = NSLock()
    private weak var heldDelegate: (any UNUserNotificationCenterDelegate)?
    private var heldCategories: Set<UNNotificationCategory> = []

    /// The app's only centre.
    open class func current() -> UNUserNotificationCenter { instance }

    private override init() {
        super.init()
        BenchClient.shared.runWithoutApplication()
        NotificationHandlers.setCenter { [unowned self] event in receive(event) }
    }

    /// Who hears of notifications in the foreground and of taps; to be set before the launch is finished.
    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { heldDelegate } }
        set { lock.withLock { heldDelegate = newValue } }
    }

    /// Whether the phone can do more than is asked for here: no.
    open var supportsContentExtensions: Bool { false }

    // MARK: The user's word

    /// Asks the user, and tells whether the answer is yes, as it is unless the bench says otherwise (NOTE-7).
    @preconcurrency
    open func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let isAllowed = NotificationHandlers.isAllowed
        later { completionHandler(isAllowed, nil) }
    }

    /// Asks the user; the answer is yes unless the bench says otherwise (NOTE-7).
    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        NotificationHandlers.isAllowed
    }

    /// Tells what the user lets notifications of the app do.
    @preconcurrency
    open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        let settings = settings()
        later { completionHandler(settings) }
    }

    /// What the user lets notifications of the app do.
    open func notificationSettings() async -> UNNotificationSettings { settings() }

    private func settings() -> UNNotificationSettings {
        UNNotificationSettings(NotificationHandlers.isAllowed ? .authorized : .denied)
    }

    /// Notes the actions of kinds of notification.
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        lock.withLock { heldCategories = categories }
    }

    /// Tells the categories that were set in this process.
    @preconcurrency
    open func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void) {
        let categories = lock.withLock { heldCategories }
        later { completionHandler(categories) }
    }

    /// The categories that were set in this process.
    open func notificationCategories() async -> Set<UNNotificationCategory> { lock.withLock { heldCategories } }

    // MARK: Scheduling

    /// Has the user notified, in place of a request with the same identifier (NOTE-1). Of more than 64 the soonest stay (NOTE-2).
    ///
    /// The handler gets a ``UNError`` when the request is for no time, or is more than the phone takes.
    @preconcurrency
    open func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let error = schedule(request)
        if let completionHandler { later { completionHandler(error) } }
    }

    /// Has the user notified, in place of a request with the same identifier (NOTE-1). Of more than 64 the soonest stay (NOTE-2).
    ///
    /// - Throws: ``UNError`` when the request is for no time, or is more than the phone takes.
    open func add(_ request: UNNotificationRequest) async throws {
        if let error = schedule(request) { throw error }
    }

    private func schedule(_ request: UNNotificationRequest) -> UNError? {
        guard let wire = WireNotification(request) else { return UNError(.notificationInvalidNoContent) }
        if let calendar = request.trigger as? UNCalendarNotificationTrigger, calendar.wire == noDate(calendar) {
            return UNError(.notificationInvalidNoDate)
        }
        BenchClient.shared.send(.notification(.schedule(wire)))
        return nil
    }

    /// What a date of nothing is told as.
    private func noDate(_ trigger: UNCalendarNotificationTrigger) -> WireNotificationTrigger {
        var nothing = WireNotificationTrigger()
        nothing.repeats = trigger.repeats
        return nothing
    }

    /// Tells the requests that are not due yet (NOTE-4).
    @preconcurrency
    open func getPendingNotificationRequests(
        completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
    ) {
        let requests = pending()
        later { completionHandler(requests) }
    }

    /// The requests that are not due yet (NOTE-4).
    open func pendingNotificationRequests() async -> [UNNotificationRequest] { pending() }

    private func pending() -> [UNNotificationRequest] { NotificationHandlers.list(delivered: false).map(\.request) }

    /// Takes back requests that are not due yet (NOTE-4).
    open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        each(identifiers) { .cancel(identifiers: $0) }
    }

    /// Takes back all requests that are not due yet (NOTE-4).
    open func removeAllPendingNotificationRequests() { BenchClient.shared.send(.notification(.cancelAll)) }

    // MARK: Delivered

    /// Tells the notifications that the user sees (NOTE-4).
    @preconcurrency
    open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        let notifications = delivered()
        later { completionHandler(notifications) }
    }

    /// The notifications that the user sees (NOTE-4).
    open func deliveredNotifications() async -> [UNNotification] { delivered() }

    private func delivered() -> [UNNotification] { NotificationHandlers.list(delivered: true).map(\.notification) }

    /// Takes notifications away that the user sees.
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        each(identifiers) { .withdraw(identifiers: $0) }
    }

    /// Takes all notifications away that the user sees.
    open func removeAllDeliveredNotifications() { BenchClient.shared.send(.notification(.withdrawAll)) }

    /// Sets the number on the app's icon; 0 takes it away.
    ///
    /// The handler gets a ``UNError`` when the number is negative.
    @preconcurrency
    open func setBadgeCount(
        _ newBadgeCount: Int,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let error = newBadgeCount < 0 ? UNError(.badgeInputInvalid) : nil
        if error == nil { NotificationHandlers.setBadge(newBadgeCount) }
        if let completionHandler { later { completionHandler(error) } }
    }

    /// Sets the number on the app's icon; 0 takes it away.
    ///
    /// - Throws: ``UNError`` when the number is negative.
    open func setBadgeCount(_ newBadgeCount: Int) async throws {
        guard newBadgeCount >= 0 else { throw UNError(.badgeInputInvalid) }
        NotificationHandlers.setBadge(newBadgeCount)
    }

    // MARK: Hearing

    @MainActor
    private func receive(_ event: WireNotificationEvent) -> Bool {
        guard let delegate else { return false }
        switch event {
        case .due(let number, let wire):
            delegate.userNotificationCenter(self, willPresent: wire.notification) { options in
                let shows = !options.isDisjoint(with: [.banner, .list, .alert])
                NotificationHandlers.present(number, shows: shows)
            }
        case .tapped(let wire):
            let response = UNNotificationResponse(
                notification: wire.notification,
                actionIdentifier: UNNotificationDefaultActionIdentifier
            )
            delegate.userNotificationCenter(self, didReceive: response) {}
        }
        return true
    }

    private func later(_ tell: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: tell) }

    /// As many at once as a packet takes.
    private func each(_ identifiers: [String], _ request: ([String]) -> WireNotificationRequest) {
        let known = identifiers.filter { (1...WireLimits.notificationIdentifierBytes).contains($0.utf8.count) }
        for start in stride(from: 0, to: known.count, by: WireLimits.notificationsNamed) {
            let part = Array(known[start..<min(start + WireLimits.notificationsNamed, known.count)])
            BenchClient.shared.send(.notification(request(part)))
        }
    }
}
