#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

// The child runs in the caller's memory until exec: it makes raw system calls alone, and no sanitizer may watch it.
#if defined(__clang__)
#define CHILD_SIDE __attribute__((noinline, no_sanitize("address", "thread")))
#else
#define CHILD_SIDE __attribute__((noinline))
#endif

struct child {
    const struct wake_spawn *request;
    int null;
    int parent;
    volatile int enters; // whether it has to enter its group by itself
    volatile int stage;
    volatile int code;
};

// What the kernel takes in rt_sigaction; all zero means SIG_DFL.
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

// What this process had before it raised its own limit; what it starts gets that back.
static struct rlimit descriptors_before;
static int descriptors_raised;

long wake_raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    if (limit.rlim_cur == limit.rlim_max) return (long)limit.rlim_cur;
    struct rlimit wanted = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &wanted) != 0) return -1;
    if (!descriptors_raised) descriptors_before = limit;
    descriptors_raised = 1;
    return (long)wanted.rlim_cur;
}

CHILD_SIDE static void fail(struct child *child, int stage) {
    child->code = errno;
    child->stage = stage;
    syscall(SYS_exit_group, 127);
    __builtin_unreachable();
}

// A descriptor below 4 would be overwritten by one of the four.
CHILD_SIDE static int out_of_the_way(struct child *child, int descriptor) {
    if (descriptor < 0 || descriptor > 3) return descriptor;
    int moved = (int)syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, 4);
    if (moved < 0) fail(child, WAKE_STAGE_DESCRIPTORS);
    return moved;
}

CHILD_SIDE static void place(struct child *child, int from, int to) {
    if (syscall(SYS_dup3, from, to, 0) < 0) fail(child, WAKE_STAGE_DESCRIPTORS);
}

enum { MOST_PROCESSORS = 1024, WORD = 8 * sizeof(unsigned long) };

// A processor to itself, and threads that run until they wait. What of it is not allowed is left out.
CHILD_SIDE static void schedule(const struct wake_spawn *request) {
    unsigned long set[MOST_PROCESSORS / WORD];
    if (request->processor < 0 || request->processor >= MOST_PROCESSORS) return;
    for (unsigned i = 0; i < sizeof set / sizeof *set; i++) ((volatile unsigned long *)set)[i] = 0;
    set[(unsigned)request->processor / WORD] = 1ul << (unsigned)request->processor % WORD;
    if (syscall(SYS_sched_setaffinity, 0, sizeof set, set) < 0 || !request->first_in_first_out) return;
    // The bench takes the right away long before, as long as it runs itself.
    struct rlimit without_a_wait = {10000000, RLIM_INFINITY};
    if (syscall(SYS_prlimit64, 0, RLIMIT_RTTIME, &without_a_wait, NULL) < 0) return;
    struct sched_param lowest = {.sched_priority = 1};
    syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &lowest);
}

int wake_last_processor(void) {
    unsigned long set[MOST_PROCESSORS / WORD] = {0};
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    int count = 0, last = -1;
    for (int number = 0; number < (int)bytes * 8 && number < MOST_PROCESSORS; number++) {
        if (!(set[(unsigned)number / WORD] >> (unsigned)number % WORD & 1)) continue;
        count++;
        last = number;
    }
    return count > 1 ? last : -1;
}

int wake_may_run_first_in_first_out(void) {
    int policy = sched_getscheduler(0);
    struct sched_param before, lowest = {.sched_priority = 1};
    if (policy < 0 || sched_getparam(0, &before) < 0 || sched_setscheduler(0, SCHED_FIFO, &lowest) < 0) return 0;
    sched_setscheduler(0, policy, &before);
    return 1;
}

