#define _GNU_SOURCE
#include "ccell.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/// What decoding takes beside the calls below whose arguments are looked at. Found by tracing the whole corpus; what is
/// missing here shows as a photo whose worker ended with SIGSYS.
static const int allowed[] = {
    // The source, the outputs, and what its own memory is (kept open from before).
    SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(ftruncate),
    SCMP_SYS(fstat), SCMP_SYS(lseek), SCMP_SYS(close),
    // Memory.
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
    // Locks and clocks; the vDSO answers for most of these.
    SCMP_SYS(futex), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(sched_yield),
    // Seeds of hash tables.
    SCMP_SYS(getrandom),
    // Itself.
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
    SCMP_SYS(exit), SCMP_SYS(exit_group),
};

/// What libraries try in passing, and do without: optional files, how many processors there are, whether an output is a
/// terminal. Refused instead of fatal, so that a good photo survives a library that is curious.
static const int refused[] = {
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(creat), SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(ioctl), SCMP_SYS(fcntl), SCMP_SYS(prctl), SCMP_SYS(sysinfo),
    SCMP_SYS(uname), SCMP_SYS(sched_getaffinity), SCMP_SYS(getrlimit),
};

enum { conversation = 0 };

static int add_rules(scmp_filter_ctx filter) {
    int status = 0;
    for (unsigned i = 0; status == 0 && i < sizeof allowed / sizeof *allowed; i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (unsigned i = 0; status == 0 && i < sizeof refused / sizeof *refused; i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
    // Memory that is never executed: nothing here makes code while it runs.
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    if (status == 0) status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
    if (status == 0) status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
    // The parent, and nobody else whose socket might come as a descriptor.
    const struct scmp_arg_cmp parent = SCMP_A0(SCMP_CMP_EQ, conversation);
    if (status == 0) status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1, parent);
    if (status == 0) status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), 1, parent);
    // abort(3), so that a library's assertion is told from a call that is not on the list.
    if (status == 0)
        status = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 3, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()),
            SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)gettid()), SCMP_A2(SCMP_CMP_EQ, SIGABRT));
    return status;
}

int ccell_forbid_calls(void) {
    // A kernel before 4.14 knows only how to end the thread, and a worker has one.
    const uint32_t end = seccomp_api_get() >= 3 ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_KILL_THREAD;
    scmp_filter_ctx filter = seccomp_init(end);
    if (!filter) return -ENOMEM;
    // The kernel's own error number, and not libseccomp's word for any of them.
    int status = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
    if (status == 0) status = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, end);
    // Sorted as a tree: some fifty rules are six comparisons, not fifty.
    if (status == 0) status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (status == 0) status = add_rules(filter);
    if (status == 0) status = seccomp_load(filter);
    seccomp_release(filter);
    return status;
}
