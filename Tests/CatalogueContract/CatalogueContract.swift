/// What every implementation of `Catalogue` promises, as checks: of transactions, observers and the owner, and of each repository.
///
/// A module of tests runs them: `@Test(arguments: CatalogueContract.repositories)` names each check that fails.
package enum CatalogueContract {
    /// Those of all repositories, with these in their names.
    package static let repositories: [ContractCheck] = lists.flatMap { repository, checks in
        checks.map { $0.named("\(repository): \($0.name)") }
    }

    private static let lists: [(repository: String, checks: [ContractCheck])] = [
        ("numbers", numbers),
        ("photos", photos), ("pairs", pairs), ("searches", searches), ("calendars", calendars),
        ("sealed fields", sealedFields),
        ("trash", trash),
        ("categories", categories), ("swipes", swipes), ("reviews", reviews), ("review machines", reviewMachines),
        ("groups", groups), ("group hubs", groupHubs), ("access", access), ("jobs", jobs), ("job journal", journal),
        ("discarded files", discardedFiles), ("devices", devices), ("links", links), ("sent files", sentFiles),
        ("settings", settings),
        ("overwritten", overwritten), ("unfinished backups", unfinishedBackups), ("made backups", madeBackups),
        ("known files", knownFiles), ("failed sources", failedSources),
    ]
}
