import CLinux
import Foundation
import Synchronization

/// Lines on standard error, of a program that goes on whatever becomes of it: closed, on a full disk, a pipe whose reader has
/// gone. Foundation's `FileHandle` ends the process there.
public enum StandardError {
    private static let lost = Atomic<Int>(0)

    /// Lines that could not be written, or not whole, since the program began.
    public static var lostLines: Int { lost.load(ordering: .relaxed) }

    /// Has to come first in a program: a descriptor of the usual three that is closed would be given to the next file that is
    /// opened, and what is said would be written into that. Nothing can be read from what is put there, and nothing be
    /// written, so that lines count as lost. Signals of pipes without readers, and of files that are larger than this process may
    /// write, are ignored from here on: the call that meets one fails, and its caller says of what.
    public static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            let filler = clinux_open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY, 0)
            // The lowest that is free is the one that was closed.
            if filler >= 0, filler != descriptor {
                dup2(filler, descriptor)
                close(filler)
            }
        }
    }

    /// Writes a text that ends in a line feed. Blocks while a pipe is full.
    public static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(2, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else {
                lost.add(1, ordering: .relaxed)
                return
            }
            rest = rest.dropFirst(written)
        }
    }
}
