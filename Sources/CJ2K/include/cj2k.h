// OpenJPEG behind calls that return: JPEG 2000 from memory, reduced where less is wanted, its samples as bytes.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    cj2k_ok = 0,
    /// The data are no picture that OpenJPEG decodes, or not all of one.
    cj2k_damaged = 1,
};

typedef struct cj2k_decoder cj2k_decoder;

typedef struct cj2k_header {
    /// Of the first component.
    uint32_t width, height;
    uint32_t components;
    /// Whether the second and third component have fewer samples than the first one.
    int is_subsampled;
    /// How often the picture can be halved before it is decoded.
    uint32_t halvings;
    /// Samples of the smallest code block that a component has.
    uint32_t block_samples;
} cj2k_header;

/// A decoder of `length` bytes, a codestream or (`is_container`) its container, which must stay valid until it is
/// freed; NULL without memory.
cj2k_decoder *cj2k_decoder_create(const uint8_t *bytes, size_t length, int is_container);
void cj2k_decoder_free(cj2k_decoder *decoder);

/// Reads up to the first tile. Nothing is decoded.
int cj2k_decoder_read_header(cj2k_decoder *decoder, cj2k_header *header);

/// Decodes all of it, halved so many times. Says how large the first component became, and how many there are: a
/// palette makes several of one.
int cj2k_decoder_read_all(
    cj2k_decoder *decoder, uint32_t halvings, uint32_t *width, uint32_t *height, uint32_t *components);

/// The opacity that component `index` is: 0 none, 1 straight, 2 with the colours multiplied by it. After all is
/// decoded.
int cj2k_opacity(const cj2k_decoder *decoder, uint32_t index);

/// Writes line `line` of the components numbered in `order` as bytes, side by side, one `width` of the first component.
/// A component with fewer samples is stretched.
void cj2k_read_row(
    const cj2k_decoder *decoder, uint32_t line, const uint32_t *order, uint32_t count, uint8_t *row);
