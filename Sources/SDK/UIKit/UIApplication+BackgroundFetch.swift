import Foundation
import WakeClient
import WakeModel
import WakeWire

// Background fetch. An app whose Info.plist has BGTaskSchedulerPermittedIdentifiers gets none from iOS 13 (FETCH-6).
extension UIApplication {
    /// Has the delegate fetch what is new, never more often than the interval says, and without any promise (FETCH-1). The app needs
    /// the background mode `fetch`.
    ///
    /// - Parameter minimumBackgroundFetchInterval: In seconds; an app that sets none fetches never.
    public func setMinimumBackgroundFetchInterval(_ minimumBackgroundFetchInterval: TimeInterval) {
        let never = UIApplication.backgroundFetchIntervalNever
        let interval = minimumBackgroundFetchInterval < never ? minimumBackgroundFetchInterval : nil
        let told = interval.map { min(max(0, $0), WireLimits.longestFetchInterval) }
        BenchClient.shared.send(.backgroundTask(.setFetchInterval(told)))
    }

    /// Whether the phone lets the app refresh itself in the background.
    var asksForRefreshStatus: UIBackgroundRefreshStatus {
        let reply = BenchClient.shared.request { .backgroundTask(.refreshStatus(id: $0)) }
        return reply.granted == false ? .denied : .available
    }

    /// Has the delegate hear of each fetch; its completion handler is owed within the time of the phone (FETCH-2).
    func hearOfBackgroundFetch() {
        BackgroundTaskHandlers.setFetch { number in
            let application = UIApplication.shared
            let answer = FetchAnswer { BenchClient.shared.send(.backgroundTask(.fetched(number: number, result: $0))) }
            guard let delegate = application.delegate else { return answer.give(.noData) }
            delegate.application(application, performFetchWithCompletionHandler: { answer.give($0) })
        }
    }
}

/// The shortest fetch interval, in seconds.
public let UIApplicationBackgroundFetchIntervalMinimum: TimeInterval = UIApplication.backgroundFetchIntervalMinimum
/// Never fetch.
public let UIApplicationBackgroundFetchIntervalNever: TimeInterval = UIApplication.backgroundFetchIntervalNever
