import CCurl
import Foundation
import ServiceMesh

/// One request and its answer, as libcurl knows it. Belongs to the client's thread.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<TransferResult, Never>
    /// Why a callback ended the transfer. libcurl only knows that one did.
    private var failure: HTTPClientError?
    private var reader: ResponseReader
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var form: OpaquePointer?
    private var upload: Upload?
    private let mayRepeat: Bool
    private var attempts = 0

    init(_ arrival: Arrival, _ surroundings: Surroundings) throws(HTTPClientError) {
        guard let easy = curl_easy_init() else { throw .unexpected(Int32(bitPattern: CURLE_FAILED_INIT.rawValue)) }
        self.easy = easy
        deadline = arrival.deadline
        continuation = arrival.continuation
        reader = ResponseReader(arrival.receiving, surroundings.limits)
        mayRepeat = arrival.request.method != .post
        // The callbacks' context. This reference is given back in `close`, after the handle has been freed: whenever
        // libcurl calls back, the transfer is there.
        _ = Unmanaged.passRetained(self)
        do throws(HTTPClientError) {
            try setRules(surroundings)
            try setRequest(arrival.request, surroundings.limits)
            try setCallbacks()
        } catch {
            close()
            throw error
        }
    }

    /// Frees the handle, which must be in no multi handle any more. To be called once.
    func close() {
        curl_easy_cleanup(easy)
        curl_mime_free(form)
        curl_slist_free_all(headers)
        (form, headers) = (nil, nil)
        Unmanaged.passUnretained(self).release()
    }

    func result(_ code: CURLcode) -> TransferResult {
        if let failure { return .failure(failure) }
        if reader.isCut { return reader.finish() }
        guard code == CURLE_OK else { return .failure(HTTPClientError(code)) }
        return reader.finish()
    }

    // MARK: Setting up

    private func check(_ code: CURLcode) throws(HTTPClientError) {
        guard code == CURLE_OK else { throw .unexpected(Int32(bitPattern: code.rawValue)) }
    }

    private func set(_ option: CURLoption, _ value: Int) throws(HTTPClientError) {
        try check(ccurl_set_number(easy, option, value))
    }

    private func set(_ option: CURLoption, _ value: String?) throws(HTTPClientError) {
        try check(ccurl_set_text(easy, option, value))
    }

    /// What holds for every request. Some of it is libcurl's default as well: this list is what has to be true, not what
    /// has to be changed.
    private func setRules(_ surroundings: Surroundings) throws(HTTPClientError) {
        let limits = surroundings.limits
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_REDIR_PROTOCOLS_STR, "https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_NETRC, CCURL_NO_NETRC)
        try set(CURLOPT_HTTP_VERSION, CCURL_HTTP_1_1)
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        // What was checked is what is sent: no dots are taken out of the path.
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_NOSIGNAL, 1)
        // The thread that looks up a name is left alone where nobody waits for it any more. Otherwise a transfer could not
        // be ended before the resolver gives up, and all others would wait with it.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, CCURL_TLS_1_2)
        if let authorities = surroundings.authorities {
            try set(CURLOPT_CAINFO, authorities)
            try set(CURLOPT_CAPATH, nil)
        }
        // A proxy's own answer, before the other machine's, is none of ours.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // An empty name is no proxy; without the option, the environment is asked.
        if surroundings.proxy == .none { try set(CURLOPT_PROXY, "") }
        // The time for all of it is kept by the loop: libcurl's own does not run while a request waits for a connection.
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(limits.connecting / .milliseconds(1))))
        try set(CURLOPT_LOW_SPEED_TIME, max(1, limits.slowSeconds))
        try set(CURLOPT_LOW_SPEED_LIMIT, limits.slowestBytesPerSecond)
        try set(CURLOPT_MAXAGE_CONN, limits.idleSeconds)
        try set(CURLOPT_BUFFERSIZE, 64 << 10)
    }

    private func setRequest(_ request: HTTPRequest, _ limits: HTTPClientLimits) throws(HTTPClientError) {
        guard request.headers.count <= limits.requestHeaders else { throw .badHeader(.tooMany) }
        try set(CURLOPT_URL, request.url.text)
        // An empty value has its own way of writing: with a colon it would take away a header of libcurl's.
        for header in request.headers {
            try add(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        // Nothing is decompressed, so that a body cannot get larger than what came.
        try add("Accept-Encoding: identity")
        // No second of waiting for leave before a body. An early refusal ends the upload anyway.
        try add("Expect:")
        if let offset = reader.requestedOffset { try add("Range: bytes=\(offset)-") }
        switch request.body {
        case .none: if request.method == .post { try check(ccurl_set_body(easy, nil, 0)) }
        case .bytes(let data, let type):
            try add("Content-Type: \(type.text)")
            try check(data.withUnsafeBytes { ccurl_set_body(easy, $0.baseAddress, $0.count) })
        case .form(let fields, let file): try setForm(fields, file)
        }
        if request.method == .delete { try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        try check(ccurl_set_headers(easy, headers))
    }

    private func add(_ header: String) throws(HTTPClientError) {
        guard let longer = curl_slist_append(headers, header) else { throw .unexpected(ENOMEM) }
        headers = longer
    }

    private func setForm(_ fields: [FormField], _ file: FormFile?) throws(HTTPClientError) {
        form = curl_mime_init(easy)
        for field in fields {
            let part = curl_mime_addpart(form)
            try check(curl_mime_name(part, field.name))
            var value = field.value
            try check(value.withUTF8 { curl_mime_data(part, $0.baseAddress, $0.count) })
        }
        if let file {
            upload = Upload(file)
            let part = curl_mime_addpart(form)
            try check(curl_mime_name(part, file.name))
            try check(curl_mime_filename(part, file.fileName))
            try check(curl_mime_type(part, file.type.text))
            // Its size is known, so that the other side is told how much comes, and nothing is sent in chunks.
            try check(
                curl_mime_data_cb(
                    part, curl_off_t(file.count),
                    { room, size, count, context in Transfer.at(context).read(room, size &* count) },
                    { context, offset, origin in Transfer.at(context).seek(Int64(offset), origin) }, nil,
                    Unmanaged.passUnretained(self).toOpaque()))
        }
        try check(ccurl_set_form(easy, form))
    }

    // MARK: Being called back

    private func setCallbacks() throws(HTTPClientError) {
        var callbacks = ccurl_callbacks(
            context: Unmanaged.passUnretained(self).toOpaque(),
            header: { bytes, size, count, context in Transfer.at(context).takeHeader(bytes, size &* count) },
            body: { bytes, size, count, context in Transfer.at(context).takeBody(bytes, size &* count) },
            before_request: { context, _, _, _, _ in Transfer.at(context).mayBegin() ? 0 : 1 })
        try check(ccurl_set_callbacks(easy, &callbacks))
    }

    /// Every context is a transfer that has not been closed; see `init`.
    private static func at(_ context: UnsafeMutableRawPointer?) -> Transfer {
        guard let context else { preconditionFailure("libcurl has lost a transfer") }
        return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// libcurl repeats a request by itself where a connection that it used again ends without an answer. For a POST, which
    /// may have been done, that is not its to decide.
    private func mayBegin() -> Bool {
        attempts += 1
        if attempts > 1 && !mayRepeat { failure = .interrupted }
        return failure == nil
    }

    /// - Returns: `count`; anything else ends the transfer, and so does every error of ours.
    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        attempt(count) { () throws(HTTPClientError) in
            let began = try reader.takeLine(UnsafeRawBufferPointer(start: bytes, count: count))
            // Said as soon as it is known that this answer is good: bodies of others are cut off, not refused. 0 would be no
            // limit to libcurl; the reader counts for itself anyway.
            if began, let most = reader.mostBytes, most > 0 {
                _ = ccurl_set_bytes(easy, CURLOPT_MAXFILESIZE_LARGE, most)
            }
        }
    }

    private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        let taken = attempt(count) { () throws(HTTPClientError) in
            try reader.takeBody(UnsafeRawBufferPointer(start: bytes, count: count))
        }
        return reader.isCut ? 0 : taken
    }

    private func attempt(_ count: Int, _ work: () throws(HTTPClientError) -> Void) -> Int {
        guard failure == nil else { return 0 }
        do throws(HTTPClientError) {
            try work()
            return count
        } catch {
            failure = error
            // For a call with no bytes 0 would be all of them.
            return count == 0 ? 1 : 0
        }
    }

    private func read(_ room: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        do throws(HTTPClientError) {
            return try upload?.read(into: UnsafeMutableRawBufferPointer(start: room, count: count)) ?? 0
        } catch {
            failure = error
            return CCURL_READ_ABORT
        }
    }

    private func seek(_ offset: Int64, _ origin: Int32) -> Int32 {
        guard origin == SEEK_SET, upload?.seek(to: offset) == true else { return CURL_SEEKFUNC_FAIL }
        return CURL_SEEKFUNC_OK
    }
}

/// A file on its way out.
private struct Upload {
    private let source: FormFile
    private var sent: Int64 = 0

    init(_ source: FormFile) { self.source = source }

    /// - Returns: how many bytes came; 0 at the end.
    mutating func read(into room: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int {
        let wanted = Int(min(Int64(room.count), source.count - sent))
        guard wanted > 0 else { return 0 }
        while true {
            let (count, code) = source.file.withDescriptor { descriptor in
                let count = pread(descriptor, room.baseAddress, wanted, off_t(source.offset + sent))
                return (count, errno)
            }
            if count > 0 {
                sent += Int64(count)
                return count
            }
            // The other side has been told how much comes, and would wait for it.
            if count == 0 { throw .fileChanged }
            if code != EINTR { throw .disk(code) }
        }
    }

    mutating func seek(to offset: Int64) -> Bool {
        guard (0...source.count).contains(offset) else { return false }
        sent = offset
        return true
    }
}
