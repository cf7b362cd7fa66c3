import Files

extension NamedFiles {
    /// On the library's own disk: a stick may be slow, and the system's folder for such things lies in memory on many machines.
    package var scratch: Scratch { Scratch(in: root) }
}
