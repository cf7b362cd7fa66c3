#define _GNU_SOURCE
#include "ccell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/// What a program does that moves bytes between sockets and files that others have opened. Found by tracing it at work.
static const int allowed[] = {
    // Sockets and files that are there.
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64),
    SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(sendfile), SCMP_SYS(fstat), SCMP_SYS(lseek),
    SCMP_SYS(close), SCMP_SYS(dup),
    // New ones of those that come to us. None to anybody else: further ones to the daemon come as descriptors (connector.c), and
    // none is of a kind that takes addresses with what is sent.
    SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(shutdown), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
    SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    // Waiting.
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait), SCMP_SYS(eventfd2), SCMP_SYS(pipe2), SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime),
    SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(futex), SCMP_SYS(sched_yield),
    // Memory.
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(membarrier),
    // Clocks, seeds, what the machine is.
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(sched_getaffinity), SCMP_SYS(getrlimit),
    // Itself and its threads.
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigsuspend), SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

static int add_rules(scmp_filter_ctx filter) {
    int status = 0;
    for (unsigned i = 0; status == 0 && i < sizeof allowed / sizeof *allowed; i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    if (status == 0) status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
    if (status == 0) status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
    // To whom a socket is connected, and to no address.
    if (status == 0)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 1, SCMP_A4(SCMP_CMP_EQ, 0));
    // Flags and copies of descriptors. Not who gets a signal when one becomes ready, which could be any process of this user.
    static const int questions[] = {F_GETFL, F_GETFD, F_SETFD, F_DUPFD_CLOEXEC};
    for (unsigned i = 0; status == 0 && i < sizeof questions / sizeof *questions; i++)
        status = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)questions[i]));
    if (status == 0)
        status = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, SCMP_A1(SCMP_CMP_EQ, F_SETFL),
            SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0));
    // Threads, and no processes. Of clone3 a filter cannot see the flags: glibc takes the old call where there is none.
    if (status == 0)
        status = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (status == 0) status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    // Names of threads.
    if (status == 0)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    // Its own limits, to be asked and not to be set.
    if (status == 0)
        status = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));
    // abort(3).
    if (status == 0)
        status = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    return status;
}

int ccell_keep_network_calls(void) {
    // Refused and not fatal: a server that dies of a library's curiosity is down for everybody.
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return -ENOMEM;
    int status = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
    if (status == 0) status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    // For threads that there are already.
    if (status == 0) status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (status == 0) status = add_rules(filter);
    if (status == 0) status = seccomp_load(filter);
    seccomp_release(filter);
    return status;
}

int ccell_limit_server(uint64_t descriptors) {
    struct rlimit found;
    if (getrlimit(RLIMIT_NOFILE, &found) != 0) return -1;
    found.rlim_cur = found.rlim_max < descriptors ? found.rlim_max : descriptors;
    if (setrlimit(RLIMIT_NOFILE, &found) != 0) return -1;
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none);
}
