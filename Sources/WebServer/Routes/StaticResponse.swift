/// A file that everybody may have.
enum StaticResponse {
    static func make(_ file: StaticFile, for head: RequestHead) -> Response {
        let isCompressed = file.compressed != nil && accepts("gzip", head)
        // Two forms are two things to a cache.
        let tag = "\"\(file.digest)\(isCompressed ? "-gz" : "")\""
        // An address with the digest means these bytes for ever; one without has to be asked about each time.
        let version = head.argument("v") ?? ""
        let isFixed = version.count >= 8 && file.digest.hasPrefix(version)
        var headers = [
            Header("ETag", tag), Header("Vary", "Accept-Encoding"),
            Header("Cache-Control", isFixed ? "public, max-age=31536000, immutable" : "no-cache"),
        ]
        if EntityTag.matches(tag, head.header("if-none-match")) { return Response(304, headers: headers) }
        headers.append(Header("Content-Type", file.mediaType))
        if isCompressed { headers.append(Header("Content-Encoding", "gzip")) }
        let bytes = isCompressed ? file.compressed ?? file.bytes : file.bytes
        return Response(200, headers: headers, body: .permanent(bytes))
    }

    private static func accepts(_ coding: String, _ head: RequestHead) -> Bool {
        (head.header("accept-encoding") ?? "").split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map { $0.filter { $0 != " " } }
            return parts.first?.lowercased() == coding && !parts.dropFirst().contains { $0 == "q=0" || $0 == "q=0.0" }
        }
    }
}

/// What a browser asks with when it has something already.
enum EntityTag {
    /// Whether `tag` is in a list of them, compared weakly as for a read.
    static func matches(_ tag: String, _ list: String?) -> Bool {
        guard let list else { return false }
        return list.split(separator: ",").contains { item in
            let item = item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            let text = String(item)
            return text == "*" || text == tag || text == "W/" + tag
        }
    }
}
