import CLinux
import Files
import Foundation

/// Which process has staged a file, noted in an extended attribute of it: whoever clears the staging place takes only what
/// is a gone process's.
///
/// Two processes do not serve one library; where locks do not hold, as on some network file systems, this is what keeps the
/// second from taking away what the first is bringing in. A process is named by its number, the moment at which it started,
/// and the boot of its machine. Rejected: a locked file for each process beside the staged ones, which is one more thing to
/// be cleaned away. Where the file system keeps no attributes, and in files of older versions, there is no mark, and the
/// library's lock alone decides.
struct StagingMark: Sendable {
    private static let attribute = "user.smilepile.staged"

    /// Of this process.
    static let own = StagingMark(process: getpid())

    private let text: String

    private init(process: pid_t) {
        text = "\(Self.boot) \(process) \(Self.start(of: process) ?? "-")"
    }

    func put(on descriptor: Int32) {
        let bytes = Array(text.utf8)
        // Without attributes nothing is lost but this.
        _ = clinux_note(descriptor, Self.attribute, bytes, bytes.count)
    }

    static func remove(from path: String) { _ = clinux_remove_note(path, attribute) }

    /// Whether no other process that still runs has staged the file.
    static func mayClear(_ path: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = clinux_read_note(path, attribute, &bytes, bytes.count)
        guard count > 0, let mark = String(validating: bytes.prefix(count), as: UTF8.self) else { return true }
        let parts = mark.split(separator: " ")
        guard mark != own.text, parts.count == 3, parts[0] == boot, let process = pid_t(parts[1]) else { return true }
        return start(of: process) != String(parts[2])
    }

    /// Another one after each start of the machine.
    private static let boot = ((try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? "-")
        .trimmingCharacters(in: .whitespacesAndNewlines)

    /// Clock ticks after the boot, from field 22 of `/proc/PID/stat`; nil where there is no such process, or only what its
    /// parent has not asked about yet. The program's name stands in brackets before it and may have anything in it.
    private static func start(of process: pid_t) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, !["Z", "X"].contains(fields[0]) else { return nil }
        return String(fields[19])
    }
}
