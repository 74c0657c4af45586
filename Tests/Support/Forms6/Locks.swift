import func os.os_unfair_lock_trylock
import os.lock

/// A counter under an unfair lock, in the older way.
final class Counter: @unchecked Sendable {
    private let lock: os_unfair_lock_t
    private var count = 0

    init() {
        lock = .allocate(capacity: 1)
        lock.initialize(to: os_unfair_lock())
    }

    deinit {
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    func increment() {
        os_unfair_lock_lock(lock)
        defer { os_unfair_lock_unlock(lock) }
        os_unfair_lock_assert_owner(lock)
        count += 1
    }

    var value: Int? {
        guard os_unfair_lock_trylock(lock) else { return nil }
        defer { os_unfair_lock_unlock(lock) }
        return count
    }
}

/// The lock in place, as much code has it.
struct Flag {
    private var lock = os_unfair_lock_s()
    private var isSet = false

    mutating func set() {
        os_unfair_lock_lock(&lock)
        isSet = true
        os_unfair_lock_unlock(&lock)
    }
}
