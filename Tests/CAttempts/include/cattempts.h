// What a worker might try that a hostile photo has taken over, by the bare system calls: a library function in front of
// them could refuse by itself.
#pragma once

enum {
    /// The attempt succeeded.
    CATTEMPTS_DONE = 0,
    /// There is no such attempt, or not on this processor.
    CATTEMPTS_UNKNOWN = -1,
};

/// Tries `what` with `argument` (a path or a process id, as it wants one). Returns the error number with which it was
/// refused, or one of the above. Where the refusal is the end of the process, it does not return.
int cattempts_try(const char *what, const char *argument);

/// Takes memory until it is refused, uses all of it, and gives it back. Returns how many MiB that were, 4096 at most.
int cattempts_take_memory(void);

/// Makes of this process and of what it executes one on a kernel that refuses seccomp, or Landlock, as older ones do.
/// Returns 0, or minus an error number.
int cattempts_refuse(int seccomp, int landlock);
