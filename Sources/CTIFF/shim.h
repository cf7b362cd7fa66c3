#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

// libtiff's field access is variadic and its client interface takes eight callbacks: both are wrapped here.

typedef struct ctiff_bytes {
    const unsigned char *bytes;
    tmsize_t length;
    toff_t position;
} ctiff_bytes;

static inline tmsize_t ctiff_read(thandle_t handle, void *into, tmsize_t count) {
    ctiff_bytes *self = (ctiff_bytes *)handle;
    if (count <= 0 || self->position >= (toff_t)self->length) return 0;
    tmsize_t rest = self->length - (tmsize_t)self->position;
    if (count > rest) count = rest;
    memcpy(into, self->bytes + self->position, (size_t)count);
    self->position += (toff_t)count;
    return count;
}

static inline tmsize_t ctiff_write(thandle_t handle, void *from, tmsize_t count) {
    (void)handle;
    (void)from;
    (void)count;
    return 0;
}

static inline toff_t ctiff_seek(thandle_t handle, toff_t offset, int whence) {
    ctiff_bytes *self = (ctiff_bytes *)handle;
    if (whence == SEEK_SET) self->position = offset;
    if (whence == SEEK_CUR) self->position += offset;
    if (whence == SEEK_END) self->position = (toff_t)self->length + offset;
    return self->position;
}

static inline int ctiff_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static inline toff_t ctiff_size(thandle_t handle) { return (toff_t)((ctiff_bytes *)handle)->length; }

static inline int ctiff_map(thandle_t handle, void **base, toff_t *size) {
    ctiff_bytes *self = (ctiff_bytes *)handle;
    *base = (void *)self->bytes;
    *size = (toff_t)self->length;
    return 1;
}

static inline void ctiff_unmap(thandle_t handle, void *base, toff_t size) {
    (void)handle;
    (void)base;
    (void)size;
}

/// Opens a TIFF in memory; `source` must outlive it. libtiff's messages are dropped.
static inline TIFF *ctiff_open(ctiff_bytes *source) {
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    return TIFFClientOpen(
        "source", "r", (thandle_t)source, ctiff_read, ctiff_write, ctiff_seek, ctiff_close, ctiff_size, ctiff_map,
        ctiff_unmap);
}

static inline int ctiff_uint32(TIFF *tiff, uint32_t tag, uint32_t *value) { return TIFFGetField(tiff, tag, value); }

static inline int ctiff_uint16(TIFF *tiff, uint32_t tag, uint16_t *value) {
    return TIFFGetFieldDefaulted(tiff, tag, value);
}

/// What the first sample beyond the colours means; 0 where there is none.
static inline int ctiff_extra_sample(TIFF *tiff, uint16_t *meaning) {
    uint16_t count = 0;
    uint16_t *meanings = NULL;
    if (!TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &meanings) || count == 0 || !meanings) return 0;
    *meaning = meanings[0];
    return 1;
}

static inline int ctiff_profile(TIFF *tiff, uint32_t *length, const void **bytes) {
    return TIFFGetField(tiff, TIFFTAG_ICCPROFILE, length, bytes);
}

/// Lines of one strip; the whole picture where the file does not say.
static inline int ctiff_rows_per_strip(TIFF *tiff, uint32_t *lines) {
    return TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, lines);
}

/// Decodes one line of the first picture, whose samples lie side by side, into `scanline`, and of that the RGBA that
/// libtiff shows it as. Lines are asked for in order, which no strip has to be decoded twice for. Returns 0 where the
/// data cannot be decoded.
static inline int ctiff_read_line(
    TIFF *tiff, TIFFRGBAImage *image, uint32_t line, void *scanline, uint32_t *pixels) {
    if (TIFFReadScanline(tiff, scanline, line, 0) < 0) return 0;
    image->put.contig(image, pixels, 0, line, image->width, 1, 0, 0, (unsigned char *)scanline);
    return 1;
}

/// JPEG strips in YCbCr come out as RGB only when asked to.
static inline void ctiff_ask_for_rgb(TIFF *tiff) { TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB); }
