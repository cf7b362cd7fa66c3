import CAttempts
import Glibc
import ImageWorkerProtocol
import PhotoConversion

// A worker in the real cell that does what the "photo" tells it: what is in the source is tried, and how that ended is
// the refusal. With a program as argument, that program on a kernel that refuses what is named before it.

/// Reads the attempt from the source and makes it: its name, a line feed, its argument.
func attempt(_ request: WorkerRequest, _ descriptors: [Int32], _ conversation: WorkerConversation) throws(ImagingError)
    -> WorkerReply.Outcome
{
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = pread(descriptors[0], &bytes, bytes.count, 0)
    bytes = Array(bytes[..<max(0, count)])
    if let lie = lie(in: bytes) { return try tell(lie, descriptors, bytes) }
    let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    guard let what = lines.first else { throw .unsupported("no attempt") }
    if what == "take memory" {
        let asked = lines.count > 1 ? Int(lines[1]) ?? 0 : 0
        let granted = asked > 0 ? try conversation.ask(asked << 20) : 0
        throw .damaged("granted \(granted >> 20), taken \(cattempts_take_memory())")
    }
    switch Int(cattempts_try(what, lines.count > 1 ? lines[1] : "")) {
    case CATTEMPTS_DONE: throw .damaged("done")
    case CATTEMPTS_UNKNOWN: throw .unsupported("no attempt")
    case let code: throw .damaged("refused: \(code)")
    }
}

let arguments = CommandLine.arguments
if arguments.count == 3 {
    let refused = arguments[1].split(separator: ",")
    guard cattempts_refuse(refused.contains("seccomp") ? 1 : 0, refused.contains("landlock") ? 1 : 0) == 0 else {
        exit(70)
    }
    var own: [UnsafeMutablePointer<CChar>?] = [strdup(arguments[2]), nil]
    execv(arguments[2], &own)
    exit(70)
}
exit(
    ImageWorker.run { conversation in
        { request, descriptors throws(ImagingError) in try attempt(request, descriptors, conversation) }
    })
