// Programs that an app starts. The filter outlives exec, and a program that traps without a handler is killed: so the two
// variables that bring this library and its page along are put back into an environment that lacks them. A program
// without a dynamic loader is not helped by that, but by being laid apart (Static.c).
#include "Inside.h"

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD"

// "WAKEBENCH_TIME_PAGE=…" and this library's own path.
static char page_entry[sizeof WAKE_TIME_VARIABLE + PATH_MAX];
static char library[PATH_MAX];

typedef char *const *strings;
static int (*next_execve)(const char *, strings, strings);
static int (*next_execvpe)(const char *, strings, strings);
static int (*next_fexecve)(int, strings, strings);
typedef int spawn_function(
    pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, strings, strings);
static spawn_function *next_spawn, *next_spawnp;
static int (*next_system)(const char *);
static FILE *(*next_popen)(const char *, const char *);

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

void find_program_functions(const char *page_path) {
    next_execve = next("execve");
    next_execvpe = next("execvpe");
    next_fexecve = next("fexecve");
    next_spawn = next("posix_spawn");
    next_spawnp = next("posix_spawnp");
    next_system = next("system");
    next_popen = next("popen");
    if (!page_path) return;
    snprintf(page_entry, sizeof page_entry, "%s=%s", WAKE_TIME_VARIABLE, page_path);
    Dl_info own;
    if (dladdr((void *)find_program_functions, &own) == 0 || !realpath(own.dli_fname, library)) library[0] = 0;
}

// MARK: An environment with both

// Nothing is allocated: this may run between fork and exec, or in a child that shares its parent's memory.
struct completed {
    size_t count;         // of the entries that there are
    size_t preload_bytes; // of the new LD_PRELOAD; 0: it is right as it is
    const char *preload;  // the value it has
    int lacks_page;
};

