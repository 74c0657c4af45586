// An app that behaves badly on purpose, one way a mode:
//
//   count FILE           counts in a shared file mapping (8 bytes, native order) for as long as it runs
//   fork FILE            a child counts, the app itself waits
//   detach FILE          a grandchild counts after setsid and a double fork; the app itself waits. With its environment
//                        cleared by exec, so that nothing but descent tells whose it is
//   detach-exit FILE     the same, and the app itself exits with 0 once the grandchild counts
//   flood                sends packets of 1 000 bytes without end, and reads none
//   oversize             sends one packet of 70 000 bytes, then "after", then waits
//   garbage              sends one packet that is no message, then waits
//   overacknowledge      acknowledges more than it was ever sent, then waits
//   empty                sends one packet without bytes, then "after", then waits
//   descriptors          sends a packet "file" with a descriptor of /dev/null, then waits
//   last-words           waits for a packet, says "last words" and exits without reading
//   close                closes its socket and waits
//   echo                 sends back each packet, until the socket ends
//   crash                abort()
//   ignore-term          ignores SIGTERM, says "ready", and waits
//   environment          writes its arguments, working directory, open descriptors and environment to its output
//   exit N               exits with N
//   own-stop             stops itself with SIGSTOP
//   chatter N            begins and ends background tasks, N milliseconds apart, and answers nothing
//   inherit              waits for 50 ms at most for a lock with priority inheritance that another thread keeps
//   fade                 waits for a packet, closes its socket without an answer, and ends with abort() after 0.3 s of work
//   leaderless FILE      its main thread ends, and another one counts
//   vfork FILE           a child made with vfork counts, while the app itself waits for it in the kernel
//   kill-keeper FILE     a grandchild without environment counts; then the app kills its parent
//   linger FILE          sends "linger" with a TCP socket whose close takes five seconds, closes its own, sends "after",
//                        and then counts
//   many-descriptors     sends "many" with 40 descriptors, then "after", and waits
//   swarm [N]            forks N times, or until it may not, says how many children it has, and waits
//   shout N              writes N mebibytes of numbered lines to its output, and a last one
//
//   lock KIND FILE       behaves with a lock on the file: flock, shared (by flock too), posix, ofd, or wal, which is what
//                        every connection to a SQLite database in WAL mode keeps
//   listen [PATH]        behaves with a listening socket: a TCP one of any port, which it prints, or one at a path
//   spin                 behaves, with a thread that never rests and a background task that it never ends
//   hog N                behaves with N mebibytes of memory that it has written to
//   draw                 behaves, and draws once it has entered the background, for which it has a background task
//
//   healthy              behaves
//
// It finds its socket by WAKEBENCH_SOCKET. Without that variable the modes that need none work as well.
// With WAKEBENCH_VALUES=N it first behaves, until N values of a heart-rate belt came; with 0, until it has launched.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "behave.h"

extern char **environ;

static void count(const char *path) {
    int file = open(path, O_RDWR | O_CREAT, 0666);
    if (file < 0 || ftruncate(file, 16) < 0) exit(90);
    volatile int64_t *number = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (number == MAP_FAILED) exit(91);
    // The second number is the counter's process.
    number[1] = getpid();
    for (int64_t mine = number[0];;) {
        // From memory of its own: a counter that was started anew would fall back.
        number[0] = ++mine;
        usleep(200);
    }
}

static void detach(const char *self, const char *path) {
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    char *arguments[] = {(char *)self, "count", (char *)path, NULL};
    char *nothing[] = {NULL};
    execve("/proc/self/exe", arguments, nothing);
    _exit(92);
}

static void wait_for_counting(const char *path) {
    for (int64_t number = 0; number == 0; usleep(1000)) {
        int file = open(path, O_RDONLY);
        if (file >= 0 && read(file, &number, sizeof number) < 0) number = 0;
        if (file >= 0) close(file);
    }
}

static void wait_for_ever(void) {
    for (;;) pause();
}

static void say(int socket, const char *text) {
    if (send(socket, text, strlen(text), MSG_NOSIGNAL) < 0) exit(93);
}

static void send_descriptors(int socket, const char *text, int file, int count) {
    int files[64];
    for (int i = 0; i < count; i++) files[i] = file;
    char control[CMSG_SPACE(sizeof files)] = {0};
    struct iovec vector = {(char *)text, strlen(text)};
    struct msghdr message = {
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = CMSG_SPACE(sizeof file * (size_t)count)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file * (size_t)count);
    memcpy(CMSG_DATA(header), files, sizeof file * (size_t)count);
    if (sendmsg(socket, &message, 0) < 0) exit(94);
}

