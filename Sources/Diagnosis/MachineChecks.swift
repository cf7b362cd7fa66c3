import CommandLineInterface
import Files
import LibraryModel
import ServiceMesh

/// The library's disk and the machine's clock.
enum MachineChecks {
    private static let leastBytes: Int64 = 1 << 30
    /// Per cent.
    private static let leastShare: Int64 = 5

    static func space(_ disk: DiskFacts) -> Finding {
        let free = Figures.size(disk.freeBytes)
        let share = disk.totalBytes > 0 ? Double(disk.freeBytes) / Double(disk.totalBytes) * 100 : 100
        guard disk.freeBytes >= leastBytes, share >= Double(leastShare) else {
            return Finding(
                "free-space", .machine, .warning,
                "The library's disk is nearly full: \(free) free, \(Figures.decimal(share)) %.",
                remedy: "Make room on it; this shows what the library takes.", command: "smilepile storage usage")
        }
        return .fine("free-space", .machine, "There is room on the library's disk: \(free).")
    }

    /// By the numbers of statfs(2).
    static func fileSystem(_ disk: DiskFacts) -> Finding {
        let name: String
        let why: String
        let inMemory = [FileSystem.Magic.tmpfs, 0x8584_58f6]
        switch disk.kind {
        case 0x4d44, 0x2011_bab0:
            name = disk.kind == 0x4d44 ? "FAT" : "exFAT"
            why = "it has no permissions, and a power cut may damage it"
        case let kind? where kind == FileSystem.Magic.nfs || FileSystem.Magic.smb.contains(kind):
            name = kind == FileSystem.Magic.nfs ? "NFS" : "SMB"
            why = "what another machine confirms may be lost there, and two machines may open it at once"
        case let kind? where inMemory.contains(kind):
            name = "the machine's memory"
            why = "all of it is gone with the next start"
        default: return .fine("file-system", .machine, "The library's file system keeps what it is given.")
        }
        return Finding(
            "file-system", .machine, disk.kind.map(inMemory.contains) == true ? .problem : .warning,
            "The library lies on \(name): \(why).",
            remedy:
                "Stop the daemon, move the folder to a disk of this machine with ext4, XFS or Btrfs, and start it there with "
                + "'smilepile up --library FOLDER'.")
    }

    /// - Parameter jump: as the daemon has it.
    static func clock(now: Timestamp, jump: ClockJump?) -> Finding {
        let set = "timedatectl set-ntp true"
        guard now >= earliest else {
            return Finding(
                "clock", .machine, .problem, "The machine's clock is wrong: it says \(LocalDate.text(now)).",
                remedy: "Set it, or have it set from the network.", command: set)
        }
        guard let jump else { return .fine("clock", .machine, "The clock is believed.") }
        let from = jump.from.map { " from \(LocalDate.text($0))" } ?? ""
        let loss =
            jump.photos > 0
            ? "; if that is right, \(Figures.count(jump.photos, "photo")) in the trash go for good on "
                + LocalDate.text(jump.endsAt) : ""
        return Finding(
            "clock", .machine, .warning,
            "The clock has jumped\(from) to \(LocalDate.text(jump.to))\(loss).",
            remedy: "See whether it is right, and set it where it is not.", command: set)
    }

    /// Earlier than this program was written.
    private static let earliest = Timestamp(milliseconds: 1_704_067_200_000)
}
