// Loaded into the daemon by LD_PRELOAD, before the C library: stands between it and the calls that change what is on the
// disk. It kills the process, fails or records where the campaign says so, see cfaults.h, and passes everything else on.
//
// SQLite's calls come through here too, because they go through the dynamic linker. What a helper process writes into a
// descriptor that it was given does not: the recorder reads such a file again when the daemon syncs, links or renames it.

#define _GNU_SOURCE
#include "cfaults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/// What is known of an open descriptor.
struct place {
    bool is_ours;
    bool is_folder;
    bool is_volatile; // SQLite's index of its log: in memory by nature
    bool is_direct;   // takes whole pages only, from memory that begins with one
    uint64_t file;
    char path[faults_path_size];
};

enum { most_descriptors = 1024, most_content = 8 << 20 };

static struct faults_control *control;
static int journal = -1;
static struct place places[most_descriptors];
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SMILEPILE_FAULTS");
    if (!path) return;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (file < 0) abort();
    void *page = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) abort();
    control = page;
    if (control->journal[0]) {
        journal = (int)syscall(SYS_openat, AT_FDCWD, control->journal, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (journal < 0) abort();
    }
}

static bool is_ours(const char *path) {
    if (!control || !path) return false;
    size_t length = strlen(control->root);
    return strncmp(path, control->root, length) == 0 && path[length] == '/';
}

static bool is_catalogue(const char *path) { return strstr(path, "/catalogue.sqlite") != NULL; }

static struct place *place_of(int descriptor) {
    if (!control || descriptor < 0 || descriptor >= most_descriptors) return NULL;
    return places[descriptor].is_ours ? &places[descriptor] : NULL;
}

static const char own_descriptors[] = "/proc/self/fd/";

/// The path that is meant, where it begins with the name of a descriptor: of a file, or of a folder that what follows is in.
/// Two of one thread are good at a time.
static const char *path_behind(const char *path) {
    static __thread char texts[2][2 * faults_path_size];
    static __thread int turn;
    size_t length = sizeof own_descriptors - 1;
    if (!control || !path || strncmp(path, own_descriptors, length) != 0) return path;
    char *rest;
    int descriptor = (int)strtol(path + length, &rest, 10);
    struct place *place = place_of(descriptor);
    char folder[faults_path_size];
    if (place) {
        snprintf(folder, sizeof folder, "%s", place->path);
    } else {
        char link[sizeof own_descriptors + 16];
        snprintf(link, sizeof link, "%s%d", own_descriptors, descriptor);
        ssize_t count = readlink(link, folder, sizeof folder - 1);
        if (count < 0) return path;
        folder[count] = 0;
    }
    char *text = texts[turn ^= 1];
    snprintf(text, sizeof texts[0], "%s%s", folder, rest);
    return text;
}

static void remember(int descriptor, const char *path, int flags) {
    if (descriptor < 0 || descriptor >= most_descriptors) return;
    struct place *place = &places[descriptor];
    place->is_ours = false;
    if (!is_ours(path)) return;
    struct stat found;
    if (fstat(descriptor, &found) != 0) return;
    size_t length = strlen(path);
    place->is_folder = S_ISDIR(found.st_mode);
    place->is_volatile = length > 4 && strcmp(path + length - 4, "-shm") == 0;
    place->is_direct = flags & O_DIRECT;
    place->file = found.st_ino;
    strncpy(place->path, path, faults_path_size - 1);
    place->is_ours = true;
}

// What is to happen

__attribute__((noreturn)) static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static enum faults_mode decide(enum faults_call call, const char *path) {
    enum faults_mode mode = __atomic_load_n(&control->mode, __ATOMIC_SEQ_CST);
    if (mode == faults_idle) return faults_idle;
    __atomic_add_fetch(&control->seen[call], 1, __ATOMIC_SEQ_CST);
    if (mode == faults_count) return faults_idle;
    if (mode >= faults_fail && __atomic_load_n(&control->fired, __ATOMIC_SEQ_CST) &&
        __atomic_load_n(&control->kill, __ATOMIC_SEQ_CST) > 0 &&
        __atomic_sub_fetch(&control->kill, 1, __ATOMIC_SEQ_CST) == 0)
        die();
    if (!(control->chosen & (1u << call))) return faults_idle;
    if (__atomic_sub_fetch(&control->left, 1, __ATOMIC_SEQ_CST) != 0) return faults_idle;
    control->fired_call = call;
    strncpy(control->fired_path, path, faults_path_size - 1);
    __atomic_store_n(&control->fired, 1, __ATOMIC_SEQ_CST);
    return mode;
}

// What was written since the last sync, to be taken back

struct undo {
    struct undo *next;
    uint64_t file;
    off_t size, offset;
    size_t length;
    char old[];
};

static struct undo *undos;

