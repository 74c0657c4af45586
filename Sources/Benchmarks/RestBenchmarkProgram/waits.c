// Ways to wait.
#include "rest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_SECONDS = 100000 };

static const struct timespec long_time = {LONG_SECONDS, 0};
static char bytes[1 << 16];

static struct timespec at_last(int clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += LONG_SECONDS;
    return time;
}

static int open_end(void) {
    int ends[2];
    if (pipe(ends) != 0) fail("pipe");
    return ends[0];
}

static pid_t sleeping_child(void) {
    pid_t child = fork();
    if (child == 0) wait_for_ever();
    return child;
}

static int listening(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1) != 0) fail("listen");
    return listener;
}

// MARK: Without a time

static void in_read(void) { (void)!read(open_end(), bytes, 1); }
static void in_poll(void) {
    struct pollfd one = {open_end(), POLLIN, 0};
    poll(&one, 1, -1);
}
static void in_select(void) {
    fd_set set;
    int end = open_end();
    FD_ZERO(&set);
    FD_SET(end, &set);
    select(end + 1, &set, NULL, NULL, NULL);
}
static void in_epoll(void) {
    struct epoll_event event;
    epoll_wait(epoll_create1(0), &event, 1, -1);
}
static void in_accept(void) { accept(listening(), NULL, NULL); }
static void in_recv(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) recv(ends[0], bytes, 1, 0);
}
static void in_write(void) {
    int ends[2];
    if (pipe(ends) != 0) fail("pipe");
    for (;;) (void)!write(ends[1], bytes, sizeof bytes);
}
static void in_condition(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&condition, &lock);
}
static void in_lock(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}
static void in_semaphore(void) {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    sem_wait(&semaphore);
}
static void in_sigwait(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigwaitinfo(&set, NULL);
}
static void in_signalfd(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)!read(signalfd(-1, &set, 0), bytes, sizeof bytes);
}
static void in_waitpid(void) { waitpid(sleeping_child(), NULL, 0); }
static void in_message_queue(void) {
    char name[64];
    snprintf(name, sizeof name, "/wakebench-rest-%d", this_thread());
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    mq_receive(queue, bytes, sizeof bytes, NULL);
}
static void in_inotify(void) { (void)!read(inotify_init1(0), bytes, sizeof bytes); }
static void in_open(void) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/wakebench-rest-%d", this_thread());
    if (mkfifo(name, 0600) != 0) fail("mkfifo");
    int held = open(name, O_PATH);
    unlink(name);
    snprintf(name, sizeof name, "/proc/self/fd/%d", held);
    open(name, O_RDONLY);
}
static void in_file_lock(void) {
    int ends[2];
    FILE *file = tmpfile();
    struct flock whole = {.l_type = F_WRLCK};
    if (pipe(ends) != 0 || !file) fail("tmpfile");
    if (fork() == 0) {
        fcntl(fileno(file), F_SETLKW, &whole);
        if (write(ends[1], "l", 1) == 1) wait_for_ever();
    }
    (void)!read(ends[0], bytes, 1);
    fcntl(fileno(file), F_SETLKW, &whole);
}

// MARK: With a time

