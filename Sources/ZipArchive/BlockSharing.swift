import CArchive
import Foundation
import Synchronization

/// Lets two files of one copy-on-write file system (btrfs, XFS) share blocks, so that neither their bytes are written nor
/// their room is taken twice.
///
/// Others refuse, and are not asked again: the bytes are copied then. So they are on any other failure, because copying
/// says what is wrong in the terms of what is copied.
final class BlockSharing: Sendable {
    /// That all file systems' blocks are: those of larger ones refuse ranges that are no multiple of theirs.
    private static let block: Int64 = 4096

    private let isRefused = Atomic(false)

    /// - Parameters:
    ///   - position: in `source`, a multiple of 4,096, as is `place` in `target`.
    ///   - length: bytes that are wanted; what is behind the last whole block is left to be copied.
    /// - Returns: how many are there now, from `place` on; 0 where they are to be copied.
    func share(
        _ source: Int32, at position: Int64, with target: Int32, at place: Int64, upTo length: Int64
    ) -> Int64 {
        let whole = length / Self.block * Self.block
        guard whole > 0, position % Self.block == 0, place % Self.block == 0, !isRefused.load(ordering: .relaxed)
        else { return 0 }
        guard carchive_share_blocks(source, position, whole, target, place) != 0 else { return whole }
        if [EOPNOTSUPP, ENOTTY, ENOSYS, EXDEV].contains(errno) { isRefused.store(true, ordering: .relaxed) }
        return 0
    }
}
