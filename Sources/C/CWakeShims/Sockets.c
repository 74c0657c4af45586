#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
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

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

// Writes one end of a connection as sock_diag(7) has it.
static void write_end(const union address *end, __be32 *address, __be16 *port) {
    if (end->any.sa_family == AF_INET6) {
        memcpy(address, &end->six.sin6_addr, sizeof end->six.sin6_addr);
        *port = end->six.sin6_port;
    } else {
        memcpy(address, &end->four.sin_addr, sizeof end->four.sin_addr);
        *port = end->four.sin_port;
    }
}

// The user of the one socket that has these two ends: 1; 0 when no process has it; -1 with errno.
static int ask_user(int netlink, const union address *own, const union address *other, uint32_t interface, uint32_t *user) {
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } question;
    memset(&question, 0, sizeof question);
    question.head.nlmsg_len = sizeof question;
    question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.body.sdiag_family = (__u8)own->any.sa_family;
    question.body.sdiag_protocol = IPPROTO_TCP;
    struct inet_diag_sockid *id = &question.body.id;
    write_end(own, id->idiag_src, &id->idiag_sport);
    write_end(other, id->idiag_dst, &id->idiag_dport);
    id->idiag_if = interface;
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (sendto(netlink, &question, sizeof question, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0) return -1;
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    // The kernel has answered before the question was sent.
    ssize_t size = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT);
    if (size < 0) return -1;
    if (answer.head.nlmsg_type == NLMSG_ERROR && size >= (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        errno = -((const struct nlmsgerr *)NLMSG_DATA(&answer.head))->error;
        return -1;
    }
    if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || size < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg))) {
        errno = EPROTO;
        return -1;
    }
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
    // One that listens is found in the place of a connection that has gone.
    if (found->id.idiag_sport != id->idiag_sport || found->id.idiag_dport != id->idiag_dport || found->idiag_inode == 0)
        return 0;
    *user = found->idiag_uid;
    return 1;
}

int wake_tcp_peer_user(int number, uint32_t *user) {
    union address own, peer;
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    memset(&own, 0, sizeof own);
    memset(&peer, 0, sizeof peer);
    if (getsockname(number, &own.any, &own_size) != 0 || getpeername(number, &peer.any, &peer_size) != 0) return -1;
    if (own.any.sa_family != AF_INET && own.any.sa_family != AF_INET6) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0) return -1;
    // A socket that is bound to an interface is found by its number alone; the loopback interface is always the first.
    int result = ask_user(netlink, &peer, &own, 0, user);
    if (result == 0 || (result < 0 && errno == ENOENT)) result = ask_user(netlink, &peer, &own, 1, user);
    // A kernel that can answer nothing of TCP says ENOENT, too, and says it also of the end that is here.
    uint32_t own_user;
    if (result < 0 && errno == ENOENT && ask_user(netlink, &own, &peer, 0, &own_user) >= 0) result = 0;
    int code = errno;
    close(netlink);
    errno = code;
    return result;
}
