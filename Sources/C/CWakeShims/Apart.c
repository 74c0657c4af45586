#define _GNU_SOURCE
#include "CWakeShims.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// Groups.c's: from now on wake_kill_orphans leaves the process alone.
void wake_spare(int pid);

static int named_socket(const char *path, int kind, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return socket(AF_UNIX, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int closing(int number) {
    int code = errno;
    close(number);
    errno = code;
    return -1;
}

static int listening(const char *path, int kind) {
    struct sockaddr_un address;
    int number = named_socket(path, kind, &address);
    if (number < 0) return -1;
    mode_t before = umask(0177);
    int bound = bind(number, (struct sockaddr *)&address, sizeof address);
    umask(before);
    if (bound != 0 || listen(number, kind == SOCK_STREAM ? 1024 : 8) != 0) return closing(number);
    return number;
}

static int connected(const char *path, int kind) {
    struct sockaddr_un address;
    int number = named_socket(path, kind, &address);
    if (number < 0) return -1;
    if (connect(number, (struct sockaddr *)&address, sizeof address) != 0) return closing(number);
    return number;
}

int wake_packets_listen(const char *path) { return listening(path, SOCK_SEQPACKET); }
int wake_packets_connect(const char *path) { return connected(path, SOCK_SEQPACKET); }
int wake_stream_listen(const char *path) { return listening(path, SOCK_STREAM); }
int wake_stream_connect(const char *path) { return connected(path, SOCK_STREAM); }

int wake_peer_user(int socket) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? (int)peer.uid : -1;
}

int wake_peer_process(int socket) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? (int)peer.pid : -1;
}

// The descriptor that the process is given.
enum { GIVEN = 3 };

static int add_actions(posix_spawn_file_actions_t *actions, int socket) {
    int code = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!code) code = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    if (!code) code = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
    // Also takes close-on-exec from a descriptor that has the number already.
    if (!code) code = posix_spawn_file_actions_adddup2(actions, socket, GIVEN);
    if (!code) code = posix_spawn_file_actions_addclosefrom_np(actions, GIVEN + 1);
    if (!code) code = posix_spawn_file_actions_addchdir_np(actions, "/");
    return code;
}

int wake_spawn_apart(const char *path, const char *const *arguments, int socket, int *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawn_file_actions_init(&actions);
    if (code) return code;
    code = posix_spawnattr_init(&attributes);
    if (code) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    code = add_actions(&actions, socket);
    if (!code) code = posix_spawnattr_setsigmask(&attributes, &none);
    if (!code) code = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!code) {
        code = posix_spawnattr_setflags(
            &attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
    }
    if (!code) {
        code = posix_spawn(pid, path, &actions, &attributes, (char *const *)arguments, environ);
    }
    if (!code) wake_spare(*pid);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}
