import Testing

@testable import HomeAuthority

/// Which addresses and names are a home's.
@Suite struct HomeNamesTests {
    @Test(arguments: [
        ("192.168.1.5", true), ("10.255.0.1", true), ("172.16.0.1", true), ("172.31.255.1", true),
        ("169.254.3.4", true),
        ("fd12:3456::1", true), ("100.64.1.1", false), ("127.0.0.1", false), ("::1", false), ("fe80::1", false),
    ]) func aPrivateAddressIsAHomesOrNot(_ text: String, isHome: Bool) throws {
        let address = try #require(PrivateAddress(text))
        #expect(address.isHome == isHome && address.text == text)
    }

    @Test(arguments: [
        "8.8.8.8", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2001:db8::1", "0.0.0.0", "::", "", "192.168.1",
        "nas.local",
        "::ffff:192.168.1.5",
    ]) func anythingElseIsNone(_ text: String) {
        #expect(PrivateAddress(text) == nil)
    }

    @Test func theLikeliestAddressIsFirst() throws {
        func found(_ text: String, _ interface: String, isDefault: Bool = false) throws -> PrivateAddress.Found {
            .init(try #require(PrivateAddress(text)), interface: interface, isDefault: isDefault)
        }
        let all = [
            try found("169.254.1.1", "eth1"), try found("fd00::1", "wlan0", isDefault: true),
            try found("192.168.7.1", "eth2"), try found("10.0.0.9", "wlan0", isDefault: true),
            try found("100.64.0.1", "tailscale0"), try found("10.0.0.9", "wlan0", isDefault: true),
        ]
        #expect(
            PrivateAddress.inOrder(all).map(\.text) == ["10.0.0.9", "192.168.7.1", "fd00::1", "169.254.1.1"])
        let many = try (0..<40).map { try found("10.0.0.\($0)", "eth0") }
        #expect(PrivateAddress.inOrder(many).count == PrivateAddress.most)
    }

    @Test func aMachinesNames() {
        #expect(HomeNames.all(of: "NAS") == ["nas.local", "nas", "smilepile.local", "localhost"])
        #expect(
            HomeNames.all(of: "nas.fritz.box") == ["nas.local", "nas.fritz.box", "smilepile.local", "localhost"])
        #expect(HomeNames.all(of: "smilepile") == ["smilepile.local", "smilepile", "localhost"])
        for none in ["", "localhost", "-x", "a..b", "bad_name", "1.2.3.4", String(repeating: "a", count: 64)] {
            #expect(HomeNames.all(of: none) == ["smilepile.local", "localhost"], "\(none)")
        }
    }

    @Test(arguments: [
        ("nas", false), ("photos", false), ("xn--4gbrim", false), ("nas2", true), ("my-nas", true),
        ("nas.fritz.box", true), ("localhost", true), ("x.local", true), ("", false),
    ]) func aNameIsTheMachinesAlone(_ name: String, isSafe: Bool) { #expect(HomeNames.isSafe(name) == isSafe) }
}
