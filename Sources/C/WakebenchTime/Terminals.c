// Pseudo-terminals. What is written to one end comes to the other by a worker of the kernel, while everybody may sleep: the
// bench is told that there are such, and pushes what is on its way.
#include "Inside.h"

// Each is unlocked by its maker.
long terminal_call(const struct trapped *trapped) {
    const long *argument = trapped->argument;
    atomic_fetch_add_explicit(&page->terminals, 1, memory_order_relaxed);
    return call(SYS_ioctl, marked(argument[0]), argument[1], argument[2], 0);
}
