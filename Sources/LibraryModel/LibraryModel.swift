/// The typed contract that every client of a SmilePile library shares: values (``Category``, ``Photo``,
/// ``SwipeSession``, …) and the messages that ask for them. The same declarations serve a program that embeds the
/// library, the command line, and scripts on the socket. Nothing here knows a database, a file or an actor;
/// `LibraryServices` has the same folders again, with the actor that answers in each.
public enum LibraryModel {
    /// The version of all programs of this package, and of what they write into backups. It stands here and in the heading
    /// of <doc:Changes>, and nowhere else: Scripts/lint looks.
    public static let version = "0.1.0"
}
