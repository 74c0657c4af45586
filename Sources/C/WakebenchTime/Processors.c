// How many processors a program is told of: six, as in each iPhone since 2017, whatever this machine has and however many of
// them the bench gives it. Files under /sys still say how it is. Thread pools are made by that number, and one that is as wide as a single processor is a different
// program: work that waits for other work of the same pool would stand there.
#include "Inside.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { PROCESSORS = 6 };

static long (*next_sysconf)(int);
static int (*next_affinity)(pid_t, size_t, cpu_set_t *);
static int (*next_thread_affinity)(pthread_t, size_t, cpu_set_t *);
static int (*next_count)(void);
static int (*next_whole_count)(void);

// These may be asked for before anything else has begun.
#define NEXT(place, name)                                                                                              \
    do {                                                                                                               \
        if (!(place)) *(void **)&(place) = dlsym(RTLD_NEXT, name);                                                     \
    } while (0)

static void fill(size_t bytes, cpu_set_t *set) {
    memset(set, 0, bytes);
    for (int number = 0; number < PROCESSORS; number++) CPU_SET_S(number, bytes, set);
}

PUBLIC long sysconf(int name) {
    if ((name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) && is_virtual()) return PROCESSORS;
    NEXT(next_sysconf, "sysconf");
    return next_sysconf(name);
}

PUBLIC int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *set) {
    NEXT(next_affinity, "sched_getaffinity");
    int result = next_affinity(thread, bytes, set);
    if (result == 0 && is_virtual()) fill(bytes, set);
    return result;
}

PUBLIC int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t *set) {
    NEXT(next_thread_affinity, "pthread_getaffinity_np");
    int code = next_thread_affinity(thread, bytes, set);
    if (code == 0 && is_virtual()) fill(bytes, set);
    return code;
}

PUBLIC int get_nprocs(void) {
    if (is_virtual()) return PROCESSORS;
    NEXT(next_count, "get_nprocs");
    return next_count();
}

PUBLIC int get_nprocs_conf(void) {
    if (is_virtual()) return PROCESSORS;
    NEXT(next_whole_count, "get_nprocs_conf");
    return next_whole_count();
}
