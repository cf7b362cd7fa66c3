// What a program gives up before it reads a byte that a stranger wrote: the image worker before a photo, and at the end of
// this file what the web program takes instead, before a request.
//
// Three walls that do not lean on each other. Limits bound what it can use up. Landlock lets it open no file, bind or
// connect no TCP port, and signal nobody outside. seccomp leaves it the system calls that decoding takes and no others.
// Each can be missing on some kernel; what was granted is told, and the rest is used all the same.
#pragma once
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/// Whether this program is built with a sanitizer, whose own thread opens, maps and starts what no cell allows.
int ccell_is_sanitized(void);

/// One arena, and freed blocks of a megabyte or more go back to the system at once.
void ccell_tune_allocator(void);

/// Gives back what freed memory the allocator still holds.
void ccell_release_memory(void);

/// Bounds on this process, and no way back over them.
struct ccell_limits {
    /// Bytes of address space: what it may use by itself, and what its parent may raise that to (RLIMIT_AS).
    uint64_t address_space, most_address_space;
    /// Seconds on a processor in its whole life (RLIMIT_CPU): SIGXCPU, and SIGKILL five seconds later.
    uint64_t processor_seconds;
    /// Bytes of a file that it writes (RLIMIT_FSIZE).
    uint64_t file_bytes;
    /// Open descriptors (RLIMIT_NOFILE).
    uint64_t descriptors;
};

/// Sets the limits, no core files and no new processes or threads among them. Returns 0, or -1 with errno set.
int ccell_limit(const struct ccell_limits *limits);

/// The soft limits as the kernel has them, whoever set them; `most_address_space` is the hard one.
/// Returns 0, or -1 with errno set.
int ccell_current_limits(struct ccell_limits *limits, uint64_t *processes, uint64_t *core_bytes);

/// `/` as working directory, no new privileges, no dump and no tracer of the same user, no descriptor from `lowest` on.
/// Returns 0, or -1 with errno set.
int ccell_detach(unsigned lowest);

/// Makes a copy of this process, which must have one thread. The copy is a child of this process's own parent, who can wait
/// for it, limit it and end it. Returns its number, in the copy 0, or -1 with errno set.
pid_t ccell_make_sibling(void);

/// Whether the kernel says that no new privileges are possible any more.
int ccell_has_no_new_privileges(void);

/// Forbids by Landlock everything that the kernel's version of it knows. Returns that version, 1 or more, or minus the
/// error number with which it was refused. After `ccell_detach`.
int ccell_forbid_files(void);

/// Leaves only the system calls that `filter.c` lists, by seccomp. Returns 0, or minus the error number with which it
/// was refused. Last of all: what the other functions here call is not on the list.
int ccell_forbid_calls(void);

/// For a program that listens for others and opens no files: as many descriptors as it may have up to `descriptors`, and no
/// core files. Returns 0, or -1 with errno set.
int ccell_limit_server(uint64_t descriptors);

/// Starts a process that connects to the Unix socket at `path` for this one, whenever it is asked: what is in a cell makes no
/// sockets. It has nothing else that is this one's, and ends with it. Returns the descriptor by which it is asked, or -1 with
/// errno set. Before there are threads, and before the cell.
int ccell_start_connector(const char *path);

/// A new connection, non-blocking, or minus an error number: ECONNREFUSED and ENOENT where nothing listens, EAGAIN where the
/// listener had no place for two seconds, EPIPE where the connector is gone. Blocks; one at a time.
int ccell_ask_connector(int connector);

/// Moves this process into namespaces of its own, as far as the kernel lets it: no network but the sockets that it has, no other
/// processes, no mounts that come later. Returns 0, or minus the error number with which it was refused. With one thread.
int ccell_leave_namespaces(void);

/// Leaves the system calls that `network.c` lists, for all threads: moving bytes between what is open already, and accepting
/// connections. What is not on the list is refused with EPERM. Returns 0, or minus the error
/// number with which it was refused. Last of all.
int ccell_keep_network_calls(void);

/// fstat(2), and that system call: glibc's asks by an empty path, which a filter cannot tell from any other path.
int ccell_status(int descriptor, struct stat *status);
