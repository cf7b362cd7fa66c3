// Linux calls that Swift cannot import as they are: variadic functions, control-message macros, struct ucred.
#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Sends `length` bytes and `count` descriptors (at most 8) over a Unix socket in one message.
/// Returns the bytes sent, or -1 with errno set. Never raises SIGPIPE.
ssize_t clinux_send_with_descriptors(int socket, const void *bytes, size_t length, const int *descriptors, int count);

/// Receives bytes and up to `capacity` descriptors (at most 8), each made close-on-exec.
/// `*count` tells how many came. Descriptors past the capacity are closed. Returns as recvmsg does.
ssize_t clinux_receive_with_descriptors(int socket, void *bytes, size_t length, int *descriptors, int capacity, int *count);

/// The same two for a socket that is not waited for: -1 and EAGAIN where nothing goes, or nothing is there. Descriptors go
/// out with the first byte.
ssize_t clinux_send_files_now(int socket, const void *bytes, size_t length, const int *descriptors, int count);
ssize_t clinux_receive_files_now(int socket, void *bytes, size_t length, int *descriptors, int capacity, int *count);

/// The peer's process, user and group of a connected Unix socket (SO_PEERCRED). Returns 0, or -1 with errno set.
int clinux_peer_credentials(int socket, pid_t *pid, uid_t *uid, gid_t *gid);

/// Lets this process have as many files open at once as it may ask for itself (RLIMIT_NOFILE, up to its hard limit). Returns how
/// many that are, or -1 with errno set.
int clinux_raise_open_files(void);

/// The address space that this process may take in bytes (RLIMIT_AS), or -1 where nothing bounds it. Where something does, memory is
/// taken from two arenas at most from now on: by itself the allocator reserves 64 MiB for each of up to eight on every processor, and
/// none of that would be left for the stacks of threads. Before there are threads.
int64_t clinux_bound_address_space(void);

/// open(2) with a mode, which is variadic in C. Always close-on-exec.
int clinux_open(const char *path, int flags, mode_t mode);

/// openat(2) with a mode, which is variadic in C. Always close-on-exec.
int clinux_openat(int folder, const char *path, int flags, mode_t mode);

/// A descriptor that names a file without opening it (O_PATH): it can be looked at and reopened, not read, and closing it
/// drops no locks. With `follows_link` 0, a link names itself. Close-on-exec. Returns -1 with errno set.
int clinux_open_name(const char *path, int follows_link);

/// Opens the very file that a descriptor names, through /proc. Close-on-exec. Returns -1 with errno set.
int clinux_reopen(int descriptor, int flags);

/// Whether somebody has the file behind a descriptor open for writing: 1 or 0; -1 where that cannot be known: a file of another
/// user, or on a file system of other machines. The descriptor is open for reading only.
int clinux_is_being_written(int descriptor);

/// Makes a descriptor non-blocking. Returns 0, or -1 with errno set.
int clinux_set_nonblocking(int descriptor);

/// Compares two names as strverscmp(3) does, which is glibc's own: their numbers count as numbers.
int clinux_compare_numbered(const char *one, const char *other);

/// Renames a file and refuses with EEXIST where the new name is taken; EINVAL where the file system cannot promise
/// that. Returns 0, or -1 with errno set.
int clinux_rename_new(const char *from, const char *to);

/// Makes the file behind `to` share all blocks of the one behind `from`, where the file system can (FICLONE). Returns 0, or
/// -1 with errno set, and then nothing has changed.
int clinux_clone(int from, int to);

/// Copies up to `length` bytes at `position` of one file to the same position of another within the kernel
/// (copy_file_range(2)). Returns how many, 0 at the end, or -1 with errno set.
ssize_t clinux_copy_range(int from, int to, int64_t position, size_t length);

/// Makes everything durable that was written to the file system of a descriptor (syncfs(2)). Returns 0, or -1 with errno set.
int clinux_sync_file_system(int descriptor);

/// Which kind of file system a path is on: one of the magic numbers of statfs(2). Returns -1 with errno set where it
/// cannot be told.
long clinux_file_system(const char *path);

/// As clinux_file_system, for the file of a descriptor.
long clinux_file_system_of(int descriptor);

