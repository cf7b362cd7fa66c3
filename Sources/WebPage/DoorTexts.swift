/// What the page of a home's door says, in each language. Menus are called what the systems call them. NAME stands for what the authority
/// calls itself.
struct DoorTexts {
    struct Device {
        let name: String
        let isApple: Bool
        /// HTML.
        let steps: [String]
    }

    let language, title, what, install, choose, certificate, profile: String
    let compare, comparing, limits, open, opening: String
    let devices: [Device]

    static let english = DoorTexts(
        language: "en",
        title: "The photos of this home",
        what: """
            This machine keeps your family’s photos and shows them over an encrypted connection. Its certificate is its own, because no public \
            authority certifies a machine at home. Each device gets it once, here.
            """,
        install: "Install the certificate once",
        choose: "Choose your device. The certificate is called <strong>NAME</strong> there.",
        certificate: "Download the certificate", profile: "Download the profile",
        compare: "Compare the fingerprint",
        comparing: """
            While it is installed, most devices show a SHA-256 fingerprint. It must be this one, and the one that \
            <code>smilepile web status</code> prints on the machine with the photos. If it is another one, remove the certificate.
            """,
        limits: """
            The certificate NAME is limited to addresses inside homes, names that end in .local, and this machine’s own name. It is \
            not made for any other website.
            """,
        open: "Open the photos",
        opening: """
            Scan the code that <code>smilepile web</code> shows on the machine with the photos, or that a device which is already in shows under \
            “Devices”. The photos are at:
            """,
        devices: [
            Device(
                name: "iPhone and iPad", isApple: true,
                steps: [
                    "Open this page in Safari, tap <em>Download the profile</em>, and then <em>Allow</em>.",
                    "Open <em>Settings</em>, tap <em>Profile Downloaded</em> at the top, then <em>Install</em>, and enter your passcode.",
                    "Go to <em>Settings → General → About → Certificate Trust Settings</em> and switch on <strong>NAME</strong>. "
                        + "Without this step Safari goes on to warn you.",
                ]),
            Device(
                name: "Android", isApple: false,
                steps: [
                    "Tap <em>Download the certificate</em>.",
                    "Open <em>Settings</em>, search for <em>CA certificate</em>, and open it. On most phones it is under "
                        + "<em>Security &amp; privacy → More security settings → Encryption &amp; credentials → Install a certificate</em>.",
                    "Tap <em>Install anyway</em>, confirm with your PIN or pattern, and choose <em>smilepile.crt</em> in Downloads.",
                    "Use Chrome. Firefox for Android does not look at installed certificates by itself.",
                ]),
            Device(
                name: "Windows", isApple: false,
                steps: [
                    "Download the certificate and open the file.",
                    "Choose <em>Install Certificate…</em>, then <em>Current User</em>.",
                    "Choose <em>Place all certificates in the following store</em>, then <em>Browse…</em> and "
                        + "<em>Trusted Root Certification Authorities</em>.",
                    "Choose <em>Finish</em>. Windows shows a fingerprint (SHA-1, a shorter one) and asks: <em>Yes</em>.",
                ]),
            Device(
                name: "Mac", isApple: false,
                steps: [
                    "Download the certificate and open the file. Keychain Access adds it to the <em>login</em> keychain.",
                    "Double-click <strong>NAME</strong> there, open <em>Trust</em>, and set <em>When using this certificate</em> to "
                        + "<em>Always Trust</em>.",
                    "Close the window and enter your password.",
                ]),
            Device(
                name: "Firefox on a computer", isApple: false,
                steps: [
                    "Download the certificate.",
                    "Open <em>Settings → Privacy &amp; Security → Certificates → View Certificates… → Authorities → Import…</em> and choose "
                        + "<em>smilepile.crt</em>.",
                    "Tick <em>Trust this CA to identify websites</em>, and then <em>OK</em>.",
                ]),
        ])

