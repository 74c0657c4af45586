/* The yardstick of the wake benchmark: wakes a frozen app with as little as possible between the read and the thaw.
 *
 *   PlainWake app                                 an app that stamps each packet it gets
 *   PlainWake thaw GROUP SCRIPT PROGRAM [ARG...]  runs PROGRAM in the control group and thaws it at each packet
 *   PlainWake spawn PROGRAM [ARG...]              runs PROGRAM to the first line of its main at each packet
 *
 * Descriptor 3 brings packets; each is answered by two times in nanoseconds of CLOCK_MONOTONIC: when the read returned,
 * and what the app wrote into its page of stamps, the file that STAMPS names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SOCKET = 3, PACKET = 65536, VALUE = 0, MAIN = 2 };

extern char **environ;

static char packet[PACKET + 1];

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "PlainWake: %s: %s\n", what, strerror(errno));
	exit(1);
}

static volatile int64_t *stamps(void)
{
	const char *path = getenv("STAMPS");
	int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (file < 0)
		fail("STAMPS names no file");
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		fail("mmap of STAMPS");
	close(file);
	return page;
}

/* The next packet as text; NULL at the end. */
static char *receive(int from)
{
	ssize_t count;
	do
		count = recv(from, packet, PACKET, 0);
	while (count < 0 && errno == EINTR);
	if (count <= 0)
		return NULL;
	packet[count] = 0;
	return packet;
}

static void answer(int64_t read, int64_t stamp)
{
	int64_t times[2] = {read, stamp};
	if (send(SOCKET, times, sizeof times, MSG_NOSIGNAL) < 0)
		exit(0);
}

/* MARK: app */

static int run_app(void)
{
	volatile int64_t *page = stamps();
	while (receive(SOCKET)) {
		page[VALUE] = now();
		if (send(SOCKET, "done", 4, MSG_NOSIGNAL) < 0)
			return 0;
	}
	return 0;
}

/* MARK: thaw */

/* One step of a conversation: wait for packets that hold each of the words, then send. */
struct step {
	char *words[4];
	int count;
	char *send;
};

static struct step setup[64], value;
static int steps;

/* A line is `WORD[ WORD...]<tab>PACKET`. The last one is said at each wake, with @ for the number of the delivery; its
 * words are waited for after it. */
static void read_script(const char *path)
{
	static char line[PACKET];
	FILE *file = fopen(path, "re");
	if (!file)
		fail(path);
	while (fgets(line, sizeof line, file) && steps < 64) {
		line[strcspn(line, "\n")] = 0;
		char *text = strdup(line), *tab = strchr(text, '\t');
		if (!tab)
			continue;
		*tab = 0;
		struct step step = {.send = tab + 1};
		for (char *word = strtok(text, " "); word && step.count < 4; word = strtok(NULL, " "))
			step.words[step.count++] = word;
		setup[steps++] = step;
	}
	fclose(file);
	if (!steps)
		fail("the script is empty");
	value = setup[--steps];
}

static int await(int app, const struct step *step)
{
	int seen[4] = {0};
	for (int left = step->count; left > 0;) {
		if (!receive(app))
			return 0;
		for (int word = 0; word < step->count; word++) {
			if (!seen[word] && strstr(packet, step->words[word])) {
				seen[word] = 1;
				left--;
			}
		}
	}
	return 1;
}

static void say(int app, const char *text, size_t count)
{
	if (count && send(app, text, count, MSG_NOSIGNAL) < 0)
		fail("send to the app");
}

static void set_frozen(int control, int events, int frozen)
{
	char state[256];
	if (pwrite(control, frozen ? "1" : "0", 1, 0) != 1)
		fail("cgroup.freeze");
	while (frozen) {
		ssize_t count = pread(events, state, sizeof state - 1, 0);
		state[count > 0 ? count : 0] = 0;
		if (strstr(state, "frozen 1"))
			return;
		struct pollfd change = {.fd = events, .events = POLLPRI};
		poll(&change, 1, -1);
	}
}

static int open_in(const char *folder, const char *name, int flags)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int file = open(path, flags | O_CLOEXEC);
	if (file < 0)
		fail(path);
	return file;
}

static int run_thaw(const char *group, char **program)
{
	if (mkdir(group, 0755) < 0)
		fail(group);
	int members = open_in(group, "cgroup.procs", O_WRONLY);
	int control = open_in(group, "cgroup.freeze", O_RDWR);
	int events = open_in(group, "cgroup.events", O_RDONLY);
	volatile int64_t *page = stamps();
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		fail("socketpair");
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(members, "0", 1) != 1 || dup2(ends[1], SOCKET) < 0)
			_exit(127);
		execv(program[0], program);
		_exit(127);
	}
	close(ends[1]);
	int app = ends[0];
	for (int step = 0; step < steps; step++) {
		if (!await(app, &setup[step]))
			fail("the app ended");
		say(app, setup[step].send, strlen(setup[step].send));
	}
	char *place = strchr(value.send, '@');
	long delivery = steps + 1;
	set_frozen(control, events, 1);
	answer(0, 0);
	for (;;) {
		static char text[PACKET];
		ssize_t count = read(SOCKET, packet, PACKET);
		int64_t read = now();
		if (count <= 0)
			break;
		page[VALUE] = 0;
		set_frozen(control, events, 0);
		int length = place ? snprintf(text, sizeof text, "%.*s%ld%s", (int)(place - value.send), value.send,
					      delivery++, place + 1)
				   : snprintf(text, sizeof text, "%s", value.send);
		say(app, text, length);
		if (!await(app, &value))
			fail("the app ended");
		set_frozen(control, events, 1);
		answer(read, page[VALUE]);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	rmdir(group);
	return 0;
}

/* MARK: spawn */

static int run_spawn(char **program)
{
	volatile int64_t *page = stamps();
	setenv("MAIN_ONLY", "1", 1);
	answer(0, 0);
	for (;;) {
		ssize_t count = read(SOCKET, packet, PACKET);
		int64_t read = now();
		pid_t child;
		if (count <= 0)
			return 0;
		page[MAIN] = 0;
		if (posix_spawn(&child, program[0], NULL, NULL, program, environ) != 0)
			fail(program[0]);
		waitpid(child, NULL, 0);
		answer(read, page[MAIN]);
	}
}

int main(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "app") == 0)
		return run_app();
	if (count > 4 && strcmp(arguments[1], "thaw") == 0) {
		read_script(arguments[3]);
		return run_thaw(arguments[2], arguments + 4);
	}
	if (count > 2 && strcmp(arguments[1], "spawn") == 0)
		return run_spawn(arguments + 2);
	fprintf(stderr, "usage: PlainWake app | thaw GROUP SCRIPT PROGRAM... | spawn PROGRAM...\n");
	return 2;
}
