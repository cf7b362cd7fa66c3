import ServiceMesh
import Testing

@Suite struct HeldRoleTests {
    private static let second: UInt64 = 1_000_000_000
    private static let grant = HeldRole.Grant(.parent, idle: .seconds(10), total: .seconds(25))

    private func granted(_ grant: HeldRole.Grant = grant) -> HeldRole {
        var held = HeldRole(.kid)
        held.grant(grant, at: 100 * Self.second)
        return held
    }

    @Test func whatIsOnesOwnNeedsNoTime() {
        var held = HeldRole(.parent)
        #expect(held.use(at: .max) == .parent && held.role(at: 0) == .parent && held.fallsAt == nil)
    }

    @Test func whatWasGrantedEndsWhereItIsNotUsed() {
        var held = granted()
        #expect(held.fallsAt == 110 * Self.second)
        #expect(held.role(at: 110 * Self.second - 1) == .parent)
        #expect(held.role(at: 110 * Self.second) == .kid)
        // Looking is no use; asking is, and comes too late here.
        #expect(held.use(at: 110 * Self.second) == .kid)
        #expect(held.role(at: 101 * Self.second) == .kid && held.fallsAt == nil)
    }

    @Test func useMakesItLastButNotForEver() {
        var held = granted()
        #expect(held.use(at: 109 * Self.second) == .parent)
        #expect(held.use(at: 118 * Self.second) == .parent)
        #expect(held.fallsAt == 125 * Self.second)
        #expect(held.use(at: 125 * Self.second - 1) == .parent)
        #expect(held.use(at: 125 * Self.second) == .kid)
    }

    @Test func aNewGrantBeginsAnew() {
        var held = granted()
        held.grant(Self.grant, at: 109 * Self.second)
        #expect(held.role(at: 118 * Self.second) == .parent)
        #expect(held.role(at: 119 * Self.second) == .kid)
    }

    @Test func withoutTimesItLasts() {
        var held = granted(.init(.parent))
        #expect(held.use(at: .max - 1) == .parent && held.fallsAt == nil)
        held.grant(.init(.parent, idle: .seconds(Int64.max), total: .seconds(Int64.max)), at: .max - 5)
        #expect(held.role(at: .max - 1) == .parent)
    }

    @Test func itFallsAsItIsTold() {
        var held = granted()
        held.demote(.endOfGrants)
        #expect(held.role(at: 101 * Self.second) == .kid && held.fallsAt == nil)
        held = granted()
        held.demote(.to(.kid))
        #expect(held.role(at: 101 * Self.second) == .kid)
        var own = HeldRole(.parent)
        own.demote(.endOfGrants)
        #expect(own.role(at: 0) == .parent)
        own.demote(.to(.kid))
        #expect(own.role(at: 0) == .kid)
        own.grant(Self.grant, at: 0)
        #expect(own.role(at: 1) == .parent)
        own.demote(.to(.parent))
        #expect(own.role(at: 1) == .parent)
    }

    @Test func nobodyBecomesSomebodyOnce() {
        var held = HeldRole(.nobody)
        held.demote(.to(.kid))
        #expect(held.role(at: 0) == .nobody && held.name == nil)
        held.identify(as: "ada", .init(.parent))
        #expect(held.role(at: 0) == .parent && held.name == "ada")
        held.identify(as: "ben", .init(.kid))
        #expect(held.role(at: 0) == .parent && held.name == "ada")
        held.demote(.forgetting("ben"))
        #expect(held.role(at: 0) == .parent)
        held.grant(Self.grant, at: 0)
        held.demote(.forgetting("ada"))
        #expect(held.role(at: 1) == .nobody && held.fallsAt == nil)
        held.identify(as: "ada", .init(.parent))
        #expect(held.role(at: 1) == .nobody, "and not twice")
        var somebody = HeldRole(.kid)
        somebody.identify(as: "ada", .init(.parent))
        #expect(somebody.role(at: 0) == .kid && somebody.name == nil)
    }

    @Test(arguments: [(Role.kid, Role.kid), (.looker, .looker), (.parent, .parent)])
    func noGrantGoesBeyondTheCeiling(_ ceiling: Role, _ raised: Role) {
        for own in [Role.kid, ceiling] {
            var held = HeldRole(.nobody)
            held.identify(as: "ada", .init(own, ceiling: ceiling))
            #expect(held.role(at: 0) == own && held.ceiling == ceiling)
            held.grant(Self.grant, at: 0)
            #expect(held.role(at: 1) == raised)
            held.demote(.endOfGrants)
            #expect(held.role(at: 1) == own)
        }
        // Who has no ceiling of its own is held by the grant alone.
        #expect(HeldRole.Standing(.parent, ceiling: ceiling).role == raised)
    }

    @Test func whoIsRenewedIsNobodyAndOthersStay() {
        var (ada, ben) = (HeldRole(.nobody), HeldRole(.nobody))
        ada.identify(as: "ada", .init(.parent))
        ben.identify(as: "ben", .init(.looker, ceiling: .looker))
        ada.grant(Self.grant, at: 0)
        for fall in [RoleFall.renewing("ada"), .renewing("carl")] {
            ada.demote(fall)
            ben.demote(fall)
        }
        #expect(ada.role(at: 1) == .nobody && ben.role(at: 1) == .looker)
    }

    @Test func rolesRiseInTheOrderOfWhatTheyMay() {
        let rising: [Role] = [.nobody, .kid, .looker, .parent, .service]
        #expect(Role.allCases.sorted() == rising && Set(Role.allCases) == Set(rising))
        // As jobs are stored.
        #expect(rising.map(\.rawValue) == [-1, 0, 3, 1, 2])
    }
}
