import ImageWorkerProtocol

extension ImageWorkerPool {
    /// Makes the pictures by which a film is shown, and reads its header; of a pool of film workers
    /// (``defaultFilmExecutable(beside:)``).
    ///
    /// The descriptors are used as in ``convert(source:photo:thumbnail:preview:within:)``. The film may be of any length: a worker reads
    /// what it needs of it. Its bytes, and that they stay the same meanwhile, are the caller's business, who copies them.
    /// - Parameter processorTime: less than a film has otherwise.
    public func convertFilm(
        source: Int32, poster: Int32, thumbnail: Int32, preview: Int32, within processorTime: Duration? = nil
    ) async throws(ImagingError) -> ConvertedFilm {
        try await ask(.film, by: .working, within: processorTime) { () throws(ImagingError) in
            let given = try WorkerSource(source)
            let shown = try WorkerOutput(upTo: ImageLimits.photoBytes)
            let small = try WorkerOutput(upTo: ImageLimits.thumbnailBytes)
            let middle = try WorkerOutput(upTo: ImageLimits.previewBytes)
            return Attempt(descriptors: [source, shown.descriptor, small.descriptor, middle.descriptor]) {
                outcome throws(ImagingError) -> ConvertedFilm? in
                guard case .film(let made) = outcome, made.isPossible(of: given) else { return nil }
                guard !made.isUnseen else { return ConvertedFilm(made, poster: nil) }
                let pictures = MadePictures(
                    width: made.width, height: made.height, thumbnailWidth: made.thumbnailWidth,
                    thumbnailHeight: made.thumbnailHeight)
                guard let sealed = pictures.sealed(shown, small, middle) else { return nil }
                let stored = try FileCopy.copy(sealed.shown.descriptor, to: poster)
                _ = try FileCopy.copy(sealed.small.descriptor, to: thumbnail)
                let middling = try sealed.middle.map { file throws(ImagingError) in
                    try FileCopy.copy(file.descriptor, to: preview)
                }
                return ConvertedFilm(
                    made,
                    poster: ConvertedFilm.Poster(
                        size: stored.size, digest: stored.digest, previewSize: middling?.size))
            }
        }
    }
}

/// Sizes of pictures that a worker says it has made.
private struct MadePictures {
    let width: Int
    let height: Int
    let thumbnailWidth: Int
    let thumbnailHeight: Int

    /// The files, looked at; nil where they are not what is said of them.
    func sealed(
        _ shown: WorkerOutput, _ small: WorkerOutput, _ middle: WorkerOutput
    ) -> (shown: SealedOutput, small: SealedOutput, middle: SealedOutput?)? {
        guard let shownFile = shown.seal(), shownFile.isJPEG(width: width, height: height),
            let smallFile = small.seal(),
            smallFile.isJPEG(width: thumbnailWidth, height: thumbnailHeight)
        else { return nil }
        guard let size = ImageLimits.previewSize(ofPhoto: width, height) else { return (shownFile, smallFile, nil) }
        guard let middleFile = middle.seal(), middleFile.isPreview(width: size.width, height: size.height) else {
            return nil
        }
        return (shownFile, smallFile, middleFile)
    }
}

extension MadeFilm {
    /// Whether a worker could have said this of this source.
    fileprivate func isPossible(of source: WorkerSource) -> Bool {
        guard film.isPossible, source.begins(as: film.mediaType), facts.isPossible
        else { return false }
        guard !isUnseen else { return isPicture(width, height, within: ImageLimits.side) }
        return isPicture(width, height, within: ImageLimits.photoSide)
            && isPicture(thumbnailWidth, thumbnailHeight, within: ImageLimits.thumbnailSide)
    }
}
