#include "CExiv2.h"
#include "quiet.h"
#include <exiv2/exif.hpp>
#include <map>
#include <string>
#include <utility>

// Which directory and tag. Of one that stands twice the first counts.
using Tags = std::map<std::pair<int, uint16_t>, const Exiv2::Value *>;

struct cexiv2_exif {
    Exiv2::ExifData data;
    Exiv2::ByteOrder order = Exiv2::bigEndian;
    Tags tags;
    std::string bytes;
};

static int directory(const std::string &group) {
    if (group == "Image") return cexiv2_image;
    if (group == "Photo") return cexiv2_photo;
    if (group == "GPSInfo") return cexiv2_gps;
    return -1;
}

cexiv2_exif *cexiv2_read_exif(const uint8_t *block, size_t count) {
    cexiv2_exif *exif = nullptr;
    try {
        cexiv2_be_quiet();
        exif = new cexiv2_exif();
        exif->order = Exiv2::ExifParser::decode(exif->data, block, static_cast<uint32_t>(count));
        if (exif->order != Exiv2::littleEndian && exif->order != Exiv2::bigEndian) {
            delete exif;
            return nullptr;
        }
        for (const auto &datum : exif->data) {
            const int found = directory(datum.groupName());
            if (found >= 0 && datum.size() > 0) exif->tags.emplace(std::make_pair(found, datum.tag()), &datum.value());
        }
        return exif;
    } catch (...) {
        delete exif;
        return nullptr;
    }
}

void cexiv2_free_exif(cexiv2_exif *exif) { delete exif; }

bool cexiv2_is_big_endian(const cexiv2_exif *exif) { return exif->order == Exiv2::bigEndian; }

bool cexiv2_find_tag(cexiv2_exif *exif, enum cexiv2_directory directory, uint16_t tag, cexiv2_value *value) {
    try {
        const auto found = exif->tags.find(std::make_pair(static_cast<int>(directory), tag));
        if (found == exif->tags.end()) return false;
        const Exiv2::Value &content = *found->second;
        // A text as it is: copying a comment would convert it.
        if (const auto *text = dynamic_cast<const Exiv2::StringValueBase *>(&content)) {
            exif->bytes = text->value_;
        } else {
            exif->bytes.assign(static_cast<size_t>(content.size()), '\0');
            content.copy(reinterpret_cast<Exiv2::byte *>(&exif->bytes[0]), exif->order);
        }
        value->type = static_cast<uint16_t>(content.typeId());
        value->count = static_cast<size_t>(content.count());
        value->bytes = reinterpret_cast<const uint8_t *>(exif->bytes.data());
        value->length = exif->bytes.size();
        return value->length > 0;
    } catch (...) {
        return false;
    }
}
