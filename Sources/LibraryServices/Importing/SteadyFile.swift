import Files
import Foundation
import Imaging
import ImageWorkerProtocol

extension NamedFiles {
    /// Reads a file that somebody else may be writing to.
    /// - Throws: ``ImagingError/changed`` where it was written to, cut or replaced while `body` read it; what
    ///   `NamedFiles/open(_:_:links:)` throws.
    func withSteadyFile<T>(_ path: String, _ body: (Int32) throws -> T) throws -> T {
        try withFile(path) { descriptor in
            let before = try Self.state(of: descriptor, path)
            let result = try body(descriptor)
            guard try Self.state(of: descriptor, path) == before else { throw ImagingError.changed }
            return result
        }
    }

    private static func state(of descriptor: Int32, _ path: String) throws -> FileState {
        var found = stat()
        try FileSystem.check(fstat(descriptor, &found), "look at", path)
        return FileState(found)
    }
}
