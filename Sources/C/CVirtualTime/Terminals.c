#define _GNU_SOURCE

#include "Controller.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Who asks a terminal for input waits for the kernel's worker first.
static void push(int process, int descriptor) {
    int borrowed = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
    if (borrowed < 0) return;
    struct pollfd one = {.fd = borrowed, .events = POLLIN};
    poll(&one, 1, 0);
    close(borrowed);
}

static int is_terminal(int folder, const char *name) {
    char target[64];
    ssize_t size = readlinkat(folder, name, target, sizeof target - 1);
    target[size > 0 ? size : 0] = 0;
    return strncmp(target, "/dev/pts/", 9) == 0 || strcmp(target, "/dev/ptmx") == 0;
}

void wake_rest_push_terminals(const struct wake_rest *rest) {
    for (int i = 0; i < wake_rest_count(rest); i++) {
        int number = wake_rest_listed(rest, i);
        // A process is asked once, by its first thread.
        int process = (int)syscall(SYS_pidfd_open, number, 0);
        if (process < 0) continue;
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd", number);
        DIR *folder = opendir(path);
        struct dirent *entry;
        while (folder && (entry = readdir(folder))) {
            if (entry->d_name[0] != '.' && is_terminal(dirfd(folder), entry->d_name)) push(process, atoi(entry->d_name));
        }
        if (folder) closedir(folder);
        close(process);
    }
}
