// Timed waits. The deadline is told in the page, and the thread waits without one: for what it waited for, or for the
// bench's word that the time has come.
#include "Inside.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>

// A frame further off lies on another stack.
enum { NEAR = 256 << 10 };

// MARK: Entries in the page

static void use_up_to(_Atomic(uint32_t) *used, uint32_t count) {
    uint32_t before = atomic_load(used);
    while (before < count && !atomic_compare_exchange_weak(used, &before, count)) {}
}

// A handler that ran during a wait of this thread, and jumped out of it, has left the wait's entry behind: it was made
// deeper in the stack than we stand now. Entries of waits that go on below us were made higher up.
static int was_left_behind(const struct wake_timed_wait *wait, uintptr_t frame) {
    return wait->frame <= frame && frame - wait->frame < NEAR;
}

static struct wake_timed_wait *enter(int64_t deadline, uint32_t kind, long number) {
    uint64_t me = this_process() << 32 | this_thread();
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    for (uint32_t index = 0; index < WAKE_TIME_WAITS; index++) {
        struct wake_timed_wait *wait = &page->waits[index];
        uint64_t owner = atomic_load(&wait->owner);
        int is_ours = owner == me && was_left_behind(wait, frame);
        if (!is_ours && (owner != 0 || !atomic_compare_exchange_strong(&wait->owner, &owner, me))) continue;
        atomic_store(&wait->deadline, 0);
        atomic_store(&wait->ended, 0);
        wait->kind = kind;
        wait->call = (uint32_t)number;
        wait->idle = 0;
        wait->frame = frame;
        use_up_to(&page->waits_used, index + 1);
        atomic_store(&wait->deadline, deadline);
        return wait;
    }
    // More waits than the page holds: the thread goes on after a moment of wall time, as if a signal had come. So the
    // app does not rest, and the bench says so.
    count_unsupported(number);
    struct timespec moment = {0, 10 * MILLISECOND};
    call(SYS_clock_nanosleep, marked(CLOCK_MONOTONIC), 0, &moment, 0);
    return NULL;
}

static void leave(struct wake_timed_wait *wait) {
    atomic_store(&wait->deadline, 0);
    atomic_store(&wait->owner, 0);
}

static int has_come(const struct wake_timed_wait *wait, int64_t deadline) {
    return atomic_load(&wait->ended) && deadline <= now();
}

// MARK: Futexes

// The kernel's struct futex_waitv.
struct awaited {
    uint64_t value, address;
    uint32_t flags, reserved;
};
enum { WORD_32 = 2, WORD_PRIVATE = 128, MOST_WORDS = 128 };

// The entry of the page stands first among the words: when several have been woken, the kernel tells of the last one, and
// no wake of the app's own is lost. The index of the word that was woken, counted without ours, or an error.
static long wait_for_words(struct awaited *words, unsigned count, int64_t deadline, long number) {
    struct wake_timed_wait *wait = enter(deadline, WAKE_WAIT_FUTEX, number);
    if (!wait) return -EINTR;
    words[0] = (struct awaited){0, (uint64_t)&wait->ended, WORD_32, 0};
    long result;
    do {
        result = call(SYS_futex_waitv, words, count + 1, 0, 0);
    } while (result == 0 && !has_come(wait, deadline));
    if (result == 0 || (result == -EAGAIN && has_come(wait, deadline))) result = -ETIMEDOUT;
    leave(wait);
    return result > 0 ? result - 1 : result;
}

// A handler that was installed with SA_RESTART does not end this wait, as signal(7) has it; today's kernel does end it.
long wait_for_futex(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    const struct timespec *time = (const struct timespec *)argument[3];
    int operation = argument[1] & FUTEX_CMD_MASK;
    if (!is_valid(time)) return -EINVAL;
    if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) {
        // A futex that lends its priority: nothing but its owner ends such a wait, so it gets no deadline.
        count_unsupported(trapped->number);
        return call6(SYS_futex, argument[0], argument[1], argument[2], 0, argument[4], argument[5]);
    }
    int64_t deadline = nanoseconds(time);
    if (operation == FUTEX_WAIT) {
        deadline = sum(now(), deadline);
    } else {
        deadline -= argument[1] & FUTEX_CLOCK_REALTIME ? page->real_base : page->monotonic_base;
    }
    volatile uint32_t *word = (volatile uint32_t *)argument[0];
    if (*word != (uint32_t)argument[2]) return -EAGAIN;
    if (deadline <= now()) return -ETIMEDOUT;
    uint32_t flags = WORD_32 | (argument[1] & FUTEX_PRIVATE_FLAG ? WORD_PRIVATE : 0);
    struct awaited words[2] = {{0}, {(uint32_t)argument[2], (uint64_t)word, flags, 0}};
    return wait_for_words(words, 1, deadline, trapped->number);
}

