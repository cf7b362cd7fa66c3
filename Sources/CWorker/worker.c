#define _GNU_SOURCE
#include "cworker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int cworker_spawn(pid_t *pid, const char *executable, int socket, char *const arguments[], char *const environment[]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int status = posix_spawn_file_actions_init(&actions);
    if (status != 0) return status;
    status = posix_spawnattr_init(&attributes);
    if (status != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return status;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if ((status = posix_spawn_file_actions_adddup2(&actions, socket, 0)) == 0 &&
        (status = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)) == 0 &&
        (status = posix_spawn_file_actions_addclosefrom_np(&actions, 3)) == 0 &&
        (status = posix_spawnattr_setpgroup(&attributes, 0)) == 0 &&
        (status = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
        (status = posix_spawnattr_setsigdefault(&attributes, &all)) == 0 &&
        (status = posix_spawnattr_setflags(
             &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)) == 0) {
        status = posix_spawn(pid, executable, &actions, &attributes, arguments, environment);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

unsigned long long cworker_address_space(pid_t pid) {
    struct rlimit found;
    if (prlimit(pid, RLIMIT_AS, NULL, &found) != 0 || found.rlim_cur == RLIM_INFINITY) return 0;
    return found.rlim_cur;
}

int cworker_set_address_space(pid_t pid, unsigned long long bytes) {
    struct rlimit found;
    if (prlimit(pid, RLIMIT_AS, NULL, &found) != 0) return -1;
    found.rlim_cur = bytes < found.rlim_max ? bytes : found.rlim_max;
    return prlimit(pid, RLIMIT_AS, &found, NULL);
}

int cworker_wait_for_end(pid_t pid, int milliseconds) {
    int process = pidfd_open(pid, 0);
    if (process < 0) return errno == ESRCH;
    struct pollfd end = {.fd = process, .events = POLLIN};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long deadline = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + milliseconds;
    int count, left = milliseconds;
    // A signal that comes meanwhile does not make it longer.
    while ((count = poll(&end, 1, left)) < 0 && errno == EINTR) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        long long rest = deadline - (now.tv_sec * 1000LL + now.tv_nsec / 1000000);
        left = rest > 0 ? (int)rest : 0;
    }
    close(process);
    return count > 0;
}

long long cworker_processor_time(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}
