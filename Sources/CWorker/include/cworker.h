// What starting a worker process needs and Swift does not import from glibc.
#pragma once
#include <sys/types.h>

/// Starts `executable` in a process group of its own, with `socket` as descriptor 0, /dev/null as 1, this
/// process's 2, no other descriptor, no blocked signal and default dispositions. Returns 0 or an error number.
int cworker_spawn(pid_t *pid, const char *executable, int socket, char *const arguments[], char *const environment[]);

/// Address space of a process in bytes (the soft limit of RLIMIT_AS), or 0 where it has no limit or none can be told.
unsigned long long cworker_address_space(pid_t pid);

/// Sets it, up to the hard limit, which the process has set itself. Returns 0, or -1 with errno set.
int cworker_set_address_space(pid_t pid, unsigned long long bytes);

/// Waits until a child has ended, for so many milliseconds at most, and leaves it to be reaped. Returns 1 where it has, also
/// where it is reaped already; 0 where it goes on, or nobody can tell.
int cworker_wait_for_end(pid_t pid, int milliseconds);

/// Nanoseconds that a process has been on processors, all of its threads together, or 0 where it has gone.
long long cworker_processor_time(pid_t pid);
