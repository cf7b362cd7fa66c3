import Foundation
import Scratch
import TestSupport
import Testing

@Suite
struct SpooledListTests {
    /// Something of each kind that packing tells apart.
    private struct Sample: Codable, Sendable, Equatable {
        enum Kind: String, Codable { case one, other }

        struct Part: Codable, Sendable, Equatable {
            let name: String
            let size: Int64?
        }

        var number: Int
        var large: UInt64
        var text: String?
        var kind: Kind?
        var isSet: Bool
        var ratio: Double
        var parts: [Part]
        var nested: [[Int]]
        var bytes: Data
        var last: Int8?
    }

    private func sample(_ number: Int) -> Sample {
        Sample(
            number: number % 2 == 0 ? number : -number, large: .max - UInt64(number),
            text: number % 3 == 0 ? nil : String(repeating: "é", count: number % 400),
            kind: [nil, .one, .other][number % 3], isSet: number % 2 == 1, ratio: Double(number) / 3,
            parts: (0..<number % 4).map { .init(name: "part \($0)", size: $0 == 2 ? nil : .min + Int64($0)) },
            nested: [[], [number], [.max, .min]], bytes: Data([0, 255, UInt8(truncatingIfNeeded: number)]),
            last: number % 5 == 0 ? nil : Int8(number % 100))
    }

    private let folder = FileManager.default.temporaryDirectory.path

    @Test(arguments: [0, 1, 15, 16, 17, 5000])
    func elementsAreWhatTheyWere(count: Int) throws {
        var spooler = SpooledList<Sample>.Spooler(in: Scratch(in: folder))
        for number in 0..<count { try spooler.append(sample(number)) }
        let list = try spooler.finish()
        #expect(list.count == count && list.isEmpty == (count == 0))
        var next = 0
        try list.forEach { index, element in
            #expect(index == next && element == sample(index))
            next += 1
        }
        #expect(next == count)
        for index in stride(from: count - 1, through: 0, by: -7) {
            #expect(try list.element(at: index) == sample(index))
        }
    }

    @Test
    func aListStaysInMemoryWhereNoFileCanBeMade() throws {
        var spooler = SpooledList<String>.Spooler(in: Scratch(in: "/nowhere/at/all"))
        for number in 0..<20_000 { try spooler.append("\(number) " + String(repeating: "a", count: 100)) }
        let list = try spooler.finish()
        for number in [0, 1, 9_999, 19_999] {
            #expect(try list.element(at: number).hasPrefix("\(number) "))
        }
    }

    /// A backup to another disk is wanted all the more when the library's own is full.
    @Test(.enabled(if: SmallDisk.isPossible))
    func aListGoesOnInMemoryWhenTheDiskIsFull() throws {
        let disk = try SmallDisk(megabytes: 2)
        defer { disk.unmount() }
        var spooler = SpooledList<Sample>.Spooler(in: Scratch(in: disk.folder.path))
        for number in 0..<20_000 {
            try spooler.append(sample(number))
            // The first ones are in the file by then.
            if number == 4000 { try disk.fill() }
        }
        let list = try spooler.finish()
        try list.forEach { index, element in
            if element != sample(index) { Issue.record("\(index)") }
        }
        #expect(list.count == 20_000)
        #expect(try list.element(at: 3999) == sample(3999))
    }

    @Test
    func aListIsMadeOfAnother() throws {
        let list = SpooledList(0..<1000)
        let even = try list.spooled(in: Scratch(in: folder)) { $0 % 2 == 0 ? "number \($0)" : nil }
        #expect(even.count == 500)
        #expect(try even.element(at: 499) == "number 998")
        #expect(try list.compactMap { $0 > 996 ? $0 : nil } == [997, 998, 999])
        #expect(try list.contains { $0 == 500 })
        #expect(try !list.contains { $0 == 1000 })
    }

    /// 150,000 are three portions.
    @Test(arguments: [0, 1, 1000, 150_000])
    func aListIsSorted(_ count: Int) throws {
        // Each number once: 7919 divides none of the counts.
        let mixed = SpooledList((0..<count).map { $0 * 7919 % count })
        var walk = SpooledWalk(try mixed.sorted(in: Scratch(in: folder)) { $0 > $1 })
        for expected in (0..<count).reversed() {
            let found = try walk.next()
            try #require(found == expected)
        }
        #expect(try walk.next() == nil)
    }

