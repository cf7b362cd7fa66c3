// libjpeg-turbo behind calls that return. libjpeg reports errors with longjmp, which must never cross a Swift
// frame, and its default handler ends the process; so every libjpeg call is made here, each under its own setjmp.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    cjpeg_ok = 0,
    /// The data are not a picture that libjpeg decodes; `cjpeg_decoder_message` says why.
    cjpeg_damaged = 1,
    /// Memory was refused.
    cjpeg_no_memory = 2,
    /// More scans than the limit: a small progressive file can ask for hours of work.
    cjpeg_too_many_scans = 3,
};

enum { cjpeg_grey = 1, cjpeg_ycc = 2, cjpeg_rgb = 3, cjpeg_cmyk = 4, cjpeg_ycck = 5, cjpeg_other = 6 };

typedef struct cjpeg_decoder cjpeg_decoder;

typedef struct cjpeg_header {
    uint32_t width, height;
    int components;
    int colour;
    /// Whether the whole picture's coefficients must be held in memory before the first line comes out.
    int holds_coefficients;
    /// Bytes of coefficients if it does.
    uint64_t coefficient_bytes;
} cjpeg_header;

/// What the decoder delivers once started. Raw planes come in groups of lines, as many as one row of MCUs has.
typedef struct cjpeg_layout {
    uint32_t width, height;
    int planes;
    int lines_per_group;
    uint32_t plane_width[4], plane_height[4], plane_padded_width[4];
    int plane_lines_per_group[4];
} cjpeg_layout;

/// Planes into which groups of lines are written; line i of plane p is at data[p] + (i & mask[p]) * stride[p].
typedef struct cjpeg_ring {
    uint8_t *data[4];
    size_t stride[4];
    uint32_t mask[4];
} cjpeg_ring;

/// A decoder of `length` bytes, which must stay valid until it is freed; NULL without memory.
cjpeg_decoder *cjpeg_decoder_create(const uint8_t *bytes, size_t length, int most_scans);
void cjpeg_decoder_free(cjpeg_decoder *decoder);
const char *cjpeg_decoder_message(const cjpeg_decoder *decoder);

/// Reads up to the first scan.
int cjpeg_decoder_read_header(cjpeg_decoder *decoder, cjpeg_header *header);

/// What raw planes would look like at scale `eighths`/8; to be asked after the header and before starting.
int cjpeg_decoder_plan(cjpeg_decoder *decoder, int eighths, cjpeg_layout *layout);

/// Starts decoding at `eighths`/8 as raw planes (`colour` 0), or as interleaved rows of cjpeg_grey, cjpeg_rgb or
/// cjpeg_cmyk.
int cjpeg_decoder_start(cjpeg_decoder *decoder, int eighths, int colour, cjpeg_layout *layout);

/// Decodes the next group of raw lines into the ring, the group beginning at line `first` of plane 0.
int cjpeg_decoder_read_group(cjpeg_decoder *decoder, const cjpeg_ring *ring, uint32_t first);

/// Decodes the next interleaved row.
int cjpeg_decoder_read_row(cjpeg_decoder *decoder, uint8_t *row);

enum { cjpeg_sharp = 0, cjpeg_softened = 1, cjpeg_coarse = 2 };

/// What of a picture was decoded from real data, where the file ended early.
typedef struct cjpeg_presence {
    /// Lines that can be seen: in a file of several scans, those that the first scan of every component has.
    uint32_t lines;
    /// Of a progressive file: cjpeg_softened where later scans, which refine it, are cut or missing; cjpeg_coarse
    /// where some of the detail is in no scan that is whole.
    int sharpness;
} cjpeg_presence;

/// Reads to the end marker, and says what was there. Only after the last line.
int cjpeg_decoder_finish(cjpeg_decoder *decoder, cjpeg_presence *presence);

typedef struct cjpeg_encoder cjpeg_encoder;

/// An encoder for raw YCbCr planes (`colour` cjpeg_ycc, luma `h`x`v` times the chroma), interleaved RGB rows
/// (cjpeg_rgb) or grey rows (cjpeg_grey); NULL without memory.
cjpeg_encoder *cjpeg_encoder_create(
    uint32_t width, uint32_t height, int colour, int h, int v, int quality);
void cjpeg_encoder_free(cjpeg_encoder *encoder);

/// Writes one application segment (before any line). At most 65,533 bytes.
int cjpeg_encoder_write_segment(cjpeg_encoder *encoder, int marker, const uint8_t *bytes, uint32_t length);

/// Writes all lines from raw planes; plane p has `stride[p]` bytes a line, a multiple of 8·h at least.
int cjpeg_encoder_write_planes(cjpeg_encoder *encoder, const uint8_t *const planes[3], const size_t stride[3]);

/// Writes one interleaved row.
int cjpeg_encoder_write_row(cjpeg_encoder *encoder, const uint8_t *row);

/// Ends the file; the bytes stay the encoder's.
int cjpeg_encoder_finish(cjpeg_encoder *encoder, const uint8_t **bytes, size_t *length);
