#include "timed.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int become_refused(char **arguments) {
    char *first;
    uint32_t number = (uint32_t)strtol(arguments[0], &first, 10);
    int is_any = *first != '/';
    uint32_t error = SECCOMP_RET_ERRNO | (uint32_t)atoi(arguments[1]);
    const struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | (is_any ? BPF_JGE : BPF_JEQ) | BPF_K, is_any ? 0 : (uint32_t)atoi(first + 1), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof steps / sizeof *steps, (struct sock_filter *)steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 1;
    execv(arguments[2], arguments + 2);
    return 1;
}
