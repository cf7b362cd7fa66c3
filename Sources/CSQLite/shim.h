#pragma once
#include <sqlite3.h>

/// SQLITE_TRANSIENT is a cast macro, which Swift does not import: copy the bytes before the call returns.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }
