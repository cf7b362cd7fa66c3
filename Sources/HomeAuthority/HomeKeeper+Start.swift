import CLinux
import Foundation
import ServiceMesh

/// How the page's program starts the keeper: itself once more, so that nothing of one is in the memory of the other.
extension HomeKeeper {
    /// The word that makes the page's program a keeper. It is for that program and for no person.
    package static let word = "--keep-home"
    /// The descriptor of the conversation in the keeper.
    private static let conversation: Int32 = 3

    /// Starts it. Before the cell, and before there are threads.
    /// - Throws: `MeshError`.
    package static func start(_ place: Place) throws -> HomeConversation {
        var ends: [Int32] = [-1, -1]
        guard clinux_conversation(&ends) == 0 else { throw failure(errno) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], conversation)
        clinux_spawn_close_from(&actions, conversation + 1)
        let arguments =
            ["smilepile-web", word, place.only?.text ?? "-", String(place.ports.page), String(place.ports.door)]
            + place.names
        let pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var pid: pid_t = 0
        let error = posix_spawn(&pid, "/proc/self/exe", &actions, nil, pointers, environ)
        guard error == 0 else {
            close(ends[0])
            throw failure(error)
        }
        return HomeConversation(ends[0])
    }

    /// Runs the keeper that such a program is, to its end.
    /// - Returns: false at once for any other program.
    package static func run(
        asked arguments: [String], listen: @escaping (PrivateAddress, UInt16) throws -> Int32
    ) -> Bool {
        guard arguments.count >= 5, arguments[1] == word, let page = UInt16(arguments[3]),
            let door = UInt16(arguments[4])
        else { return false }
        // It ends with the other side, and not before: a terminal's Ctrl-C comes to both, and a service manager stops both.
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
        let end = HomeConversation(conversation)
        let place = Place(
            only: PrivateAddress(arguments[2]), ports: (page, door), names: Array(arguments.dropFirst(5)))
        if let file = AuthorityFile.usual() {
            var keeper = HomeKeeper(end, file: file, place: place, listen: listen)
            keeper.run()
        } else {
            _ = end.send(
                .failed(
                    "There is no place for this home's authority: neither HOME nor XDG_CONFIG_HOME is set. Name a file in "
                        + "SMILEPILE_AUTHORITY_FILE."))
        }
        return true
    }

    private static func failure(_ code: Int32) -> MeshError {
        MeshError(
            .failedPrecondition,
            "What keeps this home's authority cannot be started: \(String(cString: strerror(code)).lowercased()).")
    }
}
