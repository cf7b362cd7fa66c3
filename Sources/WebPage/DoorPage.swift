import CCrypto
import Foundation

/// The one page of a home's door: what it is, the certificate, the steps for each kind of device, and the way to the photos. It stands
/// by itself, without a script, a picture or another file, because whoever reads it does not trust this machine yet.
public struct DoorPage: Sendable {
    /// What the authority calls itself on devices.
    let name: String
    /// Of its certificate, as people compare it: `AB:CD:…`.
    let fingerprint: String
    /// The page's port.
    let port: UInt16
    /// For who came by an address that only this machine reaches.
    let otherwise: String?

    /// - Parameters:
    ///   - name: what the authority calls itself on devices.
    ///   - fingerprint: of its certificate, as people compare it.
    ///   - port: the page's.
    ///   - otherwise: the host of the page, for who came by an address that only this machine reaches.
    public init(name: String, fingerprint: String, port: UInt16, otherwise: String?) {
        self.name = name
        self.fingerprint = fingerprint
        self.port = port
        self.otherwise = otherwise
    }

    /// - Parameters:
    ///   - language: `de`, else English.
    ///   - host: by which it was asked for.
    public func html(language: String, host: String) -> Data {
        let texts = language == "de" ? DoorTexts.german : DoorTexts.english
        let isOwn = host == "localhost" || host.hasPrefix("127.") || host == "[::1]"
        let address = "https://\(isOwn ? otherwise ?? host : host):\(port)/"
        // In groups of eight: a line of a phone has two.
        let pairs = fingerprint.split(separator: ":").map(String.init)
        let groups = stride(from: 0, to: pairs.count, by: 8).map {
            "<span>" + pairs[$0..<min($0 + 8, pairs.count)].joined(separator: ":") + "</span>"
        }
        let devices = texts.devices.map { device in
            let steps = device.steps.map { "<li>\(filled($0))</li>" }.joined(separator: "\n")
            let file = device.isApple ? "smilepile.mobileconfig" : "smilepile.crt"
            return """
                <details>
                <summary>\(device.name)</summary>
                <p><a class="button" href="/\(file)">\(device.isApple ? texts.profile : texts.certificate)</a></p>
                <ol>
                \(steps)
                </ol>
                </details>
                """
        }
        return Data(
            """
            <!doctype html>
            <html lang="\(texts.language)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>SmilePile</title>
            <style>\(Self.css)</style>
            </head>
            <body>
            <main>
            <p class="brand">SmilePile</p>
            <h1>\(texts.title)</h1>
            <p>\(texts.what)</p>
            <h2><b>1</b> \(texts.install)</h2>
            <p>\(filled(texts.choose))</p>
            \(devices.joined(separator: "\n"))
            <h2><b>2</b> \(texts.compare)</h2>
            <p>\(texts.comparing)</p>
            <p class="fingerprint">\(groups.joined(separator: " "))</p>
            <p class="quiet">\(filled(texts.limits))</p>
            <h2><b>3</b> \(texts.open)</h2>
            <p>\(texts.opening)</p>
            <p><a class="button primary" href="\(Self.escaped(address))">\(Self.escaped(address))</a></p>
            </main>
            </body>
            </html>

            """.utf8)
    }

    private func filled(_ text: String) -> String { text.replacingOccurrences(of: "NAME", with: Self.escaped(name)) }

    private static func escaped(_ text: String) -> String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")].reduce(text) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }

    // MARK: Its style

    /// As a Content Security Policy allows it.
    public static let style: String = {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let bytes = Array(css.utf8)
        precondition(
            EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil) == 1 && length == 32,
            "libcrypto has no SHA-256")
        return "sha256-" + Data(digest.prefix(32)).base64EncodedString()
    }()

    /// In words that browsers of ten years ago know: `light-dark()`, which the photo page uses, they do not.
    private static let css = """
        :root{--ground:#faf8f3;--raised:#fff;--text:#1f1c15;--quiet:#605a4d;--line:#dcd7ca;--edge:#857d6d;--accent:#0b6458;--on-accent:#fff}
        @media (prefers-color-scheme:dark){:root{--ground:#151411;--raised:#201e1a;--text:#eeeae0;--quiet:#aea797;--line:#3a372f;--edge:#8c8474;--accent:#74d3c1;--on-accent:#04201b}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--ground);color:var(--text);font:17px/1.5 system-ui,sans-serif}
        main{max-width:42rem;margin:0 auto;padding:24px 16px 64px}
        .brand{margin:0;color:var(--accent);font-weight:700}
        h1{margin:4px 0 16px;font-size:1.75rem;line-height:1.2}
        h2{display:flex;align-items:center;margin:36px 0 8px;font-size:1.2rem;line-height:1.3}
        h2 b{flex:none;width:1.8em;height:1.8em;margin-right:10px;border-radius:50%;background:var(--accent);color:var(--on-accent);text-align:center;line-height:1.8}
        a{color:var(--accent)}
        details{margin:8px 0;border:1px solid var(--line);border-radius:10px;background:var(--raised);padding:0 16px}
        summary{padding:12px 0;font-weight:600;cursor:pointer}
        ol{margin:0 0 16px;padding-left:1.4em}
        li{margin:6px 0;overflow-wrap:anywhere;hyphens:auto}
        .button{display:inline-block;max-width:100%;min-height:44px;padding:9px 16px;border:1px solid var(--edge);border-radius:10px;color:var(--text);text-decoration:none;overflow-wrap:anywhere}
        .primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
        a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .fingerprint{padding:12px 16px;border:1px solid var(--line);border-radius:10px;background:var(--raised);font:15px/1.7 ui-monospace,monospace}
        .fingerprint span{display:inline-block;margin-right:8px;white-space:nowrap}
        .quiet{color:var(--quiet);font-size:.94rem}
        """
}
