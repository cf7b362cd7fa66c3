#ifndef CFAULTS_H
#define CFAULTS_H

#include <stdint.h>
#include <string.h>

// What the fault campaign and the library that it loads into the daemon say to each other: one page of memory that both
// have mapped. The campaign decides what is to happen at which call; the daemon says what it has come to.

/// The calls that change what is on the disk.
enum faults_call {
    faults_write,
    faults_truncate,
    faults_fsync,
    faults_fdatasync,
    faults_folder_sync,
    faults_create,
    faults_rename,
    faults_link,
    faults_unlink,
    faults_calls,
};

/// What happens at the call that was chosen.
enum faults_mode {
    faults_idle,
    /// Nothing: calls are counted.
    faults_count,
    faults_kill_before,
    faults_kill_after,
    /// Half of a write, then the kill; with other calls the same as before.
    faults_kill_torn,
    /// The call does nothing and says `error`.
    faults_fail,
    /// A write does half; with other calls the same as `faults_fail`.
    faults_short,
    /// A sync says `error`, and what was written since the last one is not in the file.
    faults_fail_dropping,
};

enum { faults_path_size = 512 };

struct faults_control {
    /// Calls on paths below this one count.
    char root[faults_path_size];
    /// Where the recorder writes, if it is to record.
    char journal[faults_path_size];
    uint32_t mode;
    /// A bit for each `faults_call` that is counted down.
    uint32_t chosen;
    int32_t error;
    uint32_t fired;
    uint32_t fired_call;
    /// Calls until the one.
    int64_t left;
    /// Calls of any kind from there to a kill; 0 for none.
    int64_t kill;
    uint64_t seen[faults_calls];
    char fired_path[faults_path_size];
};

// What the recorder writes: a head, then the first path, the second path and the bytes.
enum faults_record {
    faults_record_create = 1,
    faults_record_write,
    faults_record_truncate,
    /// All that the file holds, in `bytes`: others write into files as well, who have only a descriptor.
    faults_record_content,
    faults_record_sync,
    faults_record_folder_sync,
    faults_record_rename,
    faults_record_link,
    faults_record_unlink,
};

struct faults_record_head {
    uint32_t kind;
    uint32_t bytes;
    uint16_t path;
    uint16_t other;
    uint32_t reserved;
    uint64_t file;
    int64_t offset;
};

static inline void faults_set_root(struct faults_control *control, const char *path) {
    strncpy(control->root, path, faults_path_size - 1);
}

static inline void faults_set_journal(struct faults_control *control, const char *path) {
    strncpy(control->journal, path, faults_path_size - 1);
}

/// From now on the `nth` of the chosen calls brings it about, and the `kill`th call after a failed one ends the process.
static inline void faults_arm(
    struct faults_control *control, enum faults_mode mode, uint32_t chosen, int64_t nth, int32_t error, int64_t kill) {
    __atomic_store_n(&control->mode, faults_idle, __ATOMIC_SEQ_CST);
    memset(control->seen, 0, sizeof control->seen);
    memset(control->fired_path, 0, sizeof control->fired_path);
    control->fired_call = 0;
    control->chosen = chosen;
    control->error = error;
    __atomic_store_n(&control->kill, kill, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->left, nth, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->fired, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->mode, mode, __ATOMIC_SEQ_CST);
}

static inline int faults_has_fired(const struct faults_control *control) {
    return __atomic_load_n(&control->fired, __ATOMIC_SEQ_CST) != 0;
}

static inline uint64_t faults_seen(const struct faults_control *control, int call) {
    return __atomic_load_n(&control->seen[call], __ATOMIC_SEQ_CST);
}

static inline const char *faults_fired_path(const struct faults_control *control) { return control->fired_path; }

#endif
