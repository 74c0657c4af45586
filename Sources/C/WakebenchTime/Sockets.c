// Sockets: data that the kernel would hold back, and the timeouts that a socket can be given (SO_RCVTIMEO, SO_SNDTIMEO).
// The kernel keeps such a timeout, as ever; a call that it would bound waits for the descriptor in virtual time instead.
#include "Inside.h"

#include <asm/socket.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

static long pass(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    return call6(trapped->number, marked(argument[0]), argument[1], argument[2], argument[3], argument[4], argument[5]);
}

// MARK: Options

// Nagle's algorithm and delayed acknowledgements hold data back for up to 40 ms of wall time while every thread sleeps:
// virtual time would overtake it. Accepted sockets have the option from the one that listens.
static void send_at_once(long descriptor) {
    int yes = 1;
    call6(SYS_setsockopt, marked(descriptor), IPPROTO_TCP, TCP_NODELAY, (long)&yes, sizeof yes, 0);
}

static long make_socket(const struct trapped *trapped) {
    long descriptor = pass(trapped);
    enum { KIND = 15 };
    if (descriptor >= 0 && (trapped->argument[1] & KIND) == SOCK_STREAM) send_at_once(descriptor);
    return descriptor;
}

static void watch_timeouts(void) {
    static atomic_flag is_watched = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&is_watched)) return;
    struct timespec time;
    if (call(SYS_clock_gettime, PROBE_SOCKET_FILTER, &time, 0, 0) == PROBE_ANSWER) return; // inherited
    if (install_socket_filter() != 0) count_unsupported(SYS_setsockopt);
}

static long set_option(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    long result = pass(trapped);
    if (result < 0) return result;
    if ((int)argument[1] == IPPROTO_TCP) {
        send_at_once(argument[0]); // whatever it was set to
        return result;
    }
    const struct timeval *span = (const struct timeval *)argument[3];
    if (span->tv_sec != 0 || span->tv_usec != 0) watch_timeouts();
    return result;
}

// MARK: Deadlines

enum { NO_TIMEOUT = 0 };

// In nanoseconds. None for what is no socket, or does not block anyway.
static int64_t timeout_of(int descriptor, int option) {
    struct timeval span = {0, 0};
    uint32_t bytes = sizeof span;
    if (call6(SYS_getsockopt, descriptor, SOL_SOCKET, option, (long)&span, (long)&bytes, 0) < 0) return NO_TIMEOUT;
    if (span.tv_sec == 0 && span.tv_usec == 0) return NO_TIMEOUT;
    if (call(SYS_fcntl, descriptor, F_GETFL, 0, 0) & O_NONBLOCK) return NO_TIMEOUT;
    struct timespec time = {span.tv_sec, span.tv_usec * 1000};
    return nanoseconds(&time);
}

// What a call on a socket would do, without blocking, until it can or its time has come.
struct transfer {
    const struct trapped *trapped;
    long number; // SYS_recvmsg or SYS_sendmsg
    int flags;
    short event;
    int64_t deadline;
};

static long move(const struct transfer *transfer, struct msghdr *message) {
    int descriptor = (int)transfer->trapped->argument[0];
    for (;;) {
        long result = call(transfer->number, descriptor, message, transfer->flags | MSG_DONTWAIT, 0);
        if (result != -EAGAIN) return result;
        result = wait_until_ready(descriptor, transfer->event, transfer->deadline, transfer->trapped);
        if (result < 0) return result == -ETIMEDOUT ? -EAGAIN : result;
    }
}

static int is_stream(int descriptor) {
    int kind = 0;
    uint32_t bytes = sizeof kind;
    return call6(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, (long)&kind, (long)&bytes, 0) == 0
        && kind == SOCK_STREAM;
}

// Goes on until all is moved where the call does: sending to a stream, and receiving with MSG_WAITALL.
static long move_all(const struct transfer *transfer, struct msghdr *message) {
    enum { MOST_PARTS = 16 };
    struct iovec parts[MOST_PARTS];
    long moved = 0;
    int goes_on = transfer->number == SYS_sendmsg || (transfer->flags & MSG_WAITALL);
    if (!goes_on || message->msg_iovlen > MOST_PARTS || !is_stream((int)transfer->trapped->argument[0])) {
        return move(transfer, message);
    }
    struct msghdr rest = *message;
    for (size_t index = 0; index < rest.msg_iovlen; index++) parts[index] = message->msg_iov[index];
    rest.msg_iov = parts;
    for (;;) {
        long result = move(transfer, &rest);
        if (moved == 0) {
            message->msg_namelen = rest.msg_namelen;
            message->msg_controllen = rest.msg_controllen;
            message->msg_flags = rest.msg_flags;
        }
        if (result <= 0) return moved > 0 ? moved : result;
        moved += result;
        rest.msg_control = NULL;
        rest.msg_controllen = 0;
        while (rest.msg_iovlen > 0 && (size_t)result >= rest.msg_iov->iov_len) {
            result -= (long)rest.msg_iov->iov_len;
            rest.msg_iov++;
            rest.msg_iovlen--;
        }
        if (rest.msg_iovlen == 0) return moved;
        rest.msg_iov->iov_base = (char *)rest.msg_iov->iov_base + result;
        rest.msg_iov->iov_len -= (size_t)result;
    }
}

