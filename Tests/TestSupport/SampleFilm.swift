/// Films of some seconds, made by ffmpeg: a test picture that moves, and a tone.
package struct SampleFilm: Sendable {
    package var width = 320
    package var height = 240
    /// Seconds.
    package var duration = 2.0
    package var hasSound = true
    /// ffmpeg's names of the encoder and the pixel format.
    package var codec = "libx264"
    package var pixels = "yuv420p"
    /// What is done to the picture, in ffmpeg's words: `fade=in:0:50`.
    package var filter: String?
    /// Its header's words.
    package var tags: [String: String] = [:]
    /// Further arguments, before the file's name.
    package var arguments: [String] = []

    package init() {}

    /// Of one kind with a change or two.
    package init(_ change: (inout SampleFilm) -> Void) { change(&self) }

    /// Makes it. How it is packed follows from the name's end.
    package func write(to path: String) throws {
        let size = "\(width)x\(height)"
        var words = [
            "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=\(duration)",
        ]
        if hasSound { words += ["-f", "lavfi", "-i", "sine=frequency=440:duration=\(duration)"] }
        if let filter { words += ["-vf", filter] }
        words += ["-c:v", codec, "-pix_fmt", pixels]
        // What ffmpeg would take for 3GP is not in Debian's.
        if hasSound, path.hasSuffix(".3gp") { words += ["-c:a", "aac"] }
        if codec == "libx264" { words += ["-preset", "ultrafast"] }
        if codec == "libx265" { words += ["-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params", "log-level=none"] }
        for (name, value) in tags.sorted(by: { $0.key < $1.key }) { words += ["-metadata", "\(name)=\(value)"] }
        try Tool.ffmpeg.run(words + arguments + [path])
    }
}
