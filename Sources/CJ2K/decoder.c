#include "cj2k.h"

#include <stdlib.h>
#include <string.h>

#include <openjpeg-2.5/openjpeg.h>

struct cj2k_decoder {
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
    const uint8_t *bytes;
    size_t length, position;
};

static OPJ_SIZE_T read_bytes(void *into, OPJ_SIZE_T count, void *source) {
    cj2k_decoder *self = source;
    if (self->position >= self->length) return (OPJ_SIZE_T)-1;
    if (count > self->length - self->position) count = self->length - self->position;
    memcpy(into, self->bytes + self->position, count);
    self->position += count;
    return count;
}

static OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void *source) {
    cj2k_decoder *self = source;
    if (count < 0 || (uint64_t)count > self->length - self->position) return -1;
    self->position += (size_t)count;
    return count;
}

static OPJ_BOOL seek_bytes(OPJ_OFF_T place, void *source) {
    cj2k_decoder *self = source;
    if (place < 0 || (uint64_t)place > self->length) return OPJ_FALSE;
    self->position = (size_t)place;
    return OPJ_TRUE;
}

cj2k_decoder *cj2k_decoder_create(const uint8_t *bytes, size_t length, int is_container) {
    cj2k_decoder *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->bytes = bytes;
    self->length = length;
    self->codec = opj_create_decompress(is_container ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    self->stream = opj_stream_create(64 << 10, OPJ_TRUE);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    if (!self->codec || !self->stream || !opj_setup_decoder(self->codec, &parameters)) {
        cj2k_decoder_free(self);
        return NULL;
    }
    opj_stream_set_read_function(self->stream, read_bytes);
    opj_stream_set_skip_function(self->stream, skip_bytes);
    opj_stream_set_seek_function(self->stream, seek_bytes);
    opj_stream_set_user_data(self->stream, self, NULL);
    opj_stream_set_user_data_length(self->stream, length);
    return self;
}

void cj2k_decoder_free(cj2k_decoder *self) {
    if (!self) return;
    if (self->image) opj_image_destroy(self->image);
    if (self->stream) opj_stream_destroy(self->stream);
    if (self->codec) opj_destroy_codec(self->codec);
    free(self);
}

int cj2k_decoder_read_header(cj2k_decoder *self, cj2k_header *header) {
    memset(header, 0, sizeof *header);
    if (!opj_read_header(self->stream, self->codec, &self->image) || !self->image || self->image->numcomps == 0)
        return cj2k_damaged;
    const opj_image_t *image = self->image;
    header->width = image->comps[0].w;
    header->height = image->comps[0].h;
    header->components = image->numcomps;
    if (image->numcomps >= 3)
        header->is_subsampled =
            image->comps[1].dx > image->comps[0].dx && image->comps[2].dx > image->comps[0].dx;
    opj_codestream_info_v2_t *info = opj_get_cstr_info(self->codec);
    if (!info) return cj2k_damaged;
    uint32_t resolutions = 33, samples = 1 << 12;
    for (uint32_t index = 0; index < info->nbcomps && info->m_default_tile_info.tccp_info; index++) {
        const opj_tccp_info_t *coding = &info->m_default_tile_info.tccp_info[index];
        if (coding->numresolutions < resolutions) resolutions = coding->numresolutions;
        if (coding->cblkw + coding->cblkh < 12 && 1u << (coding->cblkw + coding->cblkh) < samples)
            samples = 1u << (coding->cblkw + coding->cblkh);
    }
    header->halvings = resolutions > 0 && resolutions < 33 ? resolutions - 1 : 0;
    header->block_samples = samples;
    opj_destroy_cstr_info(&info);
    return cj2k_ok;
}

int cj2k_decoder_read_all(
    cj2k_decoder *self, uint32_t halvings, uint32_t *width, uint32_t *height, uint32_t *components) {
    if (halvings > 0 && !opj_set_decoded_resolution_factor(self->codec, halvings)) return cj2k_damaged;
    if (!opj_decode(self->codec, self->stream, self->image)) return cj2k_damaged;
    const opj_image_t *image = self->image;
    if (image->numcomps == 0) return cj2k_damaged;
    for (uint32_t index = 0; index < image->numcomps; index++) {
        const opj_image_comp_t *component = &image->comps[index];
        if (!component->data || component->w == 0 || component->h == 0 || component->prec == 0 || component->prec > 31)
            return cj2k_damaged;
    }
    *width = image->comps[0].w;
    *height = image->comps[0].h;
    *components = image->numcomps;
    return cj2k_ok;
}

int cj2k_opacity(const cj2k_decoder *self, uint32_t index) {
    const uint16_t found = index < self->image->numcomps ? self->image->comps[index].alpha : 0;
    return found == 1 || found == 2 ? found : 0;
}

void cj2k_read_row(const cj2k_decoder *self, uint32_t line, const uint32_t *order, uint32_t count, uint8_t *row) {
    const opj_image_comp_t *first = &self->image->comps[0];
    for (uint32_t place = 0; place < count; place++) {
        const opj_image_comp_t *component = &self->image->comps[order[place]];
        const int64_t most = ((int64_t)1 << component->prec) - 1;
        const int64_t shift = component->sgnd ? (int64_t)1 << (component->prec - 1) : 0;
        const int is_whole = component->w == first->w;
        const size_t stored = (size_t)line * component->h / first->h;
        const OPJ_INT32 *samples = component->data + stored * component->w;
        for (uint32_t x = 0; x < first->w; x++) {
            int64_t value = samples[is_whole ? x : (uint32_t)((uint64_t)x * component->w / first->w)] + shift;
            if (value < 0) value = 0;
            if (value > most) value = most;
            row[(size_t)x * count + place] = (uint8_t)(most == 255 ? value : (value * 255 + most / 2) / most);
        }
    }
}
