/// Routes by the type of their message, looked up on every call.
///
/// Open addressing over the type's address, filled once: `Dictionary` hashes with SipHash, which protects from
/// hostile keys and takes 20 ns that addresses of our own types do not need.
@usableFromInline
struct RouteTable: Sendable {
    private struct Slot: Sendable {
        let type: ObjectIdentifier
        let route: any AnyObject & Sendable
    }

    private let slots: [Slot?]
    private let mask: Int

    init(_ routes: [(type: ObjectIdentifier, route: any AnyObject & Sendable)]) {
        // At most half full, so that a look-up ends after a step or two.
        let capacity = max(2, routes.count * 2)
        let size = 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount)
        var slots = [Slot?](repeating: nil, count: size)
        for (type, route) in routes {
            var place = Self.place(type, size - 1)
            while let there = slots[place], there.type != type { place = (place + 1) & (size - 1) }
            slots[place] = Slot(type: type, route: route)
        }
        self.slots = slots
        mask = size - 1
    }

    private static func place(_ type: ObjectIdentifier, _ mask: Int) -> Int {
        // Metadata is aligned, so the low bits say nothing; the multiplication brings the others together.
        let bits = UInt(bitPattern: type) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: bits >> 40) & mask
    }

    @usableFromInline
    func find(_ type: ObjectIdentifier) -> AnyObject? {
        var place = Self.place(type, mask)
        while let slot = slots[place] {
            if slot.type == type { return slot.route }
            place = (place + 1) & mask
        }
        return nil
    }
}
