#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
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

enum { CONTROL = CMSG_SPACE(sizeof(int) * WAKE_MOST_RECEIVED) };

struct wake_mail {
    size_t capacity;
    struct mmsghdr headers[WAKE_MOST_PACKETS];
    struct iovec vectors[WAKE_MOST_PACKETS];
    char control[WAKE_MOST_PACKETS][CONTROL] __attribute__((aligned(8)));
    int descriptors[WAKE_MOST_RECEIVED];
    unsigned char bytes[]; // of one packet after the other
};

struct wake_mail *wake_mail_make(size_t capacity) {
    struct wake_mail *mail = malloc(sizeof *mail + capacity * WAKE_MOST_PACKETS);
    if (mail) mail->capacity = capacity;
    return mail;
}

void wake_mail_free(struct wake_mail *mail) {
    free(mail);
}

int wake_mail_receive(struct wake_mail *mail, int socket) {
    for (int index = 0; index < WAKE_MOST_PACKETS; index++) {
        mail->vectors[index] = (struct iovec){
            .iov_base = mail->bytes + mail->capacity * (size_t)index, .iov_len = mail->capacity};
        mail->headers[index].msg_hdr = (struct msghdr){
            .msg_iov = &mail->vectors[index], .msg_iovlen = 1, .msg_control = mail->control[index],
            .msg_controllen = CONTROL};
    }
    int count;
    do {
        count = recvmmsg(socket, mail->headers, WAKE_MOST_PACKETS, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL);
    } while (count < 0 && errno == EINTR);
    return count;
}

struct wake_packet wake_mail_packet(struct wake_mail *mail, int index) {
    struct msghdr *message = &mail->headers[index].msg_hdr;
    struct wake_packet packet = {
        .bytes = mail->vectors[index].iov_base, .size = mail->headers[index].msg_len, .descriptors = mail->descriptors,
        .is_truncated = (message->msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0};
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t size = header->cmsg_len - CMSG_LEN(0);
        memcpy(mail->descriptors, CMSG_DATA(header), size);
        packet.descriptor_count = (int)(size / sizeof(int));
    }
    return packet;
}

int wake_is_hung_up(int socket) {
    struct pollfd state = {.fd = socket, .events = POLLRDHUP};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
