import Glibc

/// What the C library says about a call that failed.
enum SystemCall {
    /// The reason for an `errno` in words, in lower case as it stands inside a sentence.
    static func reason(_ code: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        // strerror_r, because strerror's own buffer is shared between threads.
        guard strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
        let words = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return words.prefix(1).lowercased() + words.dropFirst()
    }
}
