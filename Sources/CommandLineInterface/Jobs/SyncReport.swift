import LibraryModel
import ServiceMesh

/// What becomes of groups and reviews that another machine has too.
extension JobReport {
    package func describe(_ receipt: ReviewSyncReceipt) -> [String] {
        guard receipt.machines > 0 else {
            return ["No other machine was joined. Join one: smilepile swipe join INVITATION"]
        }
        let undone = receipt.undone == 0 ? "" : " Taken back: \(receipt.undone)."
        let failed = receipt.failed == 0 ? "" : " \(Figures.count(receipt.failed, "machine")) could not be asked."
        return [
            ending(receipt.ending)
                + "Sent \(Figures.count(receipt.sent, "decision")), fetched \(receipt.fetched)." + undone + failed
        ]
    }

    package func describe(_ receipt: SyncReceipt) -> [String] {
        guard receipt.hubs > 0 else {
            return ["No other machine keeps a group for you. Join one: smilepile groups join INVITATION"]
        }
        let lost = receipt.lost == 0 ? "" : " Not taken: \(Figures.count(receipt.lost, "photo"))."
        let failed = receipt.failed == 0 ? "" : " \(Figures.count(receipt.failed, "machine")) could not be asked."
        return [
            ending(receipt.ending) + "Sent \(Figures.count(receipt.sent, "photo")), fetched \(receipt.fetched)." + lost
                + failed
        ]
    }
}
