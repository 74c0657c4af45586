#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/sockios.h>

// Glibc's own tcp_info ends before the fields that count bytes, and the kernel's header names no states: TCP_ESTABLISHED of
// its include/net/tcp_states.h.
enum { established = 1 };

int wake_tcp_counts(int number, struct wake_tcp_counts *counts) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(number, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
    if (length < offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans) return -1;
    counts->sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans;
    counts->received = info.tcpi_bytes_received;
    counts->not_sent = info.tcpi_notsent_bytes;
    counts->is_whole = info.tcpi_state == established;
    return 0;
}

int wake_readable_bytes(int number) {
    int count = 0;
    return ioctl(number, SIOCINQ, &count) == 0 ? count : -1;
}

int wake_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int wake_tcp_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

int wake_tcp_type(void) { return SOCK_STREAM; }

int wake_end_listening(int pid, int number, uint64_t inode) {
    int process = wake_pidfd_open(pid);
    if (process < 0) return -1;
    int own = (int)syscall(SYS_pidfd_getfd, process, number, 0);
    int code = errno;
    close(process);
    if (own < 0) {
        errno = code;
        return -1;
    }
    struct stat status;
    int result = fstat(own, &status);
    // The number may mean something else by now.
    if (result == 0 && (uint64_t)status.st_ino != inode) {
        result = -1;
        errno = ESTALE;
    }
    if (result == 0) result = shutdown(own, SHUT_RDWR);
    code = errno;
    close(own);
    errno = code;
    return result;
}

int wake_routes_open(void) {
    int number = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (number < 0) return -1;
    struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
    if (bind(number, (struct sockaddr *)&own, sizeof own) == 0) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}
