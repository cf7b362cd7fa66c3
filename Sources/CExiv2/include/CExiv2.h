// libexiv2 behind a C interface: blocks of EXIF and XMP packets that somebody else has found in a picture, taken apart into
// values. Every exception ends here, among them those that say that memory was refused. No text is converted from one
// character set into another, because iconv opens files; nothing is written; and libexiv2's own words go nowhere.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What libexiv2 makes at its first use, made now: its tables of XMP's namespaces. False where it cannot be used.
bool cexiv2_prepare(void);

/// A value as the picture has it, until the next one is asked for or its block is freed.
typedef struct cexiv2_value {
    /// TIFF's number of the type.
    uint16_t type;
    size_t count;
    /// Numbers in the block's byte order.
    const uint8_t *bytes;
    size_t length;
} cexiv2_value;

typedef struct cexiv2_exif cexiv2_exif;

/// The directories of an EXIF block, which begins at its TIFF header. Null where it is none, or memory was refused.
cexiv2_exif *cexiv2_read_exif(const uint8_t *block, size_t count);
void cexiv2_free_exif(cexiv2_exif *exif);
bool cexiv2_is_big_endian(const cexiv2_exif *exif);

enum cexiv2_directory { cexiv2_image, cexiv2_photo, cexiv2_gps };

/// The first value of a tag. False where there is none, or an empty one.
bool cexiv2_find_tag(cexiv2_exif *exif, enum cexiv2_directory directory, uint16_t tag, cexiv2_value *value);

typedef struct cexiv2_xmp cexiv2_xmp;

/// The properties of an XMP packet in UTF-8. Null where it is not well-formed, or memory was refused.
cexiv2_xmp *cexiv2_read_xmp(const uint8_t *packet, size_t count);
void cexiv2_free_xmp(cexiv2_xmp *xmp);

/// A property's text by its name, as `Xmp.dc.title`: of a list the first one, of several languages that for any, else one of
/// them. False where there is none, or one with parts. Valid as ``cexiv2_value`` is.
bool cexiv2_find_property(cexiv2_xmp *xmp, const char *name, const uint8_t **text, size_t *length);

#ifdef __cplusplus
}
#endif
