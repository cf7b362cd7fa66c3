// Once a second libdispatch opens /proc/THREAD/stat for each of its threads, to see which of them run, and ends the process
// where it cannot. A process in a cell cannot. So this function stands in front of the C library's open, which libdispatch
// calls, and answers that question from memory: all of them run. What it does with the answer is to start more threads than
// there are processors where too few run; the work here does not block, so that is never wanted.
//
// To let the process read /proc instead was rejected: a filter of system calls sees no paths, so where the kernel has no
// Landlock, every file would be open to it.
#define _GNU_SOURCE
#include "cworkqueue.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/// A file in memory with the answer, or -1 while nobody wants it from us.
static atomic_int answer = -1;

int cworkqueue_answer_ourselves(void) {
    static const char running[] = "1 (worker) R\n";
    const int file = memfd_create("work-queue", MFD_CLOEXEC);
    if (file < 0) return -1;
    if (write(file, running, sizeof running - 1) != (ssize_t)(sizeof running - 1)) {
        close(file);
        return -1;
    }
    answer = file;
    return 0;
}

/// Whether it is `/proc/NUMBER/stat`.
static int is_status_of_thread(const char *path) {
    int thread = 0, end = 0;
    return sscanf(path, "/proc/%d/stat%n", &thread, &end) == 1 && end > 0 && path[end] == '\0';
}

/// Stands in front of open(2) of the C library for this program and what it is linked with.
__attribute__((visibility("default"))) int open(const char *path, int flags, ...) {
    const int file = answer;
    if (file >= 0 && is_status_of_thread(path)) {
        // The copy begins where the last reader stopped. Who reads in between finds nothing, and libdispatch then knows
        // nothing of one thread until the next second.
        lseek(file, 0, SEEK_SET);
        return fcntl(file, F_DUPFD_CLOEXEC, 3);
    }
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
