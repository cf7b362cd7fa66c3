import BenchSupport
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

/// Requests that change nothing, and those about the daemon itself.
extension StressClient {
    func perform(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        var operation = operation
        if operation.startsJob {
            if jobsLeft == 0 { operation = .listCategories } else { jobsLeft -= 1 }
        }
        // Nothing could call these off on a connection that sends nothing more.
        if operation.waits && manner == .halfClosing { operation = .listJobs }
        switch operation {
        case .searchPhotos, .searchText, .searchReviewed, .getPhoto, .listTrash, .readNotes, .searchNotes:
            try lookAtPhotos(operation, &random)
        case .listCategories, .getCategory, .libraryStatus, .getSettings, .listSessions, .listPending, .listHistory:
            try lookAtLibrary(operation, &random)
        case .listJobs, .getJob, .jobReceipt, .waitForJob, .watchJob, .cancelJob: try lookAtJobs(operation, &random)
        case .meshStatistics, .meshHealth, .hello, .pingDaemon, .discover, .discovered:
            try lookAtDaemon(operation, &random)
        case .importPhotos, .createBackup, .inspectBackup, .verifyBackup, .restoreBackup, .rotateKeys:
            try startJob(operation, &random)
        case .startSwiping, .recordSwipe, .undoSwipes, .finishSwiping, .processSwipes, .markProcessed, .deleteProcessed:
            try swipe(operation, &random)
        case .addCategory, .editCategory, .reorderCategories, .deleteCategory, .changeSettings:
            try changeCategories(operation, &random)
        default: try changePhotos(operation, &random)
        }
    }

    private func lookAtPhotos(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        switch operation {
        case .searchPhotos:
            let limit = manner == .slowReading ? 1000 : random.oneIn(10) ? 500 : random.roll(1...40)
            let search = SearchPhotos(
                PhotoFilter(
                    categoryId: random.oneIn(4) ? Int64(random.roll(1...4)) : nil,
                    favoritesOnly: random.oneIn(5) ? true : nil), limit: limit, after: random.oneIn(2) ? cursor : nil)
            try look(search, &random) { [self] page in
                cursor = page.next
                beliefs.saw(page.photos)
                seen = Array((page.photos + seen).prefix(200))
            }
        case .searchText:
            let text = random.pick(["sample", "100 %_", "été", "\"; DROP", "", "🦊", "caption"]) ?? ""
            try look(SearchPhotos(PhotoFilter(text: text), limit: random.roll(1...50)), &random) { [self] in
                beliefs.saw($0.photos)
            }
        case .searchReviewed:
            let review = random.roll(3)
            let search =
                review == 0
                ? SearchPhotos(PhotoFilter(reviewed: true), limit: 40)
                : review == 1
                    ? SearchPhotos(PhotoFilter(reviewed: false), limit: 40)
                    : SearchPhotos(PhotoFilter(decision: random.pick(SwipeAction.allCases)), limit: 40)
            try look(search, &random) { [self] page in
                beliefs.saw(page.photos)
                for photo in page.photos where (photo.lastDecision != nil) == (review == 1) {
                    connection.ledger.fail("photo \(photo.id) says \(photo.lastDecision as Any) in the wrong list")
                }
            }
        case .readNotes: try look(GetPhotoDetail(id: random.pick(seen)?.id ?? -1), &random) { _ in }
        case .searchNotes: try look(SearchPhotoDetails(text: "notes \(random.roll(10))", limit: 20), &random) { _ in }
        case .getPhoto:
            if random.oneIn(2), let photo = random.pick(seen) {
                try look(GetPhoto(uuid: photo.uuid), &random) { _ in }
            } else {
                try look(GetPhoto(id: random.pick(seen)?.id ?? -1), &random) { _ in }
            }
        default: try look(ListTrash(limit: random.roll(1...100)), &random) { _ in }
        }
    }

    private func lookAtLibrary(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        switch operation {
        case .listCategories: try look(ListCategories(), &random) { _ in }
        case .getCategory:
            if random.oneIn(2) {
                try look(GetCategory(id: random.pick(beliefs.idleCategories()) ?? 1), &random) { _ in }
            } else {
                try look(GetCategory(displayName: "family"), &random) { _ in }
            }
        case .libraryStatus: try look(GetLibraryStatus(), &random) { _ in }
        case .getSettings: try look(GetSettings(), &random) { _ in }
        case .listHistory:
            try look(
                ListSwipeHistory(sessionID: random.oneIn(2) ? session : nil, limit: random.roll(1...100)), &random
            ) { _ in }
        case .listSessions: try look(ListSwipeSessions(limit: random.roll(1...1000)), &random) { _ in }
        default:
            try look(ListPendingSwipes(sessionID: random.oneIn(2) ? session : nil, limit: 50), &random) { _ in }
        }
    }

    private func lookAtJobs(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        let job = random.pick(jobs.suffix(8)) ?? "import-000000"
        switch operation {
        case .listJobs: try look(ListJobs(), &random) { _ in }
        case .getJob: try look(GetJob(job: job), &random) { _ in }
        case .jobReceipt: try look(GetJobReceipt(job: job, limit: random.roll(1...1000)), &random) { _ in }
        case .waitForJob: try look(WaitForJob(job: job), &random, waits: true) { _ in }
        case .watchJob: try look(WatchJob(job: job), &random, waits: true) { _ in }
        default: try look(CancelJob(job: job), &random) { _ in }
        }
    }

    private func lookAtDaemon(_ operation: StressOperation, _ random: inout SeededChoices) throws {
        switch operation {
        case .meshStatistics: try look(GetMeshStatistics(), &random) { _ in }
        case .meshHealth:
            try look(CheckMeshHealth(), &random) { [connection] health in
                for service in health.services where service.problem != nil {
                    connection.ledger.fail("\(service.name) is not well: \(service.problem?.message ?? "")")
                }
            }
        case .hello: try look(Hello(), &random) { _ in }
        case .discover: try look(Discover(), &random) { _ in }
        case .discovered:
            guard let method = shared.nextDiscovered() else { return }
            // Observations end when they are called off.
            let id = try connection.send(method.name, method.params(jobs.last), waits: true) { _ in }
            if method.isObservation && random.oneIn(2) { connection.cancel(id) }
        default: try look(Ping(), &random) { _ in }
        }
    }
}
