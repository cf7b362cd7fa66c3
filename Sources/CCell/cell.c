#define _GNU_SOURCE
#include "ccell.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int ccell_is_sanitized(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
    return 1;
#endif
#endif
    return 0;
}

void ccell_tune_allocator(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

void ccell_release_memory(void) { malloc_trim(0); }

static int limit(__rlimit_resource_t resource, uint64_t soft, uint64_t hard) {
    struct rlimit wanted = {soft, hard};
    struct rlimit now;
    if (getrlimit(resource, &now) != 0) return -1;
    // Somebody may have been stricter before us, and only a privileged process may raise that.
    if (wanted.rlim_max > now.rlim_max) wanted.rlim_max = now.rlim_max;
    if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
    return setrlimit(resource, &wanted);
}

int ccell_limit(const struct ccell_limits *limits) {
    if (limit(RLIMIT_CORE, 0, 0) != 0) return -1;
    // Counted for the user as a whole, so that none is the only number that bounds a worker. It holds for threads too,
    // which the decoders are told not to start (one_thread.c), and not for root.
    if (limit(RLIMIT_NPROC, 0, 0) != 0) return -1;
    if (limit(RLIMIT_NOFILE, limits->descriptors, limits->descriptors) != 0) return -1;
    if (limit(RLIMIT_FSIZE, limits->file_bytes, limits->file_bytes) != 0) return -1;
    if (limit(RLIMIT_CPU, limits->processor_seconds, limits->processor_seconds + 5) != 0) return -1;
    return limit(RLIMIT_AS, limits->address_space, limits->most_address_space);
}

int ccell_current_limits(struct ccell_limits *limits, uint64_t *processes, uint64_t *core_bytes) {
    struct rlimit found;
    if (getrlimit(RLIMIT_AS, &found) != 0) return -1;
    limits->address_space = found.rlim_cur;
    limits->most_address_space = found.rlim_max;
    if (getrlimit(RLIMIT_CPU, &found) != 0) return -1;
    limits->processor_seconds = found.rlim_cur;
    if (getrlimit(RLIMIT_FSIZE, &found) != 0) return -1;
    limits->file_bytes = found.rlim_cur;
    if (getrlimit(RLIMIT_NOFILE, &found) != 0) return -1;
    limits->descriptors = found.rlim_cur;
    if (getrlimit(RLIMIT_NPROC, &found) != 0) return -1;
    *processes = found.rlim_cur;
    if (getrlimit(RLIMIT_CORE, &found) != 0) return -1;
    *core_bytes = found.rlim_cur;
    return 0;
}

int ccell_detach(unsigned lowest) {
    if (chdir("/") != 0) return -1;
    // Without a core file a core could still go to a program that collects them; this stops that too.
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    // A kernel before 5.9 does not have the call; the parent has started this process without others anyway.
    if (close_range(lowest, ~0U, 0) != 0 && errno != ENOSYS) return -1;
    return 0;
}

pid_t ccell_make_sibling(void) {
    // The system call itself: glibc's fork takes no flags. What glibc does around it is for programs with several threads, and
    // for the number of the thread, which it asks the kernel for where it needs it.
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

int ccell_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }

int ccell_status(int descriptor, struct stat *status) { return (int)syscall(SYS_fstat, descriptor, status); }
