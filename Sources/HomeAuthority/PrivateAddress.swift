import Foundation

/// An address in digits of a kind that is no one's on the internet.
package struct PrivateAddress: Sendable, Hashable, CustomStringConvertible {
    /// As the system writes it, without brackets.
    package let text: String
    /// Four bytes, or sixteen.
    package let bytes: [UInt8]

    package var isIPv6: Bool { bytes.count == 16 }
    package var description: String { text }
    /// As it stands in the address of a page.
    package var host: String { isIPv6 ? "[\(text)]" : text }

    /// A range of addresses.
    package struct Range: Sendable, Equatable {
        package let base: [UInt8]
        package let bits: Int
        /// Whether a home's devices are in it, so that the page listens there by itself.
        let isHome: Bool

        init(_ text: String, _ bits: Int, isHome: Bool = true) {
            base = PrivateAddress.parse(text) ?? []
            self.bits = bits
            self.isHome = isHome
        }

        package var mask: [UInt8] {
            base.indices.map { UInt8(truncatingIfNeeded: 0xFF00 >> max(0, min(8, bits - $0 * 8))) }
        }

        func contains(_ bytes: [UInt8]) -> Bool {
            bytes.count == base.count && zip(zip(bytes, mask), base).allSatisfy { $0.0 & $0.1 == $1 }
        }
    }

    /// What a home's authority may speak for, and nothing else.
    ///
    /// 100.64.0.0/10 is what VPNs such as Tailscale give their machines, and what an internet provider gives its customers: the
    /// authority may speak for it, and the page listens there only where it is told. Link-local addresses of IPv6 are not
    /// listened on: a browser cannot say which network they are of.
    package static let ranges = [
        Range("192.168.0.0", 16), Range("10.0.0.0", 8), Range("172.16.0.0", 12), Range("fc00::", 7),
        Range("169.254.0.0", 16), Range("100.64.0.0", 10, isHome: false), Range("127.0.0.0", 8, isHome: false),
        Range("fe80::", 10, isHome: false), Range("::1", 128, isHome: false),
    ]

    /// Nil for what is no address in digits, or one of the internet.
    package init?(_ text: String) {
        guard let bytes = Self.parse(text) else { return nil }
        self.init(bytes)
    }

    package init?(_ bytes: [UInt8]) {
        guard Self.ranges.contains(where: { $0.contains(bytes) }) else { return nil }
        self.bytes = bytes
        var room = [CChar](repeating: 0, count: 64)
        inet_ntop(bytes.count == 16 ? AF_INET6 : AF_INET, bytes, &room, socklen_t(room.count))
        text = String(decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Its place in ``ranges``: the smaller, the likelier a home's.
    private var rank: Int { Self.ranges.firstIndex { $0.contains(bytes) } ?? Self.ranges.count }
    /// Whether devices of a home have such addresses.
    package var isHome: Bool { rank < Self.ranges.count && Self.ranges[rank].isHome }
    /// Whether only this machine reaches it.
    package var isLoopback: Bool { bytes.first == 127 && !isIPv6 || text == "::1" }

    private static func parse(_ text: String) -> [UInt8]? {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: six) { Array($0) } }
        return nil
    }

    // MARK: This machine's

    /// Addresses at most: a certificate names them all.
    package static let most = 16

    /// Of networks inside this machine, which no phone is in: of containers, of virtual machines, and of what stands at their ends.
    private static let inside = [
        "docker", "br-", "virbr", "veth", "lxc", "lxd", "cni", "podman", "vmnet", "vboxnet", "vnet",
    ]

    /// An address of an interface, and what is known of that.
    package struct Found: Sendable {
        package let address: PrivateAddress
        package let interface: String
        /// Whether what goes to the internet goes there.
        package let isDefault: Bool

        package init(_ address: PrivateAddress, interface: String, isDefault: Bool = false) {
            self.address = address
            self.interface = interface
            self.isDefault = isDefault
        }
    }

    /// Addresses of this machine that devices of its home reach, the likeliest first: of the network with the way to the internet
    /// before others. Tunnels and dialled lines (WireGuard, a company's VPN, PPP) lead out of the home, and are left out.
    package static func ofThisMachine() -> [PrivateAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        let way = defaultInterface()
        var found: [Found] = []
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let entry, let socket = entry.pointee.ifa_addr else { continue }
            let flags = Int32(bitPattern: entry.pointee.ifa_flags)
            let wanted = Int32(IFF_UP)
            let unwanted = Int32(IFF_LOOPBACK) | Int32(IFF_POINTOPOINT)
            let name = String(cString: entry.pointee.ifa_name)
            guard flags & wanted != 0, flags & unwanted == 0, !inside.contains(where: name.hasPrefix) else { continue }
            let raw = UnsafeRawPointer(socket)
            let bytes: [UInt8] =
                switch Int32(socket.pointee.sa_family) {
                case AF_INET:
                    withUnsafeBytes(of: raw.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_addr) { Array($0) }
                case AF_INET6:
                    withUnsafeBytes(of: raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr) { Array($0) }
                default: []
                }
            guard let address = PrivateAddress(bytes) else { continue }
            found.append(Found(address, interface: name, isDefault: name == way))
        }
        return inOrder(found)
    }

    package static func inOrder(_ found: [Found]) -> [PrivateAddress] {
        let home = found.filter { $0.address.isHome }.enumerated().sorted { one, other in
            let key = { (entry: (offset: Int, element: Found)) in
                (
                    entry.element.isDefault && entry.element.address.rank < 3 ? 0 : 1, entry.element.address.rank,
                    entry.offset
                )
            }
            return key(one) < key(other)
        }
        var seen: Set<PrivateAddress> = []
        return Array(home.map(\.element.address).filter { seen.insert($0).inserted }.prefix(most))
    }

    /// Nil where there is none, or the kernel does not tell.
    private static func defaultInterface() -> String? {
        let text = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
        let routes = text.split(separator: "\n").dropFirst().map { $0.split(separator: "\t") }
        let ways = routes.filter { $0.count > 7 && $0[1] == "00000000" && $0[7] == "00000000" }
        return ways.min { (Int($0[6]) ?? 0) < (Int($1[6]) ?? 0) }.map { String($0[0]) }
    }
}
