#define _GNU_SOURCE

#include "Controller.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

char *wake_time_own_file(void) {
    Dl_info information;
    struct link_map *map = NULL;
    void *here = (void *)(uintptr_t)wake_time_own_file;
    if (!dladdr1(here, &information, (void **)&map, RTLD_DL_LINKMAP) || !map) return NULL;
    // The program itself has no name there, and the one that it was called by may mean something on PATH alone.
    return realpath(map->l_name[0] ? map->l_name : "/proc/self/exe", NULL);
}
