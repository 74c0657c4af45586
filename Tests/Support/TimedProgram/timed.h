// A program that waits in every way there is, and says what its own clock showed. Each line: what waited, the nanoseconds
// since the program began, and what came of it.
#pragma once

#define _GNU_SOURCE

#include <stdint.h>
#include <time.h>

enum { SECOND = 1000000000, MILLISECOND = 1000000 };

int64_t elapsed(void);
void say(const char *what, long result);
// As say, and errno where the result is below zero.
void say_result(const char *what, long result);
struct timespec after(int clock, int64_t nanoseconds);
struct timespec span(int64_t nanoseconds);
// Runs it on a thread of its own.
void start(void *(*body)(void *), void *argument);

void sleeps(void);
void descriptors(void);
void locks(void);
void signals(void);
void timer_descriptors(void);
void timers(void);
void alarms(void);
void sockets(void);
void queues(void);
void children(void);
void clocks(void);
void processors(void);
void date(void);
// Reads the clock until a second has passed.
void spin(void);
// Runs another program on a kernel that answers a system call with an error: the call's number, or NUMBER/FIRST where only
// those with that first argument are refused; the error; the program's path, and its arguments.
int become_refused(char **arguments);
