// Whether the threads of an app are at rest, read from /proc (proc_pid_stat(5), proc_pid_syscall(5), schedstat of the kernel's
// scheduler statistics).
//
// Two scans. The first reads how often a thread was put on a processor, and then that it is off it, which `syscall` says only
// when the kernel has seen it switched out. The second reads that it sleeps, and then the same count. So each thread slept from
// its place in the first scan to its place in the second, and all of them together at the end of the first. One that a signal
// has stopped waits too; one that stands in a debugger does not, since time would run away from whoever looks at it.
//
// What a worker of the kernel carries on while all threads sleep is outside of the scan. Pipes, sockets of this machine (TCP and
// UDP over loopback too: the sender's own call delivers), signals and futexes wake in the call of whoever sends; a
// pseudo-terminal does not (Terminals.c), nor does AF_VSOCK, which is not looked after.
#define _GNU_SOURCE

#include "Controller.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

// An app with more threads than this is never found at rest.
enum { MOST_THREADS = 16384, LIST_BYTES = 1 << 17 };

struct thread {
    int number;
    int statistics; // schedstat
    int call;       // syscall
    int state;      // stat
    int children;   // children, once it was asked for; -1 before
    unsigned long long runs;
    char seen;
    char ended;
    char gone; // its files tell nothing any more, though a new thread may have its number
};

struct wake_rest {
    struct thread *threads; // sorted by number
    int count, room;
    int *listed;
    int listed_count;
    int *before;
    int before_count;
    int *processes;
    unsigned long long changes;
    char *text; // LIST_BYTES
    dev_t output_device;
    ino_t output_number; // 0: it has none
};

struct wake_rest *wake_rest_make(void) {
    struct wake_rest *rest = calloc(1, sizeof *rest);
    if (!rest) return NULL;
    rest->listed = malloc(MOST_THREADS * sizeof(int));
    rest->before = malloc(MOST_THREADS * sizeof(int));
    rest->processes = malloc(MOST_THREADS * sizeof(int));
    rest->text = malloc(LIST_BYTES);
    if (rest->listed && rest->before && rest->processes && rest->text) return rest;
    wake_rest_free(rest);
    return NULL;
}

static void close_files(struct thread *thread) {
    if (thread->statistics >= 0) close(thread->statistics);
    if (thread->call >= 0) close(thread->call);
    if (thread->state >= 0) close(thread->state);
    if (thread->children >= 0) close(thread->children);
}

void wake_rest_free(struct wake_rest *rest) {
    if (!rest) return;
    for (int i = 0; i < rest->count; i++) close_files(&rest->threads[i]);
    free(rest->threads);
    free(rest->listed);
    free(rest->before);
    free(rest->processes);
    free(rest->text);
    free(rest);
}

int wake_rest_outputs(struct wake_rest *rest, int descriptor) {
    struct stat file;
    if (fstat(descriptor, &file) != 0) return -1;
    rest->output_device = file.st_dev;
    rest->output_number = file.st_ino;
    return 0;
}

int wake_rest_count(const struct wake_rest *rest) { return rest->listed_count; }

int wake_rest_listed(const struct wake_rest *rest, int index) { return rest->listed[index]; }

unsigned long long wake_rest_changes(const struct wake_rest *rest) { return rest->changes; }

// MARK: The list of threads

