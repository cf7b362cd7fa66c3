import Database

/// How the segments of the text index are merged: some pages with each commit that has entered something, and the rest while
/// nothing is written.
///
/// FTS5's own merging waits for 64 pages of new text and then writes 64 for each level of the index, inside the write that
/// came last: one request in ten took 20 to 50 ms instead of 4, and with it all who waited behind it.
/// Rejected: only the time between two writes, in which a long change of all photos leaves hundreds of segments to each search.
enum SearchMergeSchema {
    /// A level that has so many segments is merged at once all the same. The index takes no more than 2,000 in all, and a commit
    /// brings up to 256 of them.
    private static let crisis = 500

    static let script = """
        INSERT INTO photo_search (photo_search, rank) VALUES ('automerge', 0);
        INSERT INTO photo_search (photo_search, rank) VALUES ('crisismerge', \(crisis));
        """

    /// Pages that one step writes, of 4 KB: 4 ms or so.
    private static let pages = 32

    static let upkeep = Upkeep(after: ["photo_search"]) { connection in
        let before = connection.totalChanges
        try connection.execute("INSERT INTO photo_search (photo_search, rank) VALUES ('merge', ?)", pages)
        // One change is the statement itself.
        return connection.totalChanges - before > 1
    }
}
