import Foundation
import ZipArchive

/// A good backup whose metadata says something else, with every size, count and digest made to agree: what somebody
/// writes who knows the format and wishes no good.
package enum EditedBackup {
    package typealias Object = [String: Any]

    package struct NotABackup: Error {}

    /// Copies the backup `source` to `target` with `change` made to `backup_metadata.json`, and `rename` to the names
    /// of its photos. Photos that `change` removes go from the archive too.
    /// - Parameters:
    ///   - sealed: what `sealed.json` says in the place of its bytes.
    ///   - entry: what any other entry has in the place of its bytes; nil for it to go.
    ///   - manifestChange: the last word about the manifest.
    package static func write(
        _ source: String, to target: String, rename: (String) -> String = { $0 },
        sealed: (Data) throws -> Data = { $0 }, entry: (String, Data) -> Data? = { $1 },
        manifestChange: (inout Object) -> Void = { _ in },
        _ change: (inout Object) -> Void
    ) throws {
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: source))
        let reader = try ZipReader(descriptor: input.fileDescriptor)
        var contents: [(name: String, bytes: Data)] = []
        try reader.entries.forEach { entry throws(ZipError) in
            contents.append((entry.name, try reader.read(entry.index, limit: 1 << 30)))
        }
        var metadata = try object(contents, "backup_metadata.json")
        func renamed(_ path: String) -> String {
            path.hasPrefix("photos/") ? "photos/" + rename(String(path.dropFirst(7))) : path
        }
        metadata["photos"] = (metadata["photos"] as? [Object] ?? []).map { photo in
            photo.merging(["path": renamed(photo["path"] as? String ?? "")]) { _, new in new }
        }
        change(&metadata)
        let document = try JSONSerialization.data(withJSONObject: metadata)
        let named = Set((metadata["photos"] as? [Object] ?? []).compactMap { $0["path"] as? String })
        contents = contents.map { name, bytes in
            (renamed(name), name == "backup_metadata.json" ? document : bytes)
        }
        contents = try contents.map { name, bytes in (name, name == "sealed.json" ? try sealed(bytes) : bytes) }
        contents = contents.compactMap { name, bytes in entry(name, bytes).map { (name, $0) } }
        contents = contents.filter { !$0.name.hasPrefix("photos/") || named.contains($0.name) }
        var manifest = try object(contents, "manifest.json")
        manifest["photoCount"] = (metadata["photos"] as? [Object])?.count
        manifest["categoryCount"] = (metadata["categories"] as? [Object])?.count
        manifest["files"] = contents.filter { $0.name != "manifest.json" }.map { name, bytes in
            ["path": name, "size": bytes.count, "sha256": ContentDigest(of: bytes).sha256.hex] as Object
        }
        manifestChange(&manifest)
        contents[0].bytes = try JSONSerialization.data(withJSONObject: manifest)
        let layout = try ZipLayout(
            entries: contents.map { .init(name: $0.name, size: Int64($0.bytes.count), modified: 0) })
        try Data().write(to: URL(fileURLWithPath: target))
        let output = try FileHandle(forUpdating: URL(fileURLWithPath: target))
        let writer = ZipWriter(descriptor: output.fileDescriptor, layout: layout)
        for (index, content) in contents.enumerated() { try writer.writeEntry(index, bytes: content.bytes) }
        try writer.finish()
    }

    private static func object(_ contents: [(name: String, bytes: Data)], _ name: String) throws -> Object {
        guard let found = contents.first(where: { $0.name == name }),
            let object = try JSONSerialization.jsonObject(with: found.bytes) as? Object
        else { throw NotABackup() }
        return object
    }
}
