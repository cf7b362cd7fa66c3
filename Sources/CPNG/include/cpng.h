// libpng behind calls that return. libpng reports errors with longjmp, which must never cross a Swift frame, so every
// libpng call is made here, each under its own setjmp.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    cpng_ok = 0,
    /// The data are not a picture that libpng decodes; `cpng_decoder_message` says why.
    cpng_damaged = 1,
    /// Memory was refused.
    cpng_no_memory = 2,
};

typedef struct cpng_decoder cpng_decoder;

typedef struct cpng_header {
    uint32_t width, height;
    /// Samples of a pixel as it comes out, whatever is stored: 1 grey, 3 red, green, blue, 4 with straight alpha.
    int channels;
    /// Bytes of a pixel as it comes out: a sample has one, or two in the processor's order.
    int pixel_bytes;
    /// Whether lines come in seven passes over the picture, so that all of it has to be held.
    int is_interlaced;
} cpng_header;

/// A decoder of `length` bytes, which must stay valid until it is freed; NULL without memory. No side may be over
/// `most_side`.
cpng_decoder *cpng_decoder_create(const uint8_t *bytes, size_t length, uint32_t most_side);
void cpng_decoder_free(cpng_decoder *decoder);
const char *cpng_decoder_message(const cpng_decoder *decoder);

/// Reads up to the first data. What stands in chunks beside palette and transparency is skipped, never inflated. Samples come out
/// in 16 bits where `is_deep` is not 0, whatever is stored, else in 8.
int cpng_decoder_read_header(cpng_decoder *decoder, int is_deep, cpng_header *header);

/// Decodes the next line, `width * pixel_bytes` bytes. Not for interlaced pictures.
int cpng_decoder_read_row(cpng_decoder *decoder, void *row);

/// Decodes the whole picture, lines `width * pixel_bytes` bytes long.
int cpng_decoder_read_all(cpng_decoder *decoder, uint8_t *pixels);
