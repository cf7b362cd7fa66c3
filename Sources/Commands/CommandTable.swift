import Assistants
import CommandLineInterface
import Diagnosis
import Exporting
import LibraryModel

/// Every command, in the order in which help shows them.
enum CommandTable {
    static let all: [Command] =
        daemonCommands + [.doctor, metricsCommand] + configurationCommands + serviceCommands + importCommands
        + watchFolderCommands
        + categoryCommands
        + photoCommands + [.export] + sheetCommands
        + photoChangeCommands
        + photoDetailCommands + swipeCommands + swipeMachineCommands + groupCommands + groupHubCommands + backupCommands
        + backupKeepingCommands + migrateCommands
        + trashCommands
        + storageCommands
        + keyCommands + jobCommands + modeCommands + pinCommands + settingsCommands + webCommands
        + linkCommands + watchCommands
        + [.mcp] + toolCommands

    /// What each group is about, for its help page.
    static let groups = [
        "config": "What the programs are started with: the file, and where each value comes from.",
        "service": "The daemon and the page as services of this user's systemd.",
        "watch-folder": "Folders from which what comes is imported by itself.",
        "categories": "Piles of photos with a name and a colour.",
        "photos": "The photos of the library.",
        "swipe": "Reviews: decide photo by photo, apply the decisions later.",
        "groups": "A few people who send each other one photo a day, for two days.",
        "backup": "Backups as ZIP files that are proven readable.",
        "trash": "Photos that were deleted; they can be restored for 30 days.",
        "storage": "The library's files: what they take, and whether they are sound.",
        "keys": "Keys of the sealed fields: whether they open, saving them, a new one.",
        "pin": "The PIN that keeps children out of what is a parent's.",
        "settings": "What a person may change, and what the library notes by itself.",
        "web": "The page on which browsers of the house show the photos.",
        "web devices": "The browsers that are paired, and whose each is.",
        "links": "Links with which others see some photos, for some days.",
        "jobs": "Long work in the daemon: imports, backups, restores.",
    ]

    static let version = Release.version
    static let versionLine = Release.line("smilepile")
}
