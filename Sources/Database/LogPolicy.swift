import CSQLite

/// When the log is written back, seen from its size after a commit.
struct LogPolicy {
    let limit: Int
    /// True while a checkpoint would have nothing to do, as far as the last one could tell. What an earlier run left
    /// in the log is unknown, hence false at first.
    var isWrittenBack = false
    private var previous = 0
    private var threshold: Int

    init(limit: Int) {
        self.limit = max(1, limit)
        threshold = self.limit
    }

    /// The kind of checkpoint to take now, or nil.
    mutating func checkpointDue(pages: Int) -> Int32? {
        if pages < previous { threshold = limit }  // the log started over
        if pages != previous { isWrittenBack = false }
        previous = pages
        guard pages >= threshold else { return nil }
        // A log that a reader keeps from starting over is tried again after as much growth, not at every commit.
        threshold = pages + limit
        isWrittenBack = true
        // Well past the bound, wait a moment for readers so that it can start over.
        return pages >= limit * 8 ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE
    }
}

extension Connection {
    /// Counts the pages of the log from here on; see `logPages`.
    func watchLog() {
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages)
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Gives back what is only kept in case it is needed again: SQLite's pages, then the process's free memory.
    func releaseMemory() {
        sqlite3_db_release_memory(handle)
        csqlite_trim_heap()
    }

    /// Closing leaves the log and its index where they are.
    func keepLog() {
        var keeps: Int32 = 1
        _ = sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
    }

    /// Writes the whole log back and empties it. Nobody else may have the file open.
    func writeLogBack() throws(DatabaseError) {
        try check(sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
    }

    /// True where the whole log was written back (and, for `RESTART` and `TRUNCATE`, no reader stood in the way).
    func checkpoint(_ mode: Int32) -> Bool {
        // Readers finish in a moment or are past their deadline; the passive kind does not wait at all.
        sqlite3_busy_timeout(handle, mode == SQLITE_CHECKPOINT_PASSIVE ? 0 : 100)
        defer { sqlite3_busy_timeout(handle, 0) }
        var total: Int32 = 0
        var written: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, &total, &written)
        if code == SQLITE_OK, mode == SQLITE_CHECKPOINT_TRUNCATE { logPages = 0 }
        return code == SQLITE_OK && total == written
    }
}
