// What a run loop needs to watch the socket of an app, and Swift cannot import.
#pragma once

// A descriptor that is readable whenever the socket has something to read, and of which nothing can be read: a run loop takes
// eight bytes out of whatever it was woken by, which would be the head of a packet. Close-on-exec; -1 with errno.
int wake_watched(int socket);

// What is there for the main thread, without waiting for it.
enum {
    WAKE_PACKET = 1, // the socket has a packet, or has ended
    WAKE_BLOCKS = 2, // the main queue has blocks to run
};
int wake_look(int socket);