// A connection to itself whose other end reads nothing, full, and to be waited for when it is closed.
static int lingering_socket(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int stream = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 1) < 0) exit(97);
    if (getsockname(listener, (struct sockaddr *)&address, &size) < 0) exit(97);
    if (connect(stream, (struct sockaddr *)&address, size) < 0) exit(97);
    static char bytes[1 << 16];
    while (send(stream, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    struct linger linger = {.l_onoff = 1, .l_linger = 5};
    if (setsockopt(stream, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0) exit(97);
    return stream;
}

static void linger(int socket) {
    int stream = lingering_socket();
    send_descriptors(socket, "linger", stream, 1);
    // The one in the packet is the last, as long as nobody has read it.
    close(stream);
    say(socket, "after");
}

static void *count_in_thread(void *path) {
    count(path);
    return NULL;
}

static void outlive_the_main_thread(char *path) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, count_in_thread, path) != 0) exit(98);
    pthread_exit(NULL);
}

static void swarm(int socket, int most) {
    int children = 0;
    for (pid_t pid; children < most && (pid = fork()) >= 0; children++)
        if (pid == 0) pause();
    char text[64];
    snprintf(text, sizeof text, "%d", children);
    say(socket, text);
}

static void shout(long mebibytes) {
    for (long line = 0; line < mebibytes * 16384; line++) printf("%063ld\n", line);
    printf("the last line\n");
}

static void tell_environment(int count, char **arguments) {
    for (int i = 0; i < count; i++) printf("argument %s\n", arguments[i]);
    char path[4096];
    printf("directory %s\n", getcwd(path, sizeof path));
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder)) printf("descriptor %s\n", entry->d_name);
    closedir(folder);
    printf("session %d group %d\n", getsid(0) == getpid(), getpgrp() == getpid());
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&mask, number) == 1) printf("blocked %d\n", number);
    for (char **entry = environ; *entry; entry++) printf("environment %s\n", *entry);
}

static pthread_mutex_t inheriting;

static void *keep_lock(void *unused) {
    pthread_mutex_lock(&inheriting);
    for (;;) pause();
    return unused;
}

static void wait_with_inheritance(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inheriting, &attributes);
    pthread_t keeper;
    pthread_create(&keeper, NULL, keep_lock, NULL);
    while (pthread_mutex_trylock(&inheriting) == 0) pthread_mutex_unlock(&inheriting);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_timedlock(&inheriting, &until);
}

static void lock(const char *kind, const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 10};
    int result = -1;
    if (strcmp(kind, "flock") == 0) result = flock(file, LOCK_EX);
    if (strcmp(kind, "shared") == 0) result = flock(file, LOCK_SH);
    if (strcmp(kind, "posix") == 0) result = fcntl(file, F_SETLK, &range);
    if (strcmp(kind, "ofd") == 0) result = fcntl(file, F_OFD_SETLK, &range);
    if (strcmp(kind, "wal") == 0) {
        range = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 128, .l_len = 1};
        result = fcntl(file, F_SETLK, &range);
    }
    if (result != 0) exit(99);
}

static void listen_on(const char *path) {
    if (*path) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        int listener = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4) < 0) exit(97);
        return;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 4) < 0) exit(97);
    if (getsockname(listener, (struct sockaddr *)&address, &size) < 0) exit(97);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
}

static void *never_rest(void *unused) {
    for (volatile long turns = 0;; turns++) {}
    return unused;
}

static void spin(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, never_rest, NULL) != 0) exit(98);
}

static void hog(long mebibytes) {
    char *memory = malloc((size_t)mebibytes << 20);
    if (memory == NULL) exit(98);
    memset(memory, 1, (size_t)mebibytes << 20);
    // Who looks at it afterwards keeps it from being left out.
    says_after_launch = memory[((size_t)mebibytes << 20) - 1] ? NULL : "";
}

// Has a background task, so that it goes on for a while after the user has left it.
static void stay(void) { says_after_launch = "{\"type\":\"task.begin\",\"token\":1}"; }

