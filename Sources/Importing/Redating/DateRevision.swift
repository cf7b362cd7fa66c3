import Foundation
import LibraryModel
import ServiceMesh
import Sidecars

/// What is to become of a photo's date, by what the library has found out about it again.
enum DateRevision: Equatable {
    case stays
    case becomes(PhotoDate)
    /// The picture says this, but a person may have said what there is.
    case isDoubtful(PhotoDate)

    /// - Parameters:
    ///   - found: what the picture itself says, or what is kept beside it.
    ///   - now: after which nothing was taken.
    init(of photo: Photo, found: PhotoDate?, now: Timestamp) {
        let byName = FileNameDate.date(in: photo.name, now: now.milliseconds).map { PhotoDate($0, source: .fileName) }
        guard let found = found ?? byName else {
            self = .stays
            return
        }
        guard let clock = photo.takenAt else {
            self = .becomes(found.keepingOffset(of: photo))
            return
        }
        guard let source = photo.dateSource else {
            self.init(ofUnknownSource: photo, clock, found)
            return
        }
        if found.source.isBetter(than: source) {
            self = .becomes(found.keepingOffset(of: photo))
        } else if found.source == source, !source.isGuess,
            found.clock != clock || found.precision != photo.datePrecision ?? .second
                || photo.takenOffset == nil && found.offset != nil
        {
            // A guess is not made again: the name may be another by now, and this machine's zone too.
            self = .becomes(found.keepingOffset(of: photo))
        } else {
            self = .stays
        }
    }

    private init(ofUnknownSource photo: Photo, _ clock: LocalDateTime, _ found: PhotoDate) {
        if found.source.isGuess {
            self = .stays
        } else if found.clock.isSameTime(as: clock) {
            self = .becomes(found.keepingOffset(of: photo))
        } else {
            self = .isDoubtful(found)
        }
    }
}

extension PhotoDate {
    /// A person may have told the offset alone.
    fileprivate func keepingOffset(of photo: Photo) -> PhotoDate {
        PhotoDate(clock: clock, precision: precision, offset: offset ?? photo.takenOffset, source: source)
    }
}

extension LocalDateTime {
    /// Whether both can be one moment on the clocks of two zones: whole quarters of an hour apart, and no more than from
    /// 12 hours behind UTC to 14 ahead. What is less than a second was not always kept.
    fileprivate func isSameTime(as other: LocalDateTime) -> Bool {
        func seconds(_ clock: LocalDateTime) -> Int64 { Int64((Double(clock.milliseconds) / 1000).rounded(.down)) }
        let (apart, overflow) = seconds(self).subtractingReportingOverflow(seconds(other))
        return !overflow && apart.magnitude <= 26 * 3600 && apart % 900 == 0
    }
}
