#define _GNU_SOURCE
#include "ccell.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// The only thing outside of the web program's cell that it can ask for anything: a process that knows one address and can do
// nothing but connect to it. Whatever is sent to it means the same, so that there is nothing to be got wrong.

enum { seconds_for_a_place = 2, its_end = 0 };

static int connection_to(const struct sockaddr_un *address) {
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) return -errno;
    // A listener whose queue is full is waited for; the others who ask meanwhile could not be served either.
    const struct timeval patience = {.tv_sec = seconds_for_a_place}, none = {0, 0};
    if (setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        connect(made, (const struct sockaddr *)address, sizeof *address) != 0 ||
        setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) != 0 ||
        fcntl(made, F_SETFL, O_NONBLOCK) != 0) {
        int code = errno;
        close(made);
        return -code;
    }
    return made;
}

/// Returns whether the other side is still there.
static int answer(int made) {
    int code = made < 0 ? -made : 0;
    struct iovec part = {&code, sizeof code};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (made >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof made);
        memcpy(CMSG_DATA(header), &made, sizeof made);
    }
    ssize_t sent = sendmsg(its_end, &message, MSG_NOSIGNAL);
    if (made >= 0) close(made);
    return sent == sizeof code;
}

/// What is below and nothing else; a kernel without seccomp serves all the same.
static void keep_few_calls(void) {
    static const int allowed[] = {
        SCMP_SYS(recvfrom), SCMP_SYS(sendmsg), SCMP_SYS(connect), SCMP_SYS(setsockopt), SCMP_SYS(fcntl), SCMP_SYS(close),
        SCMP_SYS(exit_group), SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigreturn),
    };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return;
    int status = 0;
    for (unsigned i = 0; status == 0 && i < sizeof allowed / sizeof *allowed; i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    if (status == 0)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
    if (status == 0) seccomp_load(filter);
    seccomp_release(filter);
}

static void serve(int conversation, const struct sockaddr_un *address) {
    // It ends with the other side, and not before: a terminal's Ctrl-C comes to both, and a service manager stops both.
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (unsigned i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    if (dup2(conversation, its_end) < 0 || ccell_detach(its_end + 1) != 0) _exit(1);
    prctl(PR_SET_NAME, "smilepile-door", 0, 0, 0);
    const struct rlimit few = {8, 8}, none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &few);
    setrlimit(RLIMIT_CORE, &none);
    if (!ccell_is_sanitized()) {
        ccell_forbid_files();
        keep_few_calls();
    }
    char anything;
    while (1) {
        ssize_t count = recv(its_end, &anything, 1, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0 || !answer(connection_to(address))) _exit(0);
    }
}

int ccell_start_connector(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    // Of a kind that takes no addresses, so that nothing can be sent over it to anybody else.
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    pid_t child = fork();
    if (child == 0) serve(ends[1], &address);
    int code = errno;
    close(ends[1]);
    if (child > 0) return ends[0];
    close(ends[0]);
    errno = code;
    return -1;
}

int ccell_ask_connector(int connector) {
    ssize_t sent;
    do {
        sent = send(connector, "", 1, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent != 1) return -EPIPE;
    int code = 0;
    struct iovec part = {&code, sizeof code};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    ssize_t count;
    do {
        count = recvmsg(connector, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    if (count != sizeof code) return -EPIPE;
    if (code != 0) return -code;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return -EPROTO;
    int made;
    memcpy(&made, CMSG_DATA(header), sizeof made);
    return made;
}
