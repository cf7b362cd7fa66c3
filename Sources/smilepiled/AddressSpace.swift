import CLinux
import ServiceMesh

/// How much address space the daemon may take.
///
/// Where that ends, no thread starts any more and nothing says so: it hung, or ended with signal 11 in an import.
enum AddressSpace {
    /// Bytes. An import and a backup with two image workers took 290 MiB, half of that for the stacks of 25 threads.
    private static let own: Int64 = 448 << 20
    private static let worker: Int64 = 16 << 20

    /// The first thing of all: threads that there are already have taken theirs.
    /// - Throws: `failed_precondition` where it is not enough.
    static func require(workers: Int) throws {
        let limit = clinux_bound_address_space()
        let needed = own + worker * Int64(workers)
        guard limit < 0 || limit >= needed else {
            throw MeshError(
                .failedPrecondition,
                "The daemon needs \(needed >> 20) MiB of address space, and may have \(limit >> 20). Allow more: 'ulimit -v unlimited' in "
                    + "the shell that starts it, or LimitAS=infinity in its unit. To bound the memory that it uses, MemoryMax= is better."
            )
        }
    }
}
