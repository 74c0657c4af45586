// The bench's half of virtual time: is an app at rest, what does it wait for, and the end of a wait. Functions return -1 with
// errno set unless they say otherwise.
#pragma once

#include "CVirtualTime.h"

#include <stddef.h>

// Where the threads of one app are listed.
struct wake_threads {
    int list;    // an open cgroup.threads or tasks file, or -1
    int process; // without one: this process and all below it
};

// Why an app is not at rest.
enum wake_unrest {
    WAKE_AT_REST = 0,
    WAKE_RUNS = 1,          // a thread is on a processor, or about to be
    WAKE_WAITS_OUTSIDE = 2, // in a timed wait on wall time: of a program that the library is not in
    WAKE_WRITES = 3,        // its output is not taken as fast as it writes
    WAKE_UNKNOWN = 4,       // a thread cannot be looked at; code says why
};

struct wake_restless {
    int unrest; // enum wake_unrest
    int thread;
    long call;  // the system call it was seen in; -1 for none
    int code;   // errno
};

// What is known of the threads of one app; freed by wake_rest_free.
struct wake_rest;
struct wake_rest *wake_rest_make(void);
void wake_rest_free(struct wake_rest *rest);

// Says where an app's output goes: one that waits for it to be taken does not rest. 0, or -1 with errno.
int wake_rest_outputs(struct wake_rest *rest, int descriptor);

// Whether all threads of an app sleep at once: wake_rest_first of each app, then wake_rest_second of each in any order, is true
// only when all threads of all of them slept together in between. 1: they do; 0: why not is told.
int wake_rest_first(struct wake_rest *rest, struct wake_threads threads, struct wake_restless *why);
int wake_rest_second(struct wake_rest *rest, struct wake_threads threads, struct wake_restless *why);
// Between the two: pushes what is on its way through the app's pseudo-terminals. A worker of the kernel carries that, which no
// scan of the app's threads sees.
void wake_rest_push_terminals(const struct wake_rest *rest);
// Whether a thread was among those of the last check.
int wake_rest_knows(const struct wake_rest *rest, int thread);
// How many threads were looked at last.
int wake_rest_count(const struct wake_rest *rest);
// The number of one of them.
int wake_rest_listed(const struct wake_rest *rest, int index);
// Counts up when a first scan finds that a thread has run since the scan before it, or that another is there, or is gone.
unsigned long long wake_rest_changes(const struct wake_rest *rest);

// Lets all threads of an app run until they wait, under SCHED_FIFO, or share their processor as others do; those of it that
// may not are left as they are.
void wake_rest_schedule(struct wake_rest *rest, struct wake_threads threads, int first_in_first_out);

// Whether this kernel has what virtual time inside apps needs. NULL when it does; otherwise what is missing, and errno why.
const char *wake_time_missing(void);

// Makes the page in a sealed shared memory, mapped at *page; the descriptor is the caller's.
int wake_time_make(int64_t monotonic_base, int64_t real_base, struct wake_time_page **page);
void wake_time_unmap(struct wake_time_page *page);
// The clock of an app; only while it rests or is frozen, but for one that never rests.
void wake_time_set(struct wake_time_page *page, int64_t now);
uint64_t wake_time_reads(const struct wake_time_page *page);
uint32_t wake_time_processes(const struct wake_time_page *page);
uint64_t wake_time_unsupported(const struct wake_time_page *page, uint32_t *call);
uint32_t wake_time_fallback(const struct wake_time_page *page);
uint32_t wake_time_terminals(const struct wake_time_page *page);

// Something pending of an app.
struct wake_pending {
    int64_t deadline;
    uint32_t process;
    uint32_t number;  // of the thread, descriptor or timer
    uint32_t place;   // in its array
    int32_t clock;    // of a timer
    uint8_t is_timer;
    uint8_t kind;
    uint8_t by_main;
};

// What is due at `now` or before, at most `most`, in no order; *next is the earliest deadline after it that is a reason for time
// to move, INT64_MAX for none. Returns how many.
int wake_time_due(const struct wake_time_page *page, int64_t now, struct wake_pending *due, int most, int64_t *next);

// Ends a wait, or lets a timer expire. What is of a process that is not of the app, or that is gone, is taken off the page.
// Returns 1 when something was woken, 0 when it was taken off.
int wake_time_fire(struct wake_time_page *page, const struct wake_rest *rest, const struct wake_pending *pending, int64_t now);

// The path of the program or library that this code is part of, which the caller frees; NULL when it cannot be told.
char *wake_time_own_file(void);
