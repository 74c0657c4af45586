#define _GNU_SOURCE
#include "CWakeShims.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int wake_monitor_open(int room) {
    int number = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    if (number < 0) return -1;
    int on = 1;
    // Times are asked for and more room is tried for before the first packet comes; only with rights is there as much as wanted.
    int failed = setsockopt(number, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on) != 0;
    if (!failed && setsockopt(number, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        setsockopt(number, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    struct sockaddr_hci where;
    memset(&where, 0, sizeof where);
    where.hci_family = AF_BLUETOOTH;
    where.hci_dev = HCI_DEV_NONE;
    where.hci_channel = HCI_CHANNEL_MONITOR;
    if (!failed && bind(number, (struct sockaddr *)&where, sizeof where) == 0) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

ssize_t wake_monitor_receive(int number, void *bytes, size_t size, int64_t *time, int *is_cut) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(struct timeval))];
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t count;
    do {
        count = recvmsg(number, &message, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -1;
    *is_cut = (message.msg_flags & MSG_TRUNC) != 0;
    *time = 0;
    for (struct cmsghdr *each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMP) continue;
        struct timeval stamp;
        memcpy(&stamp, CMSG_DATA(each), sizeof stamp);
        *time = (int64_t)stamp.tv_sec * 1000000000 + (int64_t)stamp.tv_usec * 1000;
    }
    return count;
}

long wake_lost_packets(int number) {
    uint32_t numbers[SK_MEMINFO_VARS];
    socklen_t size = sizeof numbers;
    memset(numbers, 0, sizeof numbers);
    if (getsockopt(number, SOL_SOCKET, SO_MEMINFO, numbers, &size) != 0) return -1;
    return numbers[SK_MEMINFO_DROPS];
}