static void in_nanosleep(void) { nanosleep(&long_time, NULL); }
static void in_timed_poll(void) { poll(NULL, 0, LONG_SECONDS * 1000); }
static void in_timed_select(void) {
    struct timeval time = {LONG_SECONDS, 0};
    select(0, NULL, NULL, NULL, &time);
}
static void in_timed_epoll(void) {
    struct epoll_event event;
    epoll_wait(epoll_create1(0), &event, 1, LONG_SECONDS * 1000);
}
static void in_timed_condition(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct timespec time = at_last(CLOCK_REALTIME);
    pthread_cond_timedwait(&condition, &lock, &time);
}
static void in_timed_semaphore(void) {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    struct timespec time = at_last(CLOCK_REALTIME);
    sem_timedwait(&semaphore, &time);
}
static void in_timed_sigwait(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigtimedwait(&set, NULL, &long_time);
}
static void in_timerfd(void) {
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec once = {{0, 0}, long_time};
    timerfd_settime(timer, 0, &once, NULL);
    (void)!read(timer, bytes, sizeof bytes);
}
static void in_alarm(void) {
    alarm(LONG_SECONDS);
    pause();
}
static void in_timed_recv(void) {
    int ends[2];
    struct timeval time = {LONG_SECONDS, 0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("socketpair");
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    recv(ends[0], bytes, 1, 0);
}

// MARK: Processes that wait for nothing

static void with_stopped_child(void) {
    pid_t child = sleeping_child();
    kill(child, SIGSTOP);
    waitpid(child, NULL, WUNTRACED);
    pause();
}
// Stopped in the middle of its work.
static void with_stopped_work(void) {
    pid_t child = fork();
    if (child == 0) {
        for (volatile int number = 0;; number = number + 1) {}
    }
    kill(child, SIGSTOP);
    waitpid(child, NULL, WUNTRACED);
    pause();
}
static void with_ended_child(void) {
    if (fork() == 0) _exit(0);
    pause();
}
// A child that waits for its output to be taken by this one, which sleeps.
static void with_writing_child(void) {
    int ends[2];
    if (pipe(ends) != 0) fail("pipe");
    if (fork() == 0) {
        dup2(ends[1], STDOUT_FILENO);
        for (;;) (void)!write(STDOUT_FILENO, bytes, sizeof bytes);
    }
    pause();
}

static const struct {
    const char *name;
    void (*wait)(void);
} waits[] = {
    {"read", in_read},
    {"poll", in_poll},
    {"select", in_select},
    {"epoll", in_epoll},
    {"accept", in_accept},
    {"recv", in_recv},
    {"write", in_write},
    {"condition", in_condition},
    {"lock", in_lock},
    {"semaphore", in_semaphore},
    {"sigwait", in_sigwait},
    {"signalfd", in_signalfd},
    {"waitpid", in_waitpid},
    {"message-queue", in_message_queue},
    {"inotify", in_inotify},
    {"open", in_open},
    {"file-lock", in_file_lock},
    {"nanosleep", in_nanosleep},
    {"poll-timed", in_timed_poll},
    {"select-timed", in_timed_select},
    {"epoll-timed", in_timed_epoll},
    {"condition-timed", in_timed_condition},
    {"semaphore-timed", in_timed_semaphore},
    {"sigwait-timed", in_timed_sigwait},
    {"timerfd", in_timerfd},
    {"alarm", in_alarm},
    {"recv-timed", in_timed_recv},
    {"stopped-child", with_stopped_child},
    {"stopped-work", with_stopped_work},
    {"ended-child", with_ended_child},
    {"writing-child", with_writing_child},
};

static void *wait_in(void *number) {
    waits[(intptr_t)number].wait();
    fail(waits[(intptr_t)number].name);
}

// The first thread waits like the others.
int rest(const char *kind, int count) {
    const int last = sizeof waits / sizeof *waits;
    int is_mixed = strcmp(kind, "mixed") == 0;
    // The mix has a thread each of those that need no more than one.
    enum { FIRST_MIXED = 0, MIXED = 12 };
    int found = is_mixed ? FIRST_MIXED : -1;
    for (int number = 0; number < last; number++) {
        if (strcmp(waits[number].name, kind) == 0) found = number;
    }
    if (found < 0 || count < 1) return 64;
    ready();
    for (int number = 1; number < count; number++) {
        start(wait_in, (void *)(intptr_t)(is_mixed ? FIRST_MIXED + number % MIXED : found));
    }
    // Its first thread has ended, and it lives on.
    if (count > 1 && !is_mixed) pthread_exit(NULL);
    wait_in((void *)(intptr_t)found);
    return 1;
}