/// Bytes that a file may have at most where a descriptor's file is: what its file system takes, where that is little, and
/// what this process may write (RLIMIT_FSIZE). Returns -1 where no such limit is known. The signal of the latter (SIGXFSZ) is
/// somebody else's.
int64_t clinux_largest_file_of(int descriptor);

/// As clinux_largest_file_of, for a path.
int64_t clinux_largest_file(const char *path);

/// Notes `text` in a file's extended attributes, behind a descriptor; removes such a note, by path, never through a link; and
/// reads it the same way: its length, or -1 with errno set. 0, or -1 with errno set; ENOTSUP where the file system keeps none.
int clinux_note(int descriptor, const char *name, const void *text, size_t length);
int clinux_remove_note(const char *path, const char *name);
ssize_t clinux_read_note(const char *path, const char *name, void *text, size_t capacity);

/// When the file or folder behind a descriptor was made, in nanoseconds since 1970. Returns 0, or -1 with errno set:
/// ENOTSUP where the file system does not tell.
int clinux_birth(int descriptor, int64_t *nanoseconds);

/// A file in memory that has no name anywhere (memfd_create(2)); `name` is what /proc shows. Close-on-exec. Returns -1 with
/// errno set.
int clinux_memory_file(const char *name);

/// A file in memory for another process to write: of `bytes` bytes, all zero, and never more (F_SEAL_GROW). It can be cut, and
/// sealed. Close-on-exec. Returns -1 with errno set.
int clinux_output_file(const char *name, int64_t bytes);

/// Ends all changes of such a file, by whoever has it open. Returns 0, or -1 with errno set: EBUSY where somebody could go on
/// writing through a mapping.
int clinux_seal(int file);

/// A descriptor of a process, whose number no other can take while it is held; it can be read from once the process has
/// ended. Close-on-exec. Returns -1 with errno set.
int clinux_process_open(pid_t pid);

/// Sends a signal to the process of such a descriptor. Returns 0, or -1 with errno set.
int clinux_process_signal(int process, int signal);

/// The calling thread's kernel id.
pid_t clinux_thread_id(void);

/// Niceness (-20…19) of the calling thread alone; Linux keeps it per thread. Returns 0, or -1 with errno set.
int clinux_set_thread_niceness(int niceness);

/// Names the calling thread, as `top -H` shows it; the kernel keeps the first 15 bytes. Returns 0.
int clinux_set_thread_name(const char *name);

/// The signal that the kernel sends to this process when its parent ends. Returns 0, or -1 with errno set.
int clinux_set_parent_death_signal(int signal);

/// Width in columns of the terminal behind `descriptor`, or 0 where there is none.
int clinux_terminal_columns(int descriptor);

struct clinux_terminal {
    /// Characters.
    int columns, rows;
    /// Pixels of all of it; 0 where the terminal does not tell.
    int width, height;
};

/// The size of the terminal behind `descriptor`. Returns 0, or -1 with errno set.
int clinux_terminal_size(int descriptor, struct clinux_terminal *size);

/// In the program that is spawned, closes every descriptor from `lowest` on: what we happened to inherit is not the
/// daemon's to keep open. Returns 0, or an errno.
int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest);

/// Opens a pipe whose reading end, ends[0], never waits; both ends are close-on-exec. It holds `capacity` bytes where the
/// kernel gives this user as many, else fewer. Returns 0, or -1 with errno set.
int clinux_pipe(int ends[2], int capacity);

// Signals as bytes in a pipe: a handler may do next to nothing, and Swift has no way to promise that.

/// The end to read from, blocking, of the pipe into which each caught signal puts one byte: its number. Made by the
/// first call, and open from then on. Returns -1 with errno set.
int clinux_signals_pipe(void);

/// From the moment that this returns, `number` (1…64) goes into the pipe, whichever thread the kernel gives it to.
/// The pipe must have been made. Calls that it interrupts go on (SA_RESTART). Returns 0, or -1 with errno set.
int clinux_signal_catch(int number);

/// Gives `number` back what it did before it was caught. Nothing happens to one that is not. Returns 0, or -1 with
/// errno set.
int clinux_signal_release(int number);
