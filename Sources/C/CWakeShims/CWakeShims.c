#define _GNU_SOURCE
#include "CWakeShims.h"

#include <fcntl.h>
#include <string.h>

int wake_open(const char *path, int flags, unsigned int mode) { return open(path, flags, mode); }

int wake_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int wake_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

const char *wake_reason(int code) { return strerrordesc_np(code); }
