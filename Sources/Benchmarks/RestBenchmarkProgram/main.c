#include "rest.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Noreturn void fail(const char *what) {
    perror(what);
    exit(1);
}

void ready(void) {
    if (write(STDOUT_FILENO, "r", 1) != 1) fail("write");
}

_Noreturn void wait_for_ever(void) {
    for (;;) pause();
}

pid_t this_thread(void) { return (pid_t)syscall(SYS_gettid); }

void start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + (64 << 10));
    if (pthread_create(&thread, &attributes, body, argument) != 0) fail("pthread_create");
    pthread_attr_destroy(&attributes);
}

// MARK: Rings

static struct inbox *inboxes;
static const struct way *way;
static int places;

// Work of ever other length, so that a check meets every place of the code.
static void work(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    for (volatile uint32_t left = *seed >> 22; left > 0; left--) {}
}

static void *pass_on(void *argument) {
    int place = (int)(intptr_t)argument;
    struct inbox *own = &inboxes[place], *next = &inboxes[(place + 1) % places];
    uint32_t seed = (uint32_t)place + 1;
    own->process = getpid();
    own->thread = this_thread();
    for (;;) {
        if (way->take(own) != 0) fail(way->name);
        work(&seed);
        if (way->put(next) != 0) fail(way->name);
    }
    return NULL;
}

struct inbox *make_inboxes(const struct way *way, int count) {
    size_t bytes = (size_t)count * sizeof(struct inbox);
    struct inbox *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) fail("mmap");
    pthread_mutexattr_t lock;
    pthread_condattr_t condition;
    pthread_mutexattr_init(&lock);
    pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
    for (int place = 0; place < count; place++) {
        struct inbox *inbox = &made[place];
        sem_init(&inbox->semaphore, 1, 0);
        pthread_mutex_init(&inbox->lock, &lock);
        pthread_cond_init(&inbox->condition, &condition);
        if (way->open(inbox) != 0) fail(way->name);
    }
    return made;
}

int hand_round(const char *name, int count, int with_processes) {
    for (int number = 0; number < way_count && !way; number++) {
        if (strcmp(ways[number].name, name) == 0) way = &ways[number];
    }
    if (!way || count < 2 || count > 64) return 64;
    places = count;
    inboxes = make_inboxes(way, count);
    for (int place = 0; place < count; place++) {
        void *argument = (void *)(intptr_t)place;
        if (!with_processes) {
            start(pass_on, argument);
        } else if (fork() == 0) {
            pass_on(argument);
        }
    }
    // A signal finds its way only to a thread that is there.
    for (int place = 0; place < count; place++) {
        while (inboxes[place].thread == 0) {}
    }
    if (way->put(&inboxes[0]) != 0) fail(way->name);
    ready();
    wait_for_ever();
}

// One of two programs that share two named pipes.
static int hand_over(const char *folder, int own) {
    char path[PATH_MAX], token;
    int ends[2];
    for (int side = 0; side < 2; side++) {
        snprintf(path, sizeof path, "%s/%d", folder, side);
        ends[side] = open(path, O_RDWR);
        if (ends[side] < 0) fail(path);
    }
    uint32_t seed = (uint32_t)own + 1;
    if (own == 0 && write(ends[0], "t", 1) != 1) fail("write");
    ready();
    for (;;) {
        if (read(ends[own], &token, 1) != 1) fail("read");
        work(&seed);
        if (write(ends[!own], "t", 1) != 1) fail("write");
    }
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "ring") == 0) return hand_round(arguments[2], atoi(arguments[3]), 0);
    if (count == 4 && strcmp(arguments[1], "relay") == 0) return hand_round(arguments[2], atoi(arguments[3]), 1);
    if (count == 4 && strcmp(arguments[1], "half") == 0) return hand_over(arguments[2], atoi(arguments[3]));
    if (count >= 3 && strcmp(arguments[1], "lives") == 0) return live(arguments[2], arguments);
    if (count >= 3 && strcmp(arguments[1], "rests") == 0) return rest(arguments[2], count > 3 ? atoi(arguments[3]) : 1);
    return 64;
}
