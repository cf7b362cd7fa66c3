import Foundation
import SampleAlbum

// The benchmark program: so far it makes sample albums.
let arguments = CommandLine.arguments
guard arguments.count >= 3, arguments[1] == "album" else {
    FileHandle.standardError.write(Data("Usage: smilepile-bench album FOLDER [COUNT]\n".utf8))
    exit(2)
}
try SampleAlbum().write(count: arguments.count > 3 ? Int(arguments[3]) ?? 24 : 24, to: arguments[2])
