#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <unistd.h>

int wake_open(const char *path, int flags, unsigned int mode) { return open(path, flags, mode); }

int wake_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int wake_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

int wake_copy_file(int from, int to) {
    enum { MOST_AT_ONCE = 1 << 30 };
    ssize_t count;
    do {
        count = copy_file_range(from, NULL, to, NULL, MOST_AT_ONCE, 0);
        // Not every file system can, nor any two of them.
        if (count < 0) count = sendfile(to, from, NULL, MOST_AT_ONCE);
    } while (count > 0 || (count < 0 && errno == EINTR));
    return count < 0 ? -1 : 0;
}

int wake_end_with_parent(int parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return -1;
    // It may have ended before.
    if (getppid() == parent) return 0;
    prctl(PR_SET_PDEATHSIG, 0);
    errno = ESRCH;
    return -1;
}

int wake_signal_descriptor(const sigset_t *signals) { return signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK); }

const char *wake_reason(int code) { return strerrordesc_np(code); }
