import Foundation
import Synchronization
import WakeWire

extension ProcessInfo {
    /// Does something that is to be finished when the app goes to the background.
    ///
    /// The block is called on a queue of its own with false, and the app is not suspended before it returns. When the time is
    /// nearly over it is called with true beside that call, which must then return soon. When there is no time at all it is
    /// called with true alone.
    ///
    /// - Parameter reason: A name for reports.
    public func performExpiringActivity(
        withReason reason: String,
        using block: @escaping @Sendable (_ expired: Bool) -> Void
    ) {
        ExpiringActivities.perform(reason, block)
    }
}

/// The blocks of performExpiringActivity that have not returned.
package enum ExpiringActivities {
    private struct Activity: Sendable {
        let block: @Sendable (Bool) -> Void
        /// Empty when no call of the block is left.
        let calls = DispatchGroup()
    }

    private static let activities = Mutex<[UInt64: Activity]>([:])
    private static let queue = DispatchQueue(label: "wakebench.expiring-activities", attributes: .concurrent)

    /// The time is asked for before this returns, so that a callback in which it is called protects what it begins.
    static func perform(_ reason: String, _ block: @escaping @Sendable (Bool) -> Void) {
        let token = BenchClient.shared.mintNumber()
        let activity = Activity(block: block)
        activities.withLock { $0[token] = activity }
        let reply = BenchClient.shared.request { .beginTask(token: token, name: reason, id: $0) }
        guard reply.granted == true else {
            _ = activities.withLock { $0.removeValue(forKey: token) }
            queue.async { block(true) }
            return
        }
        queue.async(group: activity.calls) {
            block(false)
            _ = activities.withLock { $0.removeValue(forKey: token) }
            BenchClient.shared.send(.endTask(token: token))
        }
    }

    /// The time of an activity is nearly over: its block learns so beside the call that goes on.
    package static func expire(_ token: UInt64) {
        guard let activity = activities.withLock({ $0[token] }) else { return }
        queue.async(group: activity.calls) { activity.block(true) }
    }

    /// Does something once the activities that a callback expired have ended; at once when it expired none.
    static func afterEnd(of callback: WireCallback, _ body: @escaping @Sendable () -> Void) {
        guard case .taskExpiration(let tokens) = callback else { return body() }
        let expired = activities.withLock { activities in tokens.compactMap { activities[$0] } }
        let all = DispatchGroup()
        for activity in expired {
            all.enter()
            activity.calls.notify(queue: queue) { all.leave() }
        }
        all.notify(queue: queue, execute: body)
    }
}
