// Timed waits for POSIX message queues and System V semaphores.
#include "Inside.h"

#include <poll.h>

// A queue is a descriptor on Linux. The deadline is a date.
long message_queue_call(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    const struct timespec *date = (const struct timespec *)argument[4];
    if (!is_valid(date)) return -EINVAL;
    int64_t deadline = nanoseconds(date) - page->real_base;
    short event = trapped->number == SYS_mq_timedreceive ? POLLIN : POLLOUT;
    for (;;) {
        // A time that has passed: what would wait says so at once.
        struct timespec past = {0, 0};
        long result = call6(trapped->number, marked(argument[0]), argument[1], argument[2], argument[3], (long)&past, 0);
        if (result != -ETIMEDOUT) return result;
        result = wait_until_ready((int)argument[0], event, deadline, trapped);
        if (result < 0) return result;
    }
}

// The bench ends it by its signal, which it sends when the thread sleeps: the call cannot open its own signal mask, so
// the mask is opened before.
long semaphore_call(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    const struct timespec *time = (const struct timespec *)argument[3];
    if (!is_valid(time)) return -EINVAL;
    uint64_t signal = bit(WAKE_TIME_SIGNAL);
    if (nanoseconds(time) == 0) {
        struct timespec zero = {0, 0};
        return call(SYS_semtimedop, marked(argument[0]), argument[1], argument[2], &zero);
    }
    call(SYS_rt_sigprocmask, SIG_UNBLOCK, &signal, 0, sizeof signal);
    struct interruptible it = {SYS_semtimedop, argument[0], argument[1], argument[2], 0, 0, 0};
    long result = wait_in(&it, sum(now(), nanoseconds(time)), trapped->number);
    call(SYS_rt_sigprocmask, SIG_BLOCK, &signal, 0, sizeof signal);
    return result == -ETIMEDOUT ? -EAGAIN : result;
}
