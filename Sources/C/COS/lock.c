#define _GNU_SOURCE
#include "os/lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The word of the lock is the thread that holds it, and a bit that says that others wait.
static const uint32_t waited_for = 0x80000000u;

static _Thread_local uint32_t own;

static uint32_t own_number(void)
{
    if (own == 0) own = (uint32_t)syscall(SYS_gettid);
    return own;
}

// A child of fork is another thread than the one it was copied from.
static void forget_number(void) { own = 0; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_number); }

static void misuse(const char *line)
{
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
    abort();
}

static long wait_while(uint32_t *word, uint32_t value)
{
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

bool os_unfair_lock_trylock(os_unfair_lock_t lock)
{
    uint32_t free = 0;
    return __atomic_compare_exchange_n(&lock->_os_unfair_lock_opaque, &free, own_number(), false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void os_unfair_lock_lock(os_unfair_lock_t lock)
{
    if (os_unfair_lock_trylock(lock)) return;
    uint32_t *word = &lock->_os_unfair_lock_opaque;
    uint32_t number = own_number();
    for (;;) {
        uint32_t held = __atomic_load_n(word, __ATOMIC_RELAXED);
        if ((held & ~waited_for) == number) misuse("os_unfair_lock: the thread holds the lock already\n");
        if (held == 0) {
            // Others may still wait, so the bit stays until somebody finds none.
            if (__atomic_compare_exchange_n(word, &held, number | waited_for, false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED))
                return;
            continue;
        }
        if (!(held & waited_for)
            && !__atomic_compare_exchange_n(word, &held, held | waited_for, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        wait_while(word, held | waited_for);
    }
}

void os_unfair_lock_unlock(os_unfair_lock_t lock)
{
    uint32_t *word = &lock->_os_unfair_lock_opaque;
    os_unfair_lock_assert_owner(lock);
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) & waited_for)
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void os_unfair_lock_assert_owner(const os_unfair_lock *lock)
{
    uint32_t held = __atomic_load_n(&lock->_os_unfair_lock_opaque, __ATOMIC_RELAXED);
    if ((held & ~waited_for) != own_number()) misuse("os_unfair_lock: the thread does not hold the lock\n");
}

void os_unfair_lock_assert_not_owner(const os_unfair_lock *lock)
{
    uint32_t held = __atomic_load_n(&lock->_os_unfair_lock_opaque, __ATOMIC_RELAXED);
    if ((held & ~waited_for) == own_number()) misuse("os_unfair_lock: the thread holds the lock\n");
}
