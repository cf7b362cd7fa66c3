#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { most_descriptors = 8 };

int clinux_is_being_written(int descriptor) {
    // A lease for reading is refused while anybody may write (fcntl(2), "Leases"). Who opens the file while this has it is
    // announced by a signal, in place of the one that would end this process by one that nobody hears.
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -1;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -1;
    return fcntl(descriptor, F_SETLEASE, F_UNLCK) == 0 ? 0 : -1;
}

static ssize_t send_files(int socket, const void *bytes, size_t length, const int *descriptors, int count, int flags) {
    if (count < 0 || count > most_descriptors) {
        errno = EINVAL;
        return -1;
    }
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = length};
    union {
        char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
        struct cmsghdr alignment;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (count > 0) {
        size_t size = sizeof(int) * (size_t)count;
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

static ssize_t receive_files(int socket, void *bytes, size_t length, int *descriptors, int capacity, int *count, int flags) {
    *count = 0;
    struct iovec vector = {.iov_base = bytes, .iov_len = length};
    union {
        char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
        struct cmsghdr alignment;
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t received;
    do {
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int arrived = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        const unsigned char *data = CMSG_DATA(header);
        for (int i = 0; i < arrived; i++) {
            int descriptor;
            memcpy(&descriptor, data + sizeof(int) * (size_t)i, sizeof descriptor);
            if (*count < capacity) {
                descriptors[(*count)++] = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
    return received;
}

ssize_t clinux_send_with_descriptors(int socket, const void *bytes, size_t length, const int *descriptors, int count) {
    return send_files(socket, bytes, length, descriptors, count, 0);
}

ssize_t clinux_receive_with_descriptors(int socket, void *bytes, size_t length, int *descriptors, int capacity, int *count) {
    return receive_files(socket, bytes, length, descriptors, capacity, count, 0);
}

ssize_t clinux_send_files_now(int socket, const void *bytes, size_t length, const int *descriptors, int count) {
    return send_files(socket, bytes, length, descriptors, count, MSG_DONTWAIT);
}

ssize_t clinux_receive_files_now(int socket, void *bytes, size_t length, int *descriptors, int capacity, int *count) {
    return receive_files(socket, bytes, length, descriptors, capacity, count, MSG_DONTWAIT);
}

int clinux_peer_credentials(int socket, pid_t *pid, uid_t *uid, gid_t *gid) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

int clinux_raise_open_files(void) {
    struct rlimit found;
    if (getrlimit(RLIMIT_NOFILE, &found) != 0) return -1;
    if (found.rlim_cur < found.rlim_max) {
        rlim_t allowed = found.rlim_cur;
        found.rlim_cur = found.rlim_max;
        // What the kernel does not grant leaves what there was.
        if (setrlimit(RLIMIT_NOFILE, &found) != 0) found.rlim_cur = allowed;
    }
    return found.rlim_cur < INT_MAX ? (int)found.rlim_cur : INT_MAX;
}

int64_t clinux_bound_address_space(void) {
    struct rlimit found;
    if (getrlimit(RLIMIT_AS, &found) != 0 || found.rlim_cur == RLIM_INFINITY) return -1;
    mallopt(M_ARENA_MAX, 2);
    return found.rlim_cur < INT64_MAX ? (int64_t)found.rlim_cur : INT64_MAX;
}

int clinux_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }

int clinux_openat(int folder, const char *path, int flags, mode_t mode) {
    return openat(folder, path, flags | O_CLOEXEC, mode);
}

int clinux_open_name(const char *path, int follows_link) {
    return open(path, O_PATH | O_CLOEXEC | (follows_link ? 0 : O_NOFOLLOW));
}

int clinux_reopen(int descriptor, int flags) {
    char path[sizeof "/proc/self/fd/" + 3 * sizeof descriptor];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return open(path, flags | O_CLOEXEC);
}

int clinux_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

long clinux_file_system(const char *path) {
    struct statfs found;
    return statfs(path, &found) == 0 ? (long)found.f_type : -1;
}

long clinux_file_system_of(int descriptor) {
    struct statfs found;
    return fstatfs(descriptor, &found) == 0 ? (long)found.f_type : -1;
}

static int64_t largest_file(long file_system) {
    // FAT has 32 bits for a size; the limits of the others are past all disks.
    uint64_t most = file_system == MSDOS_SUPER_MAGIC ? UINT32_MAX : INT64_MAX;
    struct rlimit own;
    if (getrlimit(RLIMIT_FSIZE, &own) == 0 && own.rlim_cur < most) most = own.rlim_cur;
    return most == INT64_MAX ? -1 : (int64_t)most;
}

int64_t clinux_largest_file_of(int descriptor) { return largest_file(clinux_file_system_of(descriptor)); }

int64_t clinux_largest_file(const char *path) { return largest_file(clinux_file_system(path)); }

int clinux_process_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_process_signal(int process, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, process, signal, NULL, 0);
}

pid_t clinux_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

int clinux_set_thread_niceness(int niceness) {
    return setpriority(PRIO_PROCESS, (id_t)clinux_thread_id(), niceness);
}

int clinux_set_thread_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

int clinux_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0); }

int clinux_terminal_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int clinux_terminal_size(int descriptor, struct clinux_terminal *size) {
    struct winsize found;
    if (ioctl(descriptor, TIOCGWINSZ, &found) != 0) return -1;
    *size = (struct clinux_terminal){
        .columns = found.ws_col, .rows = found.ws_row, .width = found.ws_xpixel, .height = found.ws_ypixel};
    return 0;
}

int clinux_pipe(int ends[2], int capacity) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    // Where it stays smaller it is slower, and no worse.
    (void)fcntl(ends[1], F_SETPIPE_SZ, capacity);
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) return 0;
    int failure = errno;
    close(ends[0]);
    close(ends[1]);
    errno = failure;
    return -1;
}

int clinux_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int clinux_output_file(const char *name, int64_t bytes) {
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    // What this process may write holds for memory too. Whoever writes past it gets EFBIG.
    int64_t most = clinux_largest_file_of(file);
    if (ftruncate(file, most >= 0 && most < bytes ? most : bytes) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_GROW) == 0) return file;
    int code = errno;
    close(file);
    errno = code;
    return -1;
}

int clinux_seal(int file) {
    return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}

int clinux_birth(int descriptor, int64_t *nanoseconds) {
    struct statx found;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &found) != 0) return -1;
    if (!(found.stx_mask & STATX_BTIME)) {
        errno = ENOTSUP;
        return -1;
    }
    *nanoseconds = (int64_t)((uint64_t)found.stx_btime.tv_sec * 1000000000u + found.stx_btime.tv_nsec);
    return 0;
}

int clinux_clone(int from, int to) { return ioctl(to, FICLONE, from); }

ssize_t clinux_copy_range(int from, int to, int64_t position, size_t length) {
    off64_t source = position, target = position;
    return copy_file_range(from, &source, to, &target, length, 0);
}

int clinux_sync_file_system(int descriptor) { return syncfs(descriptor); }

int clinux_compare_numbered(const char *one, const char *other) { return strverscmp(one, other); }

int clinux_rename_new(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int clinux_note(int descriptor, const char *name, const void *text, size_t length) {
    return fsetxattr(descriptor, name, text, length, 0);
}

int clinux_remove_note(const char *path, const char *name) { return lremovexattr(path, name); }

ssize_t clinux_read_note(const char *path, const char *name, void *text, size_t capacity) {
    return lgetxattr(path, name, text, capacity);
}
