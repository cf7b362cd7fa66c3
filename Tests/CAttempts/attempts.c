#define _GNU_SOURCE
#include "cattempts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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
    if (IS("duplicate a descriptor")) return opened(syscall(SYS_dup, 0));
    return CATTEMPTS_UNKNOWN;
}