CHILD_SIDE static int run_child(void *argument) {
    struct child *child = argument;
    const struct wake_spawn *request = child->request;

    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) fail(child, WAKE_STAGE_DEATH_SIGNAL);
    // The parent may have died before the line above.
    if (syscall(SYS_getppid) != child->parent) {
        errno = ESRCH;
        fail(child, WAKE_STAGE_DEATH_SIGNAL);
    }
    if (child->enters && syscall(SYS_write, request->group_processes, "0", 1) < 0)
        fail(child, WAKE_STAGE_GROUP);
    if (request->limit_processes >= 0 && syscall(SYS_write, request->limit_processes, "0", 1) < 0)
        fail(child, WAKE_STAGE_GROUP);
    syscall(SYS_setsid);

    struct kernel_action action;
    for (unsigned i = 0; i < sizeof action / sizeof(long); i++) ((volatile long *)&action)[i] = 0;
    for (int number = 1; number <= 64; number++) syscall(SYS_rt_sigaction, number, &action, NULL, 8);
    unsigned long none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);

    int socket = out_of_the_way(child, request->socket);
    int output = out_of_the_way(child, request->output);
    int error = out_of_the_way(child, request->error);
    int null = out_of_the_way(child, child->null);
    place(child, null, 0);
    place(child, output, 1);
    place(child, error, 2);
    place(child, socket, 3);
    if (syscall(SYS_close_range, 4, ~0u, 0) < 0) fail(child, WAKE_STAGE_DESCRIPTORS);

    if (descriptors_raised) syscall(SYS_setrlimit, RLIMIT_NOFILE, &descriptors_before);
    schedule(request);
    if (request->directory && syscall(SYS_chdir, request->directory) < 0) fail(child, WAKE_STAGE_DIRECTORY);
    syscall(SYS_execve, request->path, request->arguments, request->environment);
    fail(child, WAKE_STAGE_EXEC);
    return 127;
}

// clone3 with a stack of the child's own. It returns only in the parent.
static long clone_with_stack(struct clone_args *arguments, int (*run)(void *), void *argument) {
#if defined(__x86_64__)
    long result = SYS_clone3;
    __asm__ volatile("movq %[run], %%r12\n\t"
                     "movq %[argument], %%r13\n\t"
                     "syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "movq %%r13, %%rdi\n\t"
                     "callq *%%r12\n\t"
                     "hlt\n"
                     "1:"
                     : "+a"(result)
                     : "D"(arguments), "S"(sizeof *arguments), [run] "r"(run), [argument] "r"(argument)
                     : "rcx", "r11", "r12", "r13", "memory", "cc");
    return result;
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_clone3;
    register long first __asm__("x0") = (long)arguments;
    register long second __asm__("x1") = sizeof *arguments;
    register long function __asm__("x9") = (long)run;
    register long context __asm__("x10") = (long)argument;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, #0\n\t"
                     "mov x0, x10\n\t"
                     "blr x9\n\t"
                     "brk #0\n"
                     "1:"
                     : "+r"(first)
                     : "r"(number), "r"(second), "r"(function), "r"(context)
                     : "x30", "memory", "cc");
    return first;
#else
    (void)arguments;
    (void)run;
    (void)argument;
    return -ENOSYS;
#endif
}

static const size_t stack_size = 64 * 1024;

int wake_spawn(const struct wake_spawn *request, struct wake_spawned *result) {
    *result = (struct wake_spawned){.pid = -1, .pidfd = -1, .stage = WAKE_STAGE_CLONE};
    struct child child = {
        .request = request, .parent = getpid(), .enters = request->group < 0 && request->group_processes >= 0};
    child.null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (child.null < 0) {
        result->code = errno;
        return -1;
    }
    char *stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        result->code = errno;
        close(child.null);
        return -1;
    }
    // A handler of ours must not run in the child, in our memory.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    int pidfd = -1;
    struct clone_args arguments = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | (request->group >= 0 ? CLONE_INTO_CGROUP : 0),
        .pidfd = (uintptr_t)&pidfd,
        .exit_signal = SIGCHLD,
        .stack = (uintptr_t)stack,
        .stack_size = stack_size,
        .cgroup = request->group >= 0 ? (uint64_t)request->group : 0,
    };
    long pid = clone_with_stack(&arguments, run_child, &child);
    int code = pid < 0 ? (int)-pid : 0;
    // Filters of containers know clone, not clone3; the child then enters its group by itself.
    if (code == ENOSYS || (code == EPERM && request->group < 0)) {
        child.enters = request->group_processes >= 0;
        pid = clone(run_child, stack + stack_size, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child, &pidfd);
        code = pid < 0 ? errno : 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, stack_size);
    close(child.null);

    if (pid < 0) {
        result->code = code;
        return -1;
    }
    if (child.stage != WAKE_STAGE_NONE) {
        siginfo_t ignored;
        while (waitid(P_PIDFD, (id_t)pidfd, &ignored, WEXITED) < 0 && errno == EINTR) {}
        close(pidfd);
        result->stage = child.stage;
        result->code = child.code;
        return -1;
    }
    *result = (struct wake_spawned){.pid = (int)pid, .pidfd = pidfd};
    return 0;
}

