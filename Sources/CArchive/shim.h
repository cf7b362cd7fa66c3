#pragma once
#include <archive.h>
#include <archive_entry.h>

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// sync_file_range(2) with SYNC_FILE_RANGE_WRITE: starts writing dirty pages of the range to the disk and does not
/// wait for them. The C library declares it for GNU C only, so Swift does not see it. Returns 0, or -1 with errno set.
static inline long carchive_start_writeback(int descriptor, int64_t offset, int64_t length) {
    return syscall(SYS_sync_file_range, descriptor, offset, length, 2);
}

/// The same with all three flags: writes dirty pages of the range and waits until the disk has them. It may not know where
/// they are after a power cut, which only fsync(2) sees to. Returns 0, or -1 with errno set.
static inline long carchive_wait_for_writeback(int descriptor, int64_t offset, int64_t length) {
    return syscall(SYS_sync_file_range, descriptor, offset, length, 7);
}

/// ioctl_ficlonerange(2): lets `target` share blocks of `source`. Its number is made by a macro, which Swift does not see.
/// Returns 0, or -1 with errno set.
static inline int carchive_share_blocks(
    int source, int64_t source_offset, int64_t length, int target, int64_t target_offset) {
    struct file_clone_range range = {
        .src_fd = source, .src_offset = source_offset, .src_length = length, .dest_offset = target_offset};
    return ioctl(target, FICLONERANGE, &range);
}

/// Opens the file of `descriptor` once more, to be read and written past the page cache (O_DIRECT of open(2), which the C library
/// declares for GNU C only). Returns a descriptor, or -1 with errno set: EINVAL where the file system cannot.
static inline int carchive_open_direct(int descriptor) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return open(path, O_RDWR | __O_DIRECT | O_CLOEXEC);
}
