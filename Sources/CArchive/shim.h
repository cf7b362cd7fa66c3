#pragma once
#include <archive.h>
#include <archive_entry.h>

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// sync_file_range(2) with SYNC_FILE_RANGE_WRITE: starts writing dirty pages of the range to the disk and does not
/// wait for them. The C library declares it for GNU C only, so Swift does not see it. Returns 0, or -1 with errno set.
static inline long carchive_start_writeback(int descriptor, int64_t offset, int64_t length) {
    return syscall(SYS_sync_file_range, descriptor, offset, length, 2);
}
