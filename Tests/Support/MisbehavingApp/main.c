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
//
//   healthy              behaves
//
// It finds its socket by WAKEBENCH_SOCKET. Without that variable the modes that need none work as well.
// With WAKEBENCH_VALUES=N it first behaves, until N values of a heart-rate belt came; with 0, until it has launched.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

static void send_descriptor(int socket) {
    int file = open("/dev/null", O_RDONLY);
    char control[CMSG_SPACE(sizeof file)] = {0};
    struct iovec vector = {"file", 4};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    if (sendmsg(socket, &message, 0) < 0) exit(94);
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
        send_descriptor(socket);
        wait_for_ever();
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
