import Testing

@testable import Commands

@Suite("How many photos one request changes")
struct PhotoBatchTests {
    @Test(
        "As many as can be done while others hardly wait: twice as many or half as many as before at most",
        arguments: [
            (size: 40, milliseconds: 1, next: 80),
            (size: 400, milliseconds: 1, next: 500),
            (size: 100, milliseconds: 8, next: 100),
            (size: 90, milliseconds: 12, next: 60),
            (size: 500, milliseconds: 3_000, next: 250),
            (size: 24, milliseconds: 3_000, next: 20),
            (size: 7, milliseconds: 0, next: 20),
        ])
    func theNextSize(size: Int, milliseconds: Int, next: Int) {
        #expect(PhotoBatches.next(after: size, took: .milliseconds(milliseconds), most: 500) == next)
        #expect(PhotoBatches.next(after: size, took: .milliseconds(milliseconds), most: 50) <= 50)
    }
}
