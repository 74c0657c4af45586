#define _GNU_SOURCE

#include "CWakeShims.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

int wake_shared_memory(const char *name, size_t bytes) {
    int number = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (number < 0) return -1;
    if (ftruncate(number, (off_t)bytes) == 0 &&
        fcntl(number, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        return number;
    }
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

int wake_doorbell(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}
