// Which system calls are trapped: those that wait until a time, wherever they are made. A filter outlives exec, so a child
// program is under it from its first instruction.
#include "Inside.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// MARK: Steps of a filter program

#define FIELD(name) offsetof(struct seccomp_data, name)
#define LOW(argument) (FIELD(args) + 8 * (argument))
#define HIGH(argument) (LOW(argument) + 4)

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define AND(mask) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (mask))
#define JUMP(condition, value, yes, no) BPF_JUMP(BPF_JMP | (condition) | BPF_K, (value), (yes), (no))
#define IF(value, yes, no) JUMP(BPF_JEQ, value, yes, no)
#define PASS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// Each of these passes the call, or goes on behind itself.
#define UNLESS_OURS(argument) LOAD(HIGH(argument)), IF(OUR_MARK, 0, 1), PASS
#define WHEN_POINTER(argument) LOAD(LOW(argument)), IF(0, 0, 3), LOAD(HIGH(argument)), IF(0, 0, 1), PASS
#define WHEN_POSITIVE(argument) LOAD(LOW(argument)), IF(0, 1, 0), JUMP(BPF_JSET, 0x80000000, 0, 1), PASS
#define UNLESS_SET(argument, bits) LOAD(LOW(argument)), JUMP(BPF_JSET, bits, 0, 1), PASS
// The end of a rule. A static program has no handler and would be killed: those that are not position independent make
// their calls from below 4 GiB, and those that are have been laid apart (Static.c). Their calls pass; they live on wall time.
#define TRAP                                                                                                           \
    LOAD(FIELD(instruction_pointer) + 4), IF(0, 2, 0), JUMP(BPF_JGE, STATIC_FIRST, 0, 2),                              \
        JUMP(BPF_JGT, STATIC_LAST, 1, 0), PASS, BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | TRAP_DATA)

// For all threads at once; and it is no sandbox, so that the processor may go on guessing as it does in other programs.
enum { FILTER_FLAGS = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW };
enum { MOST_STEPS = 1024 };
struct program {
    unsigned short count;
    struct sock_filter steps[MOST_STEPS];
};

// The number of the call is loaded once. No step before a rule's own looks at anything else, so that the kernel finds by
// itself that all other calls pass, and does not run the program for them.
static void add(struct program *program, int number, const struct sock_filter *steps, unsigned count) {
    program->steps[program->count++] = (struct sock_filter)IF((uint32_t)number, 0, (uint8_t)count);
    for (unsigned index = 0; index < count; index++) program->steps[program->count++] = steps[index];
}

#define RULE(program, number, ...)                                                                                     \
    do {                                                                                                               \
        const struct sock_filter steps[] = {__VA_ARGS__};                                                              \
        add((program), (number), steps, sizeof steps / sizeof *steps);                                                 \
    } while (0)

static void start(struct program *program) {
    program->count = 0;
    const struct sock_filter first[] = {
        LOAD(FIELD(arch)),
        IF(ARCHITECTURE, 1, 0),
        PASS,
        LOAD(FIELD(nr)),
    };
    for (unsigned index = 0; index < sizeof first / sizeof *first; index++) {
        program->steps[program->count++] = first[index];
    }
}

// A process in the old layout has all its code there.
static void trap_everywhere(struct program *program) {
    for (unsigned index = 0; index < program->count; index++) {
        struct sock_filter *step = &program->steps[index];
        if (BPF_CLASS(step->code) == BPF_JMP && BPF_OP(step->code) == BPF_JGE && step->k == STATIC_FIRST) {
            step->k = UINT32_MAX;
        }
    }
}

static int install(struct program *program) {
    program->steps[program->count++] = (struct sock_filter)PASS;
    uint64_t place = (uint64_t)(uintptr_t)install >> 32;
    if (place >= STATIC_FIRST && place <= STATIC_LAST) trap_everywhere(program);
    const struct sock_fprog code = {program->count, program->steps};
    if (call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0) < 0) return EPERM;
    long result = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, FILTER_FLAGS, &code, 0);
    // Above zero: a thread that could not be brought under it.
    return result == 0 ? 0 : result < 0 ? (int)-result : EBUSY;
}

// MARK: The rules