// MARK: Calls

static long transfer_call(const struct trapped *trapped, int is_sending) {
    const long *argument = trapped->argument;
    int64_t span = timeout_of((int)argument[0], is_sending ? SO_SNDTIMEO_OLD : SO_RCVTIMEO_OLD);
    if (span == NO_TIMEOUT) return pass(trapped);
    struct transfer transfer = {trapped, is_sending ? SYS_sendmsg : SYS_recvmsg, 0, is_sending ? POLLOUT : POLLIN, 0};
    transfer.deadline = sum(now(), span);
    struct iovec one = {(void *)argument[1], (size_t)argument[2]};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    uint32_t *name_bytes = NULL;
    switch (trapped->number) {
    case SYS_recvmsg:
    case SYS_sendmsg:
        transfer.flags = (int)argument[2];
        return move_all(&transfer, (struct msghdr *)argument[1]);
    case SYS_readv:
    case SYS_writev:
        message.msg_iov = (struct iovec *)argument[1];
        message.msg_iovlen = (size_t)argument[2];
        break;
    case SYS_recvfrom:
        transfer.flags = (int)argument[3];
        if (transfer.flags & MSG_OOB) transfer.event = POLLPRI;
        message.msg_name = (void *)argument[4];
        name_bytes = argument[4] ? (uint32_t *)argument[5] : NULL;
        if (name_bytes) message.msg_namelen = *name_bytes;
        break;
    case SYS_sendto:
        transfer.flags = (int)argument[3];
        message.msg_name = (void *)argument[4];
        message.msg_namelen = argument[4] ? (uint32_t)argument[5] : 0;
        break;
    default:
        break;
    }
    long result = move_all(&transfer, &message);
    if (result >= 0 && name_bytes) *name_bytes = message.msg_namelen;
    return result;
}

static long accept_call(const struct trapped *trapped) {
    int64_t span = timeout_of((int)trapped->argument[0], SO_RCVTIMEO_OLD);
    if (span == NO_TIMEOUT) return pass(trapped);
    long result = wait_until_ready((int)trapped->argument[0], POLLIN, sum(now(), span), trapped);
    if (result < 0) return result == -ETIMEDOUT ? -EAGAIN : result;
    return pass(trapped);
}

// A connection that is not there in time goes on being made, and the caller is told so.
static long connect_call(const struct trapped *trapped) {
    int descriptor = (int)trapped->argument[0];
    int64_t span = timeout_of(descriptor, SO_SNDTIMEO_OLD);
    if (span == NO_TIMEOUT) return pass(trapped);
    int64_t deadline = sum(now(), span);
    long flags = call(SYS_fcntl, descriptor, F_GETFL, 0, 0);
    call(SYS_fcntl, descriptor, F_SETFL, flags | O_NONBLOCK, 0);
    long result = pass(trapped);
    call(SYS_fcntl, descriptor, F_SETFL, flags, 0);
    if (result == -EAGAIN) {
        // A listener of this machine that has enough waiting. That it has room again is told by no descriptor.
        count_unsupported(trapped->number);
        return pass(trapped);
    }
    if (result != -EINPROGRESS && result != -EALREADY) return result;
    result = wait_until_ready(descriptor, POLLOUT, deadline, trapped);
    if (result < 0) return result == -ETIMEDOUT ? -EINPROGRESS : result;
    int error = 0;
    uint32_t bytes = sizeof error;
    call6(SYS_getsockopt, descriptor, SOL_SOCKET, SO_ERROR, (long)&error, (long)&bytes, 0);
    return -error;
}

// Its time counts between datagrams only: for the first, and for each that follows, it waits as long as it takes.
static long receive_many(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    struct mmsghdr *messages = (struct mmsghdr *)argument[1];
    struct timespec *time = (struct timespec *)argument[4];
    if (!is_valid(time)) return -EINVAL;
    int64_t deadline = sum(now(), nanoseconds(time));
    long flags = argument[3];
    unsigned count = 0;
    while (count < (unsigned)argument[2]) {
        long result = call6(SYS_recvmmsg, argument[0], (long)(messages + count), 1, flags, 0, 0);
        if (result <= 0) {
            if (count == 0) return result;
            break;
        }
        if (flags & MSG_WAITFORONE) flags |= MSG_DONTWAIT;
        int is_urgent = (messages[count++].msg_hdr.msg_flags & MSG_OOB) != 0;
        if (is_urgent || now() >= deadline) break;
    }
    put(time, left_until(deadline));
    return count;
}

long socket_call(const struct trapped *trapped) {
    switch (trapped->number) {
    case SYS_socket:
        return make_socket(trapped);
    case SYS_setsockopt:
        return set_option(trapped);
    case SYS_recvmmsg:
        return receive_many(trapped);
    case SYS_accept:
    case SYS_accept4:
        return accept_call(trapped);
    case SYS_connect:
        return connect_call(trapped);
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
        return transfer_call(trapped, 1);
    default:
        return transfer_call(trapped, 0);
    }
}
