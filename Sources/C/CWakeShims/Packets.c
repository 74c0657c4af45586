#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int wake_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
    char control[CMSG_SPACE(sizeof(int) * WAKE_MOST_DESCRIPTORS)] __attribute__((aligned(8)));
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (descriptor_count > WAKE_MOST_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    if (descriptor_count > 0) {
        size_t size = sizeof(int) * (size_t)descriptor_count;
        memset(control, 0, sizeof control);
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return 1;
    return errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS ? 0 : -1;
}

ssize_t wake_receive(int socket, void *buffer, size_t capacity, int *descriptors, int *descriptor_count, int *truncated) {
    char control[CMSG_SPACE(sizeof(int) * WAKE_MOST_RECEIVED)] __attribute__((aligned(8)));
    struct iovec vector = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    *descriptor_count = 0;
    *truncated = 0;
    ssize_t count;
    do {
        count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t size = header->cmsg_len - CMSG_LEN(0);
        memcpy(descriptors, CMSG_DATA(header), size);
        *descriptor_count = (int)(size / sizeof(int));
    }
    *truncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
    return count;
}

int wake_is_hung_up(int socket) {
    struct pollfd state = {.fd = socket, .events = POLLRDHUP};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