static void add_waits(struct program *program) {
    RULE(program, SYS_futex, LOAD(LOW(1)), AND(FUTEX_CMD_MASK), IF(FUTEX_WAIT, 5, 0), IF(FUTEX_WAIT_BITSET, 4, 0),
         IF(FUTEX_LOCK_PI, 3, 0), IF(FUTEX_LOCK_PI2, 2, 0), IF(FUTEX_WAIT_REQUEUE_PI, 1, 0), PASS, WHEN_POINTER(3), TRAP);
    RULE(program, SYS_futex_waitv, UNLESS_OURS(1), WHEN_POINTER(3), TRAP);
    RULE(program, SYS_epoll_pwait, WHEN_POSITIVE(3), TRAP);
    RULE(program, SYS_epoll_pwait2, WHEN_POINTER(3), TRAP);
    RULE(program, SYS_ppoll, UNLESS_OURS(1), WHEN_POINTER(2), TRAP);
    RULE(program, SYS_pselect6, UNLESS_OURS(0), WHEN_POINTER(4), TRAP);
#ifdef SYS_poll
    RULE(program, SYS_poll, WHEN_POSITIVE(2), TRAP);
    RULE(program, SYS_select, WHEN_POINTER(4), TRAP);
    RULE(program, SYS_epoll_wait, WHEN_POSITIVE(3), TRAP);
#endif
    RULE(program, SYS_nanosleep, TRAP);
    RULE(program, SYS_clock_nanosleep, UNLESS_OURS(0), TRAP);
    // None of its arguments is an int: the mark stands where a sixth would.
    RULE(program, SYS_rt_sigtimedwait, LOAD(LOW(5)), IF(OUR_MARK, 0, 1), PASS, WHEN_POINTER(2), TRAP);
    RULE(program, SYS_semtimedop, UNLESS_OURS(0), WHEN_POINTER(3), TRAP);
    RULE(program, SYS_mq_timedsend, UNLESS_OURS(0), WHEN_POINTER(4), TRAP);
    RULE(program, SYS_mq_timedreceive, UNLESS_OURS(0), WHEN_POINTER(4), TRAP);
    RULE(program, SYS_recvmmsg, UNLESS_OURS(0), WHEN_POINTER(4), TRAP);
}

static void add_clocks(struct program *program) {
    RULE(program, SYS_clock_gettime, UNLESS_OURS(0), LOAD(LOW(0)), IF(PROBE_FILTER, 6, 0), IF(CLOCK_REALTIME, 5, 0),
         IF(CLOCK_MONOTONIC, 4, 0), IF(CLOCK_TAI, 3, 0), JUMP(BPF_JGE, CLOCK_MONOTONIC_RAW, 0, 1),
         JUMP(BPF_JGT, CLOCK_BOOTTIME_ALARM, 0, 1), PASS, TRAP);
    RULE(program, SYS_gettimeofday, TRAP);
#ifdef SYS_time
    RULE(program, SYS_time, TRAP);
#endif
}

static void add_timers(struct program *program) {
    RULE(program, SYS_timerfd_create, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_timerfd_settime, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_timerfd_gettime, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_timer_create, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_timer_settime, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_timer_gettime, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_timer_getoverrun, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_timer_delete, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_setitimer, UNLESS_OURS(0), TRAP);
    RULE(program, SYS_getitimer, UNLESS_OURS(0), TRAP);
#ifdef SYS_alarm
    RULE(program, SYS_alarm, TRAP);
#endif
}

static void add_sockets(struct program *program) {
    RULE(program, SYS_socket, UNLESS_OURS(0), LOAD(LOW(0)), IF(AF_INET, 2, 0), IF(AF_INET6, 1, 0), PASS, TRAP);
    RULE(program, SYS_setsockopt, UNLESS_OURS(0), LOAD(LOW(1)), IF(IPPROTO_TCP, 0, 3), LOAD(LOW(2)),
         IF(TCP_NODELAY, 8, 0), PASS, IF(SOL_SOCKET, 0, 5), LOAD(LOW(2)), IF(SO_RCVTIMEO_OLD, 4, 0),
         IF(SO_SNDTIMEO_OLD, 3, 0), IF(SO_RCVTIMEO_NEW, 2, 0), IF(SO_SNDTIMEO_NEW, 1, 0), PASS, TRAP);
}

static void add_terminals(struct program *program) {
    RULE(program, SYS_ioctl, UNLESS_OURS(0), LOAD(LOW(1)), IF(TIOCSPTLCK, 1, 0), PASS, TRAP);
}

int install_filter(void) {
    uint32_t action = SECCOMP_RET_TRAP;
    long available = call(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action, 0);
    if (available < 0) return (int)-available;
    static struct program program;
    start(&program);
    add_waits(&program);
    add_clocks(&program);
    add_timers(&program);
    add_sockets(&program);
    add_terminals(&program);
    return install(&program);
}

// A second one, for processes that give a socket a timeout: what may block on it is trapped from then on.
int install_socket_filter(void) {
    static struct program program;
    start(&program);
    RULE(&program, SYS_clock_gettime, LOAD(LOW(0)), IF(PROBE_SOCKET_FILTER, 1, 0), PASS, TRAP);
    const int plain[] = {SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_accept, SYS_accept4, SYS_connect};
    for (unsigned index = 0; index < sizeof plain / sizeof *plain; index++) {
        // Standard input and output are no such sockets.
        RULE(&program, plain[index], UNLESS_OURS(0), LOAD(LOW(0)), JUMP(BPF_JGT, STDERR_FILENO, 1, 0), PASS, TRAP);
    }
    RULE(&program, SYS_recvfrom, UNLESS_OURS(0), UNLESS_SET(3, MSG_DONTWAIT), TRAP);
    RULE(&program, SYS_sendto, UNLESS_OURS(0), UNLESS_SET(3, MSG_DONTWAIT), TRAP);
    RULE(&program, SYS_recvmsg, UNLESS_OURS(0), UNLESS_SET(2, MSG_DONTWAIT), TRAP);
    RULE(&program, SYS_sendmsg, UNLESS_OURS(0), UNLESS_SET(2, MSG_DONTWAIT), TRAP);
    return install(&program);
}
