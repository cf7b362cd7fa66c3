import LibraryModel
import Scratch
import ServiceMesh

// Their own coding is for people: texts, where they can be said, and numbers else.

extension Timestamp: PackedAsInteger {
    package var packedInteger: Int64 { milliseconds }
    package init(packedInteger: Int64) { self.init(milliseconds: packedInteger) }
}

extension LocalDateTime: PackedAsInteger {
    package var packedInteger: Int64 { milliseconds }
    package init(packedInteger: Int64) { self.init(milliseconds: packedInteger) }
}