static struct thread *find(const struct wake_rest *rest, int number) {
    int low = 0, high = rest->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (rest->threads[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low < rest->count && rest->threads[low].number == number ? &rest->threads[low] : NULL;
}

static int by_number(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

// Reads a list of numbers to its end: the kernel gives a page of it at once. Returns its length, or -1 with errno.
static ssize_t read_list(int file, char *text, ssize_t room) {
    ssize_t size = 0, more;
    while ((more = pread(file, text + size, (size_t)(room - 1 - size), size)) > 0) size += more;
    if (more < 0) return -1;
    text[size] = 0;
    if (size < room - 1) return size;
    errno = EOVERFLOW;
    return -1;
}

// Puts the children of a thread behind the processes that are still to be looked through.
static int list_children(struct wake_rest *rest, int process, int thread, int *processes) {
    char path[64];
    struct thread *known = find(rest, thread);
    int file = known ? known->children : -1;
    if (file < 0) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, thread);
        file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return ESRCH;
        if (known) known->children = file;
    }
    int code = read_list(file, rest->text, LIST_BYTES) < 0 ? errno : 0;
    if (!known) close(file);
    for (char *place = rest->text, *end; code == 0; place = end) {
        int child = (int)strtol(place, &end, 10);
        if (end == place) break;
        if (*processes == MOST_THREADS) return EOVERFLOW;
        rest->processes[(*processes)++] = child;
    }
    return code;
}

static int list_process(struct wake_rest *rest, int process, int *processes) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *folder = opendir(path);
    if (!folder) return ESRCH;
    // One that ends once its folder is open has no threads in it.
    int code = 0, before = rest->listed_count;
    struct dirent *entry;
    while (code == 0 && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        int number = atoi(entry->d_name);
        if (rest->listed_count == MOST_THREADS) code = EOVERFLOW;
        else rest->listed[rest->listed_count++] = number;
        if (code == 0) code = list_children(rest, process, number, processes);
    }
    closedir(folder);
    return code == 0 && rest->listed_count == before ? ESRCH : code;
}

// One that ends while it is listed may have started another, which is listed nowhere then: ESRCH. When the first of them is
// gone, nothing is left.
static int list_tree(struct wake_rest *rest, int process) {
    int count = 1, code = 0;
    rest->processes[0] = process;
    for (int i = 0; i < count && code == 0; i++) code = list_process(rest, rest->processes[i], &count);
    return code == ESRCH && count == 1 && rest->listed_count == 0 ? 0 : code;
}

