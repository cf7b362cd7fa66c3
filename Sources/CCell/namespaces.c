#define _GNU_SOURCE
#include "ccell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static int write_to(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    ssize_t count = write(file, text, strlen(text));
    int code = errno;
    close(file);
    return count == (ssize_t)strlen(text) ? 0 : -code;
}

/// This user and group by their own numbers, so that what asks who somebody is gets the same answer as before.
static int keep_numbers(uid_t user, gid_t group) {
    char text[64];
    snprintf(text, sizeof text, "%u %u 1", user, user);
    int status = write_to("/proc/self/uid_map", text);
    // A group is ours to map only once nobody here can give groups up.
    if (status == 0) status = write_to("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1", group, group);
    return status == 0 ? write_to("/proc/self/gid_map", text) : status;
}

/// An empty folder that nothing can be put into, as the root.
static int empty_root(void) {
    static const char place[] = "/proc";
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -errno;
    if (mount("none", place, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) return -errno;
    if (chroot(place) != 0 || chdir("/") != 0) return -errno;
    return 0;
}

/// What a new namespace gives to who makes it.
static int give_up_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    return syscall(SYS_capset, &header, none) == 0 ? 0 : -errno;
}

int ccell_leave_namespaces(void) {
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC) != 0) return -errno;
    int status = keep_numbers(user, group);
    int rest = empty_root();
    if (status == 0) status = rest;
    rest = give_up_capabilities();
    return status == 0 ? rest : status;
}
