import ServiceMesh

extension PrometheusText {
    /// What the library is and holds. It names no photo, no category and no person.
    package mutating func add(_ status: LibraryStatus) {
        add(
            "smilepile_info", .gauge, "The daemon's version.",
            [([("version", status.version)], 1)])
        add("smilepile_photos", "Photos and films in the library, the trash left out.", Double(status.photos))
        add("smilepile_trashed_photos", "Photos and films in the trash.", Double(status.trashed))
        add("smilepile_favorite_photos", "Favourites.", Double(status.favorites))
        add("smilepile_categories", "Categories.", Double(status.categories))
        add("smilepile_photo_bytes", "Bytes of the stored photos, the trash left out.", Double(status.photoBytes))
        add("smilepile_free_bytes", "Free bytes on the library's file system.", Double(status.freeBytes))
        add(
            "smilepile_peak_memory_bytes", "The most memory that the daemon has had since its start.",
            Double(status.peakMemoryBytes))
        add(
            "smilepile_catalogue_problems", "What is wrong with the catalogue: anything but 0 needs a person.",
            Double(status.catalogueProblems?.count ?? 0))
        add(
            "smilepile_unreadable_rows", "Rows of the catalogue that cannot be read.",
            Double(status.unreadable?.count ?? 0))
        add("smilepile_lost_log_lines", "Lines of the log that could not be written.", Double(status.lostLogLines ?? 0))
        // Absent where there is none: an alert asks for that too, by absent().
        if let backup = status.newestBackup {
            add("smilepile_newest_backup_age_seconds", "Since the newest verified backup.", Double(backup.ageSeconds))
        }
    }

    /// What the daemon does.
    package mutating func add(_ mesh: MeshStatistics) {
        let messages = mesh.messages.filter { $0.admitted + $0.refused > 0 }
        add(
            "smilepile_messages_total", .counter, "Messages that have ended, by how.",
            messages.flatMap { message in
                [
                    ("completed", message.completed), ("failed", message.failed), ("cancelled", message.cancelled),
                    ("refused", message.refused),
                ].map { outcome, count in ([("method", message.method), ("outcome", outcome)], Double(count)) }
            })
        add(
            "smilepile_messages_in_flight", .gauge, "Messages that run now.",
            messages.map { ([("method", $0.method)], Double($0.inFlight)) })
        add(
            "smilepile_message_seconds", .gauge, "How long messages took since the daemon's start, within 13 %.",
            messages.flatMap { message in
                [("0.5", message.p50), ("0.9", message.p90), ("0.99", message.p99), ("1", message.max)].map {
                    ([("method", message.method), ("quantile", $0)], $1 / 1_000_000)
                }
            })
        let services = mesh.services.map { service in ([("service", service.name)], service) }
        add(
            "smilepile_service_running", .gauge, "Messages that a service works on now.",
            services.map { ($0, Double($1.running)) })
        add(
            "smilepile_service_waiting", .gauge, "Messages that wait for a service.",
            services.map { ($0, Double($1.waiting)) })
        add(
            "smilepile_service_longest_wait_seconds", .gauge, "Of the message that has waited longest for a service.",
            services.map { ($0, ($1.longestWait ?? 0) / 1_000_000) })
    }
}
