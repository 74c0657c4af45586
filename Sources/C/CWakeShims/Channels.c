#define _GNU_SOURCE
#include "CWakeShims.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Addresses are said most significant byte first, and travel the other way round.
static void fill(struct sockaddr_l2 *where, const struct wake_channel_end *end) {
    memset(where, 0, sizeof *where);
    where->l2_family = AF_BLUETOOTH;
    where->l2_psm = htobs(end->psm);
    for (int i = 0; i < 6; i++) where->l2_bdaddr.b[i] = end->address[5 - i];
    where->l2_bdaddr_type = end->address_type;
}

static int bound(const struct wake_channel_end *own, int level) {
    int number = socket(AF_BLUETOOTH, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (number < 0) return -1;
    struct sockaddr_l2 local;
    fill(&local, own);
    struct bt_security security = {.level = (uint8_t)level};
    int failed = bind(number, (struct sockaddr *)&local, sizeof local) != 0;
    if (!failed && level > 0)
        failed = setsockopt(number, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security) != 0;
    if (!failed) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

int wake_channel_connect(const struct wake_channel_end *own, const struct wake_channel_end *other, int level) {
    int number = bound(own, level);
    if (number < 0) return -1;
    struct sockaddr_l2 remote;
    fill(&remote, other);
    int result;
    do {
        result = connect(number, (struct sockaddr *)&remote, sizeof remote);
    } while (result != 0 && errno == EINTR);
    if (result == 0 || errno == EINPROGRESS || errno == EAGAIN) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

int wake_attribute_connect(const struct wake_channel_end *own, const struct wake_channel_end *other) {
    int number = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (number < 0) return -1;
    struct sockaddr_l2 local, remote;
    fill(&local, own);
    fill(&remote, other);
    local.l2_cid = remote.l2_cid = htobs(4);
    int failed = bind(number, (struct sockaddr *)&local, sizeof local) != 0;
    if (!failed) {
        do {
            failed = connect(number, (struct sockaddr *)&remote, sizeof remote) != 0;
        } while (failed && errno == EINTR);
        if (!failed || errno == EINPROGRESS || errno == EAGAIN) return number;
    }
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

int wake_channel_listen(const struct wake_channel_end *own, int level, int backlog) {
    int number = bound(own, level);
    if (number < 0) return -1;
    if (listen(number, backlog) == 0) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

int wake_channel_accept(int listener, struct wake_channel_end *other) {
    struct sockaddr_l2 remote;
    socklen_t size = sizeof remote;
    memset(&remote, 0, sizeof remote);
    int number;
    do {
        number = accept4(listener, (struct sockaddr *)&remote, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (number < 0 && errno == EINTR);
    if (number < 0) return -1;
    for (int i = 0; i < 6; i++) other->address[i] = remote.l2_bdaddr.b[5 - i];
    other->address_type = remote.l2_bdaddr_type;
    other->psm = 0;
    return number;
}

int wake_channel_psm(int number) {
    struct sockaddr_l2 local;
    socklen_t size = sizeof local;
    memset(&local, 0, sizeof local);
    if (getsockname(number, (struct sockaddr *)&local, &size) != 0) return -1;
    return btohs(local.l2_psm);
}

int wake_socket_error(int number) {
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) != 0) return errno;
    return code;
}

int wake_channel_send_size(int number) {
    uint16_t size = 0;
    socklen_t length = sizeof size;
    if (getsockopt(number, SOL_BLUETOOTH, BT_SNDMTU, &size, &length) != 0) return -1;
    return size;
}

int wake_stream_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}
