import Testing

@testable import PhotoConversion

/// Changes what a HEIC of libheif's says of its picture, for what its own program does not write.
enum HEIFEditor {
    /// The file with one property more of its primary picture.
    static func adding(_ property: [UInt8], toPrimaryOf file: [UInt8]) throws -> [UInt8] {
        let primary = try file.withUnsafeBytes { try HEIFContainer(ByteView($0)).primary }
        var isAdded = false
        let changed = boxes(file).flatMap { type, body -> [UInt8] in
            guard type == "meta" else { return GridMaker.box(type, body) }
            let parts = boxes(Array(body.dropFirst(4))).flatMap { type, body -> [UInt8] in
                switch type {
                case "iprp":
                    let properties = boxes(body)
                    let count = properties.first { $0.type == "ipco" }.map { boxes($0.body).count } ?? 0
                    return GridMaker.box(
                        type,
                        properties.flatMap { type, body in
                            guard type == "ipma" else { return GridMaker.box(type, body + property) }
                            isAdded = true
                            return GridMaker.box(type, associated(body, primary, UInt8(count + 1)))
                        })
                // The pictures lie behind: as many bytes farther as there are more, the property's and its number.
                case "iloc": return GridMaker.box(type, moved(body, by: property.count + 1))
                default: return GridMaker.box(type, body)
                }
            }
            return GridMaker.box(type, Array(body.prefix(4)) + parts)
        }
        try #require(isAdded, "a HEIC without properties")
        return changed
    }

    private static func boxes(_ bytes: [UInt8]) -> [(type: String, body: [UInt8])] {
        bytes.withUnsafeBytes { raw in BoxList(ByteView(raw)).map { ($0.type, $0.body.array) } }
    }

    /// Associations in their short form, with one more.
    private static func associated(_ body: [UInt8], _ item: HEIFContainer.ItemID, _ number: UInt8) -> [UInt8] {
        var result = Array(body.prefix(8))
        var offset = 8
        while offset + 3 <= body.count {
            let count = Int(body[offset + 2])
            let isMeant = UInt32(body[offset]) << 8 | UInt32(body[offset + 1]) == item
            result += body[offset..<offset + 2] + [UInt8(count + (isMeant ? 1 : 0))]
            result += body[offset + 3..<offset + 3 + count] + (isMeant ? [number] : [])
            offset += 3 + count
        }
        return result
    }

    /// Places as libheif writes them: one stretch for each item, with a base in four bytes.
    private static func moved(_ body: [UInt8], by distance: Int) -> [UInt8] {
        var result = body
        for offset in stride(from: 8, to: body.count, by: 18) where offset + 18 <= body.count {
            // Behind the item's number and the file's.
            let place = offset + 4
            let base = body[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } + distance
            for index in 0..<4 { result[place + index] = UInt8(truncatingIfNeeded: base >> (24 - 8 * index)) }
        }
        return result
    }
}
