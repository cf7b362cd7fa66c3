import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let category = Operand("CATEGORY", .category, help: "Its name, or its id as '#3'.")
    private static let color = Option.value("color", "#RRGGBB", .text, help: "Its colour, for example '#4CAF50'.")
    private static let icon = Option.value("icon", "NAME", .text, help: "Its icon; an empty text removes it.")

    static let categoryCommands: [Command] = [
        Command(
            words: ["categories", "list"], summary: "Show the categories in their order, with their photos.",
            options: [
                .value("text", "TEXT", .text, help: "Only those with this text in their name."),
                .value(
                    "sort", "ORDER", .words(orders.map(\.word)), help: "By the family's order unless given."),
                .flag("names", help: "Print only the names, one a line."),
            ],
            examples: [
                Example("smilepile categories", "All of them."),
                Example("smilepile categories list --text summer --sort created", "Some, the oldest first."),
                Example("smilepile categories list --names", "For a script or a shell completion."),
            ], isDefaultOfGroup: true
        ) { invocation, session in
            try await session.withLibrary { library in
                let order = invocation.value("sort").flatMap { word in orders.first { $0.word == word }?.order }
                let answer = try await library.send(ListCategories(text: invocation.value("text"), order: order))
                session.show(answer) { list in
                    if list.categories.isEmpty {
                        session.console.message("No category has that text in its name.")
                    } else if invocation.has("names") {
                        session.console.result(list.categories.map { PlainText.neutralized($0.displayName) })
                    } else {
                        showCategories(list.categories, session)
                    }
                }
                return .done
            }
        },
        Command(
            words: ["categories", "palette"], summary: "Show the colours that new categories get, and who has them.",
            details: "A new category without a colour of its own gets the first one that no other has.",
            examples: [Example("smilepile categories palette", "Which colours are there, and which comes next?")]
        ) { _, session in
            try await session.withLibrary { library in
                try showPalette(try await library.send(ListCategories()).value.categories, session)
                return .done
            }
        },
        Command(
            words: ["categories", "add"], summary: "Add a category at the end.",
            operands: [Operand("NAME", help: "How it is called: unique in any case, and no number alone.")],
            options: [
                .value(
                    "color", "#RRGGBB", .text, help: "Its colour; the first of the palette not in use unless given."),
                icon,
            ],
            examples: [
                Example("smilepile categories add Holidays", "With the next colour of the palette."),
                Example("smilepile categories add 'Summer 2025' --color '#FF9800'", "With a colour of your own."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    AddCategory(
                        displayName: invocation.operand("NAME") ?? "", colorHex: invocation.value("color"),
                        iconResource: invocation.value("icon")))
                session.show(answer) { session.console.result("Added \(describe($0)).") }
                return .done
            }
        },
        Command(
            words: ["categories", "edit"], summary: "Rename a category, or change its colour or icon.",
            operands: [category],
            options: [.value("name", "NAME", .text, help: "Its new name."), color, icon],
            examples: [
                Example("smilepile categories edit Cars --name Motors", "A new name."),
                Example(
                    "smilepile categories edit '#3' --color '#3F51B5'", "A new colour, the category named by its id."),
            ]
        ) { invocation, session in
            guard ["name", "color", "icon"].contains(where: invocation.has) else {
                throw invocation.usageError("Say what to change: --name, --color or --icon.")
            }
            return try await session.withLibrary { library in
                let id = try await library.category(named: invocation.operand("CATEGORY") ?? "").id
                let answer = try await library.send(
                    EditCategory(
                        id: id, displayName: invocation.value("name"), colorHex: invocation.value("color"),
                        iconResource: invocation.value("icon")))
                session.show(answer) { session.console.result("Changed: \(describe($0)).") }
                return .done
            }
        },
        Command(
            words: ["categories", "reorder"], summary: "Put the categories into a new order.",
            details: "Takes every category, once, the first one first.",
            operands: [Operand("CATEGORY", .category, .oneOrMore, help: "Their names or ids in the new order.")],
            examples: [
                Example("smilepile categories reorder Sports Games Cars Family", "The default four, turned round.")
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let named = try await library.categories(named: invocation.operandValues("CATEGORY"))
                let answer = try await library.send(ReorderCategories(ids: named.map(\.id)))
                session.show(answer) { showCategories($0.categories, session) }
                return .done
            }
        },
        Command(
            words: ["categories", "delete"], summary: "Delete a category.",
            details: """
                One with photos is refused unless you say what becomes of them. Before an empty one goes you are asked. The
                last one always stays.
                """,
            operands: [category],
            options: [
                .flag("delete-photos", help: "Its photos go to the trash."),
                .value("move-to", "NAME", .category, help: "Its photos go to this category."),
                .flag("yes", help: "Do not ask before an empty one is deleted."),
            ],
            examples: [
                Example("smilepile categories delete Games", "One without photos, after a question."),
                Example("smilepile categories delete Cars --move-to Family", "Its photos stay."),
                Example("smilepile categories delete Cars --delete-photos", "Its photos go to the trash."),
            ]
        ) { invocation, session in
            guard !(invocation.has("delete-photos") && invocation.has("move-to")) else {
                throw invocation.usageError("Its photos either go to the trash or move: give one of the two options.")
            }
            return try await session.withLibrary { library in
                let names = [invocation.operand("CATEGORY") ?? ""] + invocation.values("move-to")
                let named = try await library.categories(named: names)
                // What becomes of photos has been said; of one that has some and no word of them, the daemon says what is missing.
                if named[0].photoCount == 0, named.count == 1, !invocation.has("delete-photos") {
                    let question = "Delete the empty category \(PlainText.neutralized(named[0].displayName))?"
                    guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                        return .failed
                    }
                }
                let answer = try await library.send(
                    DeleteCategory(
                        id: named[0].id, deletePhotos: invocation.has("delete-photos") ? true : nil,
                        moveTo: named.count > 1 ? named[1].id : nil))
                session.show(answer) { deletion in
                    var words = "Deleted \(PlainText.neutralized(named[0].displayName))."
                    if deletion.photosTrashed > 0 {
                        words += " \(Figures.count(deletion.photosTrashed, "photo")) went to the trash."
                    }
                    if deletion.photosMoved > 0 {
                        words += " \(Figures.count(deletion.photosMoved, "photo")) moved."
                    }
                    session.console.result(words)
                }
                return .done
            }
        },
    ]

    /// The words for the orders of a list.
    private static let orders: [(word: String, order: CategoryOrder)] = [
        ("position", .position), ("name", .displayName), ("created", .createdAt),
    ]

    private static func showPalette(_ categories: [Category], _ session: Session) throws {
        let next = CategoryColor.next(used: categories.map(\.colorHex))
        let names = Dictionary(grouping: categories, by: \.colorHex).mapValues { $0.map(\.displayName) }
        guard !session.wantsJSON else {
            let colours = CategoryColor.palette.map { colour -> JSONValue in
                [
                    "colorHex": .string(colour), "isNext": .bool(colour == next),
                    "categories": .array((names[colour] ?? []).map(JSONValue.string)),
                ]
            }
            return try session.show(json: ["colors": .array(colours)])
        }
        var table = Table(
            .init(heading: "COLOUR", isColour: true), .init(heading: "NEXT"),
            .init(heading: "CATEGORIES", shrinks: true))
        for colour in CategoryColor.palette {
            table.add([colour, colour == next ? "←" : "", (names[colour] ?? []).joined(separator: ", ")])
        }
        session.console.show(table)
    }

    private static func describe(_ category: Category) -> String {
        "\(PlainText.neutralized(category.displayName)) (#\(category.id), \(PlainText.neutralized(category.colorHex)))"
    }

    private static func showCategories(_ categories: [Category], _ session: Session) {
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "NAME", shrinks: true),
            .init(heading: "COLOUR", isColour: true),
            .init(heading: "PHOTOS", isNumeric: true))
        for category in categories {
            table.add(["#\(category.id)", category.displayName, category.colorHex, String(category.photoCount)])
        }
        session.console.show(table)
    }
}