static bool keeps_undos(void) {
    return __atomic_load_n(&control->mode, __ATOMIC_SEQ_CST) == faults_fail_dropping;
}

static void will_change(int descriptor, const struct place *place, off_t offset, size_t length) {
    struct stat found;
    if (place->is_volatile || fstat(descriptor, &found) != 0) return;
    struct undo *undo = malloc(sizeof *undo + length);
    if (!undo) abort();
    static int (*real_open)(const char *, int, ...);
    static int (*real_close)(int);
    if (!real_open) real_open = dlsym(RTLD_NEXT, "open");
    if (!real_close) real_close = dlsym(RTLD_NEXT, "close");
    int plain = descriptor;
    if (place->is_direct) {
        char path[sizeof own_descriptors + 16];
        snprintf(path, sizeof path, "%s%d", own_descriptors, descriptor);
        plain = real_open(path, O_RDONLY | O_CLOEXEC);
        if (plain < 0) abort();
    }
    ssize_t had = pread(plain, undo->old, length, offset);
    if (plain != descriptor) real_close(plain);
    *undo = (struct undo){
        .next = undos, .file = place->file, .size = found.st_size, .offset = offset, .length = had > 0 ? (size_t)had : 0};
    undos = undo;
}

static void forget_undos(int descriptor, uint64_t file, bool applies) {
    static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
    static int (*real_ftruncate)(int, off_t);
    if (!real_pwrite) real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    if (!real_ftruncate) real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    struct undo **link = &undos;
    while (*link) {
        struct undo *undo = *link;
        if (undo->file != file) {
            link = &undo->next;
            continue;
        }
        // The latest first.
        if (applies && undo->length > 0 && real_pwrite(descriptor, undo->old, undo->length, undo->offset) < 0) abort();
        if (applies && real_ftruncate(descriptor, undo->size) != 0) abort();
        *link = undo->next;
        free(undo);
    }
}

// The recorder

static void put(enum faults_record kind, uint64_t file, int64_t offset, const char *path, const char *other,
                const void *bytes, size_t length) {
    static ssize_t (*real_writev)(int, const struct iovec *, int);
    if (!real_writev) real_writev = dlsym(RTLD_NEXT, "writev");
    struct faults_record_head head = {
        .kind = kind, .bytes = (uint32_t)length, .path = (uint16_t)strlen(path), .other = (uint16_t)strlen(other),
        .file = file, .offset = offset};
    struct iovec parts[] = {
        {&head, sizeof head}, {(void *)path, head.path}, {(void *)other, head.other}, {(void *)bytes, length}};
    ssize_t wanted = (ssize_t)(sizeof head + head.path + head.other + length);
    if (real_writev(journal, parts, 4) != wanted) abort();
}

static void put_content(int descriptor, uint64_t file) {
    struct stat found;
    if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size > most_content) return;
    char *bytes = malloc((size_t)found.st_size + 1);
    if (!bytes) abort();
    ssize_t count = pread(descriptor, bytes, (size_t)found.st_size, 0);
    if (count == found.st_size) put(faults_record_content, file, 0, "", "", bytes, (size_t)count);
    free(bytes);
}

static void put_content_of(const char *path) {
    static int (*real_open)(const char *, int, ...);
    static int (*real_close)(int);
    if (!real_open) real_open = dlsym(RTLD_NEXT, "open");
    if (!real_close) real_close = dlsym(RTLD_NEXT, "close");
    // Opening and closing it again would drop SQLite's locks.
    if (is_catalogue(path)) return;
    int descriptor = real_open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat found;
    if (descriptor < 0) return;
    if (fstat(descriptor, &found) == 0) put_content(descriptor, found.st_ino);
    real_close(descriptor);
}

/// Holds other calls up where their order matters: what is recorded must be in the order in which it happened.
static bool enter(void) {
    bool holds = journal >= 0 || keeps_undos();
    if (holds) pthread_mutex_lock(&order);
    return holds;
}

static void leave(bool holds) {
    int error = errno;
    if (holds) pthread_mutex_unlock(&order);
    errno = error;
}

// Opening and closing

static int after_open(int descriptor, const char *path, int flags, bool was_there) {
    if (descriptor < 0 || !is_ours(path)) return descriptor;
    int error = errno;
    remember(descriptor, path, flags);
    struct place *place = place_of(descriptor);
    if (journal >= 0 && place && !place->is_folder && !place->is_volatile) {
        if (!was_there) put(faults_record_create, place->file, 0, path, "", NULL, 0);
        if (was_there && (flags & O_TRUNC)) put(faults_record_truncate, place->file, 0, "", "", NULL, 0);
    }
    errno = error;
    return descriptor;
}

