import CLinux
import Foundation
import ImageWorkerProtocol

extension ImageWorkerPool {
    /// Has a page drawn upon, and made into a file. All descriptors stay the caller's, and are in use until this returns:
    /// `pixels` a file of the page's size in plain pixels, `file` one that is overwritten, both of which should be in memory,
    /// `fonts` files with letters, ``/ImageWorkerProtocol/SheetPage/mostFonts`` at most.
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
        return try await ask(.sheet(fonts: fonts.count), [pixels, layout, file] + fonts) { outcome -> Int? in
            guard case .sheet(let bytes) = outcome, bytes > 0, size(of: file) == Int64(bytes) else { return nil }
            return bytes
        }
    }
}
