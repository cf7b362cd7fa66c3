import LibraryModel

/// Which photo a file became, by what its status says: a file that has not been written to since need not be read again.
/// What is known of a photo's files goes with the photo, into the trash too, and when another source takes its place.
package protocol KnownFileRepository {
    /// Of those that are known, in no order.
    func find(_ files: [FileStamp]) throws -> [KnownPhoto]
    /// In place of what was known of a file with the same inode. Photos that are not in the library are passed over.
    func keep(_ files: [KnownFile]) throws
}
