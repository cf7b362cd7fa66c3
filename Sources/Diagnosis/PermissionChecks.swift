import CommandLineInterface

/// Whether what is the family's is this user's alone.
enum PermissionChecks {
    /// - Parameters:
    ///   - user: who runs this, and the daemon.
    ///   - isServed: whether a daemon has it open.
    ///   - isEmpty: whether nothing is in it.
    static func library(_ folder: FileFacts, user: UInt32, isServed: Bool, isEmpty: Bool) -> Finding {
        let word = ShellWord.of(folder.path)
        switch folder.kind {
        case .folder where isEmpty:
            return Finding(
                "library-folder", .permissions, isServed ? .problem : .warning,
                "There is nothing in the library's folder \(folder.path): is its disk mounted?",
                remedy: "Mount it. Where a new library is wanted there instead:",
                command: "smilepile up --new --library \(word)")
        case .folder: break
        case .nothing where !isServed:
            return Finding(
                "library-folder", .permissions, .advice, "There is no library in \(folder.path).",
                remedy: "Name the folder of the one that you have, or start with a new one there.",
                command: "smilepile up --library FOLDER")
        case .nothing:
            return Finding(
                "library-folder", .permissions, .problem,
                "The library's folder \(folder.path) is not there any more, and a daemon serves it.",
                remedy: "Mount its disk again or move it back; then 'smilepile down' and 'smilepile up'.")
        default:
            return Finding(
                "library-folder", .permissions, .problem,
                "The library's folder \(folder.path) cannot be looked at, or is no folder.",
                remedy: "See what stands there, and who may enter it.", command: "ls -ld \(word)")
        }
        guard folder.owner == user else {
            return Finding(
                "library-owner", .permissions, .problem,
                "The library's folder \(folder.path) belongs to another user (\(folder.owner)).",
                remedy: "Give it to the user that runs the daemon.", command: "sudo chown -R \(user) \(word)")
        }
        guard folder.mode & 0o077 == 0 else {
            return Finding(
                "library-mode", .permissions, .warning,
                "Other users of this machine may look into the library's folder \(folder.path) (its mode is "
                    + "\(folder.modeText)).",
                remedy: "Make it this user's alone.", command: "chmod 700 \(word)",
                repair: .mode(path: folder.path, 0o700))
        }
        return .fine("library-mode", .permissions, "The library's folder is this user's alone.")
    }

    /// What stands in the socket's place, and the folder that it stands in. Where nothing stands there, nothing is said: it is made
    /// as it should be.
    static func socket(_ socket: FileFacts, folder: FileFacts, user: UInt32) -> [Finding] {
        var findings: [Finding] = []
        let word = ShellWord.of(socket.path)
        switch socket.kind {
        case .nothing, .unreachable: break
        case .socket where socket.owner != user && socket.owner != 0:
            findings.append(
                Finding(
                    "socket-owner", .permissions, .problem,
                    "The socket \(socket.path) belongs to another user (\(socket.owner)).",
                    remedy: "Name your own with --socket, or unset SMILEPILE_SOCKET."))
        case .socket where socket.owner == user && socket.mode & 0o077 != 0:
            findings.append(
                Finding(
                    "socket-mode", .permissions, .warning,
                    "Other users of this machine may use the daemon's socket \(socket.path) (its mode is "
                        + "\(socket.modeText)).",
                    remedy: "Make it this user's alone.", command: "chmod 600 \(word)",
                    repair: .mode(path: socket.path, 0o600)))
        case .socket: findings.append(.fine("socket-mode", .permissions, "The socket is this user's alone."))
        case .folder, .file, .link, .other:
            findings.append(
                Finding(
                    "socket-taken", .permissions, .problem,
                    "Where the daemon's socket belongs stands something else: \(socket.path).",
                    remedy: "Move it away, or name another place with --socket.",
                    command: "mv \(word) \(ShellWord.of(socket.path + ".old"))"))
        }
        guard folder.kind == .folder else { return findings }
        let others: UInt32 = folder.mode & 0o1000 != 0 ? 0 : folder.mode & 0o022
        let isOwn = folder.owner == user
        if !isOwn && folder.owner != 0 || others != 0 {
            findings.append(
                Finding(
                    "socket-folder", .permissions, .problem,
                    "Others can put a socket of theirs in the place of the daemon's: \(folder.path) is "
                        + (isOwn ? "open to them (its mode is \(folder.modeText))." : "theirs (\(folder.owner))."),
                    remedy: isOwn ? "Make it this user's alone." : "Name a folder of your own with --socket.",
                    command: isOwn ? "chmod 700 \(ShellWord.of(folder.path))" : nil,
                    repair: isOwn ? .mode(path: folder.path, 0o700) : nil))
        } else {
            findings.append(
                .fine("socket-folder", .permissions, "Nobody else can put a socket in the place of the daemon's."))
        }
        return findings
    }

