// The SIGSYS handler: a trapped call's result is what it returns into the thread's registers.
#include "Inside.h"

#include <ucontext.h>

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1
#endif

static long result_of(const struct trapped *trapped) {
    switch (trapped->number) {
    case SYS_futex:
        return wait_for_futex(trapped);
    case SYS_futex_waitv:
        return wait_for_futexes(trapped);
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        return wait_in_sleep(trapped);
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
        return wait_in_poll(trapped);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
        return wait_in_select(trapped);
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return wait_in_epoll(trapped);
    case SYS_rt_sigtimedwait:
        return wait_for_signal(trapped);
    case SYS_timerfd_create:
    case SYS_timerfd_settime:
    case SYS_timerfd_gettime:
    case SYS_timer_create:
    case SYS_timer_settime:
    case SYS_timer_gettime:
    case SYS_timer_getoverrun:
    case SYS_timer_delete:
    case SYS_setitimer:
    case SYS_getitimer:
#ifdef SYS_alarm
    case SYS_alarm:
#endif
        return timer_call(trapped);
    case SYS_clock_gettime:
        if ((int)trapped->argument[0] == PROBE_FILTER) return PROBE_ANSWER;
        if ((int)trapped->argument[0] == PROBE_SOCKET_FILTER) return PROBE_ANSWER;
        return clock_call(trapped);
    case SYS_gettimeofday:
#ifdef SYS_time
    case SYS_time:
#endif
        return clock_call(trapped);
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
        return message_queue_call(trapped);
    case SYS_semtimedop:
        return semaphore_call(trapped);
    case SYS_ioctl:
        return terminal_call(trapped);
    default:
        return socket_call(trapped);
    }
}

static void on_trap(int signal, siginfo_t *information, void *context) {
    if (information->si_code != SYS_SECCOMP || information->si_errno != TRAP_DATA) {
        forward_trap(signal, information, context);
        return;
    }
    ucontext_t *thread = context;
    struct trapped trapped = {.number = information->si_syscall};
    const uint64_t *mask = (const uint64_t *)&thread->uc_sigmask;
    trapped.mask = *mask;
    atomic_fetch_add_explicit(&page->traps, 1, memory_order_relaxed);
#if defined(__x86_64__)
    greg_t *registers = thread->uc_mcontext.gregs;
    const int places[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    for (int index = 0; index < 6; index++) trapped.argument[index] = registers[places[index]];
    registers[REG_RAX] = result_of(&trapped);
#else
    unsigned long long *registers = thread->uc_mcontext.regs;
    for (int index = 0; index < 6; index++) trapped.argument[index] = (long)registers[index];
    registers[0] = (unsigned long long)result_of(&trapped);
#endif
}

// A SIGSYS that is none of ours: of an app's own filter, or sent by somebody.
void forward_trap(int signal, siginfo_t *information, void *context) {
    struct sigaction kept = kept_action();
    if (kept.sa_handler == SIG_IGN) return;
    if (kept.sa_handler != SIG_DFL) {
        if (kept.sa_flags & SA_SIGINFO) {
            kept.sa_sigaction(signal, information, context);
        } else {
            kept.sa_handler(signal);
        }
        return;
    }
    release_traps();
    call(SYS_tgkill, this_process(), this_thread(), signal, 0);
}

// It needs to run: that a wait is ended is told by the call that it ends.
static void on_time(int signal) { (void)signal; }

// The actions that stood there before.
static struct sigaction before_trap, before_time;

int catch_traps(void) {
    // A handler of the app's that runs during a wait of ours may wait as well: SIGSYS stays open (SA_NODEFER).
    struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    struct sigaction time = {.sa_handler = on_time, .sa_flags = SA_RESTART};
    sigemptyset(&trap.sa_mask);
    sigaddset(&trap.sa_mask, WAKE_TIME_SIGNAL);
    sigemptyset(&time.sa_mask);
    int code = keep_action(SIGSYS, &trap, &before_trap);
    if (code == 0) code = keep_action(WAKE_TIME_SIGNAL, &time, &before_time);
    // It may have been blocked across exec. The kernel ends a process that traps with it blocked.
    uint64_t mask = bit(SIGSYS);
    call(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, 0, sizeof mask);
    return code;
}

void release_traps(void) {
    keep_action(SIGSYS, &before_trap, NULL);
    keep_action(WAKE_TIME_SIGNAL, &before_time, NULL);
}
