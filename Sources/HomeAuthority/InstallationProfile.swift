import Foundation

/// What iPhones and iPads install: a profile with the authority's certificate in it and nothing else (Apple's Configuration Profile
/// Reference). Not signed: what could sign it would be the certificate that it brings.
package enum InstallationProfile {
    package enum Language: String, CaseIterable, Sendable {
        case english = "en"
        case german = "de"
    }

    /// - Parameter language: of what the device shows before it installs.
    package static func make(for authority: Authority, in language: Language) -> Data {
        let description =
            switch language {
            case .english:
                "Lets this device open the photo page of your home, encrypted. It speaks for addresses inside a home only."
            case .german:
                "Damit öffnet dieses Gerät die Fotoseite bei dir zu Hause verschlüsselt. Es gilt nur für Adressen im Heimnetz."
            }
        let name = escaped(authority.name)
        let id =
            "smilepile.home."
            + authority.fingerprint.prefix(8).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        let certificate = authority.certificate.base64EncodedString(options: [
            .lineLength64Characters, .endLineWithLineFeed,
        ])
        return Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            <key>PayloadContent</key>
            <array>
            <dict>
            <key>PayloadCertificateFileName</key><string>smilepile.crt</string>
            <key>PayloadContent</key>
            <data>
            \(certificate)
            </data>
            <key>PayloadDescription</key><string>\(description)</string>
            <key>PayloadDisplayName</key><string>\(name)</string>
            <key>PayloadIdentifier</key><string>\(id).certificate</string>
            <key>PayloadType</key><string>com.apple.security.root</string>
            <key>PayloadUUID</key><string>\(uuid(authority, 0))</string>
            <key>PayloadVersion</key><integer>1</integer>
            </dict>
            </array>
            <key>PayloadDescription</key><string>\(description)</string>
            <key>PayloadDisplayName</key><string>\(name)</string>
            <key>PayloadIdentifier</key><string>\(id)</string>
            <key>PayloadType</key><string>Configuration</string>
            <key>PayloadUUID</key><string>\(uuid(authority, 16))</string>
            <key>PayloadVersion</key><integer>1</integer>
            </dict>
            </plist>

            """.utf8)
    }

    /// Of the certificate's digest, so that a device which has the profile already replaces it and does not have it twice (version 8
    /// of RFC 9562: as its maker likes).
    private static func uuid(_ authority: Authority, _ from: Int) -> String {
        var bytes = Array(authority.fingerprint[from..<(from + 16)])
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            )
        ).uuidString
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