/// The whole of an open, over whichever of its forms.
#define OPENING(real_call) \
    const char *opened = path; \
    path = path_behind(opened); \
    if (!is_ours(path)) { \
        int other = real_call; \
        if (control && other >= 0 && other < most_descriptors) places[other].is_ours = false; \
        return other; \
    } \
    bool holds = enter(); \
    struct stat found; \
    bool was_there = !(flags & O_CREAT) || lstat(path, &found) == 0; \
    enum faults_mode mode = was_there ? faults_idle : decide(faults_create, path); \
    if (mode == faults_kill_before || mode == faults_kill_torn) die(); \
    if (mode >= faults_fail) { \
        leave(holds); \
        errno = control->error; \
        return -1; \
    } \
    int descriptor = after_open(real_call, path, flags, was_there); \
    if (mode == faults_kill_after) die(); \
    leave(holds); \
    return descriptor

#define MODE_ARGUMENT \
    mode_t permissions = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        permissions = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    REAL(open);
    MODE_ARGUMENT
    OPENING(real(opened, flags, permissions));
}

int open64(const char *path, int flags, ...) {
    REAL(open64);
    MODE_ARGUMENT
    OPENING(real(opened, flags, permissions));
}

int openat(int folder, const char *name, int flags, ...) {
    REAL(openat);
    MODE_ARGUMENT
    char joined[2 * faults_path_size];
    const char *path = name;
    struct place *place = place_of(folder);
    if (place && name[0] != '/') {
        snprintf(joined, sizeof joined, "%s/%s", place->path, name);
        path = joined;
    }
    OPENING(real(folder, name, flags, permissions));
}

int close(int descriptor) {
    REAL(close);
    if (control && descriptor >= 0 && descriptor < most_descriptors) places[descriptor].is_ours = false;
    return real(descriptor);
}

// Writing

typedef ssize_t plain_write(int, const void *, size_t);
typedef ssize_t placed_write(int, const void *, size_t, off_t);

static ssize_t writing(int descriptor, const void *bytes, size_t length, off_t offset, plain_write *plain,
                       placed_write *placed) {
    struct place *place = place_of(descriptor);
    if (!place) return plain ? plain(descriptor, bytes, length) : placed(descriptor, bytes, length, offset);
    bool holds = enter();
    size_t unit = place->is_direct ? 4096 : 1;
    enum faults_mode mode = decide(faults_write, place->path);
    if (mode == faults_kill_before || (mode == faults_kill_torn && length < 2 * unit)) die();
    if (mode == faults_fail || mode == faults_fail_dropping || (mode == faults_short && length < 2 * unit)) {
        leave(holds);
        errno = control->error;
        return -1;
    }
    if (mode == faults_kill_torn || mode == faults_short) length = (length / 2 + unit - 1) / unit * unit;
    if (plain) offset = lseek(descriptor, 0, SEEK_CUR);
    if (keeps_undos()) will_change(descriptor, place, offset, length);
    ssize_t count = plain ? plain(descriptor, bytes, length) : placed(descriptor, bytes, length, offset);
    if (mode == faults_kill_torn || mode == faults_kill_after) die();
    if (journal >= 0 && count > 0 && !place->is_volatile)
        put(faults_record_write, place->file, offset, "", "", bytes, (size_t)count);
    leave(holds);
    return count;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
    REAL(write);
    return writing(descriptor, bytes, length, 0, real, NULL);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    REAL(pwrite);
    return writing(descriptor, bytes, length, offset, NULL, real);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t offset) {
    REAL(pwrite64);
    return writing(descriptor, bytes, length, offset, NULL, real);
}

typedef int truncation(int, off_t);

static int truncating(int descriptor, off_t size, truncation *real) {
    struct place *place = place_of(descriptor);
    if (!place) return real(descriptor, size);
    bool holds = enter();
    enum faults_mode mode = decide(faults_truncate, place->path);
    if (mode == faults_kill_before || mode == faults_kill_torn) die();
    if (mode >= faults_fail) {
        leave(holds);
        errno = control->error;
        return -1;
    }
    struct stat found;
    if (keeps_undos() && fstat(descriptor, &found) == 0 && found.st_size > size)
        will_change(descriptor, place, size, (size_t)(found.st_size - size));
    int result = real(descriptor, size);
    if (mode == faults_kill_after) die();
    if (journal >= 0 && result == 0 && !place->is_volatile)
        put(faults_record_truncate, place->file, size, "", "", NULL, 0);
    leave(holds);
    return result;
}

int ftruncate(int descriptor, off_t size) {
    REAL(ftruncate);
    return truncating(descriptor, size, real);
}

int ftruncate64(int descriptor, off_t size) {
    REAL(ftruncate64);
    return truncating(descriptor, size, real);
}

// Syncing

