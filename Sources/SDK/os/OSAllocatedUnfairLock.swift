import Foundation

/// A lock that guards a state.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    private final class Storage: @unchecked Sendable {
        let lock = NSLock()
        var state: State

        init(_ state: State) {
            self.state = state
        }
    }

    private let storage: Storage

    /// A lock around the state.
    public init(initialState: State) where State: Sendable {
        storage = Storage(initialState)
    }

    /// A lock around a state that may be used only under it.
    public init(uncheckedState initialState: State) {
        storage = Storage(initialState)
    }

    /// Runs the body under the lock.
    public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Runs the body under the lock.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        storage.lock.lock()
        defer { storage.lock.unlock() }
        return try body(&storage.state)
    }

    /// Runs the body under the lock, unless somebody else holds it.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
        guard storage.lock.try() else {
            return nil
        }
        defer { storage.lock.unlock() }
        return try body(&storage.state)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    /// A lock around nothing in particular.
    public init() {
        self.init(uncheckedState: ())
    }

    /// Takes the lock.
    public func lock() {
        storage.lock.lock()
    }

    /// Gives the lock back.
    public func unlock() {
        storage.lock.unlock()
    }

    /// Takes the lock unless somebody else holds it.
    public func lockIfAvailable() -> Bool {
        storage.lock.try()
    }

    /// Runs the body under the lock.
    public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        try withLock { (_: inout Void) in try body() }
    }
}
