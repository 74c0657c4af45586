// What Swift cannot import, and the child side of fork. Each function says why it exists.
// Functions return -1 with errno set unless they say otherwise.
#pragma once

#include <stddef.h>
#include <stdint.h>

// open(2), fcntl(2) take variable arguments, which Swift does not import.
int wake_open(const char *path, int flags, unsigned int mode);
int wake_duplicate(int descriptor);
int wake_nonblocking(int descriptor);

// strerrordesc_np(3) is a GNU extension. NULL for an unknown code.
const char *wake_reason(int code);
