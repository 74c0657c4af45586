// The memory that the bench shares with every process of one app under virtual time. The bench writes the clock; the app's
// processes write what they wait for. The bench takes no word in here on trust.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
#define WAKE_ATOMIC(type) type
#else
#define WAKE_ATOMIC(type) _Atomic(type)
#endif

enum {
    WAKE_TIME_MAGIC = 0x776b7431, // "wkt1"
    // Timed waits that are pending at once, in all processes of the app: more than it may have threads.
    WAKE_TIME_WAITS = 1280,
    // Timers that a process has: timerfd, timer_create, setitimer and alarm.
    WAKE_TIME_TIMERS = 1024,
    // Ends a wait for descriptors. Nothing else may use it: the highest but one of the real-time signals.
    WAKE_TIME_SIGNAL = 63,
};

// The variable that names the page's file to a process.
#define WAKE_TIME_VARIABLE "WAKEBENCH_TIME_PAGE"

// How a pending wait is ended when its time has come.
enum wake_wait_kind {
    WAKE_WAIT_FUTEX = 1,      // FUTEX_WAKE of .ended, which is 1 by then
    WAKE_WAIT_DESCRIPTORS = 2 // .ended is 1, and the thread gets WAKE_TIME_SIGNAL
};

// A thread that waits until a deadline at most. It is taken by changing .owner from 0, and freed by the waiter.
struct wake_timed_wait {
    WAKE_ATOMIC(uint64_t) owner;   // process << 32 | thread; 0: free
    WAKE_ATOMIC(int64_t) deadline; // in nanoseconds of the run; 0: not yet told, or not any more
    WAKE_ATOMIC(uint32_t) ended;   // 1: the time has come; written by the bench
    uint32_t kind;                 // enum wake_wait_kind
    uint32_t call;                 // the system call's number, for notes
    uint32_t idle;                 // 1: never a reason for time to move; it ends when time has passed it
    uint64_t frame;                // the waiter's own: tells a wait that a handler left by a jump
    uint64_t unused[2];
};

// What a timer does when it is due.
enum wake_timer_kind {
    WAKE_TIMER_DESCRIPTOR = 1, // a timerfd: the real one is disarmed, and the bench sets how often it has expired
    WAKE_TIMER_SIGNAL = 2,     // .signal is queued to the process, or to .thread where that is not 0, with .value
    WAKE_TIMER_FUTEX = 3       // FUTEX_WAKE of .expired, which counts up: a timer of the library's own
};

// A timer of one process.
struct wake_timer {
    WAKE_ATOMIC(uint64_t) owner;   // process << 32 | descriptor or number of the timer; 0: free
    WAKE_ATOMIC(int64_t) deadline; // in nanoseconds of the run; 0: disarmed
    int64_t interval;              // 0: once
    uint64_t value;                // of WAKE_TIMER_SIGNAL: sigval
    int32_t clock;                 // CLOCK_MONOTONIC, CLOCK_REALTIME, …
    uint32_t kind;                 // enum wake_timer_kind
    int32_t signal;
    uint32_t thread;
    WAKE_ATOMIC(uint32_t) expired; // written by the bench: expirations not yet read
    uint32_t by_main;              // 1: made by the process's first thread; decides the order at one instant
};

struct wake_time_page {
    uint32_t magic;
    uint32_t bytes; // sizeof(struct wake_time_page): a library of another version maps nothing
    // In nanoseconds since the run began; written by the bench, and only while everything rests.
    WAKE_ATOMIC(int64_t) now;
    int64_t monotonic_base; // CLOCK_MONOTONIC and its kin at the run's beginning
    int64_t real_base;      // CLOCK_REALTIME there, in nanoseconds since 1970
    // So many waits and timers from the first on may be in use.
    WAKE_ATOMIC(uint32_t) waits_used;
    WAKE_ATOMIC(uint32_t) timers_used;
    WAKE_ATOMIC(uint64_t) clock_reads; // counted by the library: a program that reads it on and on spins
    WAKE_ATOMIC(uint64_t) traps;
    WAKE_ATOMIC(uint64_t) unsupported;    // timed waits that stayed on wall time
    WAKE_ATOMIC(uint32_t) unsupported_call; // the last of them
    WAKE_ATOMIC(uint32_t) processes;      // how many processes have mapped it so far
    WAKE_ATOMIC(uint32_t) fallback;       // errno where the filter could not be installed; 0 otherwise
    WAKE_ATOMIC(uint32_t) terminals;      // pseudo-terminals made so far
    struct wake_timed_wait waits[WAKE_TIME_WAITS];
    struct wake_timer timers[WAKE_TIME_TIMERS];
};
