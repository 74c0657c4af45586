#define _GNU_SOURCE
#include "CWakeFoundation.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// Swift's half, in WakeFoundation.
extern void wake_defaults_open(void);
extern void wake_defaults_pass(void);
extern void wake_defaults_set(const void *key, const void *value, const void *suite);
extern bool wake_defaults_prepare(const void *suite);

// Of CoreFoundation, inside Foundation.
extern const void *const kCFPreferencesCurrentApplication __attribute__((weak));
extern const void *const kCFPreferencesCurrentUser __attribute__((weak));
extern const void *const kCFPreferencesAnyHost __attribute__((weak));
extern const void *CFPreferencesCopyValue(const void *, const void *, const void *, const void *) __attribute__((weak));
extern unsigned char CFEqual(const void *, const void *) __attribute__((weak));
extern void CFRelease(const void *) __attribute__((weak));

static bool is_kept = false;
static _Thread_local bool is_bringing = false;

void wake_defaults_bring(bool begins) { is_bringing = begins; }

// The suite that has the name of the app's own domain is that domain: both have one file, and Foundation removes and replaces the
// domain by this name.
static const void *domain(const void *application) {
    if (!is_kept || is_bringing || application == kCFPreferencesCurrentApplication) return application;
    return wake_defaults_prepare(application) ? kCFPreferencesCurrentApplication : application;
}

bool wake_defaults_put(const void *key, const void *value, const void *suite) {
    typedef void (*setter)(const void *, const void *, const void *);
    setter next = (setter)dlsym(RTLD_NEXT, "CFPreferencesSetAppValue");
    if (next == NULL) return false;
    const void *place = suite == NULL ? kCFPreferencesCurrentApplication : suite;
    const void *before = CFPreferencesCopyValue(key, place, kCFPreferencesCurrentUser, kCFPreferencesAnyHost);
    bool is_same = before == NULL ? value == NULL : value != NULL && CFEqual(before, value);
    if (before != NULL) CFRelease(before);
    next(key, value, place);
    return !is_same;
}

static void set_value(const void *key, const void *value, const void *application) {
    const void *place = domain(application);
    const void *suite = place == kCFPreferencesCurrentApplication ? NULL : place;
    if (is_kept && !is_bringing) {
        wake_defaults_set(key, value, suite);
    } else {
        wake_defaults_put(key, value, suite);
    }
}

// UserDefaults sets and removes every value by this, and reads by the two below. Foundation calls its own through the table that
// the dynamic linker fills, where one of the executable comes first. Weak, so that an executable with Foundation inside can be
// linked: in that its own counts.
__attribute__((weak, alias("set_value"))) void CFPreferencesSetAppValue(const void *, const void *, const void *);

// A value.
__attribute__((weak)) const void *CFPreferencesCopyAppValue(const void *key, const void *application) {
    typedef const void *(*getter)(const void *, const void *);
    // Looked for once: reading is frequent. Threads that do it at once find the same.
    static getter next = NULL;
    if (next == NULL) next = (getter)dlsym(RTLD_NEXT, "CFPreferencesCopyAppValue");
    return next == NULL ? NULL : next(key, domain(application));
}

// All values of a domain, which are those that Foundation removes with it.
__attribute__((weak)) const void *CFPreferencesCopyMultiple(
    const void *keys, const void *application, const void *user, const void *host) {
    typedef const void *(*lister)(const void *, const void *, const void *, const void *);
    lister next = (lister)dlsym(RTLD_NEXT, "CFPreferencesCopyMultiple");
    return next == NULL ? NULL : next(keys, domain(application), user, host);
}

// Before any code of the app: what its processes set before is there from the first read.
__attribute__((constructor)) static void open_defaults(void) {
    // The descriptor that a bench left; for other programs the variable is a path.
    const char *text = getenv("WAKEBENCH_SOCKET");
    char *end = NULL;
    if (text == NULL || strtol(text, &end, 10) <= 2 || *end != '\0') return;
    // What Foundation calls.
    if (dlsym(RTLD_DEFAULT, "CFPreferencesSetAppValue") != (void *)set_value) {
        wake_defaults_pass();
        return;
    }
    wake_defaults_open();
    is_kept = true;
}
