// libjxl behind calls that return: JPEG XL in one thread, its metadata within bounds. Every exception ends here, among
// them those that say that memory was refused.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    cjxl_ok = 0,
    /// The data are no picture that libjxl decodes.
    cjxl_damaged = 1,
    /// The data end before the picture does.
    cjxl_ends_early = 2,
    /// Memory was refused.
    cjxl_no_memory = 3,
};

typedef struct cjxl_decoder cjxl_decoder;

typedef struct cjxl_header {
    /// Of lines as they are stored, before they are turned.
    uint32_t width, height;
    /// How to see it upright, as EXIF numbers it: 1 to 8. What EXIF says in the file itself does not count.
    int orientation;
    /// 1 grey, 3 red, green, blue.
    int colours;
    int has_alpha, is_premultiplied;
    /// Whether a channel is black ink.
    int has_black;
    /// Bits of a sample; 0 of floating point.
    int bits;
    /// Whether colours are kept as they were, which takes more memory than those that are kept as eyes see them.
    int keeps_colours;
    /// Channels beside the colours.
    int extra_channels;
    /// Where its samples code more light than a screen has, how they do and in which colours, as ITU-T H.273 numbers them: 16 PQ,
    /// 18 HLG. They come out as they are, in 16 bits. 0 of all others.
    int transfer, primaries;
    /// An ICC profile of the pixels that come out; owned by the decoder. NULL where there is none, or one over the
    /// limit.
    const uint8_t *profile;
    size_t profile_length;
} cjxl_header;

/// A decoder of `length` bytes, a codestream or its container, which must stay valid until it is freed; NULL without
/// memory.
cjxl_decoder *cjxl_decoder_create(const uint8_t *bytes, size_t length);
void cjxl_decoder_free(cjxl_decoder *decoder);

/// Reads up to the first frame. Nothing is decoded. `most_profile` are the bytes of the longest profile that is given
/// out.
int cjxl_decoder_read_header(cjxl_decoder *decoder, size_t most_profile, cjxl_header *header);

/// Decodes the first frame into lines of `width * (colours + has_alpha)` samples, one behind the other: bytes, or two of them in the
/// processor's order where `transfer` is not 0.
int cjxl_decoder_read_all(cjxl_decoder *decoder, uint8_t *pixels);

/// The content of the first box of a type in a container, unpacked where it is packed. Freed by free(3). NULL where
/// there is none, an empty one, or one of more than `most` bytes.
uint8_t *cjxl_copy_box(const uint8_t *bytes, size_t length, const char *type, size_t most, size_t *count);

#ifdef __cplusplus
}
#endif
