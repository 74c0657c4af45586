#define _GNU_SOURCE
#include "CWakeShims.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_CLOSERS = 4, MOST_WAITING = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added = PTHREAD_COND_INITIALIZER;
static int waiting[MOST_WAITING];
static int first, count, closers, idle;

static void *close_all(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (count == 0) {
            idle++;
            pthread_cond_wait(&added, &lock);
            idle--;
        }
        int descriptor = waiting[first];
        first = (first + 1) % MOST_WAITING;
        count--;
        pthread_mutex_unlock(&lock);
        close(descriptor);
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

// One more thread for those that wait in the kernel. Called with the lock held.
static void add_closer(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 * 1024);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, close_all, NULL) == 0) closers++;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int wake_close_later(int descriptor) {
    pthread_mutex_lock(&lock);
    if (idle == 0 && closers < MOST_CLOSERS) add_closer();
    int is_taken = closers > 0 && count < MOST_WAITING;
    if (is_taken) {
        waiting[(first + count) % MOST_WAITING] = descriptor;
        count++;
        pthread_cond_signal(&added);
    }
    int left = count;
    pthread_mutex_unlock(&lock);
    if (!is_taken) close(descriptor);
    return left;
}
