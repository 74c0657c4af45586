#include "timed.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <unistd.h>

static void *write_later(void *argument) {
    struct timespec later = span(700 * MILLISECOND);
    nanosleep(&later, NULL);
    if (write(*(int *)argument, "x", 1) != 1) say("write", -errno);
    return NULL;
}

static void nothing(int signal) { (void)signal; }

// MARK: Sleep

void sleeps(void) {
    struct timespec time = span(1500 * MILLISECOND), rest = {0, 0};
    say_result("nanosleep", nanosleep(&time, NULL));
    time = after(CLOCK_MONOTONIC, 250 * MILLISECOND);
    say("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL));
    time = after(CLOCK_REALTIME, 250 * MILLISECOND);
    say("clock_nanosleep-date", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL));
    time = after(CLOCK_REALTIME, -SECOND);
    say("clock_nanosleep-past", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL));
    say_result("usleep", usleep(1));
    say("sleep", sleep(3600));
    time = (struct timespec){0, SECOND};
    say_result("nanosleep-invalid", nanosleep(&time, NULL));
    // A handler ends a sleep, even one with SA_RESTART.
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval once = {{0, 0}, {2, 0}};
    setitimer(ITIMER_REAL, &once, NULL);
    time = span(5LL * SECOND);
    say_result("nanosleep-interrupted", nanosleep(&time, &rest));
    say("nanosleep-rest", rest.tv_sec * (long)SECOND + rest.tv_nsec);
}

// MARK: Descriptors

void descriptors(void) {
    int pipes[2];
    if (pipe(pipes) != 0) return;
    struct pollfd one = {pipes[0], POLLIN, 0};
    char byte;
    say_result("poll", poll(&one, 1, 1000));
    struct timespec time = span(SECOND / 2);
    say_result("ppoll", ppoll(&one, 1, &time, NULL));
    start(write_later, &pipes[1]);
    say_result("poll-woken", poll(&one, 1, 9000));
    say_result("read", read(pipes[0], &byte, 1));
    say_result("poll-nothing", poll(NULL, 0, 1));

    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    struct timeval bound = {1, 500000};
    say_result("select", select(pipes[0] + 1, &set, NULL, NULL, &bound));
    say("select-set", FD_ISSET(pipes[0], &set) != 0);
    start(write_later, &pipes[1]);
    FD_SET(pipes[0], &set);
    time = span(2LL * SECOND);
    say_result("pselect-woken", pselect(pipes[0] + 1, &set, NULL, NULL, &time, NULL));
    say_result("read", read(pipes[0], &byte, 1));

    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event);
    say_result("epoll_wait", epoll_wait(epoll, &event, 1, 250));
    time = span(1);
    say_result("epoll_pwait2", epoll_pwait2(epoll, &event, 1, &time, NULL));
    start(write_later, &pipes[1]);
    say_result("epoll_wait-woken", epoll_wait(epoll, &event, 1, 1000));
}

// MARK: Locks

static void *post_later(void *semaphore) {
    struct timespec later = span(300 * MILLISECOND);
    nanosleep(&later, NULL);
    sem_post(semaphore);
    return NULL;
}

static void *sleep_a_minute(void *unused) {
    sleep(60);
    return unused;
}

