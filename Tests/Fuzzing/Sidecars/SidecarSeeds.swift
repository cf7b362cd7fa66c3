/// Documents and folders as programs and people leave them.
enum SidecarSeeds {
    static func all() -> [[UInt8]] {
        let texts = takeout + [xmp, compactXMP, latinXMP] + folders + fileNames
        var seeds = texts.map { Array($0.utf8) }
        for text in [xmp, takeout[0]] {
            seeds.append([0xFF, 0xFE] + utf16(text, isBigEndian: false))
            seeds.append(utf16(text, isBigEndian: true))
        }
        seeds.append([0xEF, 0xBB, 0xBF] + Array(xmp.utf8))
        return seeds
    }

    private static func utf16(_ text: String, isBigEndian: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in text.utf16 {
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            bytes += isBigEndian ? [high, low] : [low, high]
        }
        return bytes
    }

    private static let takeout = [
        """
        {"title": "a.jpg", "description": "Au lac\\u00e9 \\ud83d\\ude00", "creationTime": {"timestamp": "1570000000"},
        "photoTakenTime": {"timestamp": "1560348333", "formatted": "12 Jun 2019"}, "favorited": true,
        "geoData": {"latitude": 0.0, "longitude": 0.0}, "geoDataExif": {"latitude": -48.15, "longitude": 1.15e1}}
        """,
        #"{"photoTakenTime": {"timestamp": -1560348333}, "people": [[{}], null, false, 0.5e-3]}"#,
    ]

    private static let xmp = """
        <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
        xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
        xmp:Rating="4" exif:GPSLatitude="52,1.2N" exif:GPSLongitude="12,30,0W" photoshop:DateCreated="2019-06-12">
        <exif:DateTimeOriginal>2019-06-12T14:05:33.5+02:00</exif:DateTimeOriginal><!-- a -->
        <dc:description><rdf:Alt><rdf:li xml:lang="de">a &amp; <![CDATA[<b>]]></rdf:li>
        <rdf:li xml:lang="x-default">&#233;</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>
        """

    private static let compactXMP = """
        <RDF xmlns='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><Description xmlns:a='http://ns.adobe.com/xap/1.0/'
        a:CreateDate='2019:06:12 14:05:33' a:Rating='-1'/></RDF>
        """

    private static let latinXMP = "<?xml version='1.0' encoding='ISO-8859-1'?>" + compactXMP

    private static let folders = [
        "x.jpg\nx.jpg.xmp\nx.xmp\nx.jpg.json\nx.jpg.supplemental-metadata.json\nx.jpg.s.json\nx-edited.jpg\nx.CR2",
        "x.jpg\nx(1).jpg\nx.jpg(1).json\nx.jpg.suppl(1).json\nx-modifi\u{E9}(1).jpg\nx-modifie\u{301}.jpg\nx.json",
        """
        PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINA.jpg
        PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGINB.jpg
        PXL_20230809_203449253.LONG_EXPOSURE-02.ORIGIN.json
        Backyard_ceremony_wedding_photography_xxxxxxx_m(494).jpg
        Backyard_ceremony_wedding_photography_xxxxxxx_(494).json
        metadata.json
        """,
    ]

    private static let fileNames = [
        "PXL_20230401_123456789.MP~2.jpg", "FB_IMG_1560348333123.jpg", "IMG-20190612-WA0007.jpg",
        "Screenshot 2019-06-12 at 2.05.33\u{202F}PM.png", "signal-2019-06-12-14-05-33-123.jpg", "20190612140533.jpg",
    ]
}
