import Foundation
import ServiceMesh

/// Where the body of a good answer goes, and how large it may get.
public enum HTTPReceiving: Sendable {
    /// - Parameter atMost: bytes, 0 or more.
    case memory(atMost: Int)
    /// A file that is open for writing, and not for appending.
    ///
    /// Bytes go where they belong, whatever the file's own position. With an `offset` above 0 only the rest is asked for
    /// (`Range`), and an answer that begins elsewhere is refused. Once an answer is taken, the file is cut off at
    /// `offset`; so, after a transfer that was interrupted, its size is where to go on. Nothing is made durable.
    /// - Parameters:
    ///   - atMost: bytes that the file may have in the end, `offset` included.
    ///   - offset: bytes that are there already, 0 or more.
    case file(OwnedFile, atMost: Int64, from: Int64 = 0)
}

/// An answer, whatever its status but a redirection. Not for answers that broke off: those are errors.
public struct HTTPResponse: Sendable {
    public enum Body: Sendable, Equatable {
        case memory(Data)
        /// Bytes written by this transfer: what was there before is not counted.
        case file(count: Int64)
    }

    public struct Header: Sendable, Equatable {
        /// In small letters.
        public let name: String
        /// Without spaces around it. Bytes that are not UTF-8 are replaced.
        public let value: String
    }

    /// 200…599.
    public let status: Int
    /// In the order in which they came.
    public let headers: [Header]
    /// In memory where the status is not 2xx, whatever was asked for, and then no longer than
    /// ``HTTPClientLimits/failureBodyBytes``: the rest is left out.
    ///
    /// A body whose end nothing marks but the end of the connection may be a part of what was sent. Into a file none such
    /// is taken; in memory, what it says has to tell.
    public let body: Body
    /// The other side's clock, in milliseconds since 1970, to the second; nil where it does not tell.
    public let date: Int64?

    /// 200…299.
    public var isSuccess: Bool { (200...299).contains(status) }

    /// The body in memory; empty where it went into a file.
    public var data: Data {
        guard case .memory(let data) = body else { return Data() }
        return data
    }

    /// The first header of a name.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }
}
