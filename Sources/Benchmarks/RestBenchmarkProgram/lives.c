// Threads and processes that are no sooner there than gone: whoever lists them must not overlook one.
#include "rest.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: Threads

// Each starts the next, and ends.
static void *next_thread(void *unused) {
    start(next_thread, unused);
    return NULL;
}

static void *end(void *unused) { return unused; }

static void join_threads(void) {
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end, NULL) != 0) fail("pthread_create");
        pthread_join(thread, NULL);
    }
}

static void *sleep_on(void *unused) {
    (void)unused;
    wait_for_ever();
}

// Those that move stand last in the list.
static void stand_behind(int count) {
    for (int number = 0; number < count; number++) start(sleep_on, NULL);
}

// MARK: Processes

// Each starts the next, and ends: the parent of all that are left takes them without a word.
static void next_process(void) {
    for (;;) {
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child > 0) _exit(0);
    }
}

static void await_children(void) {
    for (;;) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        if (child < 0 || waitpid(child, NULL, 0) != child) fail("fork");
    }
}

static void spawn_children(char **environment) {
    char *const arguments[] = {"true", NULL};
    for (;;) {
        pid_t child;
        if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment) != 0) fail("posix_spawn");
        if (waitpid(child, NULL, 0) != child) fail("waitpid");
    }
}

static void compute(void) {
    for (volatile int number = 0;; number = number + 1) {}
}

static int moves(void (*body)(void), int is_parent) {
    if (is_parent) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        signal(SIGCHLD, SIG_IGN);
        if (fork() == 0) body();
    } else {
        ready();
        body();
    }
    ready();
    wait_for_ever();
}

int live(const char *kind, char **arguments) {
    if (strcmp(kind, "threads") == 0) {
        next_thread(NULL);
        ready();
        wait_for_ever();
    }
    if (strcmp(kind, "joined-threads") == 0) return moves(join_threads, 0);
    if (strcmp(kind, "forks") == 0) return moves(next_process, 1);
    if (strcmp(kind, "children") == 0) return moves(await_children, 0);
    if (strcmp(kind, "computing") == 0) return moves(compute, 0);
    if (strcmp(kind, "computing-child") == 0) return moves(compute, 1);
    if (strcmp(kind, "spawned-children") == 0) {
        ready();
        spawn_children(environ);
    }
    if (strcmp(kind, "programs") == 0 || strcmp(kind, "programs-on") == 0) {
        // Becomes itself anew, again and again.
        char *const again[] = {arguments[0], arguments[1], "programs-on", NULL};
        if (strcmp(kind, "programs") == 0) ready();
        execv("/proc/self/exe", again);
        fail("execv");
    }
    if (strcmp(kind, "thousand") == 0) {
        stand_behind(1000);
        return hand_round("pipe", 2, 0);
    }
    return 64;
}
