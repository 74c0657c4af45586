#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A lock that its owner alone may release. It must not move while it is held: keep it in allocated memory.
typedef struct os_unfair_lock_s {
    uint32_t _os_unfair_lock_opaque;
} os_unfair_lock, *os_unfair_lock_t;

/// A lock that nobody holds.
#define OS_UNFAIR_LOCK_INIT ((os_unfair_lock){0})

/// Takes the lock, waiting while another thread holds it. Ends the process where the thread holds it already.
void os_unfair_lock_lock(os_unfair_lock_t lock);

/// Takes the lock unless a thread holds it; whether it was taken.
__attribute__((warn_unused_result)) bool os_unfair_lock_trylock(os_unfair_lock_t lock);

/// Gives the lock back. Ends the process where another thread holds it, or none.
void os_unfair_lock_unlock(os_unfair_lock_t lock);

/// Ends the process where the thread does not hold the lock.
void os_unfair_lock_assert_owner(const os_unfair_lock *lock);

/// Ends the process where the thread holds the lock.
void os_unfair_lock_assert_not_owner(const os_unfair_lock *lock);

#pragma clang assume_nonnull end
