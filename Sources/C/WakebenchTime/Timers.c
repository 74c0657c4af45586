// Timers. The kernel's own stay disarmed: the page holds when each is due, and the bench does what the kernel would do.
#include "Inside.h"

#include <linux/kcmp.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

// What the lower half of a timer's owner says: a descriptor is below all of these.
enum {
    OF_LIBRARY = 0x20000000,
    OF_PROGRAM = 0x40000000, // and the kernel's number from timer_create
    OF_ALARM = 0x60000000    // setitimer and alarm: a process has one
};

// A child of fork shares the descriptors of its ancestors, and so their timers.
enum { MOST_ANCESTORS = 8 };
static uint64_t ancestors[MOST_ANCESTORS];
static unsigned ancestor_count;
static uint64_t own_process;

static uint64_t owner_of(uint64_t process, uint32_t number) { return process << 32 | number; }

static struct wake_timer *find(uint64_t owner) {
    uint32_t used = atomic_load(&page->timers_used);
    for (uint32_t index = 0; index < used && index < WAKE_TIME_TIMERS; index++) {
        if (atomic_load(&page->timers[index].owner) == owner) return &page->timers[index];
    }
    return NULL;
}

static struct wake_timer *take(uint64_t owner, uint32_t kind, int clock, long number) {
    struct wake_timer *timer = find(owner);
    for (uint32_t index = 0; !timer && index < WAKE_TIME_TIMERS; index++) {
        uint64_t nobody = 0;
        if (!atomic_compare_exchange_strong(&page->timers[index].owner, &nobody, owner)) continue;
        timer = &page->timers[index];
        uint32_t used = atomic_load(&page->timers_used);
        while (used < index + 1 && !atomic_compare_exchange_weak(&page->timers_used, &used, index + 1)) {}
    }
    if (!timer) {
        count_unsupported(number);
        return NULL;
    }
    atomic_store(&timer->deadline, 0);
    atomic_store(&timer->expired, 0);
    timer->interval = 0;
    timer->value = 0;
    timer->clock = clock;
    timer->kind = kind;
    timer->signal = 0;
    timer->thread = 0;
    timer->by_main = this_thread() == this_process();
    return timer;
}

static void free_timer(struct wake_timer *timer) {
    atomic_store(&timer->deadline, 0);
    atomic_store(&timer->owner, 0);
}

struct wake_timer *own_timer(void) {
    return take(owner_of(this_process(), OF_LIBRARY), WAKE_TIMER_FUTEX, CLOCK_MONOTONIC, SYS_timer_create);
}

// MARK: Processes

static int is_still_open(uint32_t descriptor) {
    struct itimerspec unread;
    return call(SYS_timerfd_gettime, marked(descriptor), &unread, 0, 0) == 0;
}

// exec keeps the process's number, its descriptors and its alarm, and ends all else.
void forget_strangers(void) {
    own_process = this_process();
    for (uint32_t index = 0; index < WAKE_TIME_WAITS; index++) {
        struct wake_timed_wait *wait = &page->waits[index];
        if (atomic_load(&wait->owner) >> 32 != own_process) continue;
        atomic_store(&wait->deadline, 0);
        atomic_store(&wait->owner, 0);
    }
    for (uint32_t index = 0; index < WAKE_TIME_TIMERS; index++) {
        struct wake_timer *timer = &page->timers[index];
        uint64_t owner = atomic_load(&timer->owner);
        uint32_t number = (uint32_t)owner;
        if (owner >> 32 != own_process || number == OF_ALARM) continue;
        if (number >= OF_LIBRARY || !is_still_open(number)) free_timer(timer);
    }
}

// A child of fork has the descriptors, and no timer of its own.
void become_child(void) {
    if (ancestor_count < MOST_ANCESTORS) ancestors[ancestor_count++] = own_process;
    own_process = this_process();
}

// MARK: Reading and setting

static void read_timer(const struct wake_timer *timer, struct itimerspec *result) {
    int64_t deadline = atomic_load(&timer->deadline);
    put(&result->it_interval, timer->interval);
    // What is overdue will expire at once, and is armed until then.
    put(&result->it_value, deadline == 0 ? 0 : deadline > now() ? deadline - now() : 1);
}

static void set_timer(struct wake_timer *timer, int is_absolute, const struct itimerspec *setting) {
    int64_t deadline = 0;
    if (setting->it_value.tv_sec != 0 || setting->it_value.tv_nsec != 0) {
        int64_t value = nanoseconds(&setting->it_value);
        deadline = is_absolute ? value - base_of(timer->clock) : sum(now(), value);
        if (deadline <= 0) deadline = 1;
    }
    atomic_store(&timer->deadline, 0);
    atomic_store(&timer->expired, 0);
    timer->interval = nanoseconds(&setting->it_interval);
    atomic_store(&timer->deadline, deadline);
}

