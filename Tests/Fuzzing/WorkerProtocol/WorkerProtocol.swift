import CLinux
import FuzzSupport
import Glibc

@testable import ImageWorkerProtocol
@testable import Imaging
@testable import PhotoConversion

/// What daemon and image worker say to each other, either side hostile. The first byte chooses the side, and how many
/// descriptors come with the packet.
@main
enum WorkerProtocolFuzz: FuzzTarget {
    static func seeds() -> [[UInt8]] {
        let photo = MadePhoto(
            width: 2048, height: 1365, sourceMediaType: "image/heic", sourceWidth: 6000, sourceHeight: 4000,
            keepsSource: false, freshDigest: String(repeating: "0a", count: 32),
            facts: PictureFacts(
                taken: CameraDate(clock: 1_696_170_622_123, offset: -570, source: .xmp),
                location: PicturePlace(latitude: 48.8, longitude: -2.3), caption: "At the lake", rating: 4,
                camera: "Apple iPhone 12"), thumbnailWidth: 300, thumbnailHeight: 200)
        let thumbnail = ConvertedThumbnail(width: 300, height: 200, fileSize: 900)
        let errors: [ImagingError] = [
            .unsupported("x"), .damaged("x"), .tooLarge("x"), .needsMemory("x"), .changed, .timedOut,
            .workerCrashed("x"), .workerLost("x"), .cancelled, .noWorkers(secondsToNextTry: 3), .io("x"), .diskFull,
            .fileTooLarge,
        ]
        let outcomes: [WorkerReply.Outcome] =
            [
                .ready, .nursery, .forked(pid: 4711), .needs(bytes: 100 << 20), .converted(photo),
                .thumbnail(thumbnail), .preview(.init(photoWidth: 2048, photoHeight: 1365, fileSize: 90_000)),
                .facts(photo.facts),
            ] + errors.map { .failed($0) }
        let cell = WorkerCell(
            seccomp: true, landlock: 7, noNewPrivileges: true, ownMemoryBytes: 96 << 20, processorSeconds: 300,
            descriptors: 12, fileBytes: 512 << 20, processes: 0, missing: ["x"])
        let shape = ReductionShape(
            sourceWidth: 4000, sourceHeight: 3000, sourceKind: .ycc(subsampleWidth: 1, subsampleHeight: 1),
            width: 2048, height: 1536, kind: .ycc(subsampleWidth: 0, subsampleHeight: 0))
        let replies = outcomes.compactMap {
            WorkerProtocol.line(WorkerReply(outcome: $0, lackedMemory: true, cell: cell, prepared: [shape]))
        }
        let requests: [[UInt8]] = [
            WorkerRequest.convert, .thumbnail(), .preview(turned: 90), .bare(), .whole(turned: 270), .readFacts,
            .pixels(width: 80, height: 60, turned: 180),
            .sheet(fonts: 2),
            .proceed(bytes: 100 << 20), .fork(prepared: [shape]),
        ].compactMap { WorkerProtocol.line($0) }
        return requests.map { [0b0110] + $0 } + replies.map { [1] + $0 }
    }

    private static let ends: [Int32] = {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { fail("no socket pair") }
        return ends
    }()

    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let line = Array(input.dropFirst())
        if first & 1 == 0 {
            receive(line, descriptors: Int(first >> 1) % 9)
        } else {
            read(line)
        }
    }

    /// The worker's side, through the socket itself.
    private static func receive(_ line: [UInt8], descriptors count: Int) {
        guard !line.isEmpty, line.count <= WorkerProtocol.longestLine else { return }
        let lowest = dup(ends[0])
        close(lowest)
        let sent = clinux_send_with_descriptors(
            ends[0], line, line.count, [Int32](repeating: ends[0], count: count), Int32(count))
        guard sent == line.count else { fail("the packet was not sent: errno \(errno)") }
        guard let received = WorkerConversation(socket: ends[1]).receive() else { fail("the packet did not come") }
        require(received.descriptors.count <= min(count, 8), "more descriptors than were sent")
        if let request = received.request {
            let again: WorkerRequest? = WorkerProtocol.line(request).flatMap { WorkerProtocol.read($0) }
            require(again == request, "a request that is another when it is written again")
        }
        for descriptor in received.descriptors { close(descriptor) }
        let after = dup(ends[0])
        close(after)
        require(after == lowest, "a descriptor stays open")
    }

    /// The daemon's side.
    private static func read(_ line: [UInt8]) {
        guard let reply: WorkerReply = WorkerProtocol.read(line) else { return }
        let again: WorkerReply? = WorkerProtocol.line(reply).flatMap { WorkerProtocol.read($0) }
        require(again == reply, "a reply that is another when it is written again")
        for shape in reply.prepared ?? [] where shape.isPossible {
            require(shape.width <= 2048 && shape.sourceWidth <= 65_535 && shape.height >= 1, "\(shape)")
        }
        switch reply.outcome {
        case .converted(let photo) where photo.isPossible: check(photo)
        case .facts(let facts) where facts.isPossible: check(facts)
        case .thumbnail(let thumbnail) where thumbnail.isPossible:
            require(thumbnail.width <= 300 && thumbnail.height <= 300, "\(thumbnail)")
        case .failed(let error) where error.isPossible:
            require(error.description.utf8.count < 2000, "\(error.description.utf8.count) bytes of explanation")
        default: break
        }
    }

    /// What the catalogue and the names of files are made from.
    private static func check(_ photo: MadePhoto) {
        require(photo.sourceMediaType.utf8.count < 20, photo.sourceMediaType)
        require((1...2048).contains(photo.width) && (1...2048).contains(photo.height), "\(photo)")
        require(photo.width <= photo.sourceWidth && photo.sourceWidth <= 65_535, "\(photo)")
        require(photo.height <= photo.sourceHeight && photo.sourceHeight <= 65_535, "\(photo)")
        if let digest = photo.freshDigest {
            require(digest.unicodeScalars.count == 64 && digest == digest.lowercased(), digest)
            require(digest.allSatisfy { $0.isASCII && $0.isHexDigit }, digest)
        }
        check(photo.facts)
    }

    private static func check(_ facts: PictureFacts) {
        var seconds = time_t((facts.taken?.clock ?? 0) / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        require((1800...9999).contains(parts.tm_year + 1900), "taken in \(parts.tm_year + 1900)")
        require(abs(facts.taken?.offset ?? 0) <= 960, "\(facts)")
        require((0...5).contains(facts.rating ?? 0), "\(facts)")
        require((1...128).contains(facts.camera?.unicodeScalars.count ?? 1), "\(facts)")
        require((1...2000).contains(facts.caption?.unicodeScalars.count ?? 1), "\(facts)")
        require(facts.caption?.contains(where: \.isNewline) != true, "\(facts)")
        require(abs(facts.location?.latitude ?? 0) <= 90 && abs(facts.location?.longitude ?? 0) <= 180, "\(facts)")
    }
}

@_cdecl("LLVMFuzzerCustomMutator")
func mutatePacket(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    var changed = Parts.mutated(bytes, capacity)
    // Mostly as JSON, behind the byte that chooses the side.
    if seed & 3 != 0, let tree = JSONTree(Array(bytes.dropFirst())) {
        changed = bytes.prefix(1) + tree.mutated(seed).bytes
    }
    guard changed.count <= capacity else { return size }
    data.update(from: changed, count: changed.count)
    return changed.count
}
