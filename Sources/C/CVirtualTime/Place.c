#define _GNU_SOURCE

#include "Controller.h"

#include <dlfcn.h>
#include <stdlib.h>

char *wake_time_own_file(void) {
    Dl_info information;
    if (!dladdr((void *)(uintptr_t)wake_time_own_file, &information) || !information.dli_fname) return NULL;
    return realpath(information.dli_fname, NULL);
}