static int syncing(int descriptor, enum faults_call call, int (*real)(int)) {
    struct place *place = place_of(descriptor);
    if (!place) return real(descriptor);
    bool holds = enter();
    enum faults_mode mode = decide(place->is_folder ? faults_folder_sync : call, place->path);
    if (mode == faults_kill_before || mode == faults_kill_torn) die();
    if (mode >= faults_fail) {
        // Otherwise the data is in the file, as it is with a disk that has only lost the answer.
        if (mode == faults_fail_dropping) forget_undos(descriptor, place->file, true);
        leave(holds);
        errno = control->error;
        return -1;
    }
    int result = real(descriptor);
    if (mode == faults_kill_after) die();
    if (result == 0 && keeps_undos()) forget_undos(descriptor, place->file, false);
    if (journal >= 0 && result == 0 && !place->is_volatile) {
        if (place->is_folder) {
            put(faults_record_folder_sync, 0, 0, place->path, "", NULL, 0);
        } else {
            if (!is_catalogue(place->path)) put_content(descriptor, place->file);
            put(faults_record_sync, place->file, 0, "", "", NULL, 0);
        }
    }
    leave(holds);
    return result;
}

int fsync(int descriptor) {
    REAL(fsync);
    return syncing(descriptor, faults_fsync, real);
}

int fdatasync(int descriptor) {
    REAL(fdatasync);
    return syncing(descriptor, faults_fdatasync, real);
}

static void drop_unsynced(int descriptor, uint64_t file) { forget_undos(descriptor, file, true); }

static void keep_synced(int descriptor, uint64_t file) {
    if (keeps_undos()) forget_undos(descriptor, file, false);
    if (journal < 0) return;
    put_content(descriptor, file);
    put(faults_record_sync, file, 0, "", "", NULL, 0);
}

static void with_files(const char *folder, void (*body)(int, uint64_t)) {
    static int (*real_open)(const char *, int, ...);
    static int (*real_close)(int);
    if (!real_open) real_open = dlsym(RTLD_NEXT, "open");
    if (!real_close) real_close = dlsym(RTLD_NEXT, "close");
    DIR *entries = opendir(folder);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        char path[2 * faults_path_size];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        struct stat found;
        if (lstat(path, &found) != 0 || !S_ISREG(found.st_mode)) continue;
        int descriptor = real_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (descriptor < 0) continue;
        body(descriptor, found.st_ino);
        real_close(descriptor);
    }
    closedir(entries);
}

/// Of all that it makes durable, what is relied on: the files of the folder that it was asked with.
int syncfs(int descriptor) {
    REAL(syncfs);
    struct place *place = place_of(descriptor);
    if (!place || !place->is_folder) return real(descriptor);
    bool holds = enter();
    enum faults_mode mode = decide(faults_fsync, place->path);
    if (mode == faults_kill_before || mode == faults_kill_torn) die();
    if (mode >= faults_fail) {
        if (mode == faults_fail_dropping) with_files(place->path, drop_unsynced);
        leave(holds);
        errno = control->error;
        return -1;
    }
    int result = real(descriptor);
    if (mode == faults_kill_after) die();
    if (result == 0 && holds) with_files(place->path, keep_synced);
    leave(holds);
    return result;
}

// Names

#define NAMING(call, record, path, other, keeps_content, real_call) \
    if (!is_ours(path)) return real_call; \
    bool holds = enter(); \
    enum faults_mode mode = decide(call, path); \
    if (mode == faults_kill_before || mode == faults_kill_torn) die(); \
    if (mode >= faults_fail) { \
        leave(holds); \
        errno = control->error; \
        return -1; \
    } \
    int result = real_call; \
    if (mode == faults_kill_after) die(); \
    if (journal >= 0 && result == 0) { \
        if (keeps_content) put_content_of(other); \
        put(record, 0, 0, path, other, NULL, 0); \
    } \
    leave(holds); \
    return result

int rename(const char *from, const char *to) {
    REAL(rename);
    from = path_behind(from);
    to = path_behind(to);
    NAMING(faults_rename, faults_record_rename, from, to, true, real(from, to));
}

int renameat2(int folder, const char *from, int other, const char *to, unsigned int flags) {
    REAL(renameat2);
    from = path_behind(from);
    to = path_behind(to);
    NAMING(faults_rename, faults_record_rename, from, to, true, real(folder, from, other, to, flags));
}

int link(const char *from, const char *to) {
    REAL(link);
    from = path_behind(from);
    to = path_behind(to);
    NAMING(faults_link, faults_record_link, from, to, true, real(from, to));
}

static int volatile_unlink(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

int unlink(const char *path) {
    REAL(unlink);
    path = path_behind(path);
    // One that is not there is no change.
    struct stat found;
    if (!is_ours(path) || volatile_unlink(path) || lstat(path, &found) != 0) return real(path);
    NAMING(faults_unlink, faults_record_unlink, path, "", false, real(path));
}
