import CHEIF
import ImageWorkerProtocol

extension HEIFPicture.Item {
    /// XMP, which is an item of the container's with a media type.
    var xmp: [UInt8]? {
        var blocks = [heif_item_id](repeating: 0, count: 16)
        let found = heif_image_handle_get_list_of_metadata_block_IDs(handle, "mime", &blocks, Int32(blocks.count))
        for block in blocks.prefix(Int(max(0, found))) {
            guard let type = heif_image_handle_get_metadata_content_type(handle, block),
                String(cString: type) == "application/rdf+xml"
            else { continue }
            let count = heif_image_handle_get_metadata_size(handle, block)
            guard count > 0, count <= ImageLimits.xmpBytes else { continue }
            var bytes = [UInt8](repeating: 0, count: count)
            guard heif_image_handle_get_metadata(handle, block, &bytes).code == heif_error_Ok else { continue }
            if let packet = bytes.withUnsafeBytes({ EmbeddedMetadata.xmpPacket(ByteView($0)) }) { return packet }
        }
        return nil
    }
}
