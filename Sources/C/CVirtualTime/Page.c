// The page that the bench shares with the processes of an app. They may write anything into it: indices are bounded, and a
// process or thread is touched only when it is one of the app's.
#define _GNU_SOURCE

#include "Controller.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#ifndef TFD_IOC_SET_TICKS
#define TFD_IOC_SET_TICKS _IOW('T', 0, uint64_t)
#endif

int wake_time_make(int64_t monotonic_base, int64_t real_base, struct wake_time_page **page) {
    int number = memfd_create("wakebench-time", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (number < 0) return -1;
    // Nobody can cut it off under a reader.
    if (ftruncate(number, sizeof **page) == 0 &&
        fcntl(number, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void *place = mmap(NULL, sizeof **page, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
        if (place != MAP_FAILED) {
            *page = place;
            (*page)->monotonic_base = monotonic_base;
            (*page)->real_base = real_base;
            (*page)->bytes = sizeof **page;
            (*page)->magic = WAKE_TIME_MAGIC;
            return number;
        }
    }
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

void wake_time_unmap(struct wake_time_page *page) { munmap(page, sizeof *page); }

void wake_time_set(struct wake_time_page *page, int64_t now) {
    atomic_store_explicit(&page->now, now, memory_order_release);
}

uint64_t wake_time_reads(const struct wake_time_page *page) { return page->clock_reads; }
uint32_t wake_time_processes(const struct wake_time_page *page) { return page->processes; }
uint32_t wake_time_fallback(const struct wake_time_page *page) { return page->fallback; }
uint32_t wake_time_terminals(const struct wake_time_page *page) { return page->terminals; }

uint64_t wake_time_unsupported(const struct wake_time_page *page, uint32_t *call) {
    *call = page->unsupported_call;
    return page->unsupported;
}

static uint32_t used(const _Atomic(uint32_t) *count, uint32_t most) {
    uint32_t value = atomic_load(count);
    return value < most ? value : most;
}

int wake_time_due(const struct wake_time_page *page, int64_t now, struct wake_pending *due, int most, int64_t *next) {
    int count = 0;
    *next = INT64_MAX;
    uint32_t waits = used(&page->waits_used, WAKE_TIME_WAITS);
    for (uint32_t i = 0; i < waits; i++) {
        const struct wake_timed_wait *wait = &page->waits[i];
        uint64_t owner = atomic_load(&wait->owner);
        int64_t deadline = atomic_load(&wait->deadline);
        if (owner == 0 || deadline <= 0 || atomic_load(&wait->ended)) continue;
        if (deadline > now) {
            if (!wait->idle && deadline < *next) *next = deadline;
        } else if (count < most) {
            due[count++] = (struct wake_pending){.deadline = deadline,
                                                 .process = (uint32_t)(owner >> 32),
                                                 .number = (uint32_t)owner,
                                                 .place = i,
                                                 .kind = (uint8_t)wait->kind};
        }
    }
    uint32_t timers = used(&page->timers_used, WAKE_TIME_TIMERS);
    for (uint32_t i = 0; i < timers; i++) {
        const struct wake_timer *timer = &page->timers[i];
        uint64_t owner = atomic_load(&timer->owner);
        int64_t deadline = atomic_load(&timer->deadline);
        if (owner == 0 || deadline <= 0) continue;
        if (deadline > now) {
            if (deadline < *next) *next = deadline;
        } else if (count < most) {
            due[count++] = (struct wake_pending){.deadline = deadline,
                                                 .process = (uint32_t)(owner >> 32),
                                                 .number = (uint32_t)owner,
                                                 .place = i,
                                                 .clock = timer->clock,
                                                 .is_timer = 1,
                                                 .kind = (uint8_t)timer->kind,
                                                 .by_main = timer->by_main == 1};
        }
    }
    return count;
}

// MARK: Waits

static int wake_futex(_Atomic(uint32_t) *word) {
    return (int)syscall(SYS_futex, (void *)word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static int end_wait(struct wake_timed_wait *wait, const struct wake_rest *rest, const struct wake_pending *pending) {
    atomic_store(&wait->ended, 1);
    int woken = pending->kind == WAKE_WAIT_FUTEX;
    if (wake_rest_knows(rest, (int)pending->number)) {
        if (woken) return wake_futex(&wait->ended) >= 0;
        if (pending->kind == WAKE_WAIT_DESCRIPTORS &&
            syscall(SYS_tgkill, pending->process, pending->number, WAKE_TIME_SIGNAL) == 0)
            return 1;
    }
    // Its thread is gone, or never was the app's.
    atomic_store(&wait->deadline, 0);
    atomic_store(&wait->owner, 0);
    return 0;
}

// MARK: Timers

// How often a timer has expired by now; the next deadline is set, 0 for none.
static uint64_t expire(struct wake_timer *timer, int64_t now) {
    int64_t deadline = atomic_load(&timer->deadline), interval = timer->interval;
    uint64_t times = 1;
    int64_t next = 0;
    if (interval > 0) {
        int64_t missed = (now - deadline) / interval;
        times += (uint64_t)missed;
        if (__builtin_mul_overflow(missed + 1, interval, &next) || __builtin_add_overflow(next, deadline, &next)) next = 0;
    }
    atomic_store(&timer->deadline, next);
    return times;
}

// The descriptor of a timer of another process, or -1.
static int borrow(uint32_t process, uint32_t descriptor) {
    int handle = (int)syscall(SYS_pidfd_open, process, 0);
    if (handle < 0) return -1;
    int borrowed = (int)syscall(SYS_pidfd_getfd, handle, descriptor, 0);
    close(handle);
    struct itimerspec left;
    // It may have been closed meanwhile, and its number be another file's.
    if (borrowed >= 0 && timerfd_gettime(borrowed, &left) < 0) {
        close(borrowed);
        return -1;
    }
    return borrowed;
}

static int ring(struct wake_timer *timer, const struct wake_pending *pending, int64_t now) {
    int descriptor = borrow(pending->process, pending->number);
    if (descriptor < 0) return 0;
    uint64_t times = expire(timer, now);
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    // What the app has not read yet counts on.
    if (poll(&ready, 1, 0) == 1) times += atomic_load(&timer->expired);
    atomic_store(&timer->expired, times < UINT32_MAX ? (uint32_t)times : UINT32_MAX);
    if (ioctl(descriptor, TFD_IOC_SET_TICKS, &times) < 0) {
        // A kernel without checkpoints: it expires once, at once.
        struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
        timerfd_settime(descriptor, 0, &soon, NULL);
        poll(&ready, 1, -1);
    }
    close(descriptor);
    return 1;
}

static int raise_signal(struct wake_timer *timer, const struct wake_pending *pending, int64_t now) {
    int signal = timer->signal;
    uint32_t thread = timer->thread;
    if (signal < 1 || signal > SIGRTMAX) return 0;
    siginfo_t information;
    memset(&information, 0, sizeof information);
    uint64_t times = expire(timer, now);
    information.si_signo = signal;
    information.si_code = SI_TIMER;
    information.si_overrun = (int)(times - 1 < INT_MAX ? times - 1 : INT_MAX);
    // The upper bits say what kind of timer it is.
    information.si_timerid = (int)(pending->number & 0x1fffffff);
    uint64_t value = timer->value;
    memcpy(&information.si_value, &value, sizeof value);
    // Before the handler asks for it.
    atomic_store(&timer->expired, (uint32_t)times);
    long code = thread != 0 ? syscall(SYS_rt_tgsigqueueinfo, pending->process, thread, signal, &information)
                            : syscall(SYS_rt_sigqueueinfo, pending->process, signal, &information);
    return code == 0 || errno == EAGAIN;
}

static int expire_timer(struct wake_timer *timer, const struct wake_rest *rest, const struct wake_pending *pending, int64_t now) {
    if (wake_rest_knows(rest, (int)pending->process)) {
        switch (pending->kind) {
        case WAKE_TIMER_DESCRIPTOR:
            if (ring(timer, pending, now)) return 1;
            break;
        case WAKE_TIMER_SIGNAL:
            if (raise_signal(timer, pending, now)) return 1;
            break;
        case WAKE_TIMER_FUTEX:
            atomic_fetch_add(&timer->expired, (uint32_t)expire(timer, now));
            return wake_futex(&timer->expired) >= 0;
        default: break;
        }
    }
    atomic_store(&timer->deadline, 0);
    atomic_store(&timer->owner, 0);
    return 0;
}

int wake_time_fire(struct wake_time_page *page, const struct wake_rest *rest, const struct wake_pending *pending, int64_t now) {
    if (!pending->is_timer) return end_wait(&page->waits[pending->place % WAKE_TIME_WAITS], rest, pending);
    return expire_timer(&page->timers[pending->place % WAKE_TIME_TIMERS], rest, pending, now);
}
