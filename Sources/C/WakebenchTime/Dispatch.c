// libdispatch's housekeeping, which would make time move each second, for ever, for nothing: idle threads of its pool wait
// five seconds and end, and once a second a monitor looks whether a pool's threads are all blocked while work waits.
//
// Both are known by where libdispatch lies, not guessed from the length of a wait. In a program that has the library
// inside (-static-stdlib) nothing can be told apart: the monitor ticks on, which changes nothing but costs a day 86 400
// jumps.
#include "Inside.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MARK: Where it lies

// The objects that were loaded when libdispatch was looked for last, and where it was found; 0: not yet.
static _Atomic(uint64_t) objects_looked_through;
static _Atomic(uintptr_t) first_address, end_address;

static int look_at(struct dl_phdr_info *object, size_t bytes, void *looked) {
    (void)bytes;
    if (object->dlpi_adds == atomic_load(&objects_looked_through)) return 1;
    *(uint64_t *)looked = object->dlpi_adds;
    if (!object->dlpi_name || !strstr(object->dlpi_name, "/libdispatch.so")) return 0;
    uintptr_t first = UINTPTR_MAX, end = 0;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD) continue;
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (start < first) first = start;
        if (start + part->p_memsz > end) end = start + part->p_memsz;
    }
    atomic_store(&first_address, first);
    atomic_store(&end_address, end);
    return 1;
}

static int is_in_dispatch(const void *address) {
    if (atomic_load(&end_address) == 0) {
        uint64_t looked = 0;
        dl_iterate_phdr(look_at, &looked);
        if (looked != 0) atomic_store(&objects_looked_through, looked);
    }
    return (uintptr_t)address >= atomic_load(&first_address) && (uintptr_t)address < atomic_load(&end_address);
}

#define CALLED_BY_DISPATCH is_in_dispatch(__builtin_return_address(0))

// MARK: The C library's and libdispatch's own

typedef int wait_function(sem_t *, const struct timespec *);
typedef void timer_function(void *, uint64_t, uint64_t, uint64_t);
typedef void handler_function(void *);
typedef void set_handler_function(void *, handler_function *);
typedef long signal_function(void *);
static wait_function *next_wait;
static _Atomic(timer_function *) next_timer;
static _Atomic(set_handler_function *) next_set_handler;
static _Atomic(signal_function *) next_signal;

void find_dispatch_functions(void) { next_wait = (wait_function *)dlsym(RTLD_NEXT, "sem_timedwait"); }

// libdispatch may be loaded long after this library.
#define NEXT(kept, name)                                                                                               \
    (atomic_load(&kept) ? atomic_load(&kept) : (atomic_store(&kept, dlsym(RTLD_NEXT, name)), atomic_load(&kept)))

// MARK: Idle threads

// A thread of the pool that has nothing to do waits for a semaphore in libdispatch's data; those of an app's own
// DispatchSemaphore lie in the heap. It waits until there is work.
PUBLIC int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict time) {
    if (is_virtual() && is_in_dispatch(semaphore)) return sem_wait(semaphore);
    return next_wait(semaphore, time);
}

// MARK: The monitor

// The monitor helps when work has come to a pool and no thread took it. So its tick is asked for when a pool was poked
// and no idle thread was there to wake, and comes at the second at which the monitor's own timer would tick. A tick at
// which a pool is poked again, or threads run, asks for the next. Otherwise all work has found its thread, and nothing
// changes before the next poke.
static struct {
    void *source;              // whose timer was set as the monitor sets its own
    handler_function *handler; // NULL: there is none yet
    int64_t began;             // a tick comes a whole number of seconds later
    struct wake_timer *timer;
} monitor;

static void ask_for_tick(void) {
    int64_t passed = now() - monitor.began;
    int64_t none = 0;
    int64_t next = monitor.began + (passed / SECOND + 1) * SECOND;
    atomic_compare_exchange_strong(&monitor.timer->deadline, &none, next);
}

// A thread that runs may be what keeps the monitor from helping: it looks again.
static int does_anything_run(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return 0;
    int runs = 0;
    pid_t own = (pid_t)this_thread();
    for (struct dirent *entry = readdir(threads); entry && !runs; entry = readdir(threads)) {
        int thread = atoi(entry->d_name);
        if (thread == 0 || thread == own) continue;
        char path[64], text[256];
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        ssize_t bytes = read(file, text, sizeof text - 1);
        close(file);
        text[bytes > 0 ? bytes : 0] = 0;
        const char *name_end = strrchr(text, ')');
        runs = name_end && name_end[1] == ' ' && name_end[2] == 'R';
    }
    closedir(threads);
    return runs;
}

static void *run_monitor(void *unused) {
    uint32_t seen = 0;
    for (;;) {
        uint32_t ticks = atomic_load(&monitor.timer->expired);
        if (ticks == seen) {
            call(SYS_futex, &monitor.timer->expired, FUTEX_WAIT, seen, NULL);
            continue;
        }
        seen = ticks;
        monitor.handler(unused);
        if (does_anything_run()) ask_for_tick();
    }
    return NULL;
}

static int start_thread(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setsigmask_np(&attributes, &all);
    int code = pthread_create(&thread, &attributes, run_monitor, NULL);
    pthread_attr_destroy(&attributes);
    return code;
}

// libdispatch makes the monitor thus: it sets the source's timer to each second, and then the source's handler.
PUBLIC void dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway) {
    if (is_virtual() && interval == SECOND && leeway == 0 && !monitor.handler && CALLED_BY_DISPATCH) {
        monitor.source = source;
        monitor.began = now();
    }
    NEXT(next_timer, "dispatch_source_set_timer")(source, start, interval, leeway);
}

PUBLIC void dispatch_source_set_event_handler_f(void *source, handler_function *handler) {
    NEXT(next_set_handler, "dispatch_source_set_event_handler_f")(source, handler);
    if (!monitor.source || source != monitor.source || monitor.handler || !CALLED_BY_DISPATCH) return;
    monitor.timer = own_timer();
    if (!monitor.timer) return;
    monitor.handler = handler;
    if (start_thread() != 0) {
        monitor.handler = NULL;
        return;
    }
    const uint64_t never = UINT64_MAX;
    NEXT(next_timer, "dispatch_source_set_timer")(source, never, never, 0);
}

// Says whether a thread was woken.
PUBLIC long dispatch_semaphore_signal(void *semaphore) {
    long has_woken = NEXT(next_signal, "dispatch_semaphore_signal")(semaphore);
    if (!has_woken && page && monitor.handler && CALLED_BY_DISPATCH) ask_for_tick();
    return has_woken;
}

// The thread stays with the parent, and so does the timer.
void forget_dispatch(void) { memset(&monitor, 0, sizeof monitor); }
