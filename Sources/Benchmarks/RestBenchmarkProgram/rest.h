// A program that never rests, or that rests, in a way of its own choice.
//
//   RestBenchmarkProgram ring WAY COUNT      COUNT threads hand a token round: at any moment one of them can run
//   RestBenchmarkProgram relay WAY COUNT     the same with processes
//   RestBenchmarkProgram half FOLDER SIDE    hands a token to another program and back, through the pipes FOLDER/0 and /1
//   RestBenchmarkProgram lives KIND          threads or processes that are no sooner there than gone
//   RestBenchmarkProgram rests KIND [COUNT]  everything waits
//
// It writes a byte when it has come so far.
#pragma once

#define _GNU_SOURCE

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// One end of what the token goes through; shared between processes.
struct inbox {
    int in, out; // descriptors: what is written to the one is read from the other
    sem_t semaphore;
    pthread_mutex_t lock;
    pthread_cond_t condition;
    _Atomic uint32_t word;
    _Atomic pid_t process, thread; // of its reader
};

struct way {
    const char *name;
    int (*open)(struct inbox *inbox);
    int (*put)(struct inbox *inbox);
    // Waits for the token.
    int (*take)(struct inbox *inbox);
};

extern const struct way ways[];
extern const int way_count;

// Ends the program with the name of what has failed.
_Noreturn void fail(const char *what);
// So many of the inboxes are shared with children.
struct inbox *make_inboxes(const struct way *way, int count);
// Says that all is under way.
void ready(void);
_Noreturn void wait_for_ever(void);
void start(void *(*body)(void *), void *argument);
pid_t this_thread(void);

int hand_round(const char *way, int count, int with_processes);
int live(const char *kind, char **arguments);
int rest(const char *kind, int count);
