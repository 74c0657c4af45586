// The two signals that are the bench's: SIGSYS is never blocked and its handler stays, and so does that of
// WAKE_TIME_SIGNAL. An app that asks otherwise is told yes, and finds what it set when it looks.
#include "Inside.h"

#include <dlfcn.h>
#include <pthread.h>

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef int attribute_function(pthread_attr_t *, const sigset_t *);
static sigaction_function *next_sigaction;
static attribute_function *next_attribute;
static struct sigaction kept_trap, kept_time;

void find_signal_functions(void) {
    next_sigaction = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
    next_attribute = (attribute_function *)dlsym(RTLD_NEXT, "pthread_attr_setsigmask_np");
}

int keep_action(int signal, const struct sigaction *action, struct sigaction *old) {
    return next_sigaction(signal, action, old) == 0 ? 0 : errno;
}

struct sigaction kept_action(void) { return kept_trap; }

// MARK: Handlers

PUBLIC int sigaction(int signal, const struct sigaction *restrict action, struct sigaction *restrict old) {
    int is_ours = is_virtual() && (signal == SIGSYS || signal == WAKE_TIME_SIGNAL);
    if (!page) return next_sigaction(signal, action, old);
    if (is_ours) {
        struct sigaction *kept = signal == SIGSYS ? &kept_trap : &kept_time;
        struct sigaction before = *kept;
        if (action) *kept = *action;
        if (old) *old = before;
        return 0;
    }
    if (!action || !sigismember(&action->sa_mask, SIGSYS)) return next_sigaction(signal, action, old);
    // The app's handler may wait, too.
    struct sigaction open = *action;
    sigdelset(&open.sa_mask, SIGSYS);
    return next_sigaction(signal, &open, old);
}

PUBLIC sighandler_t signal(int number, sighandler_t handler) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    if (number == SIGSYS) sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// MARK: Masks

static const sigset_t *without_trap(int how, const sigset_t *set, sigset_t *copy) {
    if (!set || how == SIG_UNBLOCK || !is_virtual()) return set;
    *copy = *set;
    sigdelset(copy, SIGSYS);
    return copy;
}

// The C library's own two signals are not the app's to block, here as there.
static long change_mask(int how, const sigset_t *set, sigset_t *old) {
    enum { FIRST_INTERNAL = 32, LAST_INTERNAL = 33 };
    sigset_t copy;
    set = without_trap(how, set, &copy);
    uint64_t mask = 0;
    if (set) {
        mask = *(const uint64_t *)set;
        if (how != SIG_UNBLOCK) mask &= ~bit(FIRST_INTERNAL) & ~bit(LAST_INTERNAL);
    }
    return call(SYS_rt_sigprocmask, how, set ? &mask : NULL, old, sizeof mask);
}

PUBLIC int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    return told(change_mask(how, set, old));
}

PUBLIC int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    return (int)-change_mask(how, set, old);
}

PUBLIC int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set) {
    sigset_t copy;
    set = without_trap(SIG_SETMASK, set, &copy);
    return next_attribute ? next_attribute(attributes, set) : ENOSYS;
}
