// What starting and restricting a worker process needs and Swift does not import from glibc.
#pragma once
#include <sys/types.h>

/// Starts `executable` in a process group of its own, with `socket` as descriptor 0, /dev/null as 1, this
/// process's 2, no other descriptor, no blocked signal and default dispositions. Returns 0 or an error number.
int cworker_spawn(pid_t *pid, const char *executable, int socket, char *const arguments[], char *const environment[]);

/// One arena, and freed blocks of a megabyte or more go back to the system at once.
void cworker_tune_allocator(void);

/// Gives back what freed memory the allocator still holds.
void cworker_release_memory(void);

/// Limits of this process: address space in bytes (0 leaves it), no core files, no new privileges.
int cworker_limit(unsigned long long address_space);
