import CLinux
import Glibc
import ImageWorkerProtocol

extension ImageWorkerPool {
    /// The library's own picture as plain pixels, within so many columns and rows (1…2048 each), never enlarged. `source` is
    /// used as in ``convert(source:photo:thumbnail:)``.
    ///
    /// They come in memory that both sides have open and no file system knows: a picture that is looked at writes nothing.
    public func pixels(
        source: Int32, within width: Int, _ height: Int
    ) async throws(ImagingError) -> (picture: RawPixels, bytes: [UInt8]) {
        let memory = clinux_memory_file("smilepile-pixels")
        guard memory >= 0 else { throw .io("no memory for its pixels: \(String(cString: strerror(errno)))") }
        defer { close(memory) }
        let picture = try await ask(.pixels(width: width, height: height), [source, memory]) { outcome -> RawPixels? in
            guard case .pixels(let made) = outcome, made.isPossible(within: width, height, in: memory) else {
                return nil
            }
            return made
        }
        // Read where it is known how much there is: a worker that was taken over may cut it short now, and then the rest is black.
        var bytes = [UInt8](repeating: 0, count: picture.byteCount)
        _ = bytes.withUnsafeMutableBytes { pread(memory, $0.baseAddress, $0.count, 0) }
        return (picture, bytes)
    }
}
