import LibraryModel
import LibraryStorage
import ServiceMesh

/// How a person reviews is the same on all of their machines: the later change counts. Settings of one machine, such as where its
/// room goes, stay there.
extension SettingRepository {
    /// Nil where nobody has set any.
    package func reviewPreferences() throws -> ReviewChanges.Preferences? {
        guard let changed = try reviewPreferencesChangedAt() else { return nil }
        let settings = try settings()
        return ReviewChanges.Preferences(
            swipeThreshold: settings.swipeThreshold, enableHapticFeedback: settings.enableHapticFeedback,
            autoProcessActions: settings.autoProcessActions, changedAt: changed)
    }

    func take(_ told: ReviewChanges.Preferences) throws {
        guard try reviewPreferencesChangedAt().map({ $0 < told.changedAt }) ?? true else { return }
        var settings = try settings()
        settings.swipeThreshold = told.swipeThreshold
        settings.enableHapticFeedback = told.enableHapticFeedback
        settings.autoProcessActions = told.autoProcessActions
        try store(settings)
        try setReviewPreferencesChanged(at: told.changedAt)
    }
}

extension Settings {
    /// Whether somebody reviews with both in the same way.
    package func reviews(as other: Settings) -> Bool {
        swipeThreshold == other.swipeThreshold && enableHapticFeedback == other.enableHapticFeedback
            && autoProcessActions == other.autoProcessActions
    }
}
