import ImageWorkerProtocol

extension PhotoConverter {
    /// What the library's own picture says of itself. Its pixels are not decoded.
    func readFacts(source descriptor: Int32) throws(ImagingError) -> PictureFacts {
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
        return PictureFacts(metadata)
    }
}