static const char *value_of(const char *entry, const char *name) {
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

static struct completed examine(strings environment) {
    struct completed it = {.preload = NULL, .lacks_page = 1};
    for (; environment && environment[it.count]; it.count++) {
        const char *value = value_of(environment[it.count], PRELOAD);
        if (value && !it.preload) it.preload = value;
        if (strcmp(environment[it.count], page_entry) == 0) it.lacks_page = 0;
    }
    if (it.preload && strstr(it.preload, library)) return it;
    it.preload_bytes = sizeof PRELOAD + strlen(library) + (it.preload ? strlen(it.preload) : 0) + 2;
    return it;
}

static int is_complete(const struct completed *it) { return !it->lacks_page && it->preload_bytes == 0; }

static strings fill(const struct completed *it, strings environment, char **entries, char *preload) {
    size_t count = 0;
    for (size_t index = 0; index < it->count; index++) {
        char *entry = environment[index];
        if (it->preload_bytes > 0 && value_of(entry, PRELOAD)) continue;
        if (it->lacks_page && value_of(entry, WAKE_TIME_VARIABLE)) continue;
        entries[count++] = entry;
    }
    if (it->lacks_page) entries[count++] = page_entry;
    if (it->preload_bytes > 0) {
        char *end = stpcpy(stpcpy(preload, PRELOAD "="), library);
        if (it->preload && *it->preload) stpcpy(stpcpy(end, ":"), it->preload);
        entries[count++] = preload;
    }
    entries[count] = NULL;
    return entries;
}

static int must_complete(const struct completed *it) { return page && library[0] && !is_complete(it); }

// The environment itself, or one on the caller's stack.
#define COMPLETED(environment)                                                                                         \
    ({                                                                                                                 \
        strings given = (environment);                                                                                 \
        struct completed examined = examine(given);                                                                    \
        must_complete(&examined)                                                                                       \
            ? fill(&examined, given, alloca((examined.count + 3) * sizeof(char *)), alloca(examined.preload_bytes + 1)) \
            : given;                                                                                                   \
    })

// MARK: exec

PUBLIC int execve(const char *path, strings arguments, strings environment) {
    (void)is_virtual();
    strings complete = COMPLETED(environment);
    int layout = prepare_layout(path);
    int result = next_execve(path, arguments, complete);
    restore_layout(layout);
    return result;
}

PUBLIC int execv(const char *path, strings arguments) { return execve(path, arguments, environ); }

PUBLIC int execvpe(const char *file, strings arguments, strings environment) {
    (void)is_virtual();
    strings complete = COMPLETED(environment);
    int layout = prepare_layout_in_path(file);
    int result = next_execvpe(file, arguments, complete);
    restore_layout(layout);
    return result;
}

PUBLIC int execvp(const char *file, strings arguments) { return execvpe(file, arguments, environ); }

PUBLIC int fexecve(int descriptor, strings arguments, strings environment) {
    (void)is_virtual();
    strings complete = COMPLETED(environment);
    int layout = prepare_layout_at(descriptor, "", AT_EMPTY_PATH);
    int result = next_fexecve(descriptor, arguments, complete);
    restore_layout(layout);
    return result;
}

PUBLIC int execveat(int directory, const char *path, strings arguments, strings environment, int flags) {
    (void)is_virtual();
    strings complete = COMPLETED(environment);
    int layout = prepare_layout_at(directory, path, flags);
    long result = call6(SYS_execveat, directory, (long)path, (long)arguments, (long)complete, flags, 0);
    restore_layout(layout);
    return told(result);
}

static size_t count_of(va_list list) {
    size_t count = 1;
    while (va_arg(list, const char *)) count++;
    return count;
}

static void collect(const char *first, va_list list, const char **arguments) {
    size_t count = 0;
    for (const char *argument = first; argument; argument = va_arg(list, const char *)) arguments[count++] = argument;
    arguments[count] = NULL;
}

// The arguments from `first` on, as an array on the stack.
#define COLLECTED(first, list)                                                                                         \
    ({                                                                                                                 \
        va_list counted;                                                                                               \
        va_start(counted, first);                                                                                      \
        const char **collected = alloca((count_of(counted) + 1) * sizeof *collected);                                  \
        va_end(counted);                                                                                               \
        va_start(list, first);                                                                                         \
        collect(first, list, collected);                                                                               \
        (strings) collected;                                                                                           \
    })

PUBLIC int execl(const char *path, const char *first, ...) {
    va_list list;
    strings arguments = COLLECTED(first, list);
    va_end(list);
    return execv(path, arguments);
}

PUBLIC int execlp(const char *file, const char *first, ...) {
    va_list list;
    strings arguments = COLLECTED(first, list);
    va_end(list);
    return execvp(file, arguments);
}

PUBLIC int execle(const char *path, const char *first, ...) {
    va_list list;
    strings arguments = COLLECTED(first, list);
    va_end(list);
    // A list that was handed to a function is spent. The environment stands behind the NULL.
    va_start(list, first);
    for (const char *argument = first; argument;) argument = va_arg(list, const char *);
    strings environment = va_arg(list, strings);
    va_end(list);
    return execve(path, arguments, environment);
}

// MARK: Other ways to start one

PUBLIC int posix_spawn(
    pid_t *restrict process, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
    const posix_spawnattr_t *restrict attributes, strings arguments, strings environment) {
    (void)is_virtual();
    strings complete = COMPLETED(environment);
    int layout = prepare_layout(path);
    int result = next_spawn(process, path, actions, attributes, arguments, complete);
    restore_layout(layout);
    return result;
}

PUBLIC int posix_spawnp(
    pid_t *restrict process, const char *restrict file, const posix_spawn_file_actions_t *restrict actions,
    const posix_spawnattr_t *restrict attributes, strings arguments, strings environment) {
    (void)is_virtual();
    strings complete = COMPLETED(environment);
    int layout = prepare_layout_in_path(file);
    int result = next_spawnp(process, file, actions, attributes, arguments, complete);
    restore_layout(layout);
    return result;
}

// These two take the environment of the process.
static void complete_own(void) {
    struct completed examined = examine(environ);
    if (!must_complete(&examined)) return;
    if (examined.lacks_page) setenv(WAKE_TIME_VARIABLE, page_entry + sizeof WAKE_TIME_VARIABLE, 1);
    if (examined.preload_bytes == 0) return;
    char *preload = alloca(examined.preload_bytes + 1);
    char *end = stpcpy(preload, library);
    if (examined.preload && *examined.preload) stpcpy(stpcpy(end, ":"), examined.preload);
    setenv(PRELOAD, preload, 1);
}

PUBLIC int system(const char *command) {
    if (is_virtual()) complete_own();
    return next_system(command);
}

PUBLIC FILE *popen(const char *command, const char *mode) {
    if (is_virtual()) complete_own();
    return next_popen(command, mode);
}
