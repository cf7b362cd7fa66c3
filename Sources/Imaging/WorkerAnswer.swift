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
            && (!keptOriginal || isWholeSource)
            && (1...Int64(ImageLimits.sourceBytes)).contains(sourceSize)
            && fileSize > 0 && isPicture(width, height, within: ImageLimits.photoSide)
            && isPicture(sourceWidth, sourceHeight, within: ImageLimits.side)
            && width <= sourceWidth && height <= sourceHeight
            && isDigest(sourceDigest) && isDigest(contentDigest)
            && (taken.map(isDate) ?? true) && isPlace(latitude, longitude)
            && (caption.map(isCaption) ?? true) && (rating.map((0...5).contains) ?? true)
            && (camera.map(isCamera) ?? true)
            && ConvertedThumbnail(width: thumbnailWidth, height: thumbnailHeight, fileSize: thumbnailSize).isPossible
    }

    private var isWholeSource: Bool {
        sourceMediaType == "image/jpeg" && contentDigest == sourceDigest && fileSize == sourceSize
            && width == sourceWidth && height == sourceHeight
    }
}

extension UnseenPicture {
    var isPossible: Bool {
        WorkerProtocol.mediaTypes.contains(mediaType) && isPicture(width, height, within: ImageLimits.side)
            && (taken.map(isDate) ?? true) && (caption.map(isCaption) ?? true)
            && (rating.map((0...5).contains) ?? true) && (camera.map(isCamera) ?? true) && isPlace(latitude, longitude)
    }
}

extension ConvertedThumbnail {
    func isPossible(thumbnail: Int32) -> Bool { isPossible && fileSize == size(of: thumbnail) }

    var isPossible: Bool { fileSize > 0 && isPicture(width, height, within: ImageLimits.thumbnailSide) }
}

extension BarePicture {
    func isPossible(picture: Int32) -> Bool {
        fileSize > 0 && isPicture(width, height, within: ImageLimits.photoSide) && fileSize == size(of: picture)
    }
}

extension RawPixels {
    /// Whether a worker could have said this of what it wrote.
    func isPossible(within width: Int, _ height: Int, in file: Int32) -> Bool {
        (1...width).contains(self.width) && (1...height).contains(self.height) && size(of: file) == Int64(byteCount)
    }
}

extension EmbeddedFacts {
    var isPossible: Bool { (taken.map(isDate) ?? true) && (camera.map(isCamera) ?? true) }
}

extension ImagingError {
    /// Whether it is a worker's to say: what it found in a photo, in a few words. The rest is said of workers.
    var isPossible: Bool {
        switch self {
        case .unsupported(let found), .damaged(let found), .tooLarge(let found), .io(let found):
            found.utf8.count <= 1000
        case .needsMemory(let found, let picture):
            found.utf8.count <= 1000 && (picture.map(\.isPossible) ?? true)
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

private func isDate(_ date: CameraDate) -> Bool {
    CameraDate.clocks.contains(date.clock) && (date.offset.map(CameraDate.offsets.contains) ?? true)
}

private func isCaption(_ text: String) -> Bool { ConvertedPhoto.isLine(text, upTo: ImageLimits.captionLength) }

private func isCamera(_ text: String) -> Bool { ConvertedPhoto.isLine(text, upTo: ImageLimits.cameraLength) }

/// Both or neither, on this planet.
private func isPlace(_ latitude: Double?, _ longitude: Double?) -> Bool {
    guard let latitude, let longitude else { return latitude == nil && longitude == nil }
    return (-90...90).contains(latitude) && (-180...180).contains(longitude)
}

/// In bytes; -1 where it cannot be told.
func size(of descriptor: Int32) -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
}
