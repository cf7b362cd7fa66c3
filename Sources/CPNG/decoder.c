#include "cpng.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct cpng_decoder {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    const uint8_t *bytes;
    size_t length, position;
    int lacks_memory;
    char message[128];
};

static void on_error(png_structp png, png_const_charp words) {
    cpng_decoder *self = png_get_error_ptr(png);
    snprintf(self->message, sizeof self->message, "%s", words);
    longjmp(self->escape, 1);
}

static void on_warning(png_structp png, png_const_charp words) {
    (void)png;
    (void)words;
}

// libpng's own functions say of a refused block only that there was an error.
static png_voidp allocate(png_structp png, png_alloc_size_t size) {
    cpng_decoder *self = png_get_mem_ptr(png);
    void *block = malloc(size);
    if (!block) self->lacks_memory = 1;
    return block;
}

static void release(png_structp png, png_voidp block) {
    (void)png;
    free(block);
}

static void read_bytes(png_structp png, png_bytep into, size_t count) {
    cpng_decoder *self = png_get_io_ptr(png);
    if (count > self->length - self->position) png_error(png, "it ends early");
    memcpy(into, self->bytes + self->position, count);
    self->position += count;
}

static int failure(const cpng_decoder *self) { return self->lacks_memory ? cpng_no_memory : cpng_damaged; }

cpng_decoder *cpng_decoder_create(const uint8_t *bytes, size_t length, uint32_t most_side) {
    cpng_decoder *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->bytes = bytes;
    self->length = length;
    if (setjmp(self->escape)) {
        cpng_decoder_free(self);
        return NULL;
    }
    self->png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, self, on_error, on_warning, self, allocate, release);
    if (self->png) self->info = png_create_info_struct(self->png);
    if (!self->info) {
        cpng_decoder_free(self);
        return NULL;
    }
    png_set_read_fn(self->png, self, read_bytes);
    png_set_user_limits(self->png, most_side, most_side);
    // Everything that is neither pixels nor what they mean: a text can inflate without end, and profile and EXIF are
    // read elsewhere, within limits.
    png_set_keep_unknown_chunks(self->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    return self;
}

void cpng_decoder_free(cpng_decoder *self) {
    if (!self) return;
    // Destroying reports nothing; should it ever, the rest is lost and not freed twice.
    if (!setjmp(self->escape) && self->png) png_destroy_read_struct(&self->png, &self->info, NULL);
    free(self);
}

const char *cpng_decoder_message(const cpng_decoder *self) { return self->message; }

int cpng_decoder_read_header(cpng_decoder *self, int is_deep, cpng_header *header) {
    if (setjmp(self->escape)) return failure(self);
    png_structp png = self->png;
    png_read_info(png, self->info);
    int colour = png_get_color_type(png, self->info);
    int has_alpha = colour & PNG_COLOR_MASK_ALPHA || png_get_valid(png, self->info, PNG_INFO_tRNS);
    // Palettes, few bits and the one transparent colour become bytes; 16 bits are rounded, not cut.
    if (is_deep) {
        png_set_expand_16(png);
        const uint16_t one = 1;
        if (*(const uint8_t *)&one) png_set_swap(png);
    } else {
        png_set_expand(png);
        png_set_scale_16(png);
    }
    if (has_alpha) png_set_gray_to_rgb(png);
    header->is_interlaced = png_get_interlace_type(png, self->info) != PNG_INTERLACE_NONE;
    if (header->is_interlaced) png_set_interlace_handling(png);
    png_read_update_info(png, self->info);
    header->width = png_get_image_width(png, self->info);
    header->height = png_get_image_height(png, self->info);
    header->channels = png_get_channels(png, self->info);
    header->pixel_bytes = header->channels * (is_deep ? 2 : 1);
    int is_known = header->channels == 1 || header->channels == 3 || header->channels == 4;
    if (!is_known || png_get_rowbytes(png, self->info) != (size_t)header->width * (size_t)header->pixel_bytes)
        png_error(png, "rows of an unknown kind");
    return cpng_ok;
}

int cpng_decoder_read_row(cpng_decoder *self, void *row) {
    if (setjmp(self->escape)) return failure(self);
    png_read_row(self->png, row, NULL);
    return cpng_ok;
}

int cpng_decoder_read_all(cpng_decoder *self, uint8_t *pixels) {
    if (setjmp(self->escape)) return failure(self);
    size_t stride = png_get_rowbytes(self->png, self->info);
    uint32_t height = png_get_image_height(self->png, self->info);
    // Seven passes, each over every line: libpng leaves alone what a pass does not touch.
    for (int pass = 0; pass < 7; pass++)
        for (uint32_t line = 0; line < height; line++) png_read_row(self->png, pixels + line * stride, NULL);
    return cpng_ok;
}