    static let german = DoorTexts(
        language: "de",
        title: "Die Fotos bei dir zu Hause",
        what: """
            Dieser Computer bewahrt die Fotos deiner Familie auf und zeigt sie über eine verschlüsselte Verbindung. Das Zertifikat dafür ist sein \
            eigenes, denn öffentliche gibt es für einen Computer zu Hause nicht. Jedes Gerät bekommt es einmal, und zwar hier.
            """,
        install: "Zertifikat einmal installieren",
        choose: "Wähle dein Gerät. Das Zertifikat heißt dort <strong>NAME</strong>.",
        certificate: "Zertifikat laden", profile: "Profil laden",
        compare: "Fingerabdruck vergleichen",
        comparing: """
            Die meisten Geräte zeigen beim Installieren einen SHA-256-Fingerabdruck. Es muss dieser sein – derselbe, den \
            <code>smilepile web status</code> auf dem Computer mit den Fotos ausgibt. Ist es ein anderer, entferne das Zertifikat wieder.
            """,
        limits: """
            Das Zertifikat NAME ist auf Adressen im Heimnetz, auf Namen mit der Endung .local und auf den Namen dieses Computers beschränkt. Für \
            andere Websites ist es nicht gemacht.
            """,
        open: "Fotos öffnen",
        opening: """
            Scanne den Code, den <code>smilepile web</code> auf dem Computer mit den Fotos zeigt. Auch jedes Gerät, das schon verbunden ist, zeigt \
            einen unter „Geräte“. Die Fotos findest du hier:
            """,
        devices: [
            Device(
                name: "iPhone und iPad", isApple: true,
                steps: [
                    "Öffne diese Seite in Safari, tippe auf <em>Profil laden</em> und dann auf <em>Zulassen</em>.",
                    "Öffne die <em>Einstellungen</em>, tippe oben auf <em>Profil geladen</em>, dann auf <em>Installieren</em>, und gib "
                        + "deinen Code ein.",
                    "Gehe zu <em>Einstellungen → Allgemein → Info → Zertifikatsvertrauenseinstellungen</em> und schalte <strong>NAME</strong> "
                        + "ein. Ohne diesen Schritt warnt Safari weiter.",
                ]),
            Device(
                name: "Android", isApple: false,
                steps: [
                    "Tippe auf <em>Zertifikat laden</em>.",
                    "Öffne die <em>Einstellungen</em> und suche nach <em>CA-Zertifikat</em>. Bei den meisten Geräten steht es unter "
                        + "<em>Sicherheit und Datenschutz → Weitere Sicherheitseinstellungen → Verschlüsselung und Anmeldedaten → "
                        + "Zertifikat installieren</em>.",
                    "Tippe auf <em>Trotzdem installieren</em>, bestätige mit PIN oder Muster und wähle <em>smilepile.crt</em> unter Downloads.",
                    "Nimm Chrome. Firefox für Android beachtet installierte Zertifikate nicht von selbst.",
                ]),
            Device(
                name: "Windows", isApple: false,
                steps: [
                    "Lade das Zertifikat und öffne die Datei.",
                    "Wähle <em>Zertifikat installieren…</em>, dann <em>Aktueller Benutzer</em>.",
                    "Wähle <em>Alle Zertifikate in folgendem Speicher speichern</em>, dann <em>Durchsuchen…</em> und "
                        + "<em>Vertrauenswürdige Stammzertifizierungsstellen</em>.",
                    "Wähle <em>Fertig stellen</em>. Windows zeigt einen Fingerabdruck (SHA-1, ein kürzerer) und fragt nach: <em>Ja</em>.",
                ]),
            Device(
                name: "Mac", isApple: false,
                steps: [
                    "Lade das Zertifikat und öffne die Datei. Die Schlüsselbundverwaltung legt es im Schlüsselbund <em>Anmeldung</em> ab.",
                    "Doppelklicke dort auf <strong>NAME</strong>, öffne <em>Vertrauen</em> und stelle <em>Bei Verwendung dieses Zertifikats</em> auf "
                        + "<em>Immer vertrauen</em>.",
                    "Schließe das Fenster und gib dein Passwort ein.",
                ]),
            Device(
                name: "Firefox am Computer", isApple: false,
                steps: [
                    "Lade das Zertifikat.",
                    "Öffne <em>Einstellungen → Datenschutz &amp; Sicherheit → Zertifikate → Zertifikate anzeigen… → Zertifizierungsstellen → "
                        + "Importieren…</em> und wähle <em>smilepile.crt</em>.",
                    "Setze den Haken bei <em>Dieser CA vertrauen, um Websites zu identifizieren</em> und klicke auf <em>OK</em>.",
                ]),
        ])
}
