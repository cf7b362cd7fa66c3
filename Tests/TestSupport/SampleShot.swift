import Foundation

/// The two files of one shot, as Fuji's cameras write them: a JPEG, and a raw file with a picture in it. What a sensor has seen is not
/// in the latter, so that it is shown by its picture.
package struct SampleShot: Sendable {
    /// On the camera's clock, in the zone +02:00: `2023-06-12T14:05:33`.
    package var taken = "2023-06-12T14:05:33"
    package var make = "FUJIFILM"

    package init() {}

    package init(_ change: (inout SampleShot) -> Void) { change(&self) }

    private func picture(_ picture: Data) -> Data {
        SamplePair {
            ($0.identifier, $0.taken, $0.make) = (nil, taken, make)
        }.picture(picture)
    }

    /// - Parameter picture: a JPEG.
    package func jpeg(_ picture: Data) -> Data { self.picture(picture) }

    /// - Parameter picture: a JPEG of 1,024 pixels or more, another than the shot's own.
    package func raw(_ picture: Data) -> Data {
        let preview = self.picture(picture)
        func long(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        var bytes = Array("FUJIFILMCCD-RAW 0201FF383501X-T4".utf8)
        bytes += [UInt8](repeating: 0, count: 84 - bytes.count) + long(160) + long(preview.count)
        return Data(bytes + [UInt8](repeating: 0, count: 160 - bytes.count)) + preview
    }
}
