#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// From the kernel's bluetooth.h and l2cap.h, which no package but bluez's own headers has.
enum {
    FAMILY_BLUETOOTH = 31,
    PROTOCOL_L2CAP = 0,
    LEVEL_BLUETOOTH = 274,
    OPTION_SECURITY = 4,
    OPTION_SEND_SIZE = 12,
};

struct l2cap_address {
    sa_family_t family;
    uint16_t psm; // little-endian
    uint8_t address[6];
    uint16_t channel;
    uint8_t address_type;
};

struct security {
    uint8_t level;
    uint8_t key_size;
};

static uint16_t little_endian(uint16_t number) {
    uint8_t bytes[2] = {(uint8_t)number, (uint8_t)(number >> 8)};
    uint16_t result;
    memcpy(&result, bytes, 2);
    return result;
}

// Addresses are said most significant byte first, and travel the other way round.
static void fill(struct l2cap_address *where, const struct wake_channel_end *end) {
    memset(where, 0, sizeof *where);
    where->family = FAMILY_BLUETOOTH;
    where->psm = little_endian(end->psm);
    for (int i = 0; i < 6; i++) where->address[i] = end->address[5 - i];
    where->address_type = end->address_type;
}

static int bound(const struct wake_channel_end *own, int level) {
    int number = socket(FAMILY_BLUETOOTH, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, PROTOCOL_L2CAP);
    if (number < 0) return -1;
    struct l2cap_address local;
    fill(&local, own);
    struct security security = {.level = (uint8_t)level};
    int failed = bind(number, (struct sockaddr *)&local, sizeof local) != 0;
    if (!failed && level > 0)
        failed = setsockopt(number, LEVEL_BLUETOOTH, OPTION_SECURITY, &security, sizeof security) != 0;
    if (!failed) return number;
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

int wake_channel_connect(const struct wake_channel_end *own, const struct wake_channel_end *other, int level) {
    int number = bound(own, level);
    if (number < 0) return -1;
    struct l2cap_address remote;
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
    struct l2cap_address remote;
    socklen_t size = sizeof remote;
    memset(&remote, 0, sizeof remote);
    int number;
    do {
        number = accept4(listener, (struct sockaddr *)&remote, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (number < 0 && errno == EINTR);
    if (number < 0) return -1;
    for (int i = 0; i < 6; i++) other->address[i] = remote.address[5 - i];
    other->address_type = remote.address_type;
    other->psm = 0;
    return number;
}

int wake_channel_psm(int number) {
    struct l2cap_address local;
    socklen_t size = sizeof local;
    memset(&local, 0, sizeof local);
    if (getsockname(number, (struct sockaddr *)&local, &size) != 0) return -1;
    return little_endian(local.psm);
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
    if (getsockopt(number, LEVEL_BLUETOOTH, OPTION_SEND_SIZE, &size, &length) != 0) return -1;
    return size;
}

int wake_stream_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}
