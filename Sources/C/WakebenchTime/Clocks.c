// Clock reads. The C library reads clocks without entering the kernel, so no filter sees them: these functions take the
// place of its own.
#include "Inside.h"

#include <string.h>

// A program that reads the clock on and on waits for it to move. The count goes to the page in portions: a shared counter
// would cost more than the reading.
enum { PORTION = 64 };

static void count_read(void) {
    static __thread __attribute__((tls_model("initial-exec"))) unsigned reads;
    if (++reads % PORTION == 0) atomic_fetch_add_explicit(&page->clock_reads, PORTION, memory_order_relaxed);
}

static void read_clock(clockid_t clock, struct timespec *time) {
    count_read();
    put(time, base_of(clock) + now());
}

PUBLIC int clock_gettime(clockid_t clock, struct timespec *time) {
    if (is_virtual() && is_virtual_clock(clock)) {
        read_clock(clock, time);
        return 0;
    }
    return told(call(SYS_clock_gettime, marked(clock), time, 0, 0));
}

PUBLIC int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec precise = {0};
    clock_gettime(CLOCK_REALTIME, &precise);
    *time = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    if (zone) memset(zone, 0, sizeof(struct timezone));
    return 0;
}

PUBLIC time_t time(time_t *result) {
    struct timespec precise = {0};
    clock_gettime(CLOCK_REALTIME, &precise);
    if (result) *result = precise.tv_sec;
    return precise.tv_sec;
}

PUBLIC int timespec_get(struct timespec *time, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

// The same as system calls, from programs that make them themselves.
long clock_call(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    atomic_fetch_add_explicit(&page->clock_reads, 1, memory_order_relaxed);
    switch (trapped->number) {
    case SYS_clock_gettime:
        put((struct timespec *)argument[1], base_of((int)argument[0]) + now());
        return 0;
    case SYS_gettimeofday: {
        int64_t date = page->real_base + now();
        struct timeval *time = (struct timeval *)argument[0];
        struct timezone *zone = (struct timezone *)argument[1];
        if (time) *time = (struct timeval){date / SECOND, date % SECOND / 1000};
        if (zone) *zone = (struct timezone){0, 0};
        return 0;
    }
#ifdef SYS_time
    case SYS_time: {
        time_t date = (page->real_base + now()) / SECOND;
        if (argument[0]) *(time_t *)argument[0] = date;
        return date;
    }
#endif
    default:
        return -ENOSYS;
    }
}
