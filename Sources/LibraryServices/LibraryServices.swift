/// The actors of a photo library, one folder each, with the SQL and the file handling that only they need. Every
/// one answers the messages that the same folder of `LibraryModel` declares; ``PhotoLibrary`` opens them together.
///
/// Rules that hold throughout: a rule is checked in the transaction that acts on it; files come first and rows
/// second, and go the other way round; what a C library or a thread is needed for happens on the floors below.
public enum LibraryServices {}