static int64_t nanoseconds(struct timeval time) { return time.tv_sec * 1000000000ll + time.tv_usec * 1000ll; }

static int wait_for(int kind, int id, int options, struct wake_exit *result) {
    siginfo_t information = {0};
    struct rusage usage = {0};
    int code;
    do {
        code = (int)syscall(SYS_waitid, kind, id, &information, options, &usage);
    } while (code < 0 && errno == EINTR);
    if (code < 0) return -1;
    if (information.si_pid == 0) return 0;
    *result = (struct wake_exit){
        .pid = information.si_pid,
        .status = information.si_status,
        .signalled = information.si_code != CLD_EXITED,
        .core = information.si_code == CLD_DUMPED,
        .user_nanoseconds = nanoseconds(usage.ru_utime),
        .system_nanoseconds = nanoseconds(usage.ru_stime),
        .peak_bytes = usage.ru_maxrss * 1024ll,
    };
    return 1;
}

int wake_wait(int pidfd, struct wake_exit *result) { return wait_for(P_PIDFD, pidfd, WEXITED | WNOHANG, result); }

int wake_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int wake_pidfd_kill(int pidfd, int signal) { return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0); }

// Nobody at a terminal ends a process that is there to outlive the bench.
static void stand_alone(const char *name) {
    setsid();
    prctl(PR_SET_NAME, name);
    // The bench may have asked for its own death signal; a fork clears it, and the name of it stays here.
    prctl(PR_SET_PDEATHSIG, 0);
    for (int number = 1; number < NSIG; number++)
        if (number != SIGCHLD) signal(number, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    if (chdir("/") < 0) {}
}

// Closes everything but the given descriptors, which are sorted here.
static void keep_only(int *kept, int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && kept[j - 1] > kept[j]; j--) {
            int other = kept[j];
            kept[j] = kept[j - 1];
            kept[j - 1] = other;
        }
    unsigned from = 0;
    for (int i = 0; i < count; i++) {
        if (kept[i] < 0) continue;
        if ((unsigned)kept[i] > from) close_range(from, (unsigned)kept[i] - 1, 0);
        from = (unsigned)kept[i] + 1;
    }
    close_range(from, ~0u, 0);
}

int wake_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }

// Our children, as the kernel names them in one place; -1 where it does not. What has died leaves its own to us.
static int own_children(int *pids, int capacity) {
    char path[64], text[8192];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length < 0) return -1;
    text[length] = 0;
    int count = 0;
    char *next = text;
    while (count < capacity) {
        char *end;
        long pid = strtol(next, &end, 10);
        // The last may be cut off: its number is whole only with the space behind it.
        if (end == next || *end != ' ') break;
        pids[count++] = (int)pid;
        next = end;
    }
    return count;
}