// Version 1 keeps what it has once told of an open file for as long as somebody asks again each second.
static ssize_t read_group(int list, char *text) {
    struct statfs system;
    if (fstatfs(list, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC) return read_list(list, text, LIST_BYTES);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", list);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t size = read_list(file, text, LIST_BYTES);
    int code = errno;
    close(file);
    errno = code;
    return size;
}

static int list_group(struct wake_rest *rest, int list) {
    ssize_t size = read_group(list, rest->text);
    // The group is gone.
    if (size < 0) return errno == ENODEV || errno == ENOENT ? 0 : errno;
    for (char *place = rest->text, *end;; place = end) {
        int number = (int)strtol(place, &end, 10);
        if (end == place) return 0;
        if (rest->listed_count == MOST_THREADS) return EOVERFLOW;
        rest->listed[rest->listed_count++] = number;
    }
}

// Lists the threads, sorted. Returns 0, or an errno.
static int list(struct wake_rest *rest, struct wake_threads threads) {
    rest->listed_count = 0;
    int code = threads.list < 0 ? list_tree(rest, threads.process) : list_group(rest, threads.list);
    for (int i = 1; i < rest->listed_count; i++) {
        if (rest->listed[i - 1] < rest->listed[i]) continue;
        qsort(rest->listed, (size_t)rest->listed_count, sizeof(int), by_number);
        break;
    }
    return code;
}

int wake_rest_knows(const struct wake_rest *rest, int thread) {
    return bsearch(&thread, rest->listed, (size_t)rest->listed_count, sizeof(int), by_number) != NULL;
}

static int open_file(int number, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", number, number, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int thread_order(const void *one, const void *other) {
    return ((const struct thread *)one)->number - ((const struct thread *)other)->number;
}

static ssize_t read_text(int file, char *text, size_t room) {
    ssize_t size = pread(file, text, room - 1, 0);
    text[size > 0 ? size : 0] = 0;
    return size;
}

// The letter of its state; 0 when it is gone.
static char state_of(const struct thread *thread) {
    char text[512];
    if (read_text(thread->state, text, sizeof text) <= 0) return 0;
    char *name = strrchr(text, ')');
    return name && name[1] == ' ' ? name[2] : 0;
}

static int is_end(char state) { return state == 'Z' || state == 'X'; }

static void forget_gone(struct wake_rest *rest) {
    int kept = 0;
    for (int i = 0; i < rest->count; i++) {
        if (rest->threads[i].gone) close_files(&rest->threads[i]);
        else rest->threads[kept++] = rest->threads[i];
    }
    if (kept != rest->count) rest->changes++;
    rest->count = kept;
}

// Keeps the threads that are listed, and begins to watch those that are new. Returns 0, or an errno.
static int keep_listed(struct wake_rest *rest) {
    forget_gone(rest);
    for (int i = 0; i < rest->count; i++) rest->threads[i].seen = 0;
    int known = rest->count, fresh = 0;
    for (int i = 0; i < rest->listed_count; i++) {
        struct thread *thread = find(rest, rest->listed[i]);
        if (thread) thread->seen = 1;
        else fresh++;
    }
    int code = 0;
    if (fresh > 0) {
        if (rest->count + fresh > rest->room) {
            int room = rest->count + fresh + 64;
            struct thread *larger = realloc(rest->threads, (size_t)room * sizeof *larger);
            if (!larger) return ENOMEM;
            rest->threads = larger;
            rest->room = room;
        }
        for (int i = 0; i < rest->listed_count && code == 0; i++) {
            int sorted = rest->count;
            rest->count = known;
            int is_known = find(rest, rest->listed[i]) != NULL;
            rest->count = sorted;
            if (is_known) continue;
            struct thread thread = {.number = rest->listed[i], .children = -1, .seen = 1};
            thread.statistics = open_file(thread.number, "schedstat");
            thread.state = open_file(thread.number, "stat");
            thread.call = open_file(thread.number, "syscall");
            // The kernel gives what is left of one that has ended to root, but for its state.
            int has_ended = thread.call < 0 && errno == EACCES && is_end(state_of(&thread));
            if (thread.statistics < 0 || (thread.call < 0 && !has_ended) || thread.state < 0) {
                code = errno;
                close_files(&thread);
            } else {
                rest->threads[rest->count++] = thread;
            }
        }
    }
    int kept = 0;
    for (int i = 0; i < rest->count; i++) {
        if (rest->threads[i].seen) rest->threads[kept++] = rest->threads[i];
        else close_files(&rest->threads[i]);
    }
    int moved = kept != rest->count || fresh > 0;
    if (moved) rest->changes++;
    rest->count = kept;
    if (moved) qsort(rest->threads, (size_t)kept, sizeof *rest->threads, thread_order);
    return code;
}

void wake_rest_schedule(struct wake_rest *rest, struct wake_threads threads, int first_in_first_out) {
    if (list(rest, threads) != 0) return;
    struct sched_param priority = {.sched_priority = first_in_first_out ? 1 : 0};
    for (int i = 0; i < rest->listed_count; i++)
        sched_setscheduler(rest->listed[i], first_in_first_out ? SCHED_FIFO : SCHED_OTHER, &priority);
}

// MARK: One thread

static unsigned long long runs_of(const struct thread *thread) {
    char text[128];
    if (read_text(thread->statistics, text, sizeof text) <= 0) return ~0ull;
    char *last = strrchr(text, ' ');
    return last ? strtoull(last, NULL, 10) : ~0ull;
}

// A timed wait that the kernel sees with its time is of a program that the library is not in: it lives on wall time.
static int is_outside(long call, const unsigned long *arguments) {
    switch (call) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return 1;
    case SYS_futex: {
        int command = (int)arguments[1] & 0x7f;
        return arguments[3] != 0 && (command == 0 || command == 6 || command == 9 || command == 11 || command == 13);
    }
    case SYS_epoll_pwait: return (int)arguments[3] > 0;
    case SYS_ppoll:
    case SYS_rt_sigtimedwait: return arguments[2] != 0;
    case SYS_epoll_pwait2:
    case SYS_futex_waitv:
    case SYS_semtimedop: return arguments[3] != 0;
    case SYS_pselect6:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive: return arguments[4] != 0;
#ifdef SYS_poll
    case SYS_poll: return (int)arguments[2] > 0;
    case SYS_epoll_wait: return (int)arguments[3] > 0;
    case SYS_select: return arguments[4] != 0;
#endif
    default: return 0;
    }
}

// The library has moments of wall time of its own, which soon pass. The mark stands where the kernel does not look.
static int is_of_library(long call, const unsigned long *arguments) {
    switch (call) {
    case SYS_clock_nanosleep: return arguments[0] >> 32 != 0 && (int)arguments[0] >= 0;
    case SYS_ppoll: return arguments[1] >> 32 != 0 && arguments[2] != 0;
    default: return 0;
    }
}