__attribute__((noinline)) long wait_for_futexes(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    const struct timespec *time = (const struct timespec *)argument[3];
    unsigned count = (unsigned)argument[1];
    if (!is_valid(time) || count == 0 || count > MOST_WORDS || argument[2] != 0) return -EINVAL;
    int64_t deadline = nanoseconds(time) - base_of((int)argument[4]);
    if (deadline <= now() || count == MOST_WORDS) {
        // There is no room for ours beside 128 words: such a wait gets no deadline.
        if (deadline > now()) count_unsupported(trapped->number);
        struct timespec past = {0, 0};
        const struct timespec *bound = deadline > now() ? NULL : &past;
        return call6(SYS_futex_waitv, argument[0], marked(count), 0, (long)bound, argument[4], 0);
    }
    struct awaited words[MOST_WORDS];
    for (unsigned index = 0; index < count; index++) words[index + 1] = ((const struct awaited *)argument[0])[index];
    return wait_for_words(words, count, deadline, trapped->number);
}

// MARK: Descriptors, sleep and signals

// The bench's signal was sent, or is about to be, though something else has ended the wait: it must not hit what the
// thread does next.
static void take_back_signal(void) {
    struct timespec soon = {0, 100 * MILLISECOND};
    uint64_t mask = ~bit(WAKE_TIME_SIGNAL);
    call6(SYS_ppoll, 0, marked(0), (long)&soon, (long)&mask, sizeof mask, 0);
}

long wait_in(const struct interruptible *it, int64_t deadline, long told_as) {
    if (deadline <= now()) return -ETIMEDOUT;
    struct wake_timed_wait *wait = enter(deadline, WAKE_WAIT_DESCRIPTORS, told_as);
    if (!wait) return -EINTR;
    long result = call6(it->number, it->a, it->b, it->c, it->d, it->e, it->f);
    if (atomic_load(&wait->ended)) {
        if (result == -EINTR && has_come(wait, deadline)) {
            result = -ETIMEDOUT;
        } else if (!(told_as == SYS_rt_sigtimedwait && result == WAKE_TIME_SIGNAL)) {
            take_back_signal();
        }
    }
    leave(wait);
    return result;
}

static struct interruptible in_ppoll(const void *descriptors, unsigned long count, const uint64_t *mask) {
    return (struct interruptible){SYS_ppoll, (long)descriptors, (long)count, 0, (long)mask, sizeof *mask, 0};
}

long wait_until_ready(int descriptor, short events, int64_t deadline, const struct trapped *trapped) {
    struct pollfd one = {descriptor, events, 0};
    uint64_t mask = open_mask(trapped->mask);
    struct interruptible it = in_ppoll(&one, 1, &mask);
    long result = wait_in(&it, deadline, trapped->number);
    return result > 0 ? 0 : result;
}

// Not by a futex: a sleep ends with any handler that runs, and goes on after a stop, which ppoll does and futexes do not.
long wait_in_sleep(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    int is_plain = trapped->number == SYS_nanosleep;
    int clock = is_plain ? CLOCK_MONOTONIC : (int)argument[0];
    int is_absolute = !is_plain && (argument[1] & TIMER_ABSTIME);
    const struct timespec *time = (const struct timespec *)argument[is_plain ? 0 : 2];
    struct timespec *rest = (struct timespec *)argument[is_plain ? 1 : 3];
    if (!is_virtual_clock(clock)) {
        return call(trapped->number, marked(argument[0]), argument[1], argument[2], argument[3]);
    }
    if (!is_valid(time)) return -EINVAL;
    int64_t deadline = is_absolute ? nanoseconds(time) - base_of(clock) : sum(now(), nanoseconds(time));
    uint64_t mask = open_mask(trapped->mask);
    struct interruptible it = in_ppoll(NULL, 0, &mask);
    long result = wait_in(&it, deadline, trapped->number);
    if (result == -ETIMEDOUT) return 0;
    if (result == -EINTR && !is_absolute && rest) put(rest, left_until(deadline));
    return result;
}

