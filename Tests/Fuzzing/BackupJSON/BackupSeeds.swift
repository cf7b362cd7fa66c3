import Foundation
import FuzzSupport
import ZipArchive

/// Documents of backups with `@name@` where a size, a digest or a count belongs.
enum BackupSeeds {
    static let uuids = ["5e0c2f1a-9d6b-4c1e-8f33-0a1b2c3d4e5f", "5e0c2f1a-9d6b-4c1e-8f33-0a1b2c3d4e60"]

    static func all(photos: [(name: String, bytes: [UInt8])]) -> [[UInt8]] {
        let empty = """
            {"version":"1.0","timestamp":0,"categories":[{"id":1,"displayName":"Family","colorHex":"red",\
            "orderIndex":0,"isDefault":true}],"photos":[],"settings":{"hasPIN":false,"kidsModeEnabled":true}}
            """
        let partial = manifest(photos: 0).replacing("\"platform\"", with: "\"isPartial\":true,\"platform\"")
        return [
            Parts.joined([Array(manifest(photos: 2).utf8), Array(metadata.utf8)]),
            Parts.joined([Array(partial.utf8), Array(empty.utf8)]),
        ]
    }

    private static func manifest(photos: Int) -> String {
        let files = ["one", "two"].map {
            #"{"path":"photos/\#($0).jpg","size":@\#($0).size@,"sha256":"@\#($0).sha256@"}"#
        }
        let all = [#"{"path":"backup_metadata.json","size":@size@,"sha256":"@sha256@"}"#] + files.prefix(photos)
        return """
            {"appVersion":"1","backupVersion":"1.0","categoryCount":@categories@,"photoCount":@photos@,\
            "files":[\(all.joined(separator: ","))],"generator":"SmilePile","platform":"linux",\
            "timestamp":1700000000000}
            """
    }

    private static let metadata: String = {
        func photo(_ index: Int, _ name: String) -> String {
            """
            {"id":\(index + 1),"path":"photos/\(name).jpg","categoryId":\(index + 1),"caption":"Été \\ud83d\\ude00",\
            "timestamp":1700000000000,"isFavorite":true,"uuid":"\(uuids[index])","name":"IMG","isFromAssets":false,\
            "createdAt":1700000000000,"takenAt":-5,"width":20,"height":10,"fileSize":@\(name).size@,\
            "mediaType":"image/jpeg","contentDigest":"@\(name).sha256@","sourceDigest":"@\(name).sha256@","sourceSize":9}
            """
        }
        return """
            {"version":"1.0","timestamp":1700000000000,"categories":[{"id":1,"displayName":"Family",\
            "colorHex":"#4CAF50","orderIndex":0,"isDefault":true,"createdAt":5},{"id":2,"displayName":"Zoë",\
            "orderIndex":1,"isDefault":false,"iconResource":"star"}],\
            "photos":[\(photo(0, "one")),\(photo(1, "two"))],"settings":{"hasPIN":false,"kidsModeEnabled":false},\
            "preferences":{"swipeThreshold":0.3,"enableHapticFeedback":true,"autoProcessActions":false,\
            "storageCleanupEnabled":true},"swipeSessions":[{"sessionID":"\(uuids[1])",\
            "startTime":1,"endTime":2,"actions":[{"photoIdentifier":"\(uuids[0])",\
            "contentDigest":"@one.sha256@","action":"keep","timestamp":1,"isProcessed":false}]}]}
            """
    }()

    /// A document with what belongs in the places of its names.
    /// - Parameter metadata: the other document, where this one is the manifest.
    static func filled(
        _ document: [UInt8], _ photos: [(name: String, bytes: [UInt8])], metadata: [UInt8]?
    ) -> [UInt8] {
        guard document.contains(UInt8(ascii: "@")) else { return document }
        var values: [String: String] = [:]
        for photo in photos {
            let name = photo.name.dropFirst("photos/".count).dropLast(".jpg".count)
            values["\(name).size"] = String(photo.bytes.count)
            values["\(name).sha256"] = ContentDigest(of: photo.bytes).sha256.hex
        }
        if let metadata {
            values["size"] = String(metadata.count)
            values["sha256"] = ContentDigest(of: metadata).sha256.hex
            let object = (try? JSONSerialization.jsonObject(with: Data(metadata))) as? [String: Any]
            for name in ["categories", "photos"] { values[name] = String((object?[name] as? [Any])?.count ?? 0) }
        }
        var filled: [UInt8] = []
        var rest = document[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "@")) {
            filled += rest[..<start]
            rest = rest[(start + 1)...]
            guard let end = rest.prefix(20).firstIndex(of: UInt8(ascii: "@")),
                let value = values[String(decoding: rest[..<end], as: UTF8.self)]
            else {
                filled.append(UInt8(ascii: "@"))
                continue
            }
            filled += value.utf8
            rest = rest[(end + 1)...]
        }
        return filled + rest
    }
}
