#include "timed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: Sockets

static void *send_later(void *argument) {
    struct timespec later = span(700 * MILLISECOND);
    nanosleep(&later, NULL);
    if (send(*(int *)argument, "ab", 2, 0) != 2) say("send", -errno);
    return NULL;
}

static void *send_in_parts(void *argument) {
    send_later(argument);
    return send_later(argument);
}

static void set_timeout(int socket, int option, long milliseconds) {
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000};
    say_result("setsockopt", setsockopt(socket, SOL_SOCKET, option, &time, sizeof time));
}

static void time_out_receiving(int ends[2]) {
    char bytes[8];
    struct iovec parts = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &parts, .msg_iovlen = 1};
    set_timeout(ends[0], SO_RCVTIMEO, 6000);
    say_result("recv", recv(ends[0], bytes, sizeof bytes, 0));
    say_result("read", read(ends[0], bytes, sizeof bytes));
    say_result("recvmsg", recvmsg(ends[0], &message, 0));
    start(send_later, &ends[1]);
    say_result("recv-woken", recv(ends[0], bytes, sizeof bytes, 0));
    start(send_in_parts, &ends[1]);
    say_result("recv-all", recv(ends[0], bytes, 4, MSG_WAITALL));
    struct timeval found;
    socklen_t size = sizeof found;
    getsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &found, &size);
    say("getsockopt", found.tv_sec);
    set_timeout(ends[0], SO_RCVTIMEO, 0);
    start(send_later, &ends[1]);
    say_result("read-untimed", read(ends[0], bytes, sizeof bytes));
}

static void time_out_sending(int ends[2]) {
    static char much[1 << 20];
    set_timeout(ends[1], SO_SNDTIMEO, 2000);
    ssize_t sent = send(ends[1], much, sizeof much, 0);
    say("send-part", sent > 0 && sent < (ssize_t)sizeof much);
    say_result("write-full", write(ends[1], much, 1));
}

static void time_out_accepting(void) {
    int server = socket(AF_INET, SOCK_STREAM, 0), yes = 0;
    socklen_t size = sizeof yes;
    getsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, &size);
    say("nodelay", yes != 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(server, (struct sockaddr *)&address, sizeof address) != 0 || listen(server, 1) != 0) return;
    set_timeout(server, SO_RCVTIMEO, 1500);
    say_result("accept", accept(server, NULL, NULL));
    size = sizeof address;
    getsockname(server, (struct sockaddr *)&address, &size);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    set_timeout(client, SO_SNDTIMEO, 1500);
    say_result("connect", connect(client, (struct sockaddr *)&address, sizeof address));
    say("accept-waiting", accept(server, NULL, NULL) >= 0);
}

static void receive_many(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return;
    char bytes[2][8];
    struct iovec parts[2] = {{bytes[0], 8}, {bytes[1], 8}};
    struct mmsghdr messages[2] = {{{.msg_iov = &parts[0], .msg_iovlen = 1}, 0}, {{.msg_iov = &parts[1], .msg_iovlen = 1}, 0}};
    start(send_in_parts, &ends[1]);
    struct timespec time = span(SECOND / 2);
    say_result("recvmmsg", recvmmsg(ends[0], messages, 2, 0, &time));
    say("recvmmsg-left", time.tv_sec * (long)SECOND + time.tv_nsec);
    time = span(10LL * SECOND);
    say_result("recvmmsg-two", recvmmsg(ends[0], messages, 1, 0, &time));
    say("recvmmsg-left", time.tv_sec * (long)SECOND + time.tv_nsec);
}

void sockets(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
    receive_many();
    time_out_receiving(ends);
    time_out_sending(ends);
    time_out_accepting();
}

// MARK: Queues

static void *raise_later(void *argument) {
    struct timespec later = span(300 * MILLISECOND);
    nanosleep(&later, NULL);
    struct sembuf up = {0, 1, 0};
    semop(*(int *)argument, &up, 1);
    return NULL;
}

void queues(void) {
    char name[64], bytes[8] = {0};
    snprintf(name, sizeof name, "/wakebench-timed-%d", getpid());
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &attributes);
    mq_unlink(name);
    struct timespec time = after(CLOCK_REALTIME, 4LL * SECOND);
    say_result("mq_timedreceive", mq_timedreceive(queue, bytes, 8, NULL, &time));
    time = after(CLOCK_REALTIME, SECOND);
    say_result("mq_timedsend", mq_timedsend(queue, bytes, 8, 0, &time));
    time = after(CLOCK_REALTIME, SECOND);
    say_result("mq_timedsend-full", mq_timedsend(queue, bytes, 8, 0, &time));
    say_result("mq_timedreceive-there", mq_timedreceive(queue, bytes, 8, NULL, &time));

    int semaphores = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    time = span(2LL * SECOND);
    say_result("semtimedop", semtimedop(semaphores, &down, 1, &time));
    start(raise_later, &semaphores);
    say_result("semtimedop-woken", semtimedop(semaphores, &down, 1, &time));
    semctl(semaphores, 0, IPC_RMID);
}

// MARK: Children

static void say_end(const char *what, pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    say(what, status);
}

// This program sleeps in its children: sleep of coreutils 9.7 asks for a nanosecond more than it is told.
void children(void) {
    char self[PATH_MAX] = {0}, command[PATH_MAX + 16];
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return;
    pid_t child = fork();
    if (child == 0) {
        sleep(7);
        _exit(0);
    }
    say_end("fork", child);
    char *const arguments[] = {self, "sleep", "5", NULL};
    char *const nothing[] = {NULL};
    child = vfork();
    if (child == 0) {
        execve(self, arguments, nothing);
        _exit(1);
    }
    say_end("bare-execve", child);
    say_result("posix_spawn", posix_spawn(&child, self, NULL, NULL, arguments, nothing));
    say_end("bare-posix_spawn", child);
    child = fork();
    if (child == 0) {
        for (int descriptor = 3; descriptor < 256; descriptor++) close(descriptor);
        execle("/bin/sh", "sh", "-c", "\"$0\" sleep 2; \"$0\" sleep 3 & wait", self, (char *)NULL, nothing);
        _exit(1);
    }
    say_end("bare-shell", child);
    clearenv();
    snprintf(command, sizeof command, "'%s' sleep 1", self);
    if (system(command) != 0) say("system", -1);
    say("bare-system", 0);
}
