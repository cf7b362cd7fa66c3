import ServiceMesh

/// Places below `/dav/`: names that were decoded once, each by itself, so that an encoded slash never makes two of one.
enum DAVPath {
    /// Bytes of an address, as it came: twelve names of 255 bytes, each byte as three.
    private static let mostBytes = 12 * 255 * 3 + 64

    static func isBelow(_ target: String) -> Bool {
        let path = target.prefix { $0 != "?" }
        return path == "/dav" || path.hasPrefix("/dav/")
    }

    /// - Throws: ``Refusal`` for what cannot be a name: the daemon says of the rest whether it is there.
    static func names(_ path: Substring) throws(Refusal) -> [String] {
        guard path.utf8.count <= mostBytes else {
            throw Refusal(414, .invalidArgument, "This address is too long. Send the file under a shorter name.")
        }
        var names: [String] = []
        for part in path.dropFirst("/dav".count).split(separator: "/") {
            guard let name = PercentEncoding.decode(part), isName(name) else {
                throw Refusal(
                    400, .invalidArgument,
                    "A name in this address is none: text in percent-encoded UTF-8, without slashes and control characters, "
                        + "and not '.' or '..'.")
            }
            names.append(name)
        }
        return names
    }

    private static func isName(_ name: String) -> Bool {
        name != "." && name != ".."
            && name.unicodeScalars.allSatisfy { $0 != "/" && $0.properties.generalCategory != .control }
    }

    /// What a `Destination` header means here: an address of this server, or the path of one.
    /// - Throws: ``Refusal`` where it is another server's, or lies elsewhere.
    static func destination(_ text: String, host: String?) throws(Refusal) -> [String] {
        var rest = Substring(text)
        for scheme in ["http://", "https://"] where text.lowercased().hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
            let there = rest.prefix { $0 != "/" }
            guard there.lowercased() == host?.lowercased() else {
                throw Refusal(
                    502, .invalidArgument, "The destination is another server's. Nothing is sent on from here.")
            }
            rest = rest.dropFirst(there.count)
        }
        guard isBelow(String(rest)), !rest.contains("?") else {
            throw Refusal(403, .permissionDenied, "The destination is not below /dav/.")
        }
        return try names(rest)
    }

    /// As it stands in an answer; of a folder with a slash at its end.
    static func address(_ names: [String], isFolder: Bool) -> String {
        let path = (["/dav"] + names.map(PercentEncoding.encode)).joined(separator: "/")
        return isFolder ? path + "/" : path
    }
}
