// The library's beginning in a process: it maps the page, catches the traps and installs the filter. Where any of that does
// not work, all stays as the process would have it without the library, and the page says why.
#include "Inside.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct wake_time_page *page;

enum { NOT_BEGUN, BEGINNING, HAS_BEGUN };
atomic_int begun;

static struct wake_time_page *map(const char *path) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    // Its size is known before it is touched.
    int fits = lseek(descriptor, 0, SEEK_END) >= (off_t)sizeof(struct wake_time_page);
    struct wake_time_page *mapped = MAP_FAILED;
    if (fits) mapped = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (mapped == MAP_FAILED) return NULL;
    if (mapped->magic == WAKE_TIME_MAGIC && mapped->bytes == sizeof *mapped) return mapped;
    munmap(mapped, sizeof *mapped);
    return NULL;
}

static int answers(int clock) {
    struct timespec time;
    return call(SYS_clock_gettime, clock, &time, 0, 0) == PROBE_ANSWER;
}

// Waits for two futexes at once came with Linux 5.16: without words to wait for, it is an invalid argument.
static int check_futexes(void) {
    long result = call(SYS_futex_waitv, 0, 0, 0, 0);
    return result == -EINVAL ? 0 : result < 0 ? (int)-result : ENOSYS;
}

static int take_over(void) {
    int code = check_futexes();
    if (code != 0) return code;
    code = catch_traps();
    // An inherited filter answers to a clock that does not exist.
    if (code == 0 && !answers(PROBE_FILTER)) code = install_filter();
    if (code != 0) release_traps();
    return code;
}

static void after_fork(void) {
    become_child();
    forget_dispatch();
}

void begin(void) {
    int expected = NOT_BEGUN;
    if (!atomic_compare_exchange_strong(&begun, &expected, BEGINNING)) return;
    find_signal_functions();
    const char *path = getenv(WAKE_TIME_VARIABLE);
    find_program_functions(path);
    find_dispatch_functions();
    struct wake_time_page *mapped = path ? map(path) : NULL;
    if (mapped && atomic_load(&mapped->fallback) == 0) {
        page = mapped;
        int code = take_over();
        if (code == 0) {
            atomic_fetch_add(&page->processes, 1);
            forget_strangers();
            pthread_atfork(NULL, NULL, after_fork);
        } else {
            page = NULL;
            atomic_store(&mapped->fallback, (uint32_t)code);
        }
    }
    atomic_store_explicit(&begun, HAS_BEGUN, memory_order_release);
}

__attribute__((constructor(101))) static void on_load(void) { (void)is_virtual(); }
