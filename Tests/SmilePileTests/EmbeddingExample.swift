import SmilePile

func importHolidays(from folder: String, into path: String) async throws -> [Photo] {
    let library = try await PhotoLibrary.open(at: path)
    let mesh = library.mesh
    let category = try await mesh.send(AddCategory(displayName: "Holidays", colorHex: "#2196F3"))

    let started = try await mesh.send(ImportPhotos(paths: [folder], categoryId: category.id))
    let job = try await mesh.observe(WatchJob(job: started.job)) { change in
        let progress = change.value.progress
        print("\(progress.phase): \(progress.itemsDone) of \(progress.itemsTotal ?? 0)")
    }
    print("\(job.state): \(job.outcomes)")

    let page = try await mesh.send(SearchPhotos(PhotoFilter(categoryId: category.id), limit: 100))
    await library.close()
    return page.photos
}