static void kill_descendants(int channel, int app) {
    int pids[1024];
    int self = getpid();
    for (;;) {
        // A process that forks and ends, again and again, is a step ahead of whoever looks through all processes.
        int count = own_children(pids, 1024);
        if (count < 0) count = wake_descendants(self, pids, NULL, 1024);
        for (int i = 0; i < count; i++) kill(pids[i], SIGKILL);
        // Whoever forked before it died has been reaped after that, so the next reading sees what it left. All that are dead
        // by now are reaped before it: to read of thousands for each of them would take minutes.
        struct wake_exit result;
        int found = wait_for(P_ALL, 0, WEXITED, &result);
        if (found < 0) return;
        for (; found == 1; found = wait_for(P_ALL, 0, WEXITED | WNOHANG, &result))
            if (result.pid == app) send(channel, &result, sizeof result, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

__attribute__((noreturn)) static void keep(int channel, int signals, int app) {
    struct pollfd ready[2] = {{.fd = channel, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    for (int ended = 0; !ended;) {
        if (poll(ready, 2, -1) < 0) continue;
        if (ready[0].revents) break;
        struct signalfd_siginfo drained;
        if (read(signals, &drained, sizeof drained) < 0) {}
        struct wake_exit result;
        while (wait_for(P_ALL, 0, WEXITED | WNOHANG, &result) == 1)
            if (result.pid == app) {
                ended = 1;
                send(channel, &result, sizeof result, MSG_NOSIGNAL | MSG_DONTWAIT);
            }
    }
    // Closing a socket with something unread in it would give the bench an error in place of the exit.
    char word;
    if (recv(channel, &word, 1, MSG_DONTWAIT) < 0) {}
    kill_descendants(channel, app);
    _exit(0);
}

int wake_packet_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    return wake_nonblocking(ends[0]);
}

int wake_spawn_kept(const struct wake_spawn *request, struct wake_keeper *keeper, struct wake_spawned *result) {
    *keeper = (struct wake_keeper){.channel = -1, .pid = -1, .pidfd = -1};
    *result = (struct wake_spawned){.pid = -1, .pidfd = -1, .stage = WAKE_STAGE_GUARD};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        result->code = errno;
        return -1;
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        stand_alone("wakebench-keep");
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        sigset_t child;
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        sigprocmask(SIG_SETMASK, &child, NULL);
        int kept[] = {ends[1], request->socket, request->output, request->error};
        keep_only(kept, 4);
        int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
        struct wake_spawned spawned;
        wake_spawn(request, &spawned);
        // The app alone holds its socket and its outputs.
        int last[] = {ends[1], signals};
        int app = spawned.pid;
        send(ends[1], &spawned, sizeof spawned, MSG_NOSIGNAL);
        if (spawned.stage != WAKE_STAGE_NONE) _exit(1);
        keep_only(last, 2);
        keep(ends[1], signals, app);
    }
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        result->code = code;
        close(ends[0]);
        return -1;
    }
    ssize_t count;
    do {
        count = recv(ends[0], result, sizeof *result, 0);
    } while (count < 0 && errno == EINTR);
    int pidfd = wake_pidfd_open(pid);
    if (count != sizeof *result || result->stage != WAKE_STAGE_NONE || pidfd < 0) {
        if (count != sizeof *result || result->stage == WAKE_STAGE_NONE)
            *result = (struct wake_spawned){.pid = -1, .pidfd = -1, .stage = WAKE_STAGE_GUARD, .code = pidfd < 0 ? errno : ECHILD};
        close(ends[0]);
        if (pidfd >= 0) close(pidfd);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
        return -1;
    }
    result->pidfd = -1;
    *keeper = (struct wake_keeper){.channel = ends[0], .pid = pid, .pidfd = pidfd};
    return 0;
}

int wake_kept_exit(int channel, struct wake_exit *result) {
    ssize_t count = recv(channel, result, sizeof *result, MSG_DONTWAIT);
    return count == sizeof *result;
}

int wake_guard_groups(const char *directory, int version, struct wake_guardian *guardian) {
    *guardian = (struct wake_guardian){.channel = -1, .pid = -1};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        stand_alone("wakebench-guard");
        int kept[] = {ends[1]};
        keep_only(kept, 1);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        char word;
        ssize_t count;
        do {
            count = recv(ends[1], &word, 1, 0);
        } while (count < 0 && errno == EINTR);
        int killed = 0;
        if (count <= 0) wake_clear_groups(directory, version, &killed);
        _exit(0);
    }
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = code;
        return -1;
    }
    *guardian = (struct wake_guardian){.channel = ends[0], .pid = pid};
    return 0;
}

void wake_guardian_dismiss(struct wake_guardian *guardian) {
    if (guardian->channel < 0) return;
    send(guardian->channel, "q", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(guardian->channel);
    while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR) {}
    *guardian = (struct wake_guardian){.channel = -1, .pid = -1};
}

int wake_try_group(int group_processes) {
    pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) _exit(write(group_processes, "0", 1) < 0 ? errno : 0);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
    return errno == 0 ? 0 : -1;
}

int64_t wake_cpu_time(int pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0) return -1;
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}
