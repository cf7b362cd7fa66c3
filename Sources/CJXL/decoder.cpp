#include "cjxl.h"

#include <jxl/decode.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

struct cjxl_decoder {
    JxlDecoder *decoder = nullptr;
    const uint8_t *bytes = nullptr;
    size_t length = 0;
    JxlPixelFormat format = {3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    size_t pixel_bytes = 0;
    float intensity_target = 0;
    std::vector<uint8_t> profile;

    ~cjxl_decoder() {
        if (decoder) JxlDecoderDestroy(decoder);
    }
};

cjxl_decoder *cjxl_decoder_create(const uint8_t *bytes, size_t length) {
    try {
        std::unique_ptr<cjxl_decoder> self(new cjxl_decoder());
        self->bytes = bytes;
        self->length = length;
        // Without a runner libjxl does its work in the caller's own thread, the only one that a worker has.
        self->decoder = JxlDecoderCreate(nullptr);
        if (!self->decoder) return nullptr;
        return self.release();
    } catch (...) {
        return nullptr;
    }
}

void cjxl_decoder_free(cjxl_decoder *self) { delete self; }

static int read_profile(cjxl_decoder *self, size_t most, cjxl_header *header) {
    size_t count = 0;
    const auto target = JXL_COLOR_PROFILE_TARGET_DATA;
    if (JxlDecoderGetICCProfileSize(self->decoder, &self->format, target, &count) != JXL_DEC_SUCCESS) return cjxl_ok;
    if (count == 0 || count > most) return cjxl_ok;
    self->profile.resize(count);
    if (JxlDecoderGetColorAsICCProfile(self->decoder, &self->format, target, self->profile.data(), count) !=
        JXL_DEC_SUCCESS)
        return cjxl_ok;
    header->profile = self->profile.data();
    header->profile_length = count;
    return cjxl_ok;
}

static int read_basics(cjxl_decoder *self, cjxl_header *header) {
    JxlBasicInfo info;
    if (JxlDecoderGetBasicInfo(self->decoder, &info) != JXL_DEC_SUCCESS) return cjxl_damaged;
    header->width = info.xsize;
    header->height = info.ysize;
    header->orientation = static_cast<int>(info.orientation);
    header->colours = static_cast<int>(info.num_color_channels);
    header->has_alpha = info.alpha_bits > 0;
    header->is_premultiplied = info.alpha_premultiplied != 0;
    header->bits = info.exponent_bits_per_sample > 0 ? 0 : static_cast<int>(info.bits_per_sample);
    header->keeps_colours = info.uses_original_profile != 0;
    header->extra_channels = static_cast<int>(info.num_extra_channels);
    for (uint32_t index = 0; index < info.num_extra_channels; index++) {
        JxlExtraChannelInfo channel;
        if (JxlDecoderGetExtraChannelInfo(self->decoder, index, &channel) != JXL_DEC_SUCCESS) return cjxl_damaged;
        if (channel.type == JXL_CHANNEL_BLACK) header->has_black = 1;
    }
    if (header->colours != 1 && header->colours != 3) return cjxl_damaged;
    self->pixel_bytes = static_cast<size_t>(header->colours + header->has_alpha);
    self->format.num_channels = static_cast<uint32_t>(self->pixel_bytes);
    self->intensity_target = info.intensity_target;
    return cjxl_ok;
}

/// Colours that are kept as eyes see them come out in sRGB at once; others stay as they are, and so does what codes more light than
/// a screen has: libjxl 0.7 presses that into a screen's range by scaling all of it.
static void choose_colours(cjxl_decoder *self, cjxl_header *header) {
    JxlDecoder *decoder = self->decoder;
    JxlColorEncoding own = {};
    if (JxlDecoderGetColorAsEncodedProfile(decoder, &self->format, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &own) ==
            JXL_DEC_SUCCESS &&
        (own.transfer_function == JXL_TRANSFER_FUNCTION_PQ || own.transfer_function == JXL_TRANSFER_FUNCTION_HLG) &&
        JxlDecoderSetPreferredColorProfile(decoder, &own) == JXL_DEC_SUCCESS) {
        header->transfer = own.transfer_function == JXL_TRANSFER_FUNCTION_PQ ? 16 : 18;
        header->primaries = static_cast<int>(own.primaries);
        self->format.data_type = JXL_TYPE_UINT16;
        self->pixel_bytes *= 2;
        return;
    }
    // More light than a screen has is brought down to what it shows.
    if (self->intensity_target > 255) JxlDecoderSetDesiredIntensityTarget(decoder, 255);
    JxlColorEncoding standard = {};
    standard.color_space = header->colours == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
    standard.white_point = JXL_WHITE_POINT_D65;
    standard.primaries = JXL_PRIMARIES_SRGB;
    standard.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
    standard.rendering_intent = JXL_RENDERING_INTENT_RELATIVE;
    (void)JxlDecoderSetPreferredColorProfile(decoder, &standard);
}

static int read_header(cjxl_decoder *self, size_t most_profile, cjxl_header *header) {
    JxlDecoder *decoder = self->decoder;
    const int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE;
    if (JxlDecoderSubscribeEvents(decoder, events) != JXL_DEC_SUCCESS ||
        // Turning is done for all types in one place.
        JxlDecoderSetKeepOrientation(decoder, JXL_TRUE) != JXL_DEC_SUCCESS ||
        JxlDecoderSetInput(decoder, self->bytes, self->length) != JXL_DEC_SUCCESS)
        return cjxl_damaged;
    // The input is not closed: libjxl would call it damaged where it ends early.
    for (;;) {
        switch (JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_BASIC_INFO: {
            const int status = read_basics(self, header);
            if (status != cjxl_ok) return status;
            break;
        }
        case JXL_DEC_COLOR_ENCODING:
            choose_colours(self, header);
            return read_profile(self, most_profile, header);
        case JXL_DEC_NEED_MORE_INPUT: return cjxl_ends_early;
        default: return cjxl_damaged;
        }
    }
}

int cjxl_decoder_read_header(cjxl_decoder *self, size_t most_profile, cjxl_header *header) {
    try {
        *header = cjxl_header();
        return read_header(self, most_profile, header);
    } catch (const std::bad_alloc &) {
        return cjxl_no_memory;
    } catch (...) {
        return cjxl_damaged;
    }
}

static int read_all(cjxl_decoder *self, uint8_t *pixels) {
    JxlBasicInfo info;
    if (JxlDecoderGetBasicInfo(self->decoder, &info) != JXL_DEC_SUCCESS) return cjxl_damaged;
    const size_t count = static_cast<size_t>(info.xsize) * info.ysize * self->pixel_bytes;
    for (;;) {
        switch (JxlDecoderProcessInput(self->decoder)) {
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (JxlDecoderSetImageOutBuffer(self->decoder, &self->format, pixels, count) != JXL_DEC_SUCCESS)
                return cjxl_damaged;
            break;
        // Of an animation the first frame is taken.
        case JXL_DEC_FULL_IMAGE: return cjxl_ok;
        case JXL_DEC_NEED_MORE_INPUT: return cjxl_ends_early;
        default: return cjxl_damaged;
        }
    }
}

int cjxl_decoder_read_all(cjxl_decoder *self, uint8_t *pixels) {
    try {
        return read_all(self, pixels);
    } catch (const std::bad_alloc &) {
        return cjxl_no_memory;
    } catch (...) {
        return cjxl_damaged;
    }
}

/// Fills `found`, which grows up to `most` bytes. False where the box has more, or the container is damaged.
static bool read_box(JxlDecoder *decoder, size_t most, std::vector<uint8_t> &found) {
    size_t held = 0;
    found.resize(most < (64 << 10) ? most : (64 << 10));
    if (JxlDecoderSetBoxBuffer(decoder, found.data(), found.size()) != JXL_DEC_SUCCESS) return false;
    for (;;) {
        const JxlDecoderStatus status = JxlDecoderProcessInput(decoder);
        held = found.size() - JxlDecoderReleaseBoxBuffer(decoder);
        if (status == JXL_DEC_BOX || status == JXL_DEC_SUCCESS) {
            found.resize(held);
            return held > 0;
        }
        if (status != JXL_DEC_BOX_NEED_MORE_OUTPUT || found.size() >= most) return false;
        found.resize(found.size() * 2 < most ? found.size() * 2 : most);
        if (JxlDecoderSetBoxBuffer(decoder, found.data() + held, found.size() - held) != JXL_DEC_SUCCESS) return false;
    }
}

static bool find_box(
    const uint8_t *bytes, size_t length, const char *type, size_t most, std::vector<uint8_t> &found) {
    std::unique_ptr<JxlDecoder, void (*)(JxlDecoder *)> decoder(JxlDecoderCreate(nullptr), JxlDecoderDestroy);
    if (!decoder || JxlDecoderSubscribeEvents(decoder.get(), JXL_DEC_BOX) != JXL_DEC_SUCCESS ||
        JxlDecoderSetDecompressBoxes(decoder.get(), JXL_TRUE) != JXL_DEC_SUCCESS ||
        JxlDecoderSetInput(decoder.get(), bytes, length) != JXL_DEC_SUCCESS)
        return false;
    JxlDecoderCloseInput(decoder.get());
    while (JxlDecoderProcessInput(decoder.get()) == JXL_DEC_BOX) {
        JxlBoxType name;
        if (JxlDecoderGetBoxType(decoder.get(), name, JXL_TRUE) != JXL_DEC_SUCCESS) return false;
        if (std::memcmp(name, type, sizeof name) == 0) return read_box(decoder.get(), most, found);
    }
    return false;
}

uint8_t *cjxl_copy_box(const uint8_t *bytes, size_t length, const char *type, size_t most, size_t *count) {
    try {
        std::vector<uint8_t> found;
        if (!find_box(bytes, length, type, most, found)) return nullptr;
        auto *copy = static_cast<uint8_t *>(std::malloc(found.size()));
        if (!copy) return nullptr;
        std::memcpy(copy, found.data(), found.size());
        *count = found.size();
        return copy;
    } catch (...) {
        return nullptr;
    }
}
