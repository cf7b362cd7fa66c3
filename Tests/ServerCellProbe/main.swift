import CAttempts
import Glibc
import WebServer

// A web program in its real cell that somebody has taken over: it tries each line of its standard input, a name and, behind a tab,
// an argument, and says how that ended. Descriptor 3 is one end of a conversation, as the one with the connector. As first argument, what is
// refused by the kernel on which it runs: `seccomp`, `landlock`, both, or `cell` where it enters none.

var attempts: [[String]] = []
while let line = readLine() { attempts.append(line.split(separator: "\t").map(String.init)) }

/// At once: what comes next may be the end.
func say(_ words: String...) {
    let line = words.joined(separator: "\t") + "\n"
    _ = write(1, line, line.utf8.count)
}

var ends: [Int32] = [0, 0]
guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0, dup2(ends[0], 3) == 3 else { exit(70) }

let walls = CommandLine.arguments.dropFirst().first.map { $0.split(separator: ",").map(String.init) } ?? []
guard cattempts_refuse(walls.contains("seccomp") ? 1 : 0, walls.contains("landlock") ? 1 : 0) == 0 else { exit(70) }
let missing = walls.contains("cell") ? [] : ServerCell.enter()
say("missing", missing.joined(separator: "; "))
for attempt in attempts {
    let outcome = cattempts_try(attempt[0], attempt.count > 1 ? attempt[1] : "")
    say(attempt[0], "\(outcome)")
}