    /// The key file as the daemon wants it: it refuses any other.
    /// - Parameters:
    ///   - bytes: that it has to have.
    ///   - isCredential: whether a service manager hands it over.
    /// - Returns: nil where there is none.
    static func keyFile(_ file: FileFacts, user: UInt32, bytes: Int64, isCredential: Bool) -> Finding? {
        let word = ShellWord.of(file.path)
        func problem(_ id: String, _ what: String, _ remedy: String, _ command: String?, _ repair: Repair? = nil)
            -> Finding
        {
            Finding(
                id, .keys, .problem, "The key file \(file.path) \(what), so the daemon refuses it.", remedy: remedy,
                command: command, repair: repair)
        }
        switch file.kind {
        case .nothing: return nil
        case .link: return problem("key-file-kind", "is a link", "Put the file itself in its place.", nil)
        case .file: break
        case .folder, .socket, .other, .unreachable:
            return problem(
                "key-file-kind", "cannot be looked at or is no file", "See what stands there.", "ls -ld \(word)")
        }
        guard file.owner == user || isCredential && file.owner == 0 else {
            return problem(
                "key-file-owner", "belongs to another user (\(file.owner))",
                "Give it to the user that runs the daemon.",
                "sudo chown \(user) \(word)")
        }
        guard file.mode & (isCredential ? 0o007 : 0o077) == 0 else {
            return problem(
                "key-file-mode", "may be read or changed by other users (its mode is \(file.modeText))",
                "Make it this user's alone; where somebody may have read it, 'smilepile keys rotate' makes a new key.",
                "chmod 600 \(word)", isCredential ? nil : .mode(path: file.path, 0o600))
        }
        guard file.links == 1 else {
            return problem(
                "key-file-names", "has \(file.links) names", "Remove the others, which this finds.",
                "find / -xdev -samefile \(word)")
        }
        guard file.bytes == bytes else {
            return problem(
                "key-file-contents", "has \(file.bytes) bytes in place of \(bytes)",
                "Put the right file there, or import the keys from where they were saved.",
                "smilepile keys import FILE")
        }
        return .fine("key-file", .keys, "The key file is there, and this user's alone.")
    }

    /// The folder of the key file.
    static func keyFolder(_ folder: FileFacts, user: UInt32) -> Finding? {
        guard folder.kind == .folder, folder.mode & 0o022 != 0, folder.mode & 0o1000 == 0 else { return nil }
        let mode = folder.mode & ~0o022
        return Finding(
            "key-folder", .keys, .warning,
            "Others can remove or exchange the key file: they may write in its folder \(folder.path) (its mode is "
                + "\(folder.modeText)).",
            remedy: "Let nobody else write there.", command: "chmod go-w \(ShellWord.of(folder.path))",
            repair: folder.owner == user ? .mode(path: folder.path, mode) : nil)
    }

    /// Paths without links.
    static func keyPlace(file: String, library: String) -> Finding? {
        guard file.hasPrefix(library.hasSuffix("/") ? library : library + "/") else { return nil }
        return Finding(
            "key-place", .keys, .problem,
            "The key file's place, \(file), is in the library's folder: who gets a copy of that folder gets the key too.",
            remedy:
                "Stop the daemon, move the file to its usual place or to one that SMILEPILE_KEY_FILE names, and start it again."
        )
    }
}
