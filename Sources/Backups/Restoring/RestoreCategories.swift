import BackupFormats
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Which category of the library is which of the backup.
extension RestorePlan {
    /// By their names, and those that were renamed since by what they were made as.
    mutating func mergeCategories(
        _ contents: BackupContents, _ prefersBackup: Bool, in transaction: any CatalogueTransaction
    ) throws {
        let categories = try named(contents.categories) { try transaction.categories.find(.displayName($0)) != nil }
        let names = Set(categories.map { CategoryName.key($0.displayName) })
        for category in categories {
            if let there = try transaction.categories.find(.displayName(category.displayName))
                ?? renamed(category, names, contents, in: transaction)
            {
                matchedCategories[category.id] = there.id
                compare(category, with: there, isForeign: contents.isForeign, prefersBackup: prefersBackup)
            } else {
                newCategories.append(category)
            }
        }
        let all = try transaction.categories.all()
        ownCategories = Dictionary(all.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        compareOrder(contents, all, prefersBackup: prefersBackup)
    }

    /// The category that has had another name since. A library gives an id once, and its clock tells it from others that have
    /// given the same one: so id and time together are one category's, in the library that made it and in those that became one
    /// of its backups.
    /// - Parameter names: keys of those that the backup has; a category under one of them is what that name means.
    private func renamed(
        _ category: Category, _ names: Set<String>, _ contents: BackupContents, in transaction: any CatalogueTransaction
    ) throws -> Category? {
        guard !contents.isForeign, let there = try transaction.categories.find(.id(category.id)),
            there.createdAt == category.createdAt, !names.contains(CategoryName.key(there.displayName))
        else { return nil }
        return there
    }

    /// Categories under names that they may have here: a number alone would be taken for an id, and names that are alike for one.
    /// - Parameter isHere: whether the library has a category of a name already; then it keeps it.
    mutating func named(
        _ categories: [Category], unless isHere: (String) throws -> Bool
    ) rethrows -> [Category] {
        let categories = zip(categories, CategoryName.toldApart(categories.map(\.displayName))).map { category, name in
            if name.utf8.elementsEqual(category.displayName.utf8) { return category }
            lines.append(
                ReceiptLine(
                    item: category.displayName, outcome: "renamed",
                    detail: CategoryName.isBlank(category.displayName)
                        ? "nothing of its name can be seen, and it is '\(name)' here"
                        : "another category of the backup has a name that is the same here, and it is '\(name)' here"))
            return category.named(name)
        }
        var taken = Set(categories.map { CategoryName.key($0.displayName) })
        return try categories.map { category in
            let old = category.displayName
            guard CategoryName.isNumber(old), try !isHere(old) else { return category }
            let name = CategoryName.named(number: old)
            var (text, number) = (name, 1)
            while !taken.insert(CategoryName.key(text)).inserted {
                number += 1
                text = "\(name) (\(number))"
            }
            lines.append(
                ReceiptLine(
                    item: old, outcome: "renamed",
                    detail: "its name is only a number, which means an id, and is '\(text)' here"))
            return category.named(text)
        }
    }
}

extension Category {
    fileprivate func named(_ name: String) -> Category {
        Category(
            id: id, displayName: name, position: position, iconResource: iconResource, colorHex: colorHex,
            isDefault: isDefault, createdAt: createdAt, photoCount: photoCount)
    }
}
