#define _GNU_SOURCE
#include "cattempts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int result(long value) { return value < 0 ? errno : CATTEMPTS_DONE; }

/// One worker makes many attempts, and has a dozen descriptors.
static int opened(long descriptor) {
    if (descriptor >= 0) close((int)descriptor);
    return result(descriptor);
}

/// A child that was made after all leaves at once; its parent tells.
static int made(long child) {
    if (child == 0) _exit(0);
    return result(child);
}

static int over_socket(int descriptor, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    return result(syscall(SYS_connect, descriptor, &address, sizeof address));
}

static int to_unix_socket(const char *path) {
    long descriptor = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return errno;
    int status = over_socket((int)descriptor, path);
    close((int)descriptor);
    return status;
}

static int to_port(const char *port) {
    long descriptor = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0) return errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return result(syscall(SYS_connect, descriptor, &address, sizeof address));
}

static int to_abstract_socket(const char *name) {
    long descriptor = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return errno;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path + 1, name, sizeof address.sun_path - 2);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    return result(syscall(SYS_connect, descriptor, &address, length));
}

/// Over a descriptor that is there, to an address of our choice.
static int datagram(int descriptor, const char *path, int with_message) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (!with_message) return result(syscall(SYS_sendto, descriptor, "x", 1, MSG_NOSIGNAL, &address, sizeof address));
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
    return result(syscall(SYS_sendmsg, descriptor, &message, MSG_NOSIGNAL));
}

/// A session bus starts programs for whoever asks, outside of every cell. What it says first needs no more than a connection.
static int to_bus(const char *path) {
    long descriptor = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return errno;
    int status = over_socket((int)descriptor, path);
    if (status != CATTEMPTS_DONE) return status;
    // Anonymous, as one that would be refused is answered too.
    static const char hello[] = "\0AUTH\r\n";
    char answer[64];
    if (write((int)descriptor, hello, sizeof hello - 1) < 0) return errno;
    ssize_t count = read((int)descriptor, answer, sizeof answer);
    close((int)descriptor);
    return count > 0 ? CATTEMPTS_DONE : EIO;
}

static int execute(const char *path) {
    char *const nothing[] = {(char *)path, NULL};
    return result(syscall(SYS_execve, path, nothing, nothing + 1));
}

static int a_thread(void) {
    static char stack[1 << 16] __attribute__((aligned(16)));
    unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    // Its stack is empty, so one that was made would end the process by itself; that is no refusal either.
    return made(syscall(SYS_clone, flags, stack + sizeof stack, NULL, NULL, 0));
}

static int clone_by_structure(void) {
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    return made(syscall(SYS_clone3, &arguments, sizeof arguments));
}

static int by_process_descriptor(pid_t process) {
    long descriptor = syscall(SYS_pidfd_open, process, 0);
    return descriptor < 0 ? errno : result(syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0));
}

static int queue_signal(pid_t process) {
    siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
    return result(syscall(SYS_rt_sigqueueinfo, process, SIGKILL, &info));
}

static int read_memory(pid_t process) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)&byte, 1};
    return result(syscall(SYS_process_vm_readv, process, &here, 1, &there, 1, 0));
}

static int raise_limit(int resource) {
    struct rlimit all = {1 << 30, 1 << 30};
    return result(syscall(SYS_prlimit64, 0, resource, &all, NULL));
}

static int send_to_nobody(int descriptor) {
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return result(syscall(SYS_sendmsg, descriptor, &message, 0));
}

static int map_code(void) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? errno : CATTEMPTS_DONE;
}

static int turn_into_code(void) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? errno : result(mprotect(memory, 4096, PROT_READ | PROT_EXEC));
}

/// By the 32-bit calls that the same processor has, whose numbers mean others: a filter has to tell them apart.
static int open_by_other_numbers(const char *path) {
#if defined(__x86_64__)
    // The path has to lie where 32 bits reach.
    char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED) return CATTEMPTS_UNKNOWN;
    strncpy(low, path, 4095);
    long value;
    __asm__ volatile("int $0x80" : "=a"(value) : "a"(5), "b"(low), "c"(O_RDONLY), "d"(0) : "memory");
    return value < 0 ? (int)-value : CATTEMPTS_DONE;
#else
    (void)path;
    return CATTEMPTS_UNKNOWN;
#endif
}