void locks(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    struct timespec time = after(CLOCK_REALTIME, 700LL * SECOND);
    say("pthread_cond_timedwait", pthread_cond_timedwait(&condition, &mutex, &time));
    time = after(CLOCK_MONOTONIC, SECOND);
    say("pthread_cond_clockwait", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &time));
    time = after(CLOCK_REALTIME, SECOND);
    say("pthread_mutex_timedlock", pthread_mutex_timedlock(&mutex, &time));
    time = after(CLOCK_REALTIME, SECOND);
    say_result("sem_timedwait", sem_timedwait(&semaphore, &time));
    start(post_later, &semaphore);
    time = after(CLOCK_REALTIME, SECOND);
    say_result("sem_timedwait-woken", sem_timedwait(&semaphore, &time));

    uint32_t word = 7;
    time = span(SECOND);
    say_result("futex", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, &time, NULL, 0));
    say_result("futex-changed", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 8, &time, NULL, 0));
    struct {
        uint64_t value, address;
        uint32_t flags, reserved;
    } words[2] = {{7, (uint64_t)&word, 2, 0}, {7, (uint64_t)&word, 2, 0}};
    time = after(CLOCK_MONOTONIC, SECOND);
    say_result("futex_waitv", syscall(449, words, 2, 0, &time, CLOCK_MONOTONIC));

    pthread_t thread;
    pthread_create(&thread, NULL, sleep_a_minute, NULL);
    time = after(CLOCK_REALTIME, SECOND);
    say("pthread_timedjoin_np", pthread_timedjoin_np(thread, NULL, &time));
    pthread_cancel(thread);
    say("pthread_join-cancelled", pthread_join(thread, NULL));
}

// MARK: Signals

static void doze(int signal) {
    (void)signal;
    sleep(1);
}

void signals(void) {
    sigset_t set, all;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    struct timespec time = span(10LL * SECOND), zero = {0, 0};
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    say_result("sigtimedwait", sigtimedwait(&set, NULL, &time));
    raise(SIGUSR1);
    say_result("sigtimedwait-pending", sigtimedwait(&set, NULL, &time));
    say_result("sigtimedwait-look", sigtimedwait(&set, NULL, &zero));
    // What is the bench's stays so, and the program finds what it set.
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    say("sleep-blocked", sleep(1));
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    struct sigaction own = {.sa_handler = nothing}, found;
    say_result("sigaction", sigaction(SIGSYS, &own, NULL));
    sigaction(SIGSYS, NULL, &found);
    say("sigaction-kept", found.sa_handler == nothing);
    signal(63, SIG_DFL);
    say("sleep-handled", sleep(1));
    // A handler that blocks everything waits as well.
    own.sa_mask = all;
    own.sa_handler = doze;
    sigaction(SIGUSR2, &own, NULL);
    raise(SIGUSR2);
    say("slept-in-handler", 0);
}

// MARK: Clocks

void processors(void) {
    cpu_set_t set;
    say("sysconf", sysconf(_SC_NPROCESSORS_ONLN));
    say("configured", sysconf(_SC_NPROCESSORS_CONF));
    say("get_nprocs", get_nprocs());
    say("of-the-process", sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1);
    say("of-the-thread", pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1);
}

void clocks(void) {
    const int all[] = {
        CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE,
        CLOCK_BOOTTIME, CLOCK_TAI,
    };
    sleep(5);
    for (size_t index = 0; index < sizeof all / sizeof *all; index++) {
        struct timespec read, called;
        clock_gettime(all[index], &read);
        syscall(SYS_clock_gettime, all[index], &called);
        char name[32];
        snprintf(name, sizeof name, "clock-%d", all[index]);
        say(name, read.tv_sec == called.tv_sec && read.tv_nsec == called.tv_nsec);
    }
    struct timeval old;
    struct timespec date, plain;
    gettimeofday(&old, NULL);
    clock_gettime(CLOCK_REALTIME, &date);
    timespec_get(&plain, TIME_UTC);
    say("gettimeofday", old.tv_sec == date.tv_sec && old.tv_usec == date.tv_nsec / 1000);
    say("timespec_get", plain.tv_sec == date.tv_sec && plain.tv_nsec == date.tv_nsec);
    say("time", time(NULL) == date.tv_sec);
    say("date", date.tv_sec);
    struct timespec spent;
    say_result("processor-time", clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent));
    say("processor-seconds", spent.tv_sec);
}

void date(void) { say("date", time(NULL)); }

void spin(void) {
    while (elapsed() < SECOND) {}
    say("spin", 0);
}
