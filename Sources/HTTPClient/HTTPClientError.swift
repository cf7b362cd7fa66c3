import Foundation
import ServiceMesh

/// Why there is no answer. No address, header or body is in it: those have secrets.
public enum HTTPClientError: Error, Sendable, Hashable {
    public enum TLSFault: Sendable, Hashable, CaseIterable {
        /// Nobody we trust vouches for the certificate, or it is for another name, or its time is over.
        case untrusted
        /// No connection came about: versions, ciphers, or a server that does not speak TLS.
        case handshake
        /// The file of certificates that are to be trusted cannot be read.
        case noAuthorities
    }

    public enum AnswerFault: Sendable, Hashable, CaseIterable {
        /// What came is not HTTP/1.
        case notHTTP
        /// More headers, or larger ones, than ``HTTPClientLimits`` allows.
        case headersTooLarge
        /// A header without a name, or two that contradict each other.
        case badHeaders
        /// The body is compressed, which nobody asked for.
        case encoded
        /// A part of something else than what was asked for.
        case wrongPart
        /// Nothing says how long a body is that is to go into a file.
        case noLength
    }

    case badURL(HTTPURL.Fault)
    case badHeader(HTTPHeader.Fault)
    case cannotResolve
    case cannotConnect
    case tls(TLSFault)
    /// The time is over, or next to nothing came for too long.
    case timedOut
    /// The connection ended in the middle.
    case interrupted
    /// The body is larger than was allowed.
    case tooLarge
    /// The answer is that it is elsewhere; nobody goes there, because that may be anywhere.
    /// - Parameter status: 300…399.
    case redirected(status: Int)
    /// The rest was asked for, and the other side has only the whole. Begin at 0.
    case cannotResume
    case badAnswer(AnswerFault)
    /// As many requests wait as are allowed.
    case busy
    case cancelled
    case stopped
    /// `errno` of the file that is read or written.
    case disk(Int32)
    /// The file that is sent has become shorter.
    case fileChanged
    /// libcurl says something that it should not be able to: its number.
    case unexpected(Int32)

    /// Whether the same request may succeed later without anybody doing something.
    public var isRetryable: Bool { meshError.isRetryable }
}

extension HTTPClientError: MeshErrorConvertible, CustomStringConvertible {
    public var description: String { meshError.message }

    public var meshError: MeshError {
        switch self {
        case .badURL(let fault): MeshError(.invalidArgument, "This is no address to connect to: \(fault.sentence)")
        case .badHeader(let fault): MeshError(.invalidArgument, fault.sentence)
        case .cannotResolve:
            MeshError(
                .unavailable,
                "The other machine's name is not known. Check the address, and whether this machine is online.")
        case .cannotConnect:
            MeshError(
                .unavailable,
                "The other machine does not answer. Check that it is switched on, that its web server runs, and the port."
            )
        case .tls(let fault): MeshError(.failedPrecondition, fault.sentence)
        case .timedOut:
            MeshError(.deadlineExceeded, "The other machine took too long. Try again when the network is faster.")
        case .interrupted:
            MeshError(.unavailable, "The connection to the other machine ended in the middle. Try again.")
        case .tooLarge:
            MeshError(short: .size, "The other machine sends more than was expected. Check what is at this address.")
        case .redirected(let status):
            MeshError(
                .failedPrecondition,
                "The other machine says that this is at another address (\(status)). Open it in a browser, and use the address that it shows then."
            )
        case .cannotResume:
            MeshError(.failedPrecondition, "The other machine cannot go on in the middle. Fetch it from the beginning.")
        case .badAnswer(let fault):
            MeshError(
                .failedPrecondition,
                "The other machine's answer makes no sense: \(fault.sentence) Check that the address is a SmilePile's.")
        case .busy: MeshError(.resourceExhausted, "Too many requests are on their way. Try again in a moment.")
        case .cancelled: MeshError(.cancelled, "The request was cancelled.")
        case .stopped: MeshError(.unavailable, "The program is stopping. Try again when it runs.")
        case .disk(let code): Self.disk(code)
        case .fileChanged:
            MeshError(.unavailable, "The file became shorter while it was being sent. Try again.")
        case .unexpected(let number):
            MeshError(.internal, "libcurl failed (\(number)). Please report it.")
        }
    }

    private static func disk(_ code: Int32) -> MeshError {
        let why = String(cString: strerror(code))
        return switch code {
        case ENOSPC, EDQUOT: MeshError(short: .space, "The disk is full (\(why)). Free some space and try again.")
        case EFBIG:
            MeshError(
                short: .space,
                "The file would be too large for this file system (\(why)). Choose a place on another one.")
        case EINVAL, EBADF:
            MeshError(.failedPrecondition, "The file cannot be used for this (\(why)). Please report it.")
        default: MeshError(.unavailable, "The file system failed (\(why)). Check the disk.")
        }
    }
}

extension HTTPURL.Fault {
    fileprivate var sentence: String {
        switch self {
        case .tooLong: "it has more than \(HTTPURL.maximumLength) characters."
        case .notHTTP: "it has to begin with https:// or http://."
        case .hasCredentials: "leave out the name and password before the @."
        case .noHost: "write the machine's name after the two slashes."
        case .badHost: "the machine's name has characters that no name has. Write it with letters, digits, '.' and '-'."
        case .badPort: "the number after the colon has to be 1 to 65535."
        case .badCharacter: "leave out spaces and special characters, or write them as %20 and the like."
        case .badEscape: "after a % there have to be two hexadecimal digits."
        case .hasFragment: "leave out the # and what follows it."
        }
    }
}

extension HTTPHeader.Fault {
    fileprivate var sentence: String {
        switch self {
        case .badName: "A name has characters that it may not have. Use letters, digits and '-'."
        case .badValue: "A header's value has line ends or other control characters, or is too long. Leave them out."
        case .ownedByClient: "A header is one that the client writes itself. Leave it out."
        case .tooMany: "There are too many headers. Leave some out."
        }
    }
}

extension HTTPClientError.TLSFault {
    fileprivate var sentence: String {
        switch self {
        case .untrusted:
            "The other machine's certificate is not trusted: it is for another name, it is too old, or nobody known vouches for it. Check the address, or give the file of the family's own authority."
        case .handshake:
            "No safe connection to the other machine came about. Check that the address is to begin with https://."
        case .noAuthorities: "The file of trusted certificates cannot be read. Check its path and permissions."
        }
    }
}

extension HTTPClientError.AnswerFault {
    fileprivate var sentence: String {
        switch self {
        case .notHTTP: "it is not HTTP."
        case .headersTooLarge: "its headers are too large."
        case .badHeaders: "its headers contradict each other."
        case .encoded: "it is compressed, which was not asked for."
        case .wrongPart: "it is another part than was asked for."
        case .noLength: "it does not say how long it is."
        }
    }
}
