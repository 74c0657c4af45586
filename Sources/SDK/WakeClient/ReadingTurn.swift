import Dispatch
import Synchronization

/// The right to read the bench's socket: one at a time has it.
final class ReadingTurn: Sendable {
    private struct State {
        var isTaken = false
        /// Who would have it and waits.
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Takes it where it is free.
    ///
    /// - Parameter semaphore: Signalled once it is free, where it is not now.
    /// - Returns: whether it was taken.
    func take(orSignal semaphore: DispatchSemaphore? = nil) -> Bool {
        state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return true
            }
            if let semaphore { state.waiting.append(semaphore) }
            return false
        }
    }

    /// Leaves it to others: all who wait for it are woken, and the first of them takes it.
    func leave() {
        let waiting = state.withLock { state in
            state.isTaken = false
            return exchange(&state.waiting, with: [])
        }
        for semaphore in waiting { semaphore.signal() }
    }
}
