import Glibc
import ImageWorkerProtocol

// A worker that a photo has taken over may answer anything. What it says goes into the catalogue, into names of files and
// before people's eyes, so an answer that no worker gives is none. That its digests are true cannot be seen here.

extension ConvertedPhoto {
    /// Whether a worker could have said this of the files that it was given.
    func isPossible(photo: Int32, thumbnail: Int32) -> Bool {
        isPossible && fileSize == size(of: photo) && thumbnailSize == size(of: thumbnail)
    }

    /// The part of it that needs no files.
    var isPossible: Bool {
        WorkerProtocol.mediaTypes.contains(sourceMediaType)
            && mediaType == (keptOriginal ? sourceMediaType : "image/jpeg")
            && (!keptOriginal || (contentDigest == sourceDigest && fileSize == sourceSize))
            && (1...Int64(ImageLimits.sourceBytes)).contains(sourceSize)
            && fileSize > 0 && isPicture(width, height, within: keptOriginal ? ImageLimits.side : ImageLimits.photoSide)
            && isDigest(sourceDigest) && isDigest(contentDigest)
            && (takenAtMilliseconds.map(Self.times.contains) ?? true) && isPlace(latitude, longitude)
            && ConvertedThumbnail(width: thumbnailWidth, height: thumbnailHeight, fileSize: thumbnailSize).isPossible
    }

    /// The years 1800 to 9999, which EXIF can say, in milliseconds since 1970; a day more at both ends for the zones.
    private static let times: ClosedRange<Int64> = -5_364_748_800_000...253_402_387_200_000
}

extension ConvertedThumbnail {
    func isPossible(thumbnail: Int32) -> Bool { isPossible && fileSize == size(of: thumbnail) }

    var isPossible: Bool { fileSize > 0 && isPicture(width, height, within: ImageLimits.thumbnailSide) }
}

extension ImagingError {
    /// Whether it is a worker's to say: what it found in a photo, in a few words. The rest is said of workers.
    var isPossible: Bool {
        switch self {
        case .unsupported(let found), .damaged(let found), .tooLarge(let found), .io(let found):
            found.utf8.count <= 1000
        case .changed, .diskFull: true
        case .timedOut, .workerCrashed, .workerLost, .cancelled, .noWorkers: false
        }
    }
}

private func isPicture(_ width: Int, _ height: Int, within side: Int) -> Bool {
    (1...side).contains(width) && (1...side).contains(height)
}

private func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64
        && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
}

/// Both or neither, on this planet.
private func isPlace(_ latitude: Double?, _ longitude: Double?) -> Bool {
    guard let latitude, let longitude else { return latitude == nil && longitude == nil }
    return (-90...90).contains(latitude) && (-180...180).contains(longitude)
}

/// In bytes; -1 where it cannot be told.
private func size(of descriptor: Int32) -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
}
