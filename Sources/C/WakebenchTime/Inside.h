// What the files of this library share. All of it is hidden but what is marked PUBLIC, which stands before the C
// library's function of the same name.
//
// What runs in the SIGSYS handler (Trap.c, Waits.c, Timers.c, Sockets.c, Queues.c) calls no function of the C library
// and touches neither errno nor thread-local storage: it may run on any thread, at any point, on a small stack.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CVirtualTime.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default")))
// Between push and pop at the end: what the files share is hidden.
#pragma GCC visibility push(hidden)

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

enum {
    SECOND = 1000000000,
    MILLISECOND = 1000000,
    // Stands in the upper half of an int argument of the library's own calls. The kernel does not look there; the
    // filter lets such a call pass.
    OUR_MARK = 0x77616b65,
    // Comes with the signal from the library's filter, and so tells its traps from those of an app's own filter.
    TRAP_DATA = 0x7774,
    // Clocks that do not exist: the filters answer to them, which tells a process what it has inherited.
    PROBE_FILTER = 0x77740001,
    PROBE_SOCKET_FILTER = 0x77740002,
    PROBE_ANSWER = 0x776b,
};

// The upper halves of the addresses where programs lie apart: from TASK_UNMAPPED_BASE of the kernel on, as far as it
// scatters them.
#if defined(__x86_64__)
enum { STATIC_FIRST = 0x2aaa, STATIC_LAST = 0x3aaa };
#else
enum { STATIC_FIRST = 0x4000, STATIC_LAST = 0x6000 };
#endif

// NULL: the library does nothing.
extern struct wake_time_page *page;

// Begins on first use, since other libraries may read a clock before this one's turn to be initialised.
extern atomic_int begun;
void begin(void);
static inline int is_virtual(void) {
    if (__builtin_expect(!atomic_load_explicit(&begun, memory_order_acquire), 0)) begin();
    return page != NULL;
}

// System calls. The result is the kernel's: below zero, an error's number.
static inline long call6(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "no system calls for this processor"
#endif
}
#define call(number, a, b, c, d) call6(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

// The int argument with the mark in its upper half.
static inline long marked(long argument) { return (long)((uint64_t)OUR_MARK << 32 | (uint32_t)argument); }

// errno's way of telling an error, for the functions that stand before the C library's.
static inline int told(long result) {
    if (result >= 0) return (int)result;
    errno = (int)-result;
    return -1;
}

// Clocks
static inline int64_t now(void) { return atomic_load_explicit(&page->now, memory_order_acquire); }

static inline int is_virtual_clock(long clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || (clock >= CLOCK_MONOTONIC_RAW && clock <= 9)
        || clock == CLOCK_TAI;
}

// What a virtual clock showed when the run began.
static inline int64_t base_of(long clock) {
    int is_date = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_REALTIME_ALARM
        || clock == CLOCK_TAI;
    return is_date ? page->real_base : page->monotonic_base;
}

static inline int64_t sum(int64_t left, int64_t right) {
    int64_t result;
    return __builtin_add_overflow(left, right, &result) ? INT64_MAX / 2 : result;
}

static inline int is_valid(const struct timespec *time) {
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

// Saturates far beyond any run.
static inline int64_t nanoseconds(const struct timespec *time) {
    if (time->tv_sec > 4000000000) return 4000000000LL * SECOND;
    return (int64_t)time->tv_sec * SECOND + time->tv_nsec;
}

static inline void put(struct timespec *time, int64_t nanoseconds) {
    time->tv_sec = nanoseconds / SECOND;
    time->tv_nsec = nanoseconds % SECOND;
}

static inline int64_t left_until(int64_t deadline) {
    int64_t moment = now();
    return deadline > moment ? deadline - moment : 0;
}

// Threads
static inline uint64_t this_process(void) { return (uint64_t)(uint32_t)call(SYS_getpid, 0, 0, 0, 0); }
static inline uint64_t this_thread(void) { return (uint64_t)(uint32_t)call(SYS_gettid, 0, 0, 0, 0); }

// Signal masks as the kernel has them.
static inline uint64_t bit(int signal) { return 1ULL << (signal - 1); }
// A mask for a wait: neither the trap's signal nor the one that ends the wait is held back.
static inline uint64_t open_mask(uint64_t mask) { return mask & ~bit(SIGSYS) & ~bit(WAKE_TIME_SIGNAL); }

// A system call that was trapped.
struct trapped {
    long number;
    long argument[6];
    uint64_t mask; // of the thread that made it
};

static inline void count_unsupported(long number) {
    atomic_fetch_add_explicit(&page->unsupported, 1, memory_order_relaxed);
    atomic_store_explicit(&page->unsupported_call, (uint32_t)number, memory_order_relaxed);
}

// Waits.c
// Waits for the futex to be woken. 0: woken; -ETIMEDOUT, -EAGAIN, -EINTR as futex(2).
long wait_for_futex(const struct trapped *trapped);
long wait_for_futexes(const struct trapped *trapped);
long wait_in_sleep(const struct trapped *trapped);
long wait_in_poll(const struct trapped *trapped);
long wait_in_select(const struct trapped *trapped);
long wait_in_epoll(const struct trapped *trapped);
long wait_for_signal(const struct trapped *trapped);
// Makes a call, which must not be timed, that a signal ends with -EINTR. -ETIMEDOUT: the deadline has come instead.
struct interruptible {
    long number, a, b, c, d, e, f;
};
long wait_in(const struct interruptible *interruptible, int64_t deadline, long told_as);
// Waits until the descriptor is ready for what poll(2) calls `events`. 0, -ETIMEDOUT, -EINTR.
long wait_until_ready(int descriptor, short events, int64_t deadline, const struct trapped *trapped);

// Timers.c
long timer_call(const struct trapped *trapped);
// The timers and waits that an earlier program left to this process's number, at start and after a fork.
void forget_strangers(void);
void become_child(void);
// A timer of the library's own, which counts up `expired`. NULL: there are none left.
struct wake_timer *own_timer(void);

// Queues.c
long message_queue_call(const struct trapped *trapped);
long semaphore_call(const struct trapped *trapped);

// Terminals.c
long terminal_call(const struct trapped *trapped);

// Sockets.c
long socket_call(const struct trapped *trapped);

// Clocks.c
long clock_call(const struct trapped *trapped);

// Trap.c
// 0, or an error's number; nothing has changed then.
int catch_traps(void);
void release_traps(void);
void forward_trap(int signal, siginfo_t *information, void *context);

// Filter.c
// Each 0 or an error's number.
int install_filter(void);
int install_socket_filter(void);

// Signals.c
void find_signal_functions(void);
int keep_action(int signal, const struct sigaction *action, struct sigaction *old);
// What the app has set for SIGSYS.
struct sigaction kept_action(void);

// Static.c
// Before a program is started, as the functions of that name look for it; the result goes to the second when it was, or
// was not.
int prepare_layout(const char *path);
int prepare_layout_in_path(const char *file);
int prepare_layout_at(int directory, const char *path, int flags);
void restore_layout(int layout);

// Environment.c
void find_program_functions(const char *page_path);

// Dispatch.c
void find_dispatch_functions(void);
void forget_dispatch(void);

#pragma GCC visibility pop
