import Foundation
import ServiceMesh

/// What the daemon says of a file that a device's program has sent, or of a folder.
struct DAVFile: Decodable, Sendable {
    let name: String
    let isFolder: Bool
    let size: UInt64?
    let modifiedAt: Timestamp
    let sentAt: Timestamp

    /// Another where the file was sent once more.
    var version: String { String(sentAt.milliseconds, radix: 16) + "x" + String(size ?? 0, radix: 16) }

    /// As a ``PictureResponse`` of the same version has it.
    var tag: String { "\"\(version)-sent\"" }

    var modified: String { HTTPDate.text(modifiedAt) }
}

struct DAVPage: Decodable, Sendable {
    let file: DAVFile
    let contents: [DAVFile]
    let next: String?
}

/// The answer to PROPFIND (RFC 4918, 9.1): all that is known of each, whatever was asked, so that the question need not be read.
enum DAVAnswer {
    static let start = #"<?xml version="1.0" encoding="utf-8"?>"# + "\n" + #"<D:multistatus xmlns:D="DAV:">"# + "\n"
    static let end = "</D:multistatus>\n"

    static func entry(_ file: DAVFile, at place: [String]) -> String {
        var text = "<D:response><D:href>\(DAVPath.address(place, isFolder: file.isFolder))</D:href><D:propstat><D:prop>"
        text += "<D:displayname>\(escaped(place.last ?? "SmilePile"))</D:displayname>"
        if file.isFolder {
            text += "<D:resourcetype><D:collection/></D:resourcetype>"
        } else {
            text += "<D:resourcetype/><D:getcontentlength>\(file.size ?? 0)</D:getcontentlength>"
            text += "<D:getetag>\(escaped(file.tag))</D:getetag>"
        }
        text += "<D:getlastmodified>\(file.modified)</D:getlastmodified>"
        return text + "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\n"
    }

    /// Of names there are no control characters, which XML has none for.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// RFC 4918, 9.1.1.
    static let finiteDepth = Response(
        403, headers: [Header("Content-Type", "application/xml; charset=utf-8"), Header("Cache-Control", "no-store")],
        body: .bytes(
            Data(
                (#"<?xml version="1.0" encoding="utf-8"?>"# + "\n"
                    + #"<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>"# + "\n").utf8)))
}

/// Dates of HTTP and WebDAV (RFC 9110, 5.6.7).
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`. What no such date says is the nearest that one does.
    static func text(_ time: Timestamp) -> String {
        let seconds = min(max(time.milliseconds, 0) / 1_000, 253_402_300_799)
        var moment = time_t(seconds)
        var parts = tm()
        gmtime_r(&moment, &parts)
        let day = days[Int(seconds / 86_400 % 7)]
        let month = months[Int(parts.tm_mon)]
        return "\(day), \(two(parts.tm_mday)) \(month) \(four(parts.tm_year + 1900)) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }

    private static func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    private static func four(_ number: Int32) -> String {
        String(repeating: "0", count: number < 1000 ? 1 : 0) + String(number)
    }
}