static int other_number(const char *path) {
#if defined(__x86_64__)
    // x32: the same processor mode, with a bit in the number.
    return opened(syscall(0x40000000 + SYS_open, path, O_RDONLY, 0));
#else
    (void)path;
    return CATTEMPTS_UNKNOWN;
#endif
}

int cattempts_take_memory(void) {
    enum { most = 4096, megabyte = 1 << 20 };
    static void *blocks[most];
    int count = 0;
    while (count < most) {
        void *block = mmap(NULL, megabyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) break;
        memset(block, 1, megabyte);
        blocks[count++] = block;
    }
    for (int i = 0; i < count; i++) munmap(blocks[i], megabyte);
    // That it was refused is the answer, and no reason to give the worker more.
    errno = 0;
    return count;
}

int cattempts_try(const char *what, const char *argument) {
#define IS(name) (strcmp(what, name) == 0)
    pid_t process = (pid_t)atoi(argument);
    if (IS("read a file")) return opened(syscall(SYS_openat, AT_FDCWD, argument, O_RDONLY, 0));
    if (IS("write a file")) return opened(syscall(SYS_openat, AT_FDCWD, argument, O_WRONLY | O_TRUNC, 0));
    if (IS("make a file")) return opened(syscall(SYS_openat, AT_FDCWD, argument, O_WRONLY | O_CREAT, 0600));
    if (IS("look at a file")) {
        char found[256];
        return result(syscall(SYS_statx, AT_FDCWD, argument, 0, 0x7ff, found));
    }
    if (IS("remove a file")) return result(syscall(SYS_unlinkat, AT_FDCWD, argument, 0));
    if (IS("rename a file")) return result(syscall(SYS_renameat2, AT_FDCWD, argument, AT_FDCWD, "/tmp/moved", 0));
    if (IS("make a folder")) return result(syscall(SYS_mkdirat, AT_FDCWD, argument, 0700));
    if (IS("change a file's mode")) return result(syscall(SYS_fchmodat, AT_FDCWD, argument, 0777));
    if (IS("read a file by 32-bit calls")) return open_by_other_numbers(argument);
    if (IS("read a file by x32 calls")) return other_number(argument);
    if (IS("change the folder")) return result(syscall(SYS_chdir, argument));
    if (IS("change the root")) return result(syscall(SYS_chroot, argument));
    if (IS("make a socket")) return opened(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
    if (IS("connect to a socket")) return to_unix_socket(argument);
    if (IS("connect its own socket")) return over_socket(0, argument);
    if (IS("connect to a port")) return to_port(argument);
    if (IS("send elsewhere")) return send_to_nobody(4);
    if (IS("execute a program")) return execute(argument);
    if (IS("fork")) return made(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0));
    if (IS("start a thread")) return a_thread();
    if (IS("clone by structure")) return clone_by_structure();
    if (IS("signal a process")) return result(syscall(SYS_kill, process, SIGKILL));
    if (IS("signal a thread")) return result(syscall(SYS_tgkill, process, process, SIGKILL));
    if (IS("signal by descriptor")) return by_process_descriptor(process);
    if (IS("queue a signal")) return queue_signal(process);
    if (IS("end itself by SIGKILL")) return result(syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGKILL));
    if (IS("trace a process")) return result(syscall(SYS_ptrace, PTRACE_ATTACH, process, 0, 0));
    if (IS("be traced")) return result(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
    if (IS("read a process")) return read_memory(process);
    if (IS("raise its memory")) return raise_limit(RLIMIT_AS);
    if (IS("raise its files")) return raise_limit(RLIMIT_NOFILE);
    if (IS("become dumpable")) return result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
    if (IS("map code")) return map_code();
    if (IS("turn data into code")) return turn_into_code();
    if (IS("make a file in memory")) return opened(syscall(SYS_memfd_create, "x", 0));
    if (IS("make a ring")) return opened(syscall(SYS_io_uring_setup, 1, (char[256]){0}));
    if (IS("load a program into the kernel")) return result(syscall(SYS_bpf, 0, (char[128]){0}, 128));
    if (IS("handle page faults")) return opened(syscall(SYS_userfaultfd, 1));
    if (IS("leave its namespaces")) return result(syscall(SYS_unshare, CLONE_NEWUSER));
    if (IS("mount")) return result(syscall(SYS_mount, "none", argument, "tmpfs", 0, NULL));
    if (IS("change its user")) return result(syscall(SYS_setuid, 12345));
    if (IS("watch files")) return opened(syscall(SYS_inotify_init1, 0));
    if (IS("keep a key")) return result(syscall(SYS_add_key, "user", "x", "y", 1, -3));
    // A server's, which has to do with sockets.
    if (IS("make a datagram socket")) return opened(syscall(SYS_socket, AF_UNIX, SOCK_DGRAM, 0));
    if (IS("make an internet socket")) return opened(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
    if (IS("make an internet datagram socket")) return opened(syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0));
    if (IS("make a netlink socket")) return opened(syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0));
    if (IS("make a packet socket")) return opened(syscall(SYS_socket, AF_PACKET, SOCK_RAW, 0));
    if (IS("make a pair of sockets")) return result(syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, (int[2]){0}));
    if (IS("connect to an abstract socket")) return to_abstract_socket(argument);
    if (IS("connect to a bus")) return to_bus(argument);
    if (IS("bind a name")) return result(syscall(SYS_bind, 3, (char[16]){AF_UNIX}, 2));
    if (IS("listen")) return result(syscall(SYS_listen, 3, 1));
    if (IS("send to an address")) return datagram(3, argument, 0);
    if (IS("send a message to an address")) return datagram(3, argument, 1);
    if (IS("send many messages")) return result(syscall(SYS_sendmmsg, 3, (char[64]){0}, 1, 0));
    if (IS("say who gets signals")) return result(syscall(SYS_fcntl, 3, F_SETOWN, process));
    if (IS("say by structure who gets signals"))
        return result(syscall(SYS_fcntl, 3, F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_PID, process}));
    if (IS("choose the signal")) return result(syscall(SYS_fcntl, 3, F_SETSIG, SIGKILL));
    if (IS("have signals sent")) return result(syscall(SYS_fcntl, 3, F_SETFL, O_ASYNC | O_NONBLOCK));
    if (IS("have signals sent by ioctl")) return result(syscall(SYS_ioctl, 3, FIOASYNC, &(int){1}));
    if (IS("lock a file")) return result(syscall(SYS_fcntl, 1, F_SETLK, &(struct flock){.l_type = F_UNLCK}));
    if (IS("take a lease")) return result(syscall(SYS_fcntl, 1, F_SETLEASE, F_UNLCK));
    if (IS("notice changes of a folder")) return result(syscall(SYS_fcntl, 1, F_NOTIFY, 0));
    if (IS("change a pipe's size")) return result(syscall(SYS_fcntl, 1, F_SETPIPE_SZ, 4096));
    if (IS("take another's descriptor")) return opened(syscall(SYS_pidfd_getfd, 1, 0, 0));
    if (IS("enter other namespaces")) return result(syscall(SYS_setns, 1, 0));
    if (IS("change the root by pivot")) return result(syscall(SYS_pivot_root, "/", "/"));
    if (IS("open a file system")) return opened(syscall(SYS_fsopen, "tmpfs", 0));
    if (IS("open a tree")) return opened(syscall(SYS_open_tree, AT_FDCWD, "/", 1));
    if (IS("open by handle")) return opened(syscall(SYS_open_by_handle_at, AT_FDCWD, (char[32]){0}, 0));
    if (IS("open by structure")) return opened(syscall(SYS_openat2, AT_FDCWD, argument, (char[24]){0}, 24));
    if (IS("execute by descriptor")) return result(syscall(SYS_execveat, 1, "", NULL, NULL, AT_EMPTY_PATH));
    if (IS("watch processors")) return opened(syscall(SYS_perf_event_open, (char[128]){0}, 0, -1, -1, 0));
    if (IS("read the kernel's log")) return result(syscall(SYS_syslog, 10, NULL, 0));
    if (IS("share memory by key")) return result(syscall(SYS_shmget, 0, 4096, 0600 | 01000));
    if (IS("queue messages by key")) return result(syscall(SYS_msgget, 0, 0600 | 01000));
    if (IS("change its priority")) return result(syscall(SYS_setpriority, 0, 0, 1));
    if (IS("change its name")) return result(syscall(SYS_sethostname, "x", 1));
    if (IS("compare processes")) return result(syscall(SYS_kcmp, getpid(), process, 0, 0, 0));
    if (IS("set the clock")) return result(syscall(SYS_clock_settime, 0, NULL));
    if (IS("duplicate a descriptor")) return opened(syscall(SYS_dup, 0));
    return CATTEMPTS_UNKNOWN;
}
