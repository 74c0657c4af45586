// Position independent programs without a dynamic loader. Nothing tells their calls from an app's but the place they are
// made from: so such a program is laid where no other lies, in the layout that the kernel keeps for old programs
// (personality(2), ADDR_COMPAT_LAYOUT), and the filter lets through what comes from there. The library is not in it; it
// lives on wall time. What is started by other ways than the C library's functions is not seen here, and is killed.
#include "Inside.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

// How often a script may be interpreted by a script, as in the kernel.
enum { MOST_SCRIPTS = 5, SCRIPT_LINE = 256, MOST_PARTS = 64 };

static int is_apart(int file, const Elf64_Ehdr *head) {
    if (head->e_type != ET_DYN || head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum > MOST_PARTS) return 0;
    for (int index = 0; index < head->e_phnum; index++) {
        Elf64_Phdr part;
        off_t place = (off_t)(head->e_phoff + (uint64_t)index * sizeof part);
        if (pread(file, &part, sizeof part, place) != sizeof part || part.p_type == PT_INTERP) return 0;
    }
    return head->e_phnum > 0;
}

// The program that a script names in its first line; "" for none.
static void read_interpreter(const char *line, char *path) {
    const char *first = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(first, " \t\n");
    memcpy(path, first, length);
    path[length] = 0;
}

// Whether what is started from this file, which is closed, is such a program.
static int must_lie_apart(int file) {
    for (int scripts = 0; file >= 0 && scripts < MOST_SCRIPTS; scripts++) {
        union {
            Elf64_Ehdr head;
            char line[SCRIPT_LINE];
        } begin;
        char path[SCRIPT_LINE];
        memset(&begin, 0, sizeof begin);
        ssize_t size = pread(file, &begin, sizeof begin - 1, 0);
        int is_program = size >= (ssize_t)sizeof begin.head && memcmp(begin.line, ELFMAG, SELFMAG) == 0
            && begin.line[EI_CLASS] == ELFCLASS64;
        int is_found = is_program && is_apart(file, &begin.head);
        int is_script = size > 2 && begin.line[0] == '#' && begin.line[1] == '!';
        if (is_script) read_interpreter(begin.line, path);
        close(file);
        if (!is_script) return is_found;
        file = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (file >= 0) close(file);
    return 0;
}

static int open_program(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

// As execvp(3) looks for it.
static int open_in_path(const char *file) {
    if (strchr(file, '/')) return open_program(file);
    const char *folders = getenv("PATH");
    for (const char *folder = folders ? folders : "/bin:/usr/bin"; folder;) {
        char path[PATH_MAX];
        const char *end = strchrnul(folder, ':');
        int length = (int)(end - folder);
        int size = snprintf(path, sizeof path, "%.*s%s%s", length, folder, length > 0 ? "/" : "", file);
        if (size < (int)sizeof path && access(path, X_OK) == 0) return open_program(path);
        folder = *end ? end + 1 : NULL;
    }
    return -1;
}

static int lay_apart(int file) {
    int kept_error = errno, layout = -1;
    if (must_lie_apart(file)) {
        layout = personality(0xffffffff);
        if (layout >= 0) personality((unsigned long)layout | ADDR_COMPAT_LAYOUT);
    }
    errno = kept_error;
    return layout;
}

int prepare_layout(const char *path) { return page ? lay_apart(open_program(path)) : -1; }

int prepare_layout_in_path(const char *file) { return page ? lay_apart(open_in_path(file)) : -1; }

int prepare_layout_at(int directory, const char *path, int flags) {
    if (!page) return -1;
    if (!(flags & AT_EMPTY_PATH) || *path) return lay_apart(openat(directory, path, O_RDONLY | O_CLOEXEC));
    char own[64];
    snprintf(own, sizeof own, "/proc/self/fd/%d", directory);
    return lay_apart(open_program(own));
}

void restore_layout(int layout) {
    int kept_error = errno;
    if (layout >= 0) personality((unsigned long)layout);
    errno = kept_error;
}
