import ServiceMesh

/// How the keys of the sealed fields stand: where the key file is, whether it opens them, which keys there are.
public struct GetKeyStatus: Message {
    public typealias Reply = KeyStatus
    public static let method = "key.status"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "The keys of the sealed fields: whether they open, and what they seal."
    public init() {}
}

/// What can be done with sealed fields.
public enum KeyState: String, Codable, Sendable, CaseIterable {
    /// Nothing was ever sealed; the first value makes the keys.
    case unused
    /// They open.
    case ready
    /// They do not: nothing sealed can be read or written until the key is back.
    case locked
}

public struct KeyStatus: Codable, Sendable, Equatable {
    public let state: KeyState
    /// Where the key file is, or will be; absent where no place for it is known.
    public let keyFile: String?
    /// Why they do not open and what to do about it; absent while they do.
    public let problem: String?
    /// The active one first.
    public let keys: [KeySummary]
    /// Sealed values of all photos, those in the trash included.
    public let values: Int
    /// Photos that have any, those in the trash included.
    public let photos: Int
    /// Values of keys that are not among these: they come from another library, and open once its key is imported.
    public let foreignValues: Int

    public init(
        state: KeyState, keyFile: String?, problem: String?, keys: [KeySummary], values: Int, photos: Int,
        foreignValues: Int
    ) {
        self.state = state
        self.keyFile = keyFile
        self.problem = problem
        self.keys = keys
        self.values = values
        self.photos = photos
        self.foreignValues = foreignValues
    }
}

/// One data key, without its secret.
public struct KeySummary: Codable, Sendable, Equatable {
    /// 32 hexadecimal digits.
    public let id: String
    /// Whether new values are sealed with it; the others open what is older.
    public let isActive: Bool
    public let createdAt: Timestamp
    /// Values that are sealed with it.
    public let values: Int
    /// When it was exported last; absent where it never was, and then nothing but the key file opens its values.
    public let exportedAt: Timestamp?

    public init(id: String, isActive: Bool, createdAt: Timestamp, values: Int, exportedAt: Timestamp?) {
        self.id = id
        self.isActive = isActive
        self.createdAt = createdAt
        self.values = values
        self.exportedAt = exportedAt
    }
}

/// Puts the library's keys under a passphrase, as a text to be kept somewhere else: the way back when the key file is lost.
/// Takes some half a second, on purpose: so does each guess. After ``RotateKeys`` the keys have to be exported again.
/// Errors: `invalid_argument` (a passphrase outside of 8…1000 characters); `failed_precondition` where there are no keys yet
/// or they do not open.
public struct ExportKeys: Message {
    public typealias Reply = ExportedKeys
    public static let method = "key.export"
    public static let access = Role.parent
    /// It notes when.
    public static let kind = MessageKind.write
    public static let summary = "The keys of the sealed fields, under a passphrase."
    public var isForThisMachine: Bool { true }
    public let passphrase: String
    public init(passphrase: String) { self.passphrase = passphrase }
}

public struct ExportedKeys: Codable, Sendable, Equatable {
    /// One line; without the passphrase it says nothing.
    public let text: String
    public let keys: Int

    public init(text: String, keys: Int) {
        self.text = text
        self.keys = keys
    }
}

/// Takes keys over from an export, and wraps them with this machine's key file, which is made where there is none. A key that
/// is here already stays as it is, and so does the key file. Errors: `invalid_argument` (no export, damaged, a wrong
/// passphrase); `failed_precondition` where the key file cannot be used; `resource_exhausted` (memory).
public struct ImportKeys: Message {
    public typealias Reply = ImportedKeys
    public static let method = "key.import"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Takes over keys of sealed fields that were exported."
    public var isForThisMachine: Bool { true }
    /// As ``ExportedKeys/text``.
    public let text: String
    public let passphrase: String

    public init(text: String, passphrase: String) {
        self.text = text
        self.passphrase = passphrase
    }
}

public struct ImportedKeys: Codable, Sendable, Equatable {
    /// Keys that were not here, or could not be opened here.
    public let imported: Int
    /// Keys that were here.
    public let known: Int

    public init(imported: Int, known: Int) {
        self.imported = imported
        self.known = known
    }
}

/// Seals everything with a new key, as a job; the library stays usable meanwhile, and a stop or a crash only delays it. The
/// old key goes once nothing needs it any more: neither values, nor any backup that is known (``ListBackups``). Values that do not
/// open stay as they are and have a line.
/// Errors at once: `failed_precondition` where there are no keys yet or they do not open.
public struct RotateKeys: Message {
    public typealias Reply = JobStarted
    public static let method = "key.rotate"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Seals everything with a new key."
    public var isForThisMachine: Bool { true }
    public init() {}
}

public struct RotationReceipt: JobReceipt {
    /// The key that seals now.
    public let key: String
    /// Values that were sealed with it.
    public let resealed: Int
    /// Values that did not open.
    public let unreadable: Int
    /// Old keys that are gone.
    public let removedKeys: Int
    public let ending: JobEnding

    public init(key: String, resealed: Int, unreadable: Int, removedKeys: Int, ending: JobEnding) {
        self.key = key
        self.resealed = resealed
        self.unreadable = unreadable
        self.removedKeys = removedKeys
        self.ending = ending
    }
}
