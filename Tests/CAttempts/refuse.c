#define _GNU_SOURCE
#include "cattempts.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>

int cattempts_refuse(int seccomp, int landlock) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) return -ENOMEM;
    int status = 0;
    if (seccomp) {
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(seccomp), 0);
        if (status == 0)
            status = seccomp_rule_add(
                filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
    }
    // landlock_create_ruleset
    if (status == 0 && landlock) status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), 444, 0);
    if (status == 0) status = seccomp_load(filter);
    seccomp_release(filter);
    return status;
}
