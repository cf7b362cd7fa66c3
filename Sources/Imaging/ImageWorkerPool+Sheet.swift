import CLinux
import Foundation
import ImageWorkerProtocol

extension ImageWorkerPool {
    /// Has a page drawn upon, and made into a file. All descriptors stay the caller's, and are in use until this returns:
    /// `pixels` a file in memory of the page's size in plain pixels, `file` one that is overwritten, `fonts` files with letters, ``/ImageWorkerProtocol/SheetPage/mostFonts`` at most.
    /// - Returns: the bytes of the file.
    package func draw(
        _ page: SheetPage, pixels: Int32, fonts: [Int32], into file: Int32
    ) async throws(ImagingError) -> Int {
        let layout = clinux_memory_file("smilepile-sheet")
        guard layout >= 0 else { throw .io("no memory for a page: \(String(cString: strerror(errno)))") }
        defer { close(layout) }
        guard let line = WorkerProtocol.line(page), line.count <= SheetPage.mostBytes,
            line.withUnsafeBytes({ pwrite(layout, $0.baseAddress, $0.count, 0) }) == line.count
        else { throw .io("a page that cannot be described") }
        let fonts = Array(fonts.prefix(SheetPage.mostFonts))
        return try await ask(.sheet(fonts: fonts.count), by: .looking) { () throws(ImagingError) in
            let output = try WorkerOutput(
                upTo: RawPixels(width: page.width, height: page.height).byteCount + 1 << 20)
            return Attempt(descriptors: [pixels, layout, output.descriptor] + fonts) {
                outcome throws(ImagingError) -> Int? in
                guard case .sheet = outcome, let made = output.seal() else { return nil }
                let isOfFormat =
                    switch page.format {
                    case .jpeg: made.isJPEG(width: page.width, height: page.height)
                    case .png: made.isPNG(width: page.width, height: page.height)
                    }
                return isOfFormat ? Int(try FileCopy.copy(made.descriptor, to: file).size) : nil
            }
        }
    }
}
