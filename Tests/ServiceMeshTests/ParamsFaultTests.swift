import Foundation
import Testing

@testable import ServiceMesh

/// What is wrong with params is said in words: the field, what was given, what may be.
@Suite struct ParamsFaultTests {
    private enum Fruit: String, Codable, CaseIterable { case apple, pear, plum }
    private enum Sole: String, Codable, CaseIterable { case only }

    private struct Shelf: Codable {
        let fruit: Fruit
        let weights: [Double]?
    }

    private struct Stock: Message {
        typealias Reply = Done
        static let method = "shop.stock"
        static let access = Role.kid
        static let kind = MessageKind.write
        static let summary = "Stocks a shop."
        let name: String
        let count: Int64?
        let size: UInt32?
        let fruit: Fruit?
        let sole: Sole?
        let all: [Fruit]?
        let shelves: [Shelf]?
        let since: Timestamp?
        let id: UUID?
        let isOpen: Bool?
    }

    private struct Nothing: Message {
        typealias Reply = Done
        static let method = "shop.close"
        static let access = Role.kid
        static let kind = MessageKind.write
        static let summary = "Closes it."
    }

    private static let fields = "It takes all, count, fruit, id, isOpen, name, shelves, since, size, sole."

    private func refusal<M: Message>(_ type: M.Type, _ params: String) -> String? {
        do {
            _ = try ParamsDecoding.decode(type, from: Data(params.utf8), allowing: ParamsDecoding.names(of: type))
            return nil
        } catch {
            return (error as? InvalidParams)?.description ?? "not a fault of params: \(error)"
        }
    }

    private static let whole = "a whole number that fits into 64 bits."
    private static let date = "a date as 2025-06-15 or 2025-06-15T10:00:00Z, or milliseconds since 1970."

    @Test(arguments: [
        (#""fruit":"bogus""#, #"'fruit' is "bogus"; it must be one of apple, pear, plum."#),
        (#""fruit":7"#, "'fruit' is 7; it must be one of apple, pear, plum."),
        (#""sole":"x""#, #"'sole' is "x"; it must be only."#),
        (#""all":["apple","fig"]"#, #"'all[1]' is "fig"; it must be one of apple, pear, plum."#),
        (#""all":"apple""#, #"'all' is "apple"; it must be a list, each of it one of apple, pear, plum."#),
        (
            #""shelves":[{"fruit":"plum"},{"fruit":[]}]"#,
            "'shelves[1].fruit' is a list; it must be one of apple, pear, plum."
        ),
        (
            #""shelves":[{"fruit":"plum","weights":[1,"two"]}]"#,
            #"'shelves[0].weights[1]' is "two"; it must be a number."#
        ),
        (#""shelves":[{}]"#, "needs the parameter 'shelves[0].fruit', one of apple, pear, plum."),
        (#""shelves":[7]"#, "'shelves[0]' is 7; it must be an object with fruit, weights."),
        (#""count":"three""#, #"'count' is "three"; it must be \#(whole)"#),
        (#""count":1.5"#, "'count' is 1.5; it must be \(whole)"),
        (#""count":99999999999999999999"#, "'count' is 1e+20; it must be \(whole)"),
        (#""size":-1"#, "'size' is -1; it must be a whole number from 0 to 4294967295."),
        (#""isOpen":"yes""#, #"'isOpen' is "yes"; it must be true or false."#),
        (#""id":"7""#, #"'id' is "7"; it must be a UUID."#),
        (#""since":"yesterday""#, #"'since' is "yesterday"; it must be \#(date)"#),
        (#""since":true"#, "'since' is true; it must be \(date)"),
    ])
    func aValueThatCannotBeIsNamedWithWhatCan(params: String, words: String) {
        let text = refusal(Stock.self, "{\"name\":\"x\",\(params)}")
        #expect(text?.hasSuffix(words) == true, "\(text ?? "taken")")
        #expect(text?.hasPrefix("shop.stock") == true)
    }

    @Test func fieldsAreNamedWhereOneIsWrongOrMissing() {
        #expect(refusal(Stock.self, "{}") == "shop.stock needs the parameter 'name', a text. " + Self.fields)
        // The one that is missing was given by another name.
        #expect(refusal(Stock.self, #"{"title":"x"}"#) == "shop.stock has no parameter 'title'. " + Self.fields)
        #expect(
            refusal(Stock.self, #"{"name":"x","titel":1}"#) == "shop.stock has no parameter 'titel'. " + Self.fields)
        #expect(refusal(Nothing.self, #"{"x":1}"#) == "shop.close has no parameter 'x'. It takes none.")
        #expect(
            refusal(Stock.self, #"{"name":null}"#) == "shop.stock: the parameter 'name' is null; it must be a text.")
    }

    /// A PIN that was given as a number would stand in a reply, and in what a client logs of it.
    @Test(arguments: ["4711", "[4711]", #"{"pin":"4711"}"#, "4711.5"])
    func whatWasGivenForATextIsNotRepeated(value: String) {
        let text = refusal(Stock.self, "{\"name\":\(value)}")
        #expect(text?.contains("it must be a text") == true && text?.contains("4711") == false, "\(text ?? "")")
    }

    @Test func longValuesAreShortened() {
        let text = refusal(Stock.self, "{\"name\":\"x\",\"fruit\":\"\(String(repeating: "f", count: 100_000))\"}")
        #expect((text?.count ?? .max) < 200)
    }

    /// No word of Swift's, whatever is given for whatever field.
    @Test func nothingOfSwiftIsSaid() {
        let values = ["null", "true", "-1", "1.5", "1e400", "\"\"", "\"x\"", "[]", "[[]]", "{}", "[{}]", "[null]"]
        let words = [
            "Int", "String", "Index", "Dictionary", "Array", "Swift", "Double", "Bool", "initialize", "something else",
        ]
        let names = ["name", "count", "size", "fruit", "sole", "all", "shelves", "since", "id", "isOpen"]
        for name in names {
            for value in values {
                let rest = name == "name" ? "" : ",\"name\":\"x\""
                guard let text = refusal(Stock.self, "{\"\(name)\":\(value)\(rest)}") else { continue }
                for word in words {
                    #expect(!text.contains(word), "\(name) \(value): \(text)")
                }
            }
        }
    }
}
