#define _GNU_SOURCE
#include "CWakeShims.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The guardian runs this after a fork: no allocation, bounded buffers.

static int write_file(int directory, const char *name, const char *text) {
    int file = openat(directory, name, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = write(file, text, strlen(text));
    int code = errno;
    close(file);
    errno = code;
    return count < 0 ? -1 : 0;
}

static ssize_t read_file(int directory, const char *name, char *buffer, size_t capacity) {
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    size_t total = 0;
    ssize_t count;
    while (total < capacity - 1 && (count = read(file, buffer + total, capacity - 1 - total)) > 0) total += (size_t)count;
    close(file);
    buffer[total] = 0;
    return (ssize_t)total;
}

// Kills what is in the group now, and waits until those are gone or a second has passed. The number found.
static int kill_members(int directory, int version) {
    char text[32768];
    if (read_file(directory, "cgroup.procs", text, sizeof text) <= 0) return 0;
    struct pollfd gone[256];
    int count = 0, watched = 0;
    for (char *line = text; *line;) {
        int pid = atoi(line);
        if (pid > 0) {
            if (watched < 256) {
                int pidfd = wake_pidfd_open(pid);
                if (pidfd >= 0) gone[watched++] = (struct pollfd){.fd = pidfd, .events = POLLIN};
            }
            kill(pid, SIGKILL);
            count++;
        }
        line += strcspn(line, "\n");
        if (*line) line++;
    }
    if (version == 2) {
        write_file(directory, "cgroup.kill", "1");
    } else {
        // A killed process of a frozen group stays until the group is thawed.
        write_file(directory, "freezer.state", "THAWED");
    }
    for (int i = 0; i < watched; i++) {
        while (poll(&gone[i], 1, 1000) < 0 && errno == EINTR) {}
        close(gone[i].fd);
    }
    return count;
}

static void each_folder(int directory, void (*visit)(int, const char *, void *), void *context);

struct clearing {
    int version;
    int depth;
    int *killed;
};

static void clear_one(int directory, const char *name, void *context);

// An app with the right to make groups of its own may have nested them; so deep they are followed.
enum { DEEPEST_GROUP = 5 };

static int clear_group_at(int parent, const char *name, struct clearing *clearing) {
    int version = clearing->version, *killed = clearing->killed;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return errno == ENOENT ? 0 : -1;
    if (clearing->depth < DEEPEST_GROUP) {
        struct clearing below = {version, clearing->depth + 1, killed};
        each_folder(directory, clear_one, &below);
    }
    // One that forks while it dies is caught by the next round.
    for (int round = 0; round < 1000; round++) {
        int found = kill_members(directory, version);
        *killed += round == 0 ? found : 0;
        if (found == 0 && (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != EBUSY)) break;
    }
    close(directory);
    struct stat status;
    if (fstatat(parent, name, &status, 0) < 0 && errno == ENOENT) return 0;
    errno = EBUSY;
    return -1;
}

int wake_clear_group(const char *directory, int version, int *killed) {
    struct clearing clearing = {version, DEEPEST_GROUP - 1, killed};
    return clear_group_at(AT_FDCWD, directory, &clearing);
}

struct entry {
    ino64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

// Calls back for each folder in the folder; readdir(3) allocates.
static void each_folder(int directory, void (*visit)(int, const char *, void *), void *context) {
    char buffer[16384] __attribute__((aligned(8)));
    lseek(directory, 0, SEEK_SET);
    for (;;) {
        long count = syscall(SYS_getdents64, directory, buffer, sizeof buffer);
        if (count <= 0) return;
        for (long at = 0; at < count;) {
            struct entry *entry = (struct entry *)(buffer + at);
            if (entry->type == DT_DIR && entry->name[0] != '.') visit(directory, entry->name, context);
            at += entry->length;
        }
    }
}

static void clear_one(int directory, const char *name, void *context) { clear_group_at(directory, name, context); }

int wake_clear_groups(const char *directory, int version, int *killed) {
    struct clearing clearing = {version, 0, killed};
    return clear_group_at(AT_FDCWD, directory, &clearing);
}

struct process {
    int pid;
    int parent;
    int session;
    char state;
    char found;
    int64_t started; // clock ticks after the machine did
};

enum { MOST_PROCESSES = 32768 };

struct table {
    struct process *processes;
    int count;
};

// proc_pid_stat(5): state, parent, group and session are the fields 3 to 6, and the start is field 22.
static int parse_process(const char *text, struct process *process) {
    // The name in parentheses may hold anything, parentheses too.
    const char *end = strrchr(text, ')');
    long long started = 0;
    int count = end ? sscanf(end + 1, " %c %d %*d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld",
                             &process->state, &process->parent, &process->session, &started)
                    : 0;
    process->started = started;
    return count == 4;
}

static void read_process(int directory, const char *name, void *context) {
    struct table *table = context;
    if (name[0] < '1' || name[0] > '9' || table->count == MOST_PROCESSES) return;
    char path[64], text[512];
    snprintf(path, sizeof path, "%s/stat", name);
    if (read_file(directory, path, text, sizeof text) <= 0) return;
    struct process process = {.pid = atoi(name)};
    if (parse_process(text, &process)) table->processes[table->count++] = process;
}

static void add_thread(int directory, const char *name, void *context) {
    char *state = context;
    char path[64], text[512];
    struct process thread;
    snprintf(path, sizeof path, "%s/stat", name);
    if (read_file(directory, path, text, sizeof text) <= 0 || !parse_process(text, &thread)) return;
    static const char order[] = "ZTDR";
    char found = strchr("ZX", thread.state) ? 'Z' : strchr("Tt", thread.state) ? 'T' : thread.state == 'D' ? 'D' : 'R';
    if (strchr(order, found) > strchr(order, *state)) *state = found;
}

// What the threads of a process do together. The leader's own letter tells nothing of the others: it may have ended.
static char state_of_threads(int pid) {
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return 'X';
    each_folder(directory, add_thread, &state);
    close(directory);
    return state;
}

static int read_processes(struct table *table) {
    static __thread struct process *processes;
    if (!processes && !(processes = malloc(sizeof *processes * MOST_PROCESSES))) return -1;
    *table = (struct table){processes, 0};
    int directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    each_folder(directory, read_process, table);
    close(directory);
    return 0;
}

int wake_descendants(int ancestor, int *pids, char *states, int capacity) {
    struct table table;
    if (read_processes(&table) < 0) return -1;
    int count = 0;
    for (int grown = 1; grown;) {
        grown = 0;
        for (int i = 0; i < table.count; i++) {
            struct process *process = &table.processes[i];
            if (process->found) continue;
            int is_below = process->parent == ancestor;
            for (int j = 0; j < count && !is_below; j++) is_below = pids[j] == process->parent;
            if (!is_below) continue;
            if (count == capacity) return count;
            process->found = 1;
            pids[count] = process->pid;
            if (states) states[count] = state_of_threads(process->pid);
            count++;
            grown = 1;
        }
    }
    return count;
}

int64_t wake_start_time(int pid) {
    char path[64], text[512];
    struct process process;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (read_file(AT_FDCWD, path, text, sizeof text) <= 0 || !parse_process(text, &process)) return -1;
    return process.started;
}

// Kills a process and waits, at most a second, until it is dead.
static int kill_and_wait(int pid) {
    struct pollfd gone = {.fd = wake_pidfd_open(pid), .events = POLLIN};
    int code = kill(pid, SIGKILL);
    while (gone.fd >= 0 && poll(&gone, 1, 1000) < 0 && errno == EINTR) {}
    if (gone.fd >= 0) close(gone.fd);
    return code;
}

// The processes that were started to stay: as many as a bench has at a time, and then some.
static int apart[8];
static unsigned apart_count;

void wake_spare(int pid) { apart[apart_count++ % (sizeof apart / sizeof *apart)] = pid; }

void wake_reaped(int pid) {
    for (unsigned i = 0; i < sizeof apart / sizeof *apart; i++) {
        if (apart[i] == pid) apart[i] = 0;
    }
}

static int is_spared(int pid) {
    for (unsigned i = 0; i < sizeof apart / sizeof *apart; i++) {
        if (apart[i] == pid) return 1;
    }
    return 0;
}

int wake_kill_orphans(int64_t since, const int *kept, int kept_count) {
    int self = getpid(), session = getsid(0), killed = 0;
    // One that dies leaves its children to us: they are found in the next round.
    for (int round = 0; round < 1000; round++) {
        struct table table;
        if (read_processes(&table) < 0) return -1;
        int found = 0;
        for (int i = 0; i < table.count; i++) {
            struct process *process = &table.processes[i];
            if (process->parent != self || process->session == session || process->started < since) continue;
            int is_kept = 0;
            for (int j = 0; j < kept_count && !is_kept; j++) is_kept = kept[j] == process->pid;
            if (is_kept || is_spared(process->pid)) continue;
            found++;
            kill_and_wait(process->pid);
            if (waitpid(process->pid, NULL, WNOHANG) == process->pid) killed++;
        }
        if (found == 0) break;
    }
    return killed;
}

struct marked {
    const char *entry;
    int killed;
};

static void kill_if_marked(int directory, const char *name, void *context) {
    struct marked *marked = context;
    int pid = atoi(name);
    if (pid <= 1 || pid == getpid()) return;
    char path[64], text[65536];
    snprintf(path, sizeof path, "%s/environ", name);
    ssize_t count = read_file(directory, path, text, sizeof text);
    size_t length = strlen(marked->entry);
    for (ssize_t at = 0; at < count; at += (ssize_t)strlen(text + at) + 1)
        if (strlen(text + at) == length && memcmp(text + at, marked->entry, length) == 0) {
            // Whoever sweeps goes on when the dead are dead.
            if (kill_and_wait(pid) == 0) marked->killed++;
            return;
        }
}

int wake_kill_marked(const char *entry) {
    struct marked marked = {entry, 0};
    int directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    each_folder(directory, kill_if_marked, &marked);
    close(directory);
    return marked.killed;
}
