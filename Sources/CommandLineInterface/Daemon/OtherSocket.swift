/// A socket that a daemon listens at, and not the one that was tried.
package struct OtherSocket: Equatable, Sendable {
    package let path: String
    /// How a person says that it is the one.
    package let advice: String

    /// - Parameters:
    ///   - isNamed: whether the command line named the one that was tried.
    package init(path: String, isNamed: Bool, environment: [String: String]) {
        self.path = path
        let word = ShellWord.of(path)
        var bare = environment
        bare["SMILEPILE_SOCKET"] = nil
        let isNamedByVariable = !(environment["SMILEPILE_SOCKET"] ?? "").isEmpty
        // What is found without being named needs no name.
        if isNamed, SocketConnection.defaultPath(environment) == path {
            advice = "Leave --socket out"
        } else if isNamedByVariable, !isNamed, SocketConnection.defaultPath(bare) == path {
            advice = "SMILEPILE_SOCKET names the other one: unset SMILEPILE_SOCKET"
        } else {
            advice = "Name it with --socket \(word), or for every command: export SMILEPILE_SOCKET=\(word)"
        }
    }
}
