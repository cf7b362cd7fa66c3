import ImageWorkerProtocol

extension PhotoConverter {
    /// When the library's own picture was taken and with what, by what it carries beside its pixels. None of these is decoded.
    func readFacts(source descriptor: Int32) throws(ImagingError) -> EmbeddedFacts {
        let source = try SourceFile(descriptor: descriptor, memory: ask, isOurs: true)
        defer { withExtendedLifetime(source) {} }
        let metadata = try reader(PictureType(content: source.bytes), source).metadata
        let needed = source.count + metadata.memory
        if source.count > ImageLimits.freeSourceAllowance || needed > ImageLimits.freeAllowance {
            let granted = try ask(needed)
            guard granted >= needed else {
                throw .needsMemory("\(needed >> 20) MiB for what it carries, of \(granted >> 20)")
            }
        }
        let facts = PhotoFacts(metadata)
        return EmbeddedFacts(taken: facts.taken, camera: facts.camera)
    }
}