int main(int argument_count, char **arguments) {
    const char *mode = argument_count > 1 ? arguments[1] : "";
    const char *operand = argument_count > 2 ? arguments[2] : "";
    const char *given = getenv("WAKEBENCH_SOCKET");
    int socket = given ? atoi(given) : -1;
    static char packet[70000];
    const char *values = getenv("WAKEBENCH_VALUES");
    if (values != NULL && strcmp(mode, "healthy") != 0) behave(socket, atol(values));

    if (strcmp(mode, "healthy") == 0) {
        behave(socket, -1);
    } else if (strcmp(mode, "lock") == 0) {
        lock(operand, argument_count > 3 ? arguments[3] : "");
        behave(socket, -1);
    } else if (strcmp(mode, "listen") == 0) {
        listen_on(operand);
        behave(socket, -1);
    } else if (strcmp(mode, "spin") == 0) {
        spin();
        stay();
        behave(socket, -1);
    } else if (strcmp(mode, "hog") == 0) {
        hog(atol(operand));
        behave(socket, -1);
    } else if (strcmp(mode, "draw") == 0) {
        stay();
        draws_in_background = 1;
        behave(socket, -1);
    } else if (strcmp(mode, "count") == 0) {
        count(operand);
    } else if (strcmp(mode, "fork") == 0) {
        if (fork() == 0) count(operand);
        wait_for_ever();
    } else if (strcmp(mode, "detach") == 0) {
        detach(arguments[0], operand);
        wait_for_ever();
    } else if (strcmp(mode, "detach-exit") == 0) {
        detach(arguments[0], operand);
        wait_for_counting(operand);
    } else if (strcmp(mode, "flood") == 0) {
        while (send(socket, packet, 1000, MSG_NOSIGNAL) >= 0) {}
    } else if (strcmp(mode, "oversize") == 0) {
        if (send(socket, packet, sizeof packet, MSG_NOSIGNAL) < 0) return 95;
        say(socket, "after");
        wait_for_ever();
    } else if (strcmp(mode, "garbage") == 0) {
        say(socket, "\x01not a message{{{");
        wait_for_ever();
    } else if (strcmp(mode, "overacknowledge") == 0) {
        say(socket, "{\"type\":\"ack\",\"delivery\":1,\"through\":9007199254740991}");
        wait_for_ever();
    } else if (strcmp(mode, "empty") == 0) {
        if (send(socket, packet, 0, MSG_NOSIGNAL) < 0) return 95;
        say(socket, "after");
        wait_for_ever();
    } else if (strcmp(mode, "descriptors") == 0) {
        send_descriptors(socket, "file", open("/dev/null", O_RDONLY), 1);
        wait_for_ever();
    } else if (strcmp(mode, "many-descriptors") == 0) {
        send_descriptors(socket, "many", open("/dev/null", O_RDONLY), 40);
        say(socket, "after");
        wait_for_ever();
    } else if (strcmp(mode, "linger") == 0) {
        linger(socket);
        count(operand);
    } else if (strcmp(mode, "chatter") == 0) {
        for (int token = 1;; token++) {
            char text[64];
            snprintf(text, sizeof text, "{\"type\":\"task.begin\",\"token\":%d}", token);
            say(socket, text);
            if (atoi(operand) > 0) usleep(1000 * (useconds_t)atoi(operand));
            snprintf(text, sizeof text, "{\"type\":\"task.end\",\"token\":%d}", token);
            say(socket, text);
            if (atoi(operand) > 0) usleep(1000 * (useconds_t)atoi(operand));
        }
    } else if (strcmp(mode, "fade") == 0) {
        if (recv(socket, packet, sizeof packet, 0) < 0) return 95;
        close(socket);
        while (clock() < 3 * CLOCKS_PER_SEC / 10) {}
        abort();
    } else if (strcmp(mode, "inherit") == 0) {
        wait_with_inheritance();
        wait_for_ever();
    } else if (strcmp(mode, "leaderless") == 0) {
        outlive_the_main_thread(arguments[2]);
    } else if (strcmp(mode, "vfork") == 0) {
        if (vfork() == 0) count(operand);
    } else if (strcmp(mode, "kill-keeper") == 0) {
        detach(arguments[0], operand);
        wait_for_counting(operand);
        kill(getppid(), SIGKILL);
        wait_for_ever();
    } else if (strcmp(mode, "swarm") == 0) {
        swarm(socket, *operand ? atoi(operand) : 100000);
        wait_for_ever();
    } else if (strcmp(mode, "shout") == 0) {
        shout(atol(operand));
    } else if (strcmp(mode, "last-words") == 0) {
        struct pollfd entry = {.fd = socket, .events = POLLIN};
        if (poll(&entry, 1, -1) < 0) return 95;
        say(socket, "last words");
    } else if (strcmp(mode, "close") == 0) {
        close(socket);
        wait_for_ever();
    } else if (strcmp(mode, "echo") == 0) {
        for (ssize_t size; (size = recv(socket, packet, sizeof packet, 0)) > 0;)
            if (send(socket, packet, (size_t)size, MSG_NOSIGNAL) < 0) return 96;
    } else if (strcmp(mode, "crash") == 0) {
        abort();
    } else if (strcmp(mode, "ignore-term") == 0) {
        signal(SIGTERM, SIG_IGN);
        say(socket, "ready");
        wait_for_ever();
    } else if (strcmp(mode, "environment") == 0) {
        tell_environment(argument_count, arguments);
    } else if (strcmp(mode, "own-stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(mode, "exit") == 0) {
        return atoi(operand);
    } else {
        fprintf(stderr, "usage: MisbehavingApp MODE [OPERAND]\n");
        return 64;
    }
    return 0;
}
