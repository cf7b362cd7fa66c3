// LibRaw behind calls that return: a camera's raw file from memory, its preview, and a quick development. Every
// exception ends here, among them those that say that memory was refused, and LibRaw's own words go nowhere.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    craw_ok = 0,
    /// LibRaw knows no camera that writes this.
    craw_unsupported = 1,
    craw_damaged = 2,
    /// Memory was refused, or more would be needed than was allowed.
    craw_no_memory = 3,
};

typedef struct craw_file craw_file;

typedef struct craw_header {
    /// Of the sensor's part that is shown, as it lies.
    uint32_t width, height;
    /// Of all that is stored.
    uint32_t stored_width, stored_height;
    /// How to see it upright, as EXIF numbers it: 1 to 8.
    int orientation;
    /// Whether each pixel has one colour alone, so that four of them become one of half the size.
    int is_mosaic;
    /// Of a development, as it lies.
    uint32_t developed_width, developed_height;
} craw_header;

/// A raw file of `length` bytes, which must stay valid until it is freed. Its metadata are read and nothing is decoded.
/// NULL where `status` is not `craw_ok`.
craw_file *craw_open(const uint8_t *bytes, size_t length, int *status);
void craw_free(craw_file *file);

void craw_read_header(const craw_file *file, craw_header *header);

/// The JPEG that LibRaw takes for the best of those inside; owned by the file. False where there is none, or one of
/// more than `most` bytes.
int craw_read_preview(craw_file *file, size_t most, const uint8_t **bytes, size_t *length);

/// Develops it to half its size: as the camera balanced white, in sRGB, not turned. `most` are the bytes that the
/// sensor's data may take. The pixels have three colours, or one; they are owned by the file.
int craw_develop(
    craw_file *file, size_t most, uint32_t *width, uint32_t *height, uint32_t *colours, const uint8_t **pixels);

#ifdef __cplusplus
}
#endif
