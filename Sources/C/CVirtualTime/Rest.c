// Whether the threads of an app are at rest, read from /proc (proc_pid_stat(5), proc_pid_syscall(5), schedstat of the kernel's
// scheduler statistics).
//
// Two scans. The first reads how often a thread was put on a processor, and then that it is off it, which `syscall` says only
// when the kernel has seen it switched out. The second reads that it sleeps, and then the same count. So each thread slept from
// its place in the first scan to its place in the second, and all of them together at the end of the first.
#define _GNU_SOURCE

#include "Controller.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// An app with more threads than this is never found at rest.
enum { MOST_THREADS = 16384, LIST_BYTES = 1 << 17 };

struct thread {
    int number;
    int statistics; // schedstat
    int call;       // syscall
    int state;      // stat
    unsigned long long runs;
    char seen;
    char ended;
};

struct wake_rest {
    struct thread *threads; // sorted by number
    int count, room;
    int *listed;
    int listed_count;
    int *before;
    int before_count;
    unsigned long long changes;
    char *text; // LIST_BYTES
};

struct wake_rest *wake_rest_make(void) {
    struct wake_rest *rest = calloc(1, sizeof *rest);
    if (!rest) return NULL;
    rest->listed = malloc(MOST_THREADS * sizeof(int));
    rest->before = malloc(MOST_THREADS * sizeof(int));
    rest->text = malloc(LIST_BYTES);
    if (rest->listed && rest->before && rest->text) return rest;
    wake_rest_free(rest);
    return NULL;
}

static void close_files(struct thread *thread) {
    if (thread->statistics >= 0) close(thread->statistics);
    if (thread->call >= 0) close(thread->call);
    if (thread->state >= 0) close(thread->state);
}

void wake_rest_free(struct wake_rest *rest) {
    if (!rest) return;
    for (int i = 0; i < rest->count; i++) close_files(&rest->threads[i]);
    free(rest->threads);
    free(rest->listed);
    free(rest->before);
    free(rest->text);
    free(rest);
}

int wake_rest_count(const struct wake_rest *rest) { return rest->listed_count; }

unsigned long long wake_rest_changes(const struct wake_rest *rest) { return rest->changes; }

// MARK: The list of threads

static int by_number(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

static int list_tree(struct wake_rest *rest, int process) {
    char path[64], children[4096];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *folder = opendir(path);
    // It has ended meanwhile.
    if (!folder) return 0;
    int code = 0;
    struct dirent *entry;
    while (code == 0 && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        if (rest->listed_count == MOST_THREADS) {
            code = EOVERFLOW;
            break;
        }
        int number = atoi(entry->d_name);
        rest->listed[rest->listed_count++] = number;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, number);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        ssize_t size = read(file, children, sizeof children - 1);
        close(file);
        if (size == sizeof children - 1) code = EOVERFLOW;
        if (size <= 0) continue;
        children[size] = 0;
        for (char *place = children, *end; code == 0; place = end) {
            int child = (int)strtol(place, &end, 10);
            if (end == place) break;
            code = list_tree(rest, child);
        }
    }
    closedir(folder);
    return code;
}

// Lists the threads, sorted. Returns 0, or an errno.
static int list(struct wake_rest *rest, struct wake_threads threads) {
    rest->listed_count = 0;
    int code = 0;
    if (threads.list < 0) {
        code = list_tree(rest, threads.process);
    } else {
        ssize_t size = pread(threads.list, rest->text, LIST_BYTES - 1, 0);
        // The group is gone.
        if (size < 0) return errno == ENODEV ? 0 : errno;
        if (size == LIST_BYTES - 1) return EOVERFLOW;
        rest->text[size] = 0;
        for (char *place = rest->text, *end; rest->listed_count < MOST_THREADS; place = end) {
            int number = (int)strtol(place, &end, 10);
            if (end == place) break;
            rest->listed[rest->listed_count++] = number;
        }
        if (rest->listed_count == MOST_THREADS) code = EOVERFLOW;
    }
    for (int i = 1; i < rest->listed_count; i++) {
        if (rest->listed[i - 1] < rest->listed[i]) continue;
        qsort(rest->listed, (size_t)rest->listed_count, sizeof(int), by_number);
        break;
    }
    return code;
}

static struct thread *find(const struct wake_rest *rest, int number) {
    int low = 0, high = rest->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (rest->threads[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low < rest->count && rest->threads[low].number == number ? &rest->threads[low] : NULL;
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

// Keeps the threads that are listed, and begins to watch those that are new. Returns 0, or an errno.
static int keep_listed(struct wake_rest *rest) {
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
            struct thread thread = {.number = rest->listed[i], .seen = 1};
            thread.statistics = open_file(thread.number, "schedstat");
            thread.call = open_file(thread.number, "syscall");
            thread.state = open_file(thread.number, "stat");
            if (thread.statistics < 0 || thread.call < 0 || thread.state < 0) {
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

// MARK: One thread

static ssize_t read_text(int file, char *text, size_t room) {
    ssize_t size = pread(file, text, room - 1, 0);
    text[size > 0 ? size : 0] = 0;
    return size;
}

static unsigned long long runs_of(const struct thread *thread) {
    char text[128];
    if (read_text(thread->statistics, text, sizeof text) <= 0) return ~0ull;
    char *last = strrchr(text, ' ');
    return last ? strtoull(last, NULL, 10) : ~0ull;
}

// The letter of its state; 0 when it is gone.
static char state_of(const struct thread *thread) {
    char text[512];
    if (read_text(thread->state, text, sizeof text) <= 0) return 0;
    char *name = strrchr(text, ')');
    return name && name[1] == ' ' ? name[2] : 0;
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
    case SYS_ppoll: return arguments[2] != 0;
    case SYS_pselect6: return arguments[4] != 0;
    case SYS_rt_sigtimedwait: return arguments[2] != 0;
#ifdef SYS_poll
    case SYS_poll: return (int)arguments[2] > 0;
    case SYS_epoll_wait: return (int)arguments[3] > 0;
    case SYS_select: return arguments[4] != 0;
#endif
    default: return 0;
    }
}

// Its standard output and error are read by the bench, which is only slower.
static int is_output(long call, const unsigned long *arguments) {
    switch (call) {
    case SYS_write:
    case SYS_writev: return arguments[0] == 1 || arguments[0] == 2;
    default: return 0;
    }
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
    if (size <= 0 && errno != 0 && errno != ESRCH) {
        why->unrest = WAKE_UNKNOWN;
        why->code = errno;
        return 0;
    }
    if (size <= 0 || text[0] == '-') {
        // Not in a system call: a fault, or its end.
        char state = state_of(thread);
        thread->ended = state == 'Z' || state == 'X';
        return thread->ended;
    }
    if (text[0] == 'r') return 0;
    char *place = text;
    long call = strtol(place, &place, 10);
    unsigned long arguments[6] = {0};
    for (int i = 0; i < 6; i++) arguments[i] = strtoul(place, &place, 16);
    why->call = call;
    if (is_outside(call, arguments)) why->unrest = WAKE_WAITS_OUTSIDE;
    else if (is_output(call, arguments)) why->unrest = WAKE_WRITES;
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
        if (thread->ended && (state == 'Z' || state == 'X' || state == 0)) continue;
        if (state != 'S' || thread->runs != runs_of(thread)) return 0;
    }
    return 1;
}
