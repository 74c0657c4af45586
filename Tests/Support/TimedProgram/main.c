#include "timed.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t began;

static int64_t monotonic(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

int64_t elapsed(void) { return monotonic() - began; }

void say(const char *what, long result) {
    printf("%s %lld %ld\n", what, (long long)elapsed(), result);
    fflush(stdout);
}

void say_result(const char *what, long result) { say(what, result < 0 ? -errno : result); }

struct timespec span(int64_t nanoseconds) { return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND}; }

struct timespec after(int clock, int64_t nanoseconds) {
    struct timespec time;
    clock_gettime(clock, &time);
    return span((int64_t)time.tv_sec * SECOND + time.tv_nsec + nanoseconds);
}

void start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, argument);
    pthread_detach(thread);
}

int main(int count, char **arguments) {
    const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {
        {"sleeps", sleeps},
        {"descriptors", descriptors},
        {"locks", locks},
        {"signals", signals},
        {"timer-descriptors", timer_descriptors},
        {"timers", timers},
        {"alarms", alarms},
        {"sockets", sockets},
        {"queues", queues},
        {"children", children},
        {"clocks", clocks},
        {"processors", processors},
        {"date", date},
        {"spin", spin},
    };
    if (count == 3 && strcmp(arguments[1], "sleep") == 0) return (int)sleep((unsigned)atoi(arguments[2]));
    if (count > 4 && strcmp(arguments[1], "refused") == 0) return become_refused(arguments + 2);
    began = monotonic();
    for (int index = 1; index < count; index++) {
        int found = 0;
        for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
            if (strcmp(arguments[index], parts[part].name) != 0) continue;
            parts[part].run();
            found = 1;
        }
        if (!found) return 64;
    }
    return 0;
}