    @Test
    func manyThreadsReadAtOnce() async throws {
        var spooler = SpooledList<Sample>.Spooler(in: Scratch(in: folder))
        for number in 0..<3000 { try spooler.append(sample(number)) }
        let list = try spooler.finish()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for start in 0..<4 {
                group.addTask {
                    try stride(from: start, to: 3000, by: 4).allSatisfy { try list.element(at: $0) == sample($0) }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test
    func anIndexFindsWhatAListHas() throws {
        var spooler = SpooledList<Sample>.Spooler(in: Scratch(in: folder))
        for number in 0..<4000 { try spooler.append(sample(number)) }
        let index = try SpooledIndex(spooler.finish()) { $0.number % 10 == 7 ? nil : "n\($0.number)" }
        #expect(index.firstRepeated == nil)
        for number in stride(from: 0, to: 4000, by: 2) {
            #expect(try index.place(of: "n\(number)") == (number % 10 == 7 ? nil : number))
        }
        #expect(try index.place(of: "n4000") == nil)
        #expect(try index["n-3999"]?.text == sample(3999).text)
    }

    @Test
    func anIndexTellsWhatIsThereTwice() throws {
        let index = try SpooledIndex(["a", "é", "b", "e\u{301}", "a"]) { $0 }
        #expect(index.firstRepeated == 3, "composed or not, it is the same name")
        #expect(try index.place(of: "a") == 0)
        #expect(try SpooledIndex([] as SpooledList<String>) { $0 }.place(of: "a") == nil)
    }

    @Test
    func aFinderFindsWhatAnIndexFinds() throws {
        var spooler = SpooledList<Sample>.Spooler(in: Scratch(in: folder))
        for number in 0..<1000 { try spooler.append(sample(number)) }
        let text: @Sendable (Sample) -> String? = { $0.number % 10 == 7 ? nil : "n\($0.number)" }
        let index = try SpooledIndex(spooler.finish(), by: text)
        let numbers = Array(0..<1000)
        var orders = [numbers, numbers.reversed(), numbers.shuffled(), [1000, -1] + numbers + [1000]]
        orders += [numbers.filter { !(100..<300).contains($0) && $0 % 3 != 0 }, [999, 0, 1, 7, 8, 500, 501, 499]]
        for order in orders {
            var finder = SpooledFinder(DeferredIndex(index.list, by: text), from: order.count % 2 * 700)
            for number in order {
                let (found, expected) = (try finder.find("n\(number)"), try index.find("n\(number)"))
                #expect(found?.place == expected?.place && found?.element.text == expected?.element.text)
            }
        }
        var empty = SpooledFinder([] as SpooledList<String>) { $0 }
        #expect(try empty.find("") == nil)
    }

    @Test
    func whatIsThereTwiceIsFoundWithoutAnIndex() throws {
        #expect(try (["a", "é", "b", "e\u{301}", "a"] as SpooledList<String>).firstRepeated { $0 } == 3)
        #expect(try (["a", "é", "b"] as SpooledList<String>).firstRepeated { $0 } == nil)
        #expect(try (["a", "a", "b", "b"] as SpooledList<String>).firstRepeated { $0 == "a" ? nil : $0 } == 3)
        #expect(try ([] as SpooledList<String>).firstRepeated { $0 } == nil)
    }

    @Test(arguments: [0, 1, 15, 16, 999, 1000, 1001, 2000])
    func aListComesInPortions(count: Int) throws {
        let list = SpooledList(0..<count)
        var portions: [[Int]] = []
        try list.forEachPortion(of: 1000) { portions.append($0) }
        #expect(portions.flatMap(\.self) == Array(0..<count))
        #expect(portions.dropLast().allSatisfy { $0.count == 1000 } && portions.last?.isEmpty != true)
    }

    @Test
    func placesAreToldApart() {
        var places = PlaceSet()
        #expect(places.isEmpty && !places.contains(0) && !places.contains(1 << 40))
        let some = [0, 1, 63, 64, 65, 127, 128, 5_000_000]
        for isNew in some.shuffled().map({ places.insert($0) }) { #expect(isNew) }
        for isNew in some.map({ places.insert($0) }) { #expect(!isNew) }
        #expect(places.count == some.count)
        #expect((0..<200).filter(places.contains) == some.dropLast())
        #expect(places.contains(5_000_000) && !places.contains(4_999_999) && !places.contains(5_000_001))
    }
}