// What the app writes to its log is read by the bench, which is only slower.
static int is_output(const struct wake_rest *rest, int thread, long call, const unsigned long *arguments) {
    if (call != SYS_write && call != SYS_writev) return 0;
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", thread, (int)arguments[0]);
    if (stat(path, &file) != 0) return 1;
    return file.st_dev == rest->output_device && file.st_ino == rest->output_number;
}

// Whether a thread is off its processor and waits for nothing that wall time brings.
static int sleeps(struct wake_rest *rest, struct thread *thread, struct wake_restless *why) {
    char text[256];
    thread->ended = 0;
    unsigned long long runs = runs_of(thread);
    if (runs != thread->runs) rest->changes++;
    thread->runs = runs;
    *why = (struct wake_restless){.unrest = WAKE_RUNS, .thread = thread->number, .call = -1};
    errno = 0;
    ssize_t size = read_text(thread->call, text, sizeof text);
    if (size <= 0 && errno != 0 && errno != ESRCH && !is_end(state_of(thread))) {
        why->unrest = WAKE_UNKNOWN;
        why->code = errno;
        thread->gone = thread->call < 0;
        return 0;
    }
    if (size <= 0 || text[0] == '-') {
        // Not in a system call: a fault, its end, or stopped by a signal.
        char state = state_of(thread);
        thread->ended = is_end(state);
        thread->gone = state == 0;
        return thread->ended || state == 'T';
    }
    if (text[0] == 'r') return 0;
    char *place = text;
    long call = strtol(place, &place, 10);
    unsigned long arguments[6] = {0};
    for (int i = 0; i < 6; i++) arguments[i] = strtoul(place, &place, 16);
    why->call = call;
    if (is_of_library(call, arguments)) return 0;
    if (is_outside(call, arguments)) why->unrest = WAKE_WAITS_OUTSIDE;
    else if (is_output(rest, thread->number, call, arguments)) why->unrest = WAKE_WRITES;
    else return 1;
    return 0;
}

// MARK: The two scans

int wake_rest_first(struct wake_rest *rest, struct wake_threads threads, struct wake_restless *why) {
    int code = list(rest, threads);
    if (code == 0) code = keep_listed(rest);
    if (code != 0) {
        // One that ended while it was looked at is no fault.
        *why = (struct wake_restless){.unrest = code == ENOENT || code == ESRCH ? WAKE_RUNS : WAKE_UNKNOWN, .call = -1, .code = code};
        return 0;
    }
    for (int i = 0; i < rest->count; i++)
        if (!sleeps(rest, &rest->threads[i], why)) return 0;
    memcpy(rest->before, rest->listed, (size_t)rest->listed_count * sizeof(int));
    rest->before_count = rest->listed_count;
    return 1;
}

int wake_rest_second(struct wake_rest *rest, struct wake_threads threads, struct wake_restless *why) {
    *why = (struct wake_restless){.unrest = WAKE_RUNS, .call = -1};
    if (list(rest, threads) != 0) return 0;
    if (rest->listed_count != rest->before_count) return 0;
    if (memcmp(rest->listed, rest->before, (size_t)rest->listed_count * sizeof(int)) != 0) return 0;
    for (int i = 0; i < rest->count; i++) {
        struct thread *thread = &rest->threads[i];
        why->thread = thread->number;
        // This rules out a wait for a disk, and a thread whose wake-up is on its way to another processor.
        char state = state_of(thread);
        if (thread->ended && (is_end(state) || state == 0)) continue;
        int sleeps = state == 'S' || state == 'T';
        if (!sleeps || thread->runs != runs_of(thread)) return 0;
    }
    return 1;
}

// MARK: What the kernel has

static int answers_in(const char *name) {
    char text[128];
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t size = read_text(file, text, sizeof text);
    close(file);
    return size > 0;
}

const char *wake_time_missing(void) {
    uint32_t trap = SECCOMP_RET_TRAP;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &trap) < 0) return "seccomp";
    errno = 0;
    // Without words to wait for it is an invalid argument.
    if (syscall(SYS_futex_waitv, 0, 0, 0, 0, 0) < 0 && errno != EINVAL) return "futex_waitv";
    if (!answers_in("/proc/thread-self/syscall")) return "/proc/PID/syscall";
    if (!answers_in("/proc/thread-self/schedstat")) return "/proc/PID/schedstat";
    return NULL;
}
