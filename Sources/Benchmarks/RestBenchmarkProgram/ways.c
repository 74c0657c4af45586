// The ways a token goes from one thread to the next.
#include "rest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

// In virtual time it never comes.
enum { LATER_SECONDS = 1000 };

static struct timespec later(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += LATER_SECONDS;
    return time;
}

static int open_nothing(struct inbox *inbox) {
    (void)inbox;
    return 0;
}

// MARK: Descriptors

static int open_pipe(struct inbox *inbox) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    inbox->in = ends[1];
    inbox->out = ends[0];
    return 0;
}

static int open_event(struct inbox *inbox) {
    inbox->in = inbox->out = eventfd(0, 0);
    return inbox->in < 0 ? -1 : 0;
}

static int open_pair(struct inbox *inbox, int kind) {
    int ends[2];
    if (socketpair(AF_UNIX, kind, 0, ends) != 0) return -1;
    inbox->in = ends[1];
    inbox->out = ends[0];
    return 0;
}

static int open_stream(struct inbox *inbox) { return open_pair(inbox, SOCK_STREAM); }
static int open_packets(struct inbox *inbox) { return open_pair(inbox, SOCK_SEQPACKET); }

static int bound(int kind, struct sockaddr_in *address) {
    socklen_t bytes = sizeof *address;
    int made = socket(AF_INET, kind, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (made < 0 || bind(made, (struct sockaddr *)address, bytes) != 0) return -1;
    return getsockname(made, (struct sockaddr *)address, &bytes) == 0 ? made : -1;
}

static int open_tcp(struct inbox *inbox) {
    struct sockaddr_in address;
    int listener = bound(SOCK_STREAM, &address);
    if (listener < 0 || listen(listener, 1) != 0) return -1;
    inbox->in = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(inbox->in, (struct sockaddr *)&address, sizeof address) != 0) return -1;
    inbox->out = accept(listener, NULL, NULL);
    close(listener);
    return inbox->out < 0 ? -1 : 0;
}

static int open_udp(struct inbox *inbox) {
    struct sockaddr_in address;
    inbox->out = bound(SOCK_DGRAM, &address);
    inbox->in = socket(AF_INET, SOCK_DGRAM, 0);
    if (inbox->out < 0 || inbox->in < 0) return -1;
    return connect(inbox->in, (struct sockaddr *)&address, sizeof address);
}

static int open_terminal(struct inbox *inbox) {
    struct termios raw;
    if (openpty(&inbox->in, &inbox->out, NULL, NULL, NULL) != 0 || tcgetattr(inbox->out, &raw) != 0) return -1;
    cfmakeraw(&raw);
    return tcsetattr(inbox->out, TCSANOW, &raw);
}

// An eventfd takes eight bytes and gives as many.
static int put_bytes(struct inbox *inbox) {
    uint64_t one = 1;
    return write(inbox->in, &one, sizeof one) == sizeof one ? 0 : -1;
}

static int take_bytes(struct inbox *inbox) {
    uint64_t bytes;
    ssize_t taken = 0;
    while (taken < (ssize_t)sizeof bytes) {
        ssize_t more = read(inbox->out, (char *)&bytes + taken, sizeof bytes - (size_t)taken);
        if (more <= 0) return -1;
        taken += more;
    }
    return 0;
}

static int take_polled(struct inbox *inbox) {
    struct pollfd one = {inbox->out, POLLIN, 0};
    return poll(&one, 1, LATER_SECONDS * 1000) == 1 ? take_bytes(inbox) : -1;
}

static int take_selected(struct inbox *inbox) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(inbox->out, &set);
    struct timeval time = {LATER_SECONDS, 0};
    return select(inbox->out + 1, &set, NULL, NULL, &time) == 1 ? take_bytes(inbox) : -1;
}

static int take_from_epoll(struct inbox *inbox) {
    static __thread int epoll = -1;
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll < 0) {
        epoll = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, inbox->out, &event) != 0) return -1;
    }
    return epoll_wait(epoll, &event, 1, LATER_SECONDS * 1000) == 1 ? take_bytes(inbox) : -1;
}

// MARK: Futexes

