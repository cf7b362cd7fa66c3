import Configuring

/// A socket that a daemon listens at, and not the one that was tried.
package struct OtherSocket: Equatable, Sendable {
    package let path: String
    /// How a person says that it is the one.
    package let advice: String
    /// What to type so that every command finds it; nil where it is found without, once the advice is followed.
    package let command: String?

    /// - Parameters:
    ///   - isNamed: whether the command line named the one that was tried.
    package init(
        path: String, isNamed: Bool, environment: [String: String], configuration: Configuration = .none
    ) {
        self.path = path
        let word = ShellWord.of(path)
        var bare = environment
        bare["SMILEPILE_SOCKET"] = nil
        let isNamedByVariable = !(environment["SMILEPILE_SOCKET"] ?? "").isEmpty
        // What is found without being named needs no name.
        if isNamed, SocketConnection.defaultPath(environment, configuration) == path {
            (advice, command) = ("Leave --socket out", nil)
        } else if isNamedByVariable, !isNamed, SocketConnection.defaultPath(bare, configuration) == path {
            (advice, command) = ("SMILEPILE_SOCKET names the other one: unset SMILEPILE_SOCKET", nil)
        } else if !isNamed, !isNamedByVariable, configuration.entries[.socket] != nil,
            SocketConnection.defaultPath(environment) == path
        {
            (advice, command) = ("The configuration names the other one: smilepile config unset socket", nil)
        } else {
            let export = "export SMILEPILE_SOCKET=\(word)"
            (advice, command) = ("Name it with --socket \(word), or for every command: \(export)", export)
        }
    }
}