static int are_valid(const struct itimerspec *setting) {
    return is_valid(&setting->it_value) && is_valid(&setting->it_interval);
}

static long pass(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    return call6(trapped->number, marked(argument[0]), argument[1], argument[2], argument[3], argument[4], argument[5]);
}

// MARK: timerfd

// By its number, or as the same open file under another: dup, or a descriptor that an ancestor opened.
static struct wake_timer *of_descriptor(int descriptor) {
    struct wake_timer *timer = find(owner_of(this_process(), (uint32_t)descriptor));
    if (timer || !is_still_open((uint32_t)descriptor)) return timer;
    for (unsigned index = ancestor_count; index > 0; index--) {
        timer = find(owner_of(ancestors[index - 1], (uint32_t)descriptor));
        if (timer) return timer;
    }
    uint64_t process = this_process();
    uint32_t used = atomic_load(&page->timers_used);
    for (uint32_t index = 0; index < used && index < WAKE_TIME_TIMERS; index++) {
        uint64_t owner = atomic_load(&page->timers[index].owner);
        if (owner >> 32 != process || (uint32_t)owner >= OF_LIBRARY) continue;
        long order = call6(SYS_kcmp, (long)process, (long)process, KCMP_FILE, descriptor, (uint32_t)owner, 0);
        if (order == 0) return &page->timers[index];
    }
    return NULL;
}

static long create_descriptor(const struct trapped *trapped) {
    long descriptor = pass(trapped);
    int clock = (int)trapped->argument[0];
    if (descriptor >= 0 && is_virtual_clock(clock)) {
        take(owner_of(this_process(), (uint32_t)descriptor), WAKE_TIMER_DESCRIPTOR, clock, trapped->number);
    }
    return descriptor;
}

static long set_descriptor(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    struct wake_timer *timer = of_descriptor((int)argument[0]);
    const struct itimerspec *setting = (const struct itimerspec *)argument[2];
    if (!timer) {
        if (is_still_open((uint32_t)argument[0])) count_unsupported(trapped->number);
        return pass(trapped);
    }
    if (!are_valid(setting)) return -EINVAL;
    struct itimerspec old;
    read_timer(timer, &old);
    // The real one is disarmed, which also takes back what has not been read.
    struct itimerspec zero = {{0, 0}, {0, 0}};
    long result = call(trapped->number, marked(argument[0]), argument[1] & ~TFD_TIMER_CANCEL_ON_SET, &zero, 0);
    if (result < 0) return result;
    set_timer(timer, (argument[1] & TFD_TIMER_ABSTIME) != 0, setting);
    if (argument[3]) *(struct itimerspec *)argument[3] = old;
    return 0;
}

static long read_descriptor(const struct trapped *trapped) {
    struct wake_timer *timer = of_descriptor((int)trapped->argument[0]);
    if (!timer) return pass(trapped);
    read_timer(timer, (struct itimerspec *)trapped->argument[1]);
    return 0;
}

// MARK: timer_create

// The kernel makes the timer, and gives it its number; it is never armed.
static long create_timer(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    int clock = (int)argument[0];
    long result = pass(trapped);
    if (result < 0 || !is_virtual_clock(clock)) return result;
    int number = *(const int *)argument[2];
    uint64_t owner = owner_of(this_process(), OF_PROGRAM | (uint32_t)number);
    struct wake_timer *timer = take(owner, WAKE_TIMER_SIGNAL, clock, trapped->number);
    if (!timer) return result;
    const struct sigevent *event = (const struct sigevent *)argument[1];
    if (!event) {
        timer->signal = SIGALRM;
        timer->value = (uint32_t)number;
        return result;
    }
    timer->value = (uint64_t)event->sigev_value.sival_ptr;
    if (event->sigev_notify == SIGEV_NONE) {
        timer->kind = WAKE_TIMER_FUTEX; // it only counts
    } else {
        timer->signal = event->sigev_signo;
    }
    if (event->sigev_notify == SIGEV_THREAD_ID) timer->thread = (uint32_t)event->_sigev_un._tid;
    return result;
}

static struct wake_timer *of_number(const struct trapped *trapped) {
    return find(owner_of(this_process(), OF_PROGRAM | (uint32_t)trapped->argument[0]));
}

