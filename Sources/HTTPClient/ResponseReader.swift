import Foundation
import ServiceMesh

/// An answer as it comes: lines of headers, then a body that goes where it belongs.
struct ResponseReader {
    private enum Stage {
        case statusLine
        case headers
        /// Lines that come now are trailers, which nobody reads.
        case body
    }

    private let receiving: HTTPReceiving
    private let limits: HTTPClientLimits
    private var stage = Stage.statusLine
    private var lines = 0
    private var lineBytes = 0
    private var head = ResponseHead(status: 0)
    private var memory = Data()
    private var sink: FileSink?
    /// Bytes of a part of a file, where the headers tell.
    private var expected: Int64?
    /// Whether the rest of a body is left out.
    private(set) var isCut = false

    init(_ receiving: HTTPReceiving, _ limits: HTTPClientLimits) {
        self.receiving = receiving
        self.limits = limits
    }

    /// Where the part that is asked for begins; nil where the whole is.
    var requestedOffset: Int64? {
        guard case .file(_, _, let offset) = receiving, offset > 0 else { return nil }
        return offset
    }

    /// Bytes of a good answer's body; nil where the answer is not good.
    var mostBytes: Int64? {
        guard head.isSuccess else { return nil }
        return switch receiving {
        case .memory(let most): Int64(most)
        case .file(_, let most, let offset): max(0, most - offset)
        }
    }

    /// Takes a line of the headers, with what ends it.
    /// - Returns: whether it was the status line of an answer.
    mutating func takeLine(_ bytes: UnsafeRawBufferPointer) throws(HTTPClientError) -> Bool {
        lines += 1
        lineBytes += bytes.count
        guard lines <= limits.headerLines, lineBytes <= limits.headerBytes else {
            throw .badAnswer(.headersTooLarge)
        }
        var line = bytes[...]
        if line.last == 0x0A { line.removeLast() }
        if line.last == 0x0D { line.removeLast() }
        switch stage {
        case .body: break
        case .statusLine:
            head = ResponseHead(status: try ResponseHead.status(of: line))
            stage = .headers
            return true
        case .headers where !line.isEmpty: try head.add(line)
        case .headers where head.status < 200: stage = .statusLine
        case .headers:
            stage = .body
            try beginBody()
        }
        return false
    }

    private mutating func beginBody() throws(HTTPClientError) {
        guard head.status == 304 || !(300...399).contains(head.status) else {
            throw .redirected(status: head.status)
        }
        let length = try head.length()
        guard head.isSuccess else { return }
        guard head["content-encoding"].map({ $0.lowercased() == "identity" }) ?? true else {
            throw .badAnswer(.encoded)
        }
        switch receiving {
        case .memory(let most):
            guard head.status != 206 else { throw .badAnswer(.wrongPart) }
            if case .known(let count) = length, count > Int64(most) { throw .tooLarge }
        case .file(let file, let most, let offset):
            if length == .untilTheEnd { throw .badAnswer(.noLength) }
            var count: Int64?
            if case .known(let known) = length { count = known }
            if offset > 0 {
                guard head.status == 206 else { throw .cannotResume }
                let part = try head.part(from: offset)
                guard count ?? part == part else { throw .badAnswer(.wrongPart) }
                (count, expected) = (part, part)
            } else if head.status == 206 {
                throw .badAnswer(.wrongPart)
            }
            guard offset <= most, count ?? 0 <= most - offset else { throw .tooLarge }
            sink = try FileSink(file, from: offset)
        }
    }

    mutating func takeBody(_ bytes: UnsafeRawBufferPointer) throws(HTTPClientError) {
        guard let most = mostBytes else {
            let room = limits.failureBodyBytes - memory.count
            memory.append(contentsOf: bytes.prefix(max(0, room)))
            isCut = bytes.count > room
            return
        }
        guard Int64(bytes.count) <= most - (sink?.count ?? Int64(memory.count)) else { throw .tooLarge }
        guard sink != nil else { return memory.append(contentsOf: bytes) }
        try sink?.write(bytes)
    }

    /// After the last byte.
    func finish() -> TransferResult {
        // libcurl takes the end of a connection for the end of the headers.
        guard stage == .body else { return .failure(.interrupted) }
        if let expected, sink?.count != expected { return .failure(.interrupted) }
        return .success(
            HTTPResponse(
                status: head.status, headers: head.headers,
                body: sink.map { .file(count: $0.count) } ?? .memory(memory), date: head.date))
    }
}

/// A file on its way in.
private struct FileSink {
    private let file: OwnedFile
    private let offset: Int64
    private(set) var count: Int64 = 0

    /// Cuts the file off at `offset`.
    init(_ file: OwnedFile, from offset: Int64) throws(HTTPClientError) {
        self.file = file
        self.offset = offset
        let code = file.withDescriptor { descriptor -> Int32 in
            var found = stat()
            guard fstat(descriptor, &found) == 0 else { return errno }
            // Past the end there would be a hole that nobody fills; and what is opened for appending takes no positions.
            guard offset >= 0, found.st_size >= offset, fcntl(descriptor, F_GETFL) & O_APPEND == 0 else {
                return EINVAL
            }
            return ftruncate(descriptor, off_t(offset)) == 0 ? 0 : errno
        }
        guard code == 0 else { throw .disk(code) }
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPClientError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (done, code) = file.withDescriptor { descriptor in
                let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
                let done = pwrite(descriptor, start, rest.count, off_t(offset + count))
                return (done, errno)
            }
            if done > 0 {
                count += Int64(done)
                rest = rest.dropFirst(done)
            } else if done == 0 || code != EINTR {
                throw .disk(done == 0 ? EIO : code)
            }
        }
    }
}
