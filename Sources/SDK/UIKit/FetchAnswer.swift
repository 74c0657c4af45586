import Synchronization
import WakeClient
import WakeModel

/// The completion handler of a fetch or a push, for any thread: what it is called with first counts (FETCH-1, PUSH-1).
final class FetchAnswer: Sendable {
    private let isGiven = Mutex(false)
    private let send: @Sendable (FetchResult) -> Void

    /// - Parameter send: takes what the handler is called with.
    init(_ send: @escaping @Sendable (FetchResult) -> Void) { self.send = send }

    func give(_ result: UIBackgroundFetchResult) {
        guard !isGiven.withLock({ exchange(&$0, with: true) }) else { return }
        switch result {
        case .newData: send(.newData)
        case .noData: send(.noData)
        case .failed: send(.failed)
        }
    }
}
