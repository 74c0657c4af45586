#define _GNU_SOURCE
#include "CWakeShims.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { under_way, done, left };

struct wake_later_write {
    struct aiocb control;
    atomic_int state;
    int bell;
    long result;
    char bytes[];
};

// On a thread of the C library's. After the exchange the owner may let go of the write at any time.
static void written(union sigval value) {
    struct wake_later_write *later = value.sival_ptr;
    int code = aio_error(&later->control);
    later->result = code == 0 ? aio_return(&later->control) : -code;
    close(later->control.aio_fildes);
    int bell = later->bell;
    if (atomic_exchange(&later->state, done) == left) {
        free(later);
    } else {
        uint64_t one = 1;
        while (write(bell, &one, sizeof one) < 0 && errno == EINTR) {}
    }
    close(bell);
}

struct wake_later_write *wake_later_write_begin(int number, const void *bytes, size_t size, int bell) {
    struct wake_later_write *later = calloc(1, sizeof *later + size);
    if (later == NULL) return NULL;
    memcpy(later->bytes, bytes, size);
    later->bell = fcntl(bell, F_DUPFD_CLOEXEC, 3);
    later->control.aio_fildes = fcntl(number, F_DUPFD_CLOEXEC, 3);
    later->control.aio_buf = later->bytes;
    later->control.aio_nbytes = size;
    later->control.aio_sigevent.sigev_notify = SIGEV_THREAD;
    later->control.aio_sigevent.sigev_notify_function = written;
    later->control.aio_sigevent.sigev_value.sival_ptr = later;
    if (later->bell >= 0 && later->control.aio_fildes >= 0 && aio_write(&later->control) == 0) return later;
    int code = errno;
    if (later->bell >= 0) close(later->bell);
    if (later->control.aio_fildes >= 0) close(later->control.aio_fildes);
    free(later);
    errno = code;
    return NULL;
}

int wake_later_write_result(struct wake_later_write *later, long *result) {
    if (atomic_load(&later->state) != done) return 0;
    *result = later->result;
    return 1;
}

void wake_later_write_leave(struct wake_later_write *later) {
    if (atomic_exchange(&later->state, left) == done) free(later);
}