// The mask that a call brings, or the thread's.
static uint64_t mask_of(long brought, const struct trapped *trapped) {
    return open_mask(brought ? *(const uint64_t *)brought : trapped->mask);
}

long wait_in_poll(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    struct timespec *time = NULL;
    int64_t span = (int64_t)(int)argument[2] * MILLISECOND;
    uint64_t mask = open_mask(trapped->mask);
    if (trapped->number == SYS_ppoll) {
        time = (struct timespec *)argument[2];
        if (!is_valid(time)) return -EINVAL;
        span = nanoseconds(time);
        mask = mask_of(argument[3], trapped);
    }
    int64_t deadline = sum(now(), span);
    struct interruptible it = in_ppoll((const void *)argument[0], (unsigned)argument[1], &mask);
    long result = wait_in(&it, deadline, trapped->number);
    if (result == -ETIMEDOUT) {
        struct timespec zero = {0, 0};
        result = call(SYS_ppoll, argument[0], marked(argument[1]), &zero, 0);
    }
    if (time) put(time, left_until(deadline));
    return result;
}

long wait_in_select(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    struct {
        const uint64_t *mask;
        uint64_t bytes;
    } masking, *brought = NULL;
    uint64_t mask = open_mask(trapped->mask);
    int64_t span;
    int is_plain = trapped->number != SYS_pselect6;
    if (is_plain) {
        const struct timeval *time = (const struct timeval *)argument[4];
        if (time->tv_sec < 0 || time->tv_usec < 0) return -EINVAL;
        struct timespec seconds = {time->tv_sec, 0};
        span = sum(nanoseconds(&seconds), time->tv_usec * 1000LL);
    } else {
        const struct timespec *time = (const struct timespec *)argument[4];
        if (!is_valid(time)) return -EINVAL;
        span = nanoseconds(time);
        brought = (void *)argument[5];
        if (brought && brought->mask) mask = open_mask(*brought->mask);
    }
    masking.mask = &mask;
    masking.bytes = sizeof mask;
    int64_t deadline = sum(now(), span);
    struct interruptible it = {SYS_pselect6, argument[0], argument[1], argument[2], argument[3], 0, (long)&masking};
    long result = wait_in(&it, deadline, trapped->number);
    if (result == -ETIMEDOUT) {
        struct timespec zero = {0, 0};
        result = call6(SYS_pselect6, marked(argument[0]), argument[1], argument[2], argument[3], (long)&zero, 0);
    }
    int64_t left = left_until(deadline);
    if (is_plain) {
        *(struct timeval *)argument[4] = (struct timeval){left / SECOND, left % SECOND / 1000};
    } else {
        put((struct timespec *)argument[4], left);
    }
    return result;
}

long wait_in_epoll(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    int64_t span = (int64_t)(int)argument[3] * MILLISECOND;
    uint64_t mask = open_mask(trapped->mask);
    if (trapped->number == SYS_epoll_pwait2) {
        const struct timespec *time = (const struct timespec *)argument[3];
        if (!is_valid(time)) return -EINVAL;
        span = nanoseconds(time);
    }
    if (trapped->number == SYS_epoll_pwait2 || trapped->number == SYS_epoll_pwait) mask = mask_of(argument[4], trapped);
    struct interruptible it = {
        SYS_epoll_pwait, argument[0], argument[1], argument[2], -1, (long)&mask, sizeof mask,
    };
    long result = wait_in(&it, sum(now(), span), trapped->number);
    if (result != -ETIMEDOUT) return result;
    return call6(SYS_epoll_pwait, argument[0], argument[1], argument[2], 0, 0, 0);
}

long wait_for_signal(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    const struct timespec *time = (const struct timespec *)argument[2];
    if (!is_valid(time)) return -EINVAL;
    uint64_t awaited = *(const uint64_t *)argument[0] | bit(WAKE_TIME_SIGNAL);
    int64_t deadline = sum(now(), nanoseconds(time));
    if (deadline <= now()) {
        struct timespec zero = {0, 0};
        return call6(SYS_rt_sigtimedwait, argument[0], argument[1], (long)&zero, argument[3], 0, OUR_MARK);
    }
    struct interruptible it = {
        SYS_rt_sigtimedwait, (long)&awaited, argument[1], 0, argument[3], 0, 0,
    };
    long result = wait_in(&it, deadline, trapped->number);
    return result == -ETIMEDOUT || result == WAKE_TIME_SIGNAL ? -EAGAIN : result;
}
