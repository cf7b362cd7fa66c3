#pragma once
#include <malloc.h>
#include <sqlite3.h>

/// SQLITE_TRANSIENT is a cast macro, which Swift does not import: copy the bytes before the call returns.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

/// sqlite3_db_config is variadic in C. Switches one SQLITE_DBCONFIG_* flag; returns SQLITE_OK or an error code.
static inline int csqlite_set_flag(sqlite3 *connection, int flag, int on) {
    return sqlite3_db_config(connection, flag, on, (int *)0);
}

/// sqlite3_config is variadic in C. Turns off the allocator's statistics, which cost a process-wide lock on every
/// allocation. Has to come before the first connection; afterwards SQLite refuses it, which does no harm.
static inline int csqlite_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// Gives the pages of the heap on which nothing stands back to the system; glibc keeps them otherwise, after work as large
/// as an upgrade of the catalogue for as long as the process lives.
static inline void csqlite_trim_heap(void) { malloc_trim(0); }
