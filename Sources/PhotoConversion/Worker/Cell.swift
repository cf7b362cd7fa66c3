import CCell
import CExiv2
import CHEIF
import CLinux
import Glibc
import ImageWorkerProtocol

/// The cell that a worker enters before it reads a byte of a photo, and never leaves.
enum Cell {
    /// What workers share that are copies of this process: libraries that are loaded and have begun.
    /// - Returns: false where something was refused that every Linux has.
    static func prepare() -> Bool {
        guard isChildAlone() else { return false }
        openWhatIsOpenedLater()
        useOnce()
        ccell_tune_allocator()
        return true
    }

    /// Goes in. What is inside afterwards is the socket, the outputs nowhere, and no other descriptor.
    /// - Returns: what was granted. Nil where something was refused that every Linux has, so that the worker must not
    ///   go on.
    static func enter() -> WorkerCell? {
        guard isChildAlone(), let memory = MemoryGauge() else { return nil }
        openWhatIsOpenedLater()
        _ = nice(10)
        ccell_tune_allocator()
        signal(SIGPIPE, SIG_IGN)
        // The call that meets a limit fails, and says of what: a good photo is not what ended the worker.
        signal(SIGXFSZ, SIG_IGN)
        // From here on standard error goes nowhere: libraries print to it what hostile files tell them, and that
        // has no place in the daemon's log. Up to here it says why a worker cannot start.
        let nowhere = clinux_open("/dev/null", O_WRONLY, 0)
        guard nowhere >= 0, dup2(nowhere, 2) == 2 else { return nil }
        close(nowhere)
        let start = memory.readAddressSpace()
        memory.close()
        guard ccell_is_sanitized() == 0 else {
            // Its own thread opens files, and it has reserved more address space than any limit.
            return describe(missing: ["all of it (a sanitizer is built in)"], start: 0)
        }
        var limits = ccell_limits(
            address_space: start + ImageLimits.workerMemory,
            most_address_space: start + ImageLimits.workerMemory + ImageLimits.sharedMemory,
            processor_seconds: ImageLimits.processorSeconds, file_bytes: UInt64(ImageLimits.sourceBytes),
            descriptors: ImageLimits.descriptors)
        guard ccell_limit(&limits) == 0 else { return nil }
        var missing: [String] = []
        let landlock = ccell_forbid_files()
        if landlock < 0 { missing.append("Landlock (\(words(-landlock)))") }
        // Asked before the last wall, which forbids to ask.
        var cell = describe(missing: missing, start: start)
        cell.landlock = landlock > 0 ? Int(landlock) : nil
        let seccomp = ccell_forbid_calls()
        cell.seccomp = seccomp == 0
        if seccomp < 0 { cell.missing.insert("seccomp (\(words(-seccomp)))", at: 0) }
        return cell
    }

    /// Ends with its parent, and has no descriptor from elsewhere.
    private static func isChildAlone() -> Bool {
        // With the parent gone nobody wants the answer. The signal comes when the parent's *thread* that started
        // this process ends, which is why the pool starts workers on threads that live as long as it does.
        clinux_set_parent_death_signal(SIGKILL) == 0 && ccell_detach(3) == 0
    }

    /// What is made at the first use of it, is made before there are copies.
    private static func useOnce() {
        guard let line = WorkerProtocol.line(WorkerRequest.convert) else { return }
        let _: WorkerRequest? = WorkerProtocol.read(line)
    }

    /// What libraries open when they are first used has to be open before.
    private static func openWhatIsOpenedLater() {
        // libcrypto reads its configuration.
        _ = Digest.sha256(UnsafeRawBufferPointer(start: nil, count: 0))
        // libheif looks for plug-ins, where it is built to have them.
        _ = heif_init(nil)
        // libexiv2 makes its tables of XMP's namespaces.
        _ = cexiv2_prepare()
    }

    /// - Parameter start: bytes of address space that are the program itself.
    private static func describe(missing: [String], start: UInt64) -> WorkerCell {
        var cell = WorkerCell(noNewPrivileges: ccell_has_no_new_privileges() != 0, missing: missing)
        var limits = ccell_limits()
        var processes: UInt64 = 0
        var core: UInt64 = 0
        guard ccell_current_limits(&limits, &processes, &core) == 0 else { return cell }
        // What is unlimited is no number that JSON's readers agree on.
        func bounded(_ limit: UInt64) -> Int? { Int(exactly: limit) }
        cell.ownMemoryBytes = bounded(limits.address_space).map { $0 - Int(start) }
        cell.processorSeconds = bounded(limits.processor_seconds)
        cell.descriptors = bounded(limits.descriptors)
        cell.fileBytes = bounded(limits.file_bytes)
        cell.processes = bounded(processes)
        return cell
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// How much memory this process has.
struct MemoryGauge {
    private let descriptor: Int32

    init?() {
        descriptor = clinux_open("/proc/self/statm", O_RDONLY, 0)
        guard descriptor >= 0 else { return nil }
    }

    func close() { Glibc.close(descriptor) }

    /// Bytes of address space; 0 where they cannot be told.
    func readAddressSpace() -> UInt64 {
        var text = [UInt8](repeating: 0, count: 128)
        let count = pread(descriptor, &text, text.count, 0)
        guard count > 0, let pages = text[..<count].split(separator: 0x20).first else { return 0 }
        return (UInt64(String(decoding: pages, as: UTF8.self)) ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
