#include "timed.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static long left(const struct timespec *time) { return time->tv_sec * (long)SECOND + time->tv_nsec; }

// MARK: timerfd

static void say_read(const char *what, int descriptor) {
    uint64_t count = 0;
    if (read(descriptor, &count, sizeof count) < 0) {
        say(what, -errno);
    } else {
        say(what, (long)count);
    }
}

void timer_descriptors(void) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec each = {{250, 0}, {1, 1}}, found;
    say_result("timerfd_settime", timerfd_settime(timer, 0, &each, NULL));
    timerfd_gettime(timer, &found);
    say("timerfd-left", left(&found.it_value));
    say_read("timerfd-first", timer);
    say_read("timerfd-second", timer);
    sleep(1000);
    say_read("timerfd-missed", timer);

    int copy = dup(timer);
    struct itimerspec once = {{0, 0}, {2, 0}}, old;
    say_result("timerfd-copy", timerfd_settime(copy, 0, &once, &old));
    say("timerfd-old", old.it_interval.tv_sec);
    say_read("timerfd-once", timer);
    close(timer);

    struct timespec date = after(CLOCK_REALTIME, 30LL * SECOND);
    int absolute = timerfd_create(CLOCK_REALTIME, 0);
    struct itimerspec then = {{0, 0}, date};
    timerfd_settime(absolute, TFD_TIMER_ABSTIME, &then, NULL);
    say_read("timerfd-date", absolute);
    then.it_value.tv_sec -= 60;
    timerfd_settime(absolute, TFD_TIMER_ABSTIME, &then, NULL);
    say_read("timerfd-past", absolute);

    // A child of fork arms its parent's.
    pid_t child = fork();
    if (child == 0) {
        timerfd_settime(absolute, 0, &once, NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    say_read("timerfd-by-child", absolute);
}

// MARK: timer_create

static _Atomic int hits;
static timer_t heard;

static void hit(int signal, siginfo_t *information, void *context) {
    (void)signal, (void)context;
    atomic_fetch_add(&hits, 1);
    say("timer-value", information->si_value.sival_int);
}

static sem_t done;
static void on_done(union sigval value) {
    say("timer-thread", value.sival_int);
    sem_post(&done);
}

static void wait_for_hits(int count) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    while (atomic_load(&hits) < count) sigsuspend(&old);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void timers(void) {
    struct sigaction action = {.sa_sigaction = hit, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value = {.sival_int = 42}};
    say_result("timer_create", timer_create(CLOCK_MONOTONIC, &event, &heard));
    struct itimerspec each = {{0, SECOND / 2}, {2, 0}}, found;
    timer_settime(heard, 0, &each, NULL);
    wait_for_hits(3);
    timer_gettime(heard, &found);
    say("timer-left", left(&found.it_value));
    say("timer_getoverrun", timer_getoverrun(heard));
    say_result("timer_delete", timer_delete(heard));
    sleep(2);
    say("timer-deleted", atomic_load(&hits));

    sem_init(&done, 0, 0);
    event = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_int = 7}};
    event.sigev_notify_function = on_done;
    timer_create(CLOCK_REALTIME, &event, &heard);
    struct itimerspec date = {{1, 0}, after(CLOCK_REALTIME, 10LL * SECOND)};
    timer_settime(heard, TIMER_ABSTIME, &date, NULL);
    sem_wait(&done);
    sem_wait(&done);
    timer_delete(heard);

    // One that nobody is told of, and one of the processor's time.
    event = (struct sigevent){.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_MONOTONIC, &event, &heard);
    each = (struct itimerspec){{4, 0}, {5, 0}};
    timer_settime(heard, 0, &each, NULL);
    sleep(3);
    timer_gettime(heard, &found);
    say("timer-silent", left(&found.it_value));
    sleep(3);
    timer_gettime(heard, &found);
    say("timer-silent-again", left(&found.it_value));
    say_result("timer-of-processor", timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &heard));
}

// MARK: setitimer and alarm

static _Atomic int rings;
static void ring(int signal) {
    (void)signal;
    atomic_fetch_add(&rings, 1);
}

static void wait_for_ring(const char *what) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    int before = atomic_load(&rings);
    while (atomic_load(&rings) == before) sigsuspend(&old);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    say(what, atomic_load(&rings));
}

void alarms(void) {
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGALRM, &action, NULL);
    say("alarm-set", alarm(10));
    say("alarm-again", alarm(7));
    wait_for_ring("alarm");
    struct itimerval each = {{0, 500000}, {0, 250000}}, found;
    setitimer(ITIMER_REAL, &each, NULL);
    wait_for_ring("setitimer-first");
    wait_for_ring("setitimer-second");
    getitimer(ITIMER_REAL, &found);
    say("getitimer", found.it_value.tv_sec * 1000000L + found.it_value.tv_usec);
    each = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &each, &found);
    say("setitimer-old", found.it_interval.tv_usec);
    say("sleep", sleep(5));
    ualarm(1500, 0);
    wait_for_ring("ualarm");
    // It stays at exec, and is not given to a child of fork.
    alarm(3);
    pid_t child = fork();
    if (child == 0) _exit((int)alarm(0));
    int status;
    waitpid(child, &status, 0);
    say("alarm-of-child", WEXITSTATUS(status));
    child = fork();
    if (child == 0) {
        alarm(2);
        execl("/bin/sleep", "sleep", "60", (char *)NULL);
    }
    waitpid(child, &status, 0);
    say("alarm-after-exec", WTERMSIG(status));
    wait_for_ring("alarm-of-parent");
}
