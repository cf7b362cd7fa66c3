import ServiceMesh
import Testing

@Suite struct RecordedItemsTests {
    @Test func namesThatOnlyLookTheSameAreTwo() {
        var items = RecordedItems(["caf\u{E9}.jpg"])
        #expect(items.contains("caf\u{E9}.jpg") && !items.contains("cafe\u{301}.jpg"))
        items.insert("cafe\u{301}.jpg")
        items.insert("cafe\u{301}.jpg")
        #expect(items.count == 2 && items.contains("cafe\u{301}.jpg") && Array(items).count == 2)
        #expect(items != ["caf\u{E9}.jpg"] && RecordedItems([String]()).isEmpty)
    }
}
