// Unix stream sockets and epoll: the Glibc module leaves out sys/epoll.h, sys/eventfd.h and accept4, and Swift has
// no good form for sockaddr_un. Every descriptor made here is close-on-exec.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    /// The longest path of a Unix socket in bytes, without the NUL that ends it.
    CLINUX_UNIX_PATH_MAXIMUM = 107,
};

/// What epoll may be asked for and may report.
enum {
    CLINUX_READABLE = 1,
    CLINUX_WRITABLE = 2,
    /// The peer is gone altogether, or the socket is in error. Reported without being asked for.
    CLINUX_HUNG_UP = 4,
};

struct clinux_event {
    uint64_t key;
    uint32_t events;
};

/// A non-blocking Unix stream socket, or -1 with errno set.
int clinux_unix_socket(void);

/// Binds to `path`. The file gets `mode` from its first moment: Linux takes it from the unbound socket, so neither
/// the umask nor a chmod afterwards is needed. Returns 0, or -1 with errno set (ENAMETOOLONG past the maximum).
int clinux_unix_bind(int socket, const char *path, mode_t mode);

/// Connects to `path`; a non-blocking socket gets EAGAIN where the listener's queue is full.
/// Returns 0, or -1 with errno set (ENAMETOOLONG past the maximum).
int clinux_unix_connect(int socket, const char *path);

/// Connects to `path` and waits at most `milliseconds` (1 or more) for a place in the listener's queue, whether or not
/// the socket is non-blocking; it is non-blocking afterwards. Returns 0, or -1 with errno set (EAGAIN where there was
/// no place).
int clinux_unix_connect_within(int socket, const char *path, int milliseconds);

/// The path that a Unix socket is bound to, NUL-terminated, "" for none. Returns 0, or -1 with errno set.
int clinux_unix_path(int socket, char *path, size_t capacity);

/// 1 where the descriptor is a Unix stream socket that listens, else 0.
int clinux_is_unix_listener(int descriptor);

/// The next connection, non-blocking, or -1 with errno set.
int clinux_accept(int listener);

/// Sends what fits now, without waiting and without SIGPIPE. Returns the bytes sent, or -1 with errno set.
ssize_t clinux_send_now(int socket, const void *bytes, size_t length);

/// Receives what is there, without waiting. Returns the bytes, 0 at the end, or -1 with errno set.
ssize_t clinux_receive_now(int socket, void *bytes, size_t length);

int clinux_epoll_create(void);

/// Adds a descriptor, with what to wait for and the key under which it is reported. Returns 0, or -1 with errno set.
int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t key);

/// Changes what to wait for. Returns 0, or -1 with errno set.
int clinux_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t key);

/// Takes a descriptor out. Returns 0, or -1 with errno set.
int clinux_epoll_remove(int epoll, int descriptor);

/// Waits at most `milliseconds` (-1: for ever) for up to `capacity` (at most 64) events. Interrupted waits report
/// none. Returns their number, or -1 with errno set.
int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int milliseconds);

/// A descriptor that becomes readable by `clinux_wake`, from any thread; `clinux_wake_clear` ends that.
int clinux_wake_create(void);
void clinux_wake(int wake);
void clinux_wake_clear(int wake);

/// A descriptor that becomes readable whenever an address of this machine comes or goes (rtnetlink(7)); what is read is of no use, and
/// `clinux_addresses_clear` takes it. Close-on-exec. Returns -1 with errno set.
int clinux_addresses_watch(void);
void clinux_addresses_clear(int watch);

/// Two connected ends over which whole messages go, and no addresses. Both are close-on-exec. Returns 0, or -1 with errno set.
int clinux_conversation(int ends[2]);
