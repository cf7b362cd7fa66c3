import ServiceMesh

/// Every setting by its name, with what it means and which values it takes: what validation, the command line's help and
/// completion, and <doc:LibrarySettings> read, so that none of them can say something else.
public enum SettingKey: String, Codable, Sendable, CaseIterable {
    case swipeThreshold
    case enableHapticFeedback
    case autoProcessActions
    case storageCleanupEnabled
    case keepOriginals
    case groupPhotoMegabytes
    case biometricAuthEnabled
    case currentAppMode
    case parentalLockEnabled
    case defaultCategoriesInitialized
    case lastBackupDate
    case lastSyncDate

    /// What a setting's values are.
    public enum Values: Sendable, Equatable {
        case flag
        case number(ClosedRange<Double>)
        case words([String])
        case date

        /// `true or false`, `a number from 0.05 to 1`.
        public var range: String {
            switch self {
            case .flag: "true or false"
            case .number(let range): "a number from \(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
            case .words(let words): words.joined(separator: " or ")
            case .date: "a date, or none"
            }
        }

        private static func short(_ number: Double) -> String {
            number == number.rounded() ? String(Int64(number)) : String(number)
        }
    }

    public var values: Values {
        switch self {
        case .swipeThreshold: .number(Settings.leastSwipeThreshold...1)
        case .groupPhotoMegabytes: .number(10...100_000)
        case .enableHapticFeedback, .autoProcessActions, .storageCleanupEnabled, .keepOriginals, .biometricAuthEnabled,
            .parentalLockEnabled, .defaultCategoriesInitialized:
            .flag
        case .currentAppMode: .words(AppMode.allCases.map(\.rawValue))
        case .lastBackupDate, .lastSyncDate: .date
        }
    }

    /// One sentence: what it does.
    public var meaning: String {
        switch self {
        case .swipeThreshold: "How far a swipe goes before it counts, as a share of the screen's width."
        case .enableHapticFeedback: "A phone or tablet may buzz when a swipe counts."
        case .autoProcessActions: "Finishing a review applies its decisions at once."
        case .storageCleanupEnabled: "Photos leave the trash by themselves after 30 days."
        case .keepOriginals: "Imports keep the source of a photo that is not stored as it came."
        case .groupPhotoMegabytes: "How many MB the photos of all groups may take on the disk."
        case .biometricAuthEnabled: "Kept for the phone apps' backups; it has no effect here."
        case .currentAppMode: "Whether who connects is a parent, or a kid until unlocked."
        case .parentalLockEnabled: "Whether there is a PIN."
        case .defaultCategoriesInitialized: "Whether the first four categories were made; it happens once."
        case .lastBackupDate: "When the last backup was proven readable."
        case .lastSyncDate: "When groups or reviews were last brought up to date."
        }
    }

    /// What changes it where a person does not set it, as the rest of "it is set by …"; nil where a person does.
    public var setBy: String? {
        switch self {
        case .swipeThreshold, .enableHapticFeedback, .autoProcessActions, .storageCleanupEnabled, .keepOriginals,
            .groupPhotoMegabytes, .biometricAuthEnabled:
            nil
        case .currentAppMode: "smilepile mode"
        case .parentalLockEnabled: "smilepile pin"
        case .defaultCategoriesInitialized: "the library's first start"
        case .lastBackupDate: "backups"
        case .lastSyncDate: "the sync of groups and reviews"
        }
    }

    /// Those that ``ChangeSettings`` takes.
    public static let settable = allCases.filter { $0.setBy == nil }

    /// A text that a person typed, as the value that ``ChangeSettings`` takes.
    /// - Throws: `invalid_argument` where it is none, with the values that there are; `failed_precondition` for a setting
    ///   that nobody sets by hand.
    public func value(typed text: String) throws -> JSONValue {
        if let setBy {
            throw MeshError(.failedPrecondition, "\(rawValue) cannot be set by hand: it is set by \(setBy).")
        }
        switch values {
        case .flag:
            switch text.lowercased() {
            case "true", "on", "yes": return true
            case "false", "off", "no": return false
            default: break
            }
        case .number(let range):
            if let number = Double(text), range.contains(number) { return .number(number) }
        case .words(let words):
            if words.contains(text) { return .string(text) }
        case .date: break
        }
        throw MeshError(.invalidArgument, "\(rawValue) is \(values.range).")
    }

    /// - Throws: `invalid_argument` for a number that is out of its range.
    public func validate(_ number: Double) throws {
        guard case .number(let range) = values, range.contains(number) else {
            throw MeshError(.invalidArgument, "\(rawValue) is \(values.range).")
        }
    }
}
