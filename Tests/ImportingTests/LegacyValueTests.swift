@testable import AndroidDatabase
import Foundation
import LibraryModel
import LibraryTestSupport
@testable import Importing
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Rows that say odd things, as hostile or broken apps write them: taken over, changed where they must be, and told.
@Suite struct LegacyValueTests {
    @Test func namesOfEveryKind() async throws {
        let long = String(repeating: "x", count: 10_000)
        let hex = { (text: String) in "CAST(x'" + text.utf8.map { String(format: "%02x", $0) }.joined() + "' AS TEXT)" }
        let names = [
            hex(""), hex(" \t\n "), hex("a\0b"), hex("ab"), hex(long + "1"), hex(long + "2"), hex("שלום\u{202E}"),
            hex("👩‍👩‍👧‍👦"), "CAST(x'ff41' AS TEXT)", hex("e" + String(repeating: "\u{301}", count: 5_000)), "x'42'", "7",
        ]
        let rows = names.enumerated().map { OldPhone.category(String($0.offset + 1), $0.element, position: $0.offset) }
        let phone = try await OldPhone(version: 7, rows.joined())
        let job = try await phone.migrate()
        #expect(job.outcomes == ["added": 12, "renamed": 8], "\(job.outcomes)")
        let categories = try await phone.categories().dropFirst(4)
        let found = categories.map(\.displayName)
        #expect(Array(found.prefix(4)) == ["Category 1", "Category 2", "ab (2)", "ab"])
        #expect(found[4] == String(long.prefix(200)) && found[5] == String(long.prefix(196)) + " (2)")
        #expect(Array(found[6...8]) == ["שלום\u{202E}", "👩‍👩‍👧‍👦", "\u{FFFD}A"])
        #expect(found[9].count == 1 && found[9].utf8.count <= 3_200)
        #expect(Array(found[10...]) == ["B", "Category 7"])
        #expect(try await phone.lines(job, .renamed).allSatisfy { $0.detail != nil && $0.item.utf8.count < 1_000 })
        let again = try await phone.migrate()
        #expect(again.outcomes == ["merged": 12] && again.needsAttention == false)
        #expect(try await phone.categories().dropFirst(4) == categories)
        await phone.test.library.close()
    }

