import Foundation
import Synchronization
import WakeWire

/// Who in the app hears of its notifications: the centre of UserNotifications, and the application with its older calls.
package enum NotificationHandlers {
    /// Takes an event on the main queue; says whether anybody there hears of it.
    package typealias Handler = @MainActor @Sendable (WireNotificationEvent) -> Bool

    private struct Handlers {
        var center: Handler?
        var application: Handler?
    }

    private static let handlers = Mutex(Handlers())

    /// The centre hears first of each event from now on.
    package static func setCenter(_ handler: @escaping Handler) { handlers.withLock { $0.center = handler } }

    /// The application hears of what nobody at the centre hears of.
    package static func setApplication(_ handler: @escaping Handler) { handlers.withLock { $0.application = handler } }

    /// Takes an event; on the main queue. What nobody in the app hears of in the foreground, the user is not shown.
    static func receive(_ body: WireDeliveryBody) {
        guard case .notification(let event) = body else { return }
        let (center, application) = handlers.withLock { ($0.center, $0.application) }
        let isHeard = MainActor.assumeIsolated { center?(event) == true || application?(event) == true }
        if !isHeard, case .due(let number, _) = event { present(number, shows: false) }
    }

    /// Says whether the user is to see what the app was given in the foreground.
    package static func present(_ number: UInt32, shows: Bool) {
        BenchClient.shared.send(.notification(.present(number: number, shows: shows)))
    }

    /// The app's notifications that are not due yet, or those that the user sees; fewer where the bench stops answering.
    package static func list(delivered: Bool) -> [WireNotification] {
        var all: [WireNotification] = []
        while true {
            let from = UInt32(all.count)
            let reply = BenchClient.shared.request { .notification(.list(id: $0, delivered: delivered, from: from)) }
            guard let part = reply.notifications, !part.list.isEmpty else { return all }
            all += part.list
            if all.count >= part.count { return all }
        }
    }

    /// Whether the user lets the app show notifications (NOTE-7); true where no bench says otherwise.
    package static var isAllowed: Bool {
        BenchClient.shared.request { .notification(.isAllowed(id: $0)) }.granted != false
    }

    /// The number on the app's icon.
    package static var badge: Int {
        let reply = BenchClient.shared.request { .notification(.list(id: $0, delivered: false, from: 0)) }
        return Int(reply.notifications?.badge ?? 0)
    }

    /// Sets the number on the app's icon; a negative one is none.
    package static func setBadge(_ number: Int) {
        let badge = UInt32(clamping: min(max(0, number), Int(Int32.max)))
        BenchClient.shared.send(.notification(.setBadge(badge)))
    }
}