static int put_word(struct inbox *inbox) {
    atomic_store(&inbox->word, 1);
    return syscall(SYS_futex, &inbox->word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0 ? -1 : 0;
}

static int take_word(struct inbox *inbox) {
    while (atomic_load(&inbox->word) == 0) syscall(SYS_futex, &inbox->word, FUTEX_WAIT, 0, NULL, NULL, 0);
    atomic_store(&inbox->word, 0);
    return 0;
}

static int put_condition(struct inbox *inbox) {
    pthread_mutex_lock(&inbox->lock);
    inbox->word = 1;
    pthread_cond_signal(&inbox->condition);
    return pthread_mutex_unlock(&inbox->lock);
}

static int take_condition(struct inbox *inbox) {
    pthread_mutex_lock(&inbox->lock);
    while (inbox->word == 0) pthread_cond_wait(&inbox->condition, &inbox->lock);
    inbox->word = 0;
    return pthread_mutex_unlock(&inbox->lock);
}

static int take_timed_condition(struct inbox *inbox) {
    struct timespec time = later();
    int code = 0;
    pthread_mutex_lock(&inbox->lock);
    while (inbox->word == 0 && code == 0) code = pthread_cond_timedwait(&inbox->condition, &inbox->lock, &time);
    inbox->word = 0;
    pthread_mutex_unlock(&inbox->lock);
    return code;
}

static int put_semaphore(struct inbox *inbox) { return sem_post(&inbox->semaphore); }
static int take_semaphore(struct inbox *inbox) { return sem_wait(&inbox->semaphore); }
static int take_timed_semaphore(struct inbox *inbox) {
    struct timespec time = later();
    return sem_clockwait(&inbox->semaphore, CLOCK_MONOTONIC, &time);
}

static int put_turn(struct inbox *inbox) {
    inbox->word = 1;
    return 0;
}
static int take_yielding(struct inbox *inbox) {
    while (inbox->word == 0) sched_yield();
    inbox->word = 0;
    return 0;
}

// MARK: Signals

static void nothing(int signal) { (void)signal; }

// Threads and children have the mask of the one that starts them.
static int open_signal(struct inbox *inbox) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGUSR1, &action, NULL);
    (void)inbox;
    return sigprocmask(SIG_BLOCK, &set, NULL);
}

static int put_signal(struct inbox *inbox) {
    return (int)syscall(SYS_tgkill, inbox->process, inbox->thread, SIGUSR1);
}

static int take_signal(struct inbox *inbox) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    (void)inbox;
    return sigwaitinfo(&set, NULL) == SIGUSR1 ? 0 : -1;
}

static int take_timed_signal(struct inbox *inbox) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    struct timespec time = {LATER_SECONDS, 0};
    (void)inbox;
    return sigtimedwait(&set, NULL, &time) == SIGUSR1 ? 0 : -1;
}

static int take_handled(struct inbox *inbox) {
    sigset_t none;
    sigemptyset(&none);
    (void)inbox;
    return sigsuspend(&none) == -1 && errno == EINTR ? 0 : -1;
}

// A sleep that a handler ends.
static int take_sleeping(struct inbox *inbox) {
    struct timespec time = {LATER_SECONDS, 0};
    sigset_t none;
    sigemptyset(&none);
    (void)inbox;
    return ppoll(NULL, 0, &time, &none) == -1 && errno == EINTR ? 0 : -1;
}

// MARK: Queues

static int open_queue(struct inbox *inbox) {
    char name[64];
    snprintf(name, sizeof name, "/wakebench-rest-%d-%p", getpid(), (void *)inbox);
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    inbox->in = inbox->out = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    return inbox->in < 0 ? -1 : 0;
}

static int put_in_queue(struct inbox *inbox) { return mq_send(inbox->in, "token", 5, 0); }
static int take_from_queue(struct inbox *inbox) {
    char message[8];
    return mq_receive(inbox->out, message, sizeof message, NULL) == 5 ? 0 : -1;
}

// In the order of the table that is printed.
const struct way ways[] = {
    {"pipe", open_pipe, put_bytes, take_bytes},
    {"eventfd", open_event, put_bytes, take_bytes},
    {"unix", open_stream, put_bytes, take_bytes},
    {"unix-packets", open_packets, put_bytes, take_bytes},
    {"tcp", open_tcp, put_bytes, take_bytes},
    {"udp", open_udp, put_bytes, take_bytes},
    {"terminal", open_terminal, put_bytes, take_bytes},
    {"poll", open_pipe, put_bytes, take_polled},
    {"select", open_pipe, put_bytes, take_selected},
    {"epoll", open_pipe, put_bytes, take_from_epoll},
    {"futex", open_nothing, put_word, take_word},
    {"condition", open_nothing, put_condition, take_condition},
    {"condition-timed", open_nothing, put_condition, take_timed_condition},
    {"semaphore", open_nothing, put_semaphore, take_semaphore},
    {"semaphore-timed", open_nothing, put_semaphore, take_timed_semaphore},
    {"yield", open_nothing, put_turn, take_yielding},
    {"signal", open_signal, put_signal, take_signal},
    {"signal-timed", open_signal, put_signal, take_timed_signal},
    {"handler", open_signal, put_signal, take_handled},
    {"sleep-ended", open_signal, put_signal, take_sleeping},
    {"message-queue", open_queue, put_in_queue, take_from_queue},
};
const int way_count = sizeof ways / sizeof *ways;