    @Test func aNumberStaysWhereTheLibraryHasItFromBefore() {
        func category(_ name: String) -> LegacyLibrary.Category {
            LegacyLibrary.Category(
                key: nil, name: Array(name.utf8), color: nil, position: nil, isDefault: nil, createdAt: nil, icon: nil)
        }
        let old = ["2025", "Category 2025", " #3 ", "2025 a", "٣"].map(category)
        #expect(
            LegacyNames.names(for: old).map(\.text) == [
                "Category 2025 (2)", "Category 2025", "Category 3", "2025 a", "٣",
            ])
        #expect(
            LegacyNames.names(for: old) { $0 == "2025" }.map { $0.change == nil } == [true, true, false, true, true])
    }

    @Test func coloursDatesAndIconsOfEveryKind() async throws {
        let phone = try await OldPhone(
            version: 6,
            OldPhone.category("1", "'A'", color: "#12345", isDefault: true, createdAt: "9223372036854775807")
                + OldPhone.category("2", "'B'", color: "#ff4CAF50", position: 1, createdAt: "-9223372036854775808")
                + OldPhone.category("3", "'C'", color: "#00aaff", position: -5, createdAt: "'yesterday'")
                + OldPhone.category("4", "'D'", color: "#00aaff", position: 9, createdAt: "0")
                    + """
                    UPDATE category_entities SET color_hex = NULL WHERE id = 2;
                    UPDATE category_entities SET position = 'last', is_default = 'yes', icon_name = x'ff' WHERE id = 3;
                    UPDATE category_entities SET icon_name = 'ic_d' WHERE id = 4;
                    """)
        let job = try await phone.migrate()
        #expect(job.outcomes == ["added": 4, "defaulted": 6], "\(job.outcomes)")
        let categories = try await phone.categories().dropFirst(4)
        #expect(categories.map(\.displayName) == ["A", "B", "D", "C"])
        #expect(categories.map(\.colorHex) == ["#4CAF50", "#4CAF50", "#00AAFF", "#00AAFF"])
        #expect(categories.map(\.isDefault) == [true, false, false, false])
        #expect(categories.map(\.iconResource) == [nil, nil, "ic_d", nil])
        #expect(categories.prefix(3).map(\.createdAt.milliseconds) == [4_102_444_799_999, 0, 0])
        await phone.test.library.close()
    }

    @Test func datesOfPhotosAtTheEndsOfWhatANumberHolds() async throws {
        let phone = try await OldPhone(
            version: 4,
            OldPhone.category("'1'", "'A'")
                + OldPhone.photo("a", "/x/a.jpg", category: "'1'", at: "9223372036854775807", favorite: true)
                + OldPhone.photo("b", "/x/b.jpg", category: "'1'", at: "-9223372036854775808", favorite: false)
                + OldPhone.photo("c", "/x/c.jpg", category: "'1'", at: "'soon'", favorite: false)
                + OldPhone.photo("d", "/x/d.jpg", category: "'1'", at: "1.5e12", favorite: false)
                + "UPDATE photo_entities SET is_favorite = 'yes' WHERE id = 'b';")
        let job = try await phone.migrate(keepMissing: true)
        #expect(job.outcomes == ["added": 1, "kept": 4, "defaulted": 3], "\(job.outcomes)")
        let photos = Dictionary(uniqueKeysWithValues: try await phone.test.allPhotos().map { ($0.name, $0) })
        #expect(photos["a.jpg"]?.createdAt.milliseconds == 4_102_444_799_999 && photos["a.jpg"]?.isFavorite == true)
        #expect(photos["b.jpg"]?.createdAt.milliseconds == 0 && photos["b.jpg"]?.isFavorite == false)
        #expect(photos["d.jpg"]?.createdAt.milliseconds == 1_500_000_000_000)
        #expect(try await phone.migrate(keepMissing: true).outcomes == ["merged": 1, "duplicate": 4])
        await phone.test.library.close()
    }

    @Test func idsThatAreAlikeButForCaseStayTwoPhotos() async throws {
        let id = OldPhone.uuid(1) + "', '/x/a.jpg', 1, 1, NULL), ('" + OldPhone.uuid(1).uppercased()
        let phone = try await OldPhone(
            "INSERT INTO photo_entities (id, uri, category_id, timestamp, encrypted_tags) VALUES ('\(id)', '/x/b.jpg', 1, 2, 'x');"
        )
        #expect(try phone.receipt(try await phone.migrate(keepMissing: true)).photos == ["kept": 2])
        #expect(try phone.receipt(try await phone.migrate(keepMissing: true)).photos == ["duplicate": 2])
        await phone.test.library.close()
    }

    @Test func categoriesInTheThousandsFillTheLibraryAndTheRestIsToldAndLeft() async throws {
        let phone = try await OldPhone(
            """
            INSERT INTO category_entities (id, display_name, color_hex, position, is_default, created_at)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            SELECT i, 'Pile ' || i, '#123456', i, 0, 0 FROM n;
            """ + OldPhone.photo(OldPhone.uuid(1), "/x/a.jpg", category: "9999")
                + OldPhone.photo(OldPhone.uuid(2), "/x/b.jpg", category: "5000")
                + "DELETE FROM category_entities WHERE id = 5000;")
        let job = try await phone.migrate(keepMissing: true)
        #expect(job.outcomes == ["added": 996, "left": 9_003, "kept": 2, "defaulted": 1], "\(job.outcomes)")
        let categories = try await phone.categories()
        #expect(categories.count == 1_000 && categories.last?.displayName == "Pile 9999")
        #expect(categories[4].displayName == "Pile 1" && categories[998].displayName == "Pile 995")
        await phone.test.library.close()
    }

    @Test func photosOfACategoryThatIsLeftAreLeft() async throws {
        let phone = try await OldPhone(
            """
            INSERT INTO category_entities (id, display_name, color_hex, position, is_default, created_at)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            SELECT i, 'Pile ' || i, '#123456', i, 0, 0 FROM n;
            INSERT INTO photo_entities (id, uri, category_id, timestamp)
            SELECT printf('00000000-0000-4000-8000-%012d', id), '/x/' || id || '.jpg', id, 1 FROM category_entities;
            """)
        let receipt = try phone.receipt(try await phone.migrate(keepMissing: true))
        #expect(receipt.categories == ["added": 996, "left": 4] && receipt.photos == ["kept": 996, "left": 4])
        await phone.test.library.close()
    }

    @Test func hundredsOfBlankNamesAreToldApart() {
        let blank = LegacyLibrary.Category(
            key: nil, name: [32], color: nil, position: nil, isDefault: nil, createdAt: nil, icon: nil)
        let names = LegacyNames.names(for: Array(repeating: blank, count: 20_000)).map(\.text)
        #expect(Set(names).count == 20_000)
        #expect(Array(names.prefix(3)) == ["Category", "Category (2)", "Category (3)"])
    }
}
