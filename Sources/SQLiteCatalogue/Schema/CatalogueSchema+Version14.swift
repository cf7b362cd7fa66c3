/// What version 14 brought: a bound on what other machines tell, and tokens that are sealed.
extension CatalogueSchema {
    /// `taken` counts the rows that a machine was the first to tell of, since it was let in or joined: those that there are, where an
    /// earlier version did not count. A session's `source` is the machine that told of it first. Of sessions from before it is the
    /// one that all of its decisions are from; of one without decisions nobody knows, and it is taken to be of this machine.
    ///
    /// Of the tokens that this library was given, `sealed_token` has what the library's key made of one; `token` has it as it is until
    /// then, and nothing afterwards. A partner's `joins` tells one invitation from the next.
    static let version14 = """
        ALTER TABLE swipe_sessions ADD COLUMN source TEXT;
        UPDATE swipe_sessions SET source = (SELECT min(source) FROM swipe_actions a WHERE a.session_id = swipe_sessions.id)
            WHERE (SELECT count(DISTINCT coalesce(source, '')) FROM swipe_actions a WHERE a.session_id = swipe_sessions.id)
                = 1;
        \(taken(in: "swipe_machines"))
        \(taken(in: "swipe_partners"))
        ALTER TABLE group_hubs ADD COLUMN sealed_token BLOB;
        ALTER TABLE swipe_partners ADD COLUMN sealed_token BLOB;
        ALTER TABLE swipe_partners ADD COLUMN joins INTEGER NOT NULL DEFAULT 1;
        """

    private static func taken(in table: String) -> String {
        """
        ALTER TABLE \(table) ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
        UPDATE \(table) SET taken = (SELECT count(*) FROM swipe_sessions WHERE source = \(table).id)
            + (SELECT count(*) FROM swipe_actions WHERE source = \(table).id)
            + (SELECT count(*) FROM swipe_undone WHERE source = \(table).id);
        """
    }
}
