/// Why a photo was not converted: closed, so that a receipt can name each case.
///
/// The texts say what was found, never a path: the worker does not know one.
public enum ImagingError: Error, Sendable, Equatable, Codable {
    /// The content is no picture of a type that is imported.
    case unsupported(String)
    /// The content is of a known type but cannot be decoded, or a substantial part of it is missing.
    case damaged(String)
    /// The file is over a limit (see ``ImageLimits``) that more memory would not move: its bytes, a side, its scans.
    case tooLarge(String)
    /// The picture may be good, but cannot be decoded within the memory that workers have, or has more pixels than they
    /// take on. Nothing is known to be wrong with it; a machine with more memory, or a later version, may open it. With what
    /// its header says, where that was read.
    case needsMemory(String, UnseenPicture? = nil)
    /// The source was written to, replaced or cut while it was read.
    case changed
    /// The worker took more time over the photo than it has for one (``ImageLimits/photoProcessorSeconds``), and was ended.
    /// The photo may be good.
    case timedOut
    /// The worker ended by itself before it answered. The photo may be hostile; others are not affected.
    case workerCrashed(String)
    /// Something outside ended the worker before it answered: the kernel for want of memory, a person. Nothing is known
    /// of the picture.
    case workerLost(String)
    /// The calling task was cancelled, or the pool shut down.
    case cancelled
    /// Workers end as soon as they are started, so none is started for a while.
    case noWorkers(secondsToNextTry: Int)
    /// Reading the source, writing an output or starting a worker failed; nothing is wrong with the picture.
    case io(String)
    /// There was no room for an output; nothing is wrong with the picture.
    case diskFull
    /// An output is larger than its file system takes, or this process may write; nothing is wrong with the picture.
    case fileTooLarge
}

extension ImagingError {
    /// Where an allocation was refused.
    package static let lackOfMemory = Self.needsMemory("more than a worker may have")
}

extension ImagingError: CustomStringConvertible {
    /// A sentence for people that says what to do next.
    public var description: String {
        switch self {
        case .unsupported(let found):
            "This file is not a photo SmilePile imports (\(found)). "
                + "Convert it to JPEG, PNG, WebP, GIF, BMP, TIFF, HEIC, AVIF, JPEG XL, JPEG 2000 or DNG first."
        case .damaged(let found):
            "This photo is damaged (\(found)). Copy it again from where it came from."
        case .tooLarge(let found):
            "This photo is too large to open safely (\(found)). Make a smaller copy and import that."
        case .needsMemory(let found, _):
            "This photo needs more memory than there is for opening photos (\(found)). "
                + "Nothing is known to be wrong with it. Make a smaller copy to see it here."
        case .changed:
            "This file changed while it was read. Import it again when nothing writes to it any more."
        case .timedOut:
            "Opening this photo took too long and was stopped. Nothing is known to be wrong with it. "
                + "Make a smaller copy, or convert it to JPEG, to see it here."
        case .workerCrashed(let found):
            "The helper that opens photos ended while reading this one (\(found)). The photo is probably damaged."
        case .workerLost(let found):
            "The helper that opens photos was killed from outside, and so was a second one (\(found)). "
                + "Nothing is known to be wrong with this photo. See whether memory is short, then import it again."
        case .cancelled:
            "Opening this photo was cancelled. Start the import again to continue."
        case .noWorkers(let seconds):
            "The helper that opens photos cannot be started; see the log for why. Try again in \(seconds) s."
        case .io(let found):
            "A file could not be read or written (\(found)). Check the disk and the permissions, then try again."
        case .diskFull:
            "The disk is full. Free some space, then import this file again."
        case .fileTooLarge:
            "This file is too large for the library's file system. Nothing is known to be wrong with it. "
                + "Keep the library on another one, such as ext4 or Btrfs, then import this file again."
        }
    }
}
