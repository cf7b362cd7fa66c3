/// A token that this library shows another machine, as the catalogue has it.
package enum StoredToken: Sendable, Equatable {
    /// As it is: until the library's key can be used, and from versions that sealed none.
    case plain(String)
    /// With the library's key.
    case sealed([UInt8])

    /// Taken away.
    package static let none = StoredToken.plain("")

    /// As two columns, of which one says something.
    package init(_ text: String, _ sealed: [UInt8]?) { self = sealed.map { .sealed($0) } ?? .plain(text) }

    package var text: String {
        if case .plain(let text) = self { text } else { "" }
    }

    package var sealed: [UInt8]? {
        if case .sealed(let bytes) = self { bytes } else { nil }
    }
}
