// Landlock by the numbers of its system calls: glibc has no functions for them, and Debian's headers know its second
// version where kernels have the seventh.
#define _GNU_SOURCE
#include "ccell.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

/// What a ruleset forbids unless a rule of it allows it, one bit for each right. A kernel takes a longer structure than
/// it knows as long as the rest is zero.
struct ruleset {
    uint64_t files;
    /// From version 4.
    uint64_t network;
    /// From version 6.
    uint64_t scopes;
};

enum { ask_for_version = 1 };

int ccell_forbid_files(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ask_for_version);
    if (version < 0) return -errno;
    // From execute (bit 0) to making symbolic links (bit 12) in the first version; then linking into other folders,
    // truncating, and ioctl on devices. Descriptors that were opened elsewhere keep their rights.
    uint64_t files = (1 << 13) - 1;
    if (version >= 2) files |= 1 << 13;
    if (version >= 3) files |= 1 << 14;
    if (version >= 5) files |= 1 << 15;
    struct ruleset all = {
        .files = files,
        // To bind and to connect a TCP port.
        .network = version >= 4 ? 3 : 0,
        // To connect an abstract Unix socket, and to signal a process, outside of this domain.
        .scopes = version >= 6 ? 3 : 0,
    };
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (ruleset < 0) return -errno;
    int status = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0 ? 0 : -errno;
    close(ruleset);
    return status == 0 ? (int)version : status;
}
