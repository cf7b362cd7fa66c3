import CLinux
import Foundation
import ServiceMesh

/// The machine's fonts that a contact sheet is written with: one for most of the world's letters, and where it has them,
/// one for Chinese, Japanese and Korean and one for symbols.
///
/// By their usual places, and not through fontconfig, which reads configurations of the user's and writes a cache. On Debian
/// the first is there wherever libgd is, which needs one.
enum SheetFonts {
    /// Of each line the first that is there.
    private static let places = [
        [
            "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
            "/usr/share/fonts/TTF/DejaVuSans.ttf", "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
            "/usr/share/fonts/noto/NotoSans-Regular.ttf",
            "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
            "/usr/share/fonts/liberation-sans/LiberationSans-Regular.ttf",
        ],
        [
            "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc", "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
            "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
        ],
        [
            "/usr/share/fonts/truetype/ancient-scripts/Symbola_hint.ttf",
            "/usr/share/fonts/truetype/noto/NotoEmoji-Regular.ttf",
            "/usr/share/fonts/truetype/noto/NotoSansSymbols2-Regular.ttf",
        ],
    ]

    /// Those that are there, open. Blocks.
    static func open() -> [OwnedFile] {
        places.compactMap { alternatives in
            for path in alternatives {
                let descriptor = clinux_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0)
                if descriptor >= 0 { return OwnedFile(owning: descriptor) }
            }
            return nil
        }
    }
}
