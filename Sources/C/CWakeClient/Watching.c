#define _GNU_SOURCE
#include "CWakeClient.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

// Of libdispatch: what the main run loop watches for the main queue. Also Foundation's run loop asks for it by this name.
int _dispatch_get_main_queue_port_4CF(void);

int wake_watched(int socket) {
    int watched = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (watched >= 0 && epoll_ctl(watched, EPOLL_CTL_ADD, socket, &event) != 0) {
        int cause = errno;
        close(watched);
        errno = cause;
        return -1;
    }
    return watched;
}

int wake_look(int socket) {
    struct pollfd places[] = {
        {.fd = socket, .events = POLLIN},
        {.fd = _dispatch_get_main_queue_port_4CF(), .events = POLLIN},
    };
    int count;
    do {
        count = poll(places, 2, 0);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return 0;
    return (places[0].revents ? WAKE_PACKET : 0) | (places[1].revents ? WAKE_BLOCKS : 0);
}