static long use_timer(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    struct wake_timer *timer = of_number(trapped);
    if (!timer) return pass(trapped);
    switch (trapped->number) {
    case SYS_timer_settime: {
        const struct itimerspec *setting = (const struct itimerspec *)argument[2];
        if (!are_valid(setting)) return -EINVAL;
        struct itimerspec old;
        read_timer(timer, &old);
        set_timer(timer, (argument[1] & TIMER_ABSTIME) != 0, setting);
        if (argument[3]) *(struct itimerspec *)argument[3] = old;
        return 0;
    }
    case SYS_timer_gettime:
        read_timer(timer, (struct itimerspec *)argument[1]);
        return 0;
    case SYS_timer_getoverrun: {
        // The bench writes for how many expirations the last signal stands.
        uint32_t expired = atomic_load(&timer->expired);
        return expired > 1 ? expired - 1 : 0;
    }
    default:
        free_timer(timer);
        return pass(trapped);
    }
}

// MARK: setitimer and alarm

static void put_interval(struct itimerval *result, const struct itimerspec *value) {
    result->it_interval = (struct timeval){value->it_interval.tv_sec, value->it_interval.tv_nsec / 1000};
    result->it_value = (struct timeval){value->it_value.tv_sec, value->it_value.tv_nsec / 1000};
    // Less than a microsecond is not yet nothing.
    if (value->it_value.tv_nsec % 1000 != 0) result->it_value.tv_usec++;
}

static struct wake_timer *alarm_of_process(void) { return find(owner_of(this_process(), OF_ALARM)); }

static void read_alarm(struct itimerspec *result) {
    struct wake_timer *timer = alarm_of_process();
    if (timer) {
        read_timer(timer, result);
    } else {
        *result = (struct itimerspec){{0, 0}, {0, 0}};
    }
}

static long set_alarm(const struct itimerspec *setting, struct itimerspec *old, long number) {
    read_alarm(old);
    struct wake_timer *timer = alarm_of_process();
    if (!timer) {
        timer = take(owner_of(this_process(), OF_ALARM), WAKE_TIMER_SIGNAL, CLOCK_MONOTONIC, number);
        if (!timer) return -EAGAIN;
        timer->signal = SIGALRM;
    }
    set_timer(timer, 0, setting);
    return 0;
}

static int is_valid_interval(const struct timeval *time) {
    return time->tv_sec >= 0 && time->tv_usec >= 0 && time->tv_usec < 1000000;
}

static long interval_call(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    struct itimerspec old;
    // The other two count the processor's time.
    if ((int)argument[0] != ITIMER_REAL) return pass(trapped);
    if (trapped->number == SYS_getitimer) {
        read_alarm(&old);
        put_interval((struct itimerval *)argument[1], &old);
        return 0;
    }
    const struct itimerval *brought = (const struct itimerval *)argument[1];
    struct itimerspec setting = {{0, 0}, {0, 0}};
    if (brought) {
        if (!is_valid_interval(&brought->it_value) || !is_valid_interval(&brought->it_interval)) return -EINVAL;
        setting.it_value = (struct timespec){brought->it_value.tv_sec, brought->it_value.tv_usec * 1000};
        setting.it_interval = (struct timespec){brought->it_interval.tv_sec, brought->it_interval.tv_usec * 1000};
    }
    long result = set_alarm(&setting, &old, trapped->number);
    if (result == 0 && argument[2]) put_interval((struct itimerval *)argument[2], &old);
    return result;
}

#ifdef SYS_alarm
// The seconds that were left, rounded, but not to nothing.
static long alarm_call(const struct trapped *trapped) {
    struct itimerspec setting = {{0, 0}, {(unsigned)trapped->argument[0], 0}}, old;
    if (set_alarm(&setting, &old, trapped->number) < 0) return 0;
    long seconds = old.it_value.tv_sec;
    long rest = old.it_value.tv_nsec;
    return rest >= SECOND / 2 || (seconds == 0 && rest > 0) ? seconds + 1 : seconds;
}
#endif

long timer_call(const struct trapped *trapped) {
    switch (trapped->number) {
    case SYS_timerfd_create:
        return create_descriptor(trapped);
    case SYS_timerfd_settime:
        return set_descriptor(trapped);
    case SYS_timerfd_gettime:
        return read_descriptor(trapped);
    case SYS_timer_create:
        return create_timer(trapped);
    case SYS_setitimer:
    case SYS_getitimer:
        return interval_call(trapped);
#ifdef SYS_alarm
    case SYS_alarm:
        return alarm_call(trapped);
#endif
    default:
        return use_timer(trapped);
    }
}
