import Glibc
import ImageWorkerProtocol

extension ImageWorkerPool {
    /// The library's own picture as plain pixels, within so many columns and rows (1…2048 each), never enlarged. `source` is
    /// used as in ``convert(source:photo:thumbnail:preview:within:)``.
    ///
    /// They come in memory that no file system knows: a picture that is looked at writes nothing.
    public func pixels(
        source: Int32, within width: Int, _ height: Int, turned: Int = 0
    ) async throws(ImagingError) -> (picture: RawPixels, bytes: [UInt8]) {
        try await ask(.pixels(width: width, height: height, turned: turned), by: .looking) { () throws(ImagingError) in
            let memory = try WorkerOutput(upTo: RawPixels(width: width, height: height).byteCount)
            return Attempt(descriptors: [source, memory.descriptor]) {
                outcome throws(ImagingError) -> (picture: RawPixels, bytes: [UInt8])? in
                guard case .pixels(let made) = outcome, let file = memory.seal(),
                    made.isPossible(within: width, height, in: file)
                else { return nil }
                var bytes = [UInt8](repeating: 0, count: made.byteCount)
                let count = bytes.withUnsafeMutableBytes { pread(file.descriptor, $0.baseAddress, $0.count, 0) }
                return count == bytes.count ? (made, bytes) : nil
            }
        }
    }
}
