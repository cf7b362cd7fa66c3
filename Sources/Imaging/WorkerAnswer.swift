import Glibc
import ImageWorkerProtocol

// A worker that a photo has taken over may answer anything. What it says goes into the catalogue, into names of files and
// before people's eyes, so an answer that no worker gives is none, and what can be seen here is looked at and not believed.

extension MadePhoto {
    /// Whether a worker could have said this.
    var isPossible: Bool {
        WorkerProtocol.mediaTypes.contains(sourceMediaType)
            && (!keepsSource || isWholeSource)
            && isPicture(width, height, within: ImageLimits.photoSide)
            && isPicture(sourceWidth, sourceHeight, within: ImageLimits.side)
            && width <= sourceWidth && height <= sourceHeight
            && (freshDigest.map(isDigest) ?? true)
            && facts.isPossible
            && (shortfall.map { PictureFacts.isLine($0, upTo: ImageLimits.shortfallLength) } ?? true)
            && isPicture(thumbnailWidth, thumbnailHeight, within: ImageLimits.thumbnailSide)
    }

    private var isWholeSource: Bool {
        sourceMediaType == "image/jpeg" && width == sourceWidth && height == sourceHeight
    }

    /// Whether it could have been said of this source: by its first bytes, and where it is kept as it is, by its own frame.
    func isPossible(of source: WorkerSource) -> Bool {
        guard isPossible, source.begins(as: sourceMediaType), facts.film?.isInside(bytes: source.size) ?? true else {
            return false
        }
        guard keepsSource, let frame = source.frame else { return true }
        // Upright, it may lie on its side.
        return (frame.width, frame.height) == (width, height) || (frame.height, frame.width) == (width, height)
    }
}

extension ConvertedPhoto {
    /// Takes over what a worker has made: seals it, looks at it, and copies it into the files of the library.
    /// - Returns: nil where a worker of ours could not have made it.
    /// - Throws: ``ImagingError/changed``; what ``FileCopy`` throws.
    init?(
        _ made: MadePhoto, of source: WorkerSource, shown: WorkerOutput, small: WorkerOutput, middle: WorkerOutput,
        photo: Int32, thumbnail: Int32, preview: Int32
    ) throws(ImagingError) {
        guard made.isPossible(of: source),
            let smallFile = small.seal(), smallFile.isJPEG(width: made.thumbnailWidth, height: made.thumbnailHeight)
        else { return nil }
        var middleFile: SealedOutput?
        if let size = ImageLimits.previewSize(ofPhoto: made.width, made.height) {
            guard let file = middle.seal(), file.isPreview(width: size.width, height: size.height) else { return nil }
            middleFile = file
        }
        let stored: (size: Int64, digest: String)
        let whole: (size: Int64, digest: String)
        if made.keepsSource {
            whole = try source.copy(to: photo, fresh: made.freshDigest)
            stored = whole
        } else {
            guard let file = shown.seal(), file.isJPEG(width: made.width, height: made.height) else { return nil }
            whole = try source.copy(to: nil, fresh: made.freshDigest)
            stored = try FileCopy.copy(file.descriptor, to: photo)
        }
        let little = try FileCopy.copy(smallFile.descriptor, to: thumbnail)
        let middling = try middleFile.map { file throws(ImagingError) in try FileCopy.copy(file.descriptor, to: preview)
        }
        self.init(
            fileSize: stored.size, width: made.width, height: made.height, sourceMediaType: made.sourceMediaType,
            sourceSize: whole.size, sourceWidth: made.sourceWidth, sourceHeight: made.sourceHeight,
            sourceDigest: whole.digest, contentDigest: stored.digest, keptOriginal: made.keepsSource,
            facts: made.facts, shortfall: made.shortfall, thumbnailWidth: made.thumbnailWidth,
            thumbnailHeight: made.thumbnailHeight, thumbnailSize: little.size, previewSize: middling?.size)
    }
}

extension UnseenPicture {
    var isPossible: Bool {
        (WorkerProtocol.mediaTypes.contains(mediaType) || WorkerProtocol.filmTypes.contains(mediaType))
            && isPicture(width, height, within: ImageLimits.side)
            && facts.isPossible
    }
}

extension ConvertedThumbnail {
    var isPossible: Bool { isPicture(width, height, within: ImageLimits.thumbnailSide) }
}

extension ConvertedPreview {
    /// Whether a worker could have said this, and made this.
    /// - Returns: what it has made, where there is something; nil for what no worker of ours answers.
    func made(in output: WorkerOutput, turned: Int) -> SealedOutput?? {
        guard isPicture(photoWidth, photoHeight, within: ImageLimits.side) else { return nil }
        guard let size = ImageLimits.previewSize(ofPhoto: photoWidth, photoHeight) else { return .some(nil) }
        guard let file = output.seal(), file.isPreview(width: size.width, height: size.height, turned: turned) else {
            return nil
        }
        return file
    }
}

extension BarePicture {
    var isPossible: Bool { isPicture(width, height, within: ImageLimits.photoSide) }
}

extension RawPixels {
    /// Whether a worker could have said this of what it wrote.
    func isPossible(within width: Int, _ height: Int, in file: SealedOutput) -> Bool {
        (1...width).contains(self.width) && (1...height).contains(self.height) && file.size == Int64(byteCount)
    }
}

extension ImagingError {
    /// Whether it is a worker's to say: what it found in a photo, in a few words. The rest is said of workers.
    var isPossible: Bool {
        switch self {
        case .unsupported(let found), .damaged(let found), .tooLarge(let found), .io(let found):
            found.utf8.count <= 1000
        case .needsMemory(let found, let picture):
            found.utf8.count <= 1000 && (picture.map(\.isPossible) ?? true)
        case .changed, .diskFull, .fileTooLarge: true
        case .timedOut, .workerCrashed, .workerLost, .cancelled, .noWorkers: false
        }
    }
}

func isPicture(_ width: Int, _ height: Int, within side: Int) -> Bool {
    (1...side).contains(width) && (1...side).contains(height)
}

private func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64
        && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
}

/// In bytes; -1 where it cannot be told.
func size(of descriptor: Int32) -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
}
