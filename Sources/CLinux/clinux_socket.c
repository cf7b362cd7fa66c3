#define _GNU_SOURCE
#include "clinux_socket.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) == CLINUX_UNIX_PATH_MAXIMUM + 1, "length of sun_path");

enum { most_events = 64 };

int clinux_unix_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

static int address_of(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size_t length = strlen(path);
    if (length == 0 || length > CLINUX_UNIX_PATH_MAXIMUM) {
        errno = length == 0 ? EINVAL : ENAMETOOLONG;
        return -1;
    }
    memcpy(address->sun_path, path, length);
    return 0;
}

int clinux_unix_bind(int socket, const char *path, mode_t mode) {
    struct sockaddr_un address;
    if (address_of(path, &address) != 0 || fchmod(socket, mode) != 0) return -1;
    return bind(socket, (const struct sockaddr *)&address, sizeof address);
}

int clinux_unix_connect(int socket, const char *path) {
    struct sockaddr_un address;
    if (address_of(path, &address) != 0) return -1;
    int result;
    do {
        result = connect(socket, (const struct sockaddr *)&address, sizeof address);
    } while (result != 0 && errno == EINTR);
    return result;
}

int clinux_unix_connect_within(int socket, const char *path, int milliseconds) {
    // The kernel waits for as long as it would for room to send.
    struct timeval patience = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
    struct timeval none = {0, 0};
    int flags = fcntl(socket, F_GETFL);
    if (flags < 0 || setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) != 0) {
        return -1;
    }
    int result = clinux_unix_connect(socket, path);
    int failure = errno;
    if (fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0 ||
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) != 0) {
        return -1;
    }
    errno = failure;
    return result;
}

int clinux_unix_path(int socket, char *path, size_t capacity) {
    struct sockaddr_un address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return -1;
    size_t count = strnlen(address.sun_path, sizeof address.sun_path);
    if (address.sun_family != AF_UNIX || count >= capacity) {
        errno = EINVAL;
        return -1;
    }
    memcpy(path, address.sun_path, count);
    path[count] = 0;
    return 0;
}

static int socket_option(int descriptor, int option) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

int clinux_is_unix_listener(int descriptor) {
    return socket_option(descriptor, SO_DOMAIN) == AF_UNIX && socket_option(descriptor, SO_TYPE) == SOCK_STREAM &&
           socket_option(descriptor, SO_ACCEPTCONN) == 1;
}

int clinux_accept(int listener) {
    int connection;
    do {
        connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (connection < 0 && (errno == EINTR || errno == ECONNABORTED));
    return connection;
}

ssize_t clinux_send_now(int socket, const void *bytes, size_t length) {
    ssize_t sent;
    do {
        sent = send(socket, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t clinux_receive_now(int socket, void *bytes, size_t length) {
    ssize_t received;
    do {
        received = recv(socket, bytes, length, MSG_DONTWAIT);
    } while (received < 0 && errno == EINTR);
    return received;
}

int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int epoll, int operation, int descriptor, uint32_t events, uint64_t key) {
    struct epoll_event event = {.data.u64 = key};
    if (events & CLINUX_READABLE) event.events |= EPOLLIN;
    if (events & CLINUX_WRITABLE) event.events |= EPOLLOUT;
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t key) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, events, key);
}

int clinux_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t key) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, events, key);
}

int clinux_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0); }

int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int milliseconds) {
    struct epoll_event ready[most_events];
    if (capacity > most_events) capacity = most_events;
    int count = epoll_wait(epoll, ready, capacity, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -1;
    for (int i = 0; i < count; i++) {
        events[i].key = ready[i].data.u64;
        events[i].events = 0;
        if (ready[i].events & EPOLLIN) events[i].events |= CLINUX_READABLE;
        if (ready[i].events & EPOLLOUT) events[i].events |= CLINUX_WRITABLE;
        if (ready[i].events & (EPOLLHUP | EPOLLERR)) events[i].events |= CLINUX_HUNG_UP;
    }
    return count;
}

int clinux_wake_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void clinux_wake(int wake) {
    uint64_t one = 1;
    ssize_t written;
    do {
        written = write(wake, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
}

void clinux_wake_clear(int wake) {
    uint64_t count;
    ssize_t read_bytes;
    do {
        read_bytes = read(wake, &count, sizeof count);
    } while (read_bytes < 0 && errno == EINTR);
}

int clinux_addresses_watch(void) {
    int watch = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (watch < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_LINK};
    if (bind(watch, (const struct sockaddr *)&address, sizeof address) == 0) return watch;
    int code = errno;
    close(watch);
    errno = code;
    return -1;
}

void clinux_addresses_clear(int watch) {
    char anything[8192];
    // ENOBUFS says that there were more than were kept, and that is news enough.
    while (recv(watch, anything, sizeof anything, 0) > 0 || errno == EINTR || errno == ENOBUFS) {
    }
}

int clinux_conversation(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }
