extension CommandTable {
    /// What people type who know other programs, and the command that does it. They are told its name and not obeyed: `rm`
    /// elsewhere is for good, and a script that works here by another name is one nobody can look up.
    static let synonyms: [String: String] = {
        var all: [String: String] = [:]
        for (name, words) in wordsByCommand { for word in words { all[word] = name } }
        return all
    }()

    private static let wordsByCommand: [String: [String]] = [
        "up": ["start", "run", "daemon", "serve"],
        "down": ["stop", "quit", "exit", "shutdown", "kill"],
        "status": ["info", "stat", "stats", "state"],
        "import": ["add", "upload", "copy", "cp", "index", "scan", "photos add", "photos import", "photos upload"],
        "photos list": ["ls", "dir", "list", "photos ls"],
        "photos search": ["find", "search", "grep", "query", "photos find"],
        "photos show": ["show", "cat", "photos info", "photos get"],
        "photos open": ["open", "view", "display", "play", "photos view", "photos play"],
        "photos delete": ["rm", "del", "delete", "remove", "photos rm", "photos remove", "photos trash", "trash add"],
        "photos move": ["mv", "move", "photos mv"],
        "photos caption": ["caption", "describe", "title", "photos describe", "photos title"],
        "photos favorite": ["favorite", "favourite", "star", "like", "photos favourite", "photos star"],
        "photos unfavorite": ["unfavorite", "unfavourite", "photos unfavourite", "photos unstar"],
        "photos edit": ["edit", "date", "photos date"],
        "photos export": ["export", "save", "download", "photos save", "photos download", "backup export"],
        "categories list": ["albums", "folders", "tags", "categories ls"],
        "categories add": ["mkdir", "categories create", "categories new"],
        "categories edit": ["rename", "categories rename"],
        "categories delete": ["rmdir", "categories rm", "categories remove"],
        "trash list": ["trash ls", "trash show"],
        "trash restore": ["undelete", "recover", "trash undelete", "trash recover", "photos undelete"],
        "trash purge": ["trash empty", "trash delete", "trash clear", "trash clean", "trash rm"],
        "backup create": ["backup make", "backup new", "backup run", "backup start", "backup save"],
        "backup list": ["snapshots", "backup ls", "backup snapshots", "backup show"],
        "backup verify": ["verify", "backup check", "backup test"],
        "backup restore": ["restore", "backup import"],
        "backup prune": ["prune", "forget", "backup forget", "backup delete", "backup remove", "backup rm"],
        "storage check": ["check", "fsck", "rescan", "storage verify", "storage rescan"],
        "storage usage": ["du", "df", "usage", "size", "storage size"],
        "storage clean": ["clean", "gc", "cleanup", "vacuum"],
        "storage thumbnails": ["thumbnails", "previews", "storage previews"],
        "jobs list": ["ps", "log", "logs", "history", "jobs ls"],
        "jobs cancel": ["abort", "cancel", "jobs stop", "jobs kill", "jobs abort"],
        "jobs pause": ["pause"],
        "jobs resume": ["resume", "continue", "jobs continue"],
        "swipe review": ["review", "sort", "cull", "swipe sort"],
        "settings list": ["config", "configure", "preferences", "options", "settings show", "settings ls"],
        "watch-folder add": ["watch-folder create", "watch-folder watch"],
        "watch-folder list": ["watch-folder ls", "watch-folder show"],
        "watch-folder remove": ["watch-folder rm", "watch-folder delete", "watch-folder forget"],
        "web start": ["browser", "page", "pair", "web open", "web run"],
        "web devices": ["devices", "web ls", "web list"],
        "links create": ["link", "share", "publish", "links add", "links new", "photos share", "photos link"],
        "links list": ["links ls"],
        "links revoke": ["links rm", "links delete", "links remove", "links forget", "links end"],
        "groups list": ["groups ls"],
        "groups create": ["groups add", "groups new"],
        "doctor": ["diagnose", "repair", "fix", "health"],
        "service install": ["install", "enable", "autostart", "service enable", "service add"],
        "service remove": ["uninstall", "disable", "service uninstall", "service disable"],
        "completions": ["completion"],
        "help": ["man", "manual"],
    ]
}
