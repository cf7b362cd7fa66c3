import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let category = Operand("CATEGORY", .category, help: "Its id or its name.")
    private static let color = Option.value("color", "#RRGGBB", .text, help: "Its colour, for example '#4CAF50'.")
    private static let icon = Option.value("icon", "NAME", .text, help: "Its icon; an empty text removes it.")

    static let categoryCommands: [Command] = [
        Command(
            words: ["categories", "list"], summary: "Show the categories in their order, with their photos.",
            options: [.flag("names", help: "Print only the names, one a line.")],
            examples: [
                Example("smilepile categories", "All of them."),
                Example("smilepile categories list --names", "For a script or a shell completion."),
            ], isDefaultOfGroup: true
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListCategories())
                session.show(answer) { list in
                    if invocation.has("names") {
                        session.console.result(list.categories.map { PlainText.neutralized($0.displayName) })
                    } else {
                        showCategories(list.categories, session)
                    }
                }
                return .done
            }
        },
        Command(
            words: ["categories", "add"], summary: "Add a category at the end.",
            operands: [Operand("NAME", help: "How it is called; unique, upper and lower case being the same.")],
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
                Example("smilepile categories edit 3 --color '#3F51B5'", "A new colour, the category named by its id."),
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
            operands: [Operand("CATEGORY", .category, .oneOrMore, help: "Their ids or names in the new order.")],
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
            details: "One with photos is refused unless you say what becomes of them. The last one always stays.",
            operands: [category],
            options: [
                .flag("delete-photos", help: "Its photos go to the trash."),
                .value("move-to", "NAME", .category, help: "Its photos go to this category."),
            ],
            examples: [
                Example("smilepile categories delete Games", "One without photos."),
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

    private static func describe(_ category: Category) -> String {
        "\(PlainText.neutralized(category.displayName)) (id \(category.id), \(PlainText.neutralized(category.colorHex)))"
    }

    private static func showCategories(_ categories: [Category], _ session: Session) {
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "NAME", shrinks: true), .init(heading: "COLOUR"),
            .init(heading: "PHOTOS", isNumeric: true))
        for category in categories {
            table.add([String(category.id), category.displayName, category.colorHex, String(category.photoCount)])
        }
        session.console.show(table)
    }
}
