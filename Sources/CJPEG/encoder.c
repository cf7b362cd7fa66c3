#include "cjpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct cjpeg_encoder {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    int status;
    unsigned char *bytes;
    unsigned long length;
};

static void on_error(j_common_ptr info) {
    cjpeg_encoder *self = info->client_data;
    self->status = info->err->msg_code == JERR_OUT_OF_MEMORY ? cjpeg_no_memory : cjpeg_damaged;
    longjmp(self->escape, 1);
}

static void on_message(j_common_ptr info, int level) {
    (void)info;
    (void)level;
}

static void on_output(j_common_ptr info) { (void)info; }

cjpeg_encoder *cjpeg_encoder_create(uint32_t width, uint32_t height, int colour, int h, int v, int quality) {
    cjpeg_encoder *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->info.err = jpeg_std_error(&self->errors);
    self->errors.error_exit = on_error;
    self->errors.emit_message = on_message;
    self->errors.output_message = on_output;
    self->info.client_data = self;
    if (setjmp(self->escape)) {
        jpeg_destroy_compress(&self->info);
        free(self->bytes);
        free(self);
        return NULL;
    }
    struct jpeg_compress_struct *info = &self->info;
    jpeg_create_compress(info);
    info->client_data = self;
    jpeg_mem_dest(info, &self->bytes, &self->length);
    info->image_width = width;
    info->image_height = height;
    info->input_components = colour == cjpeg_grey ? 1 : 3;
    info->in_color_space = colour == cjpeg_grey ? JCS_GRAYSCALE : colour == cjpeg_rgb ? JCS_RGB : JCS_YCbCr;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, TRUE);
    info->dct_method = JDCT_ISLOW;
    if (colour != cjpeg_grey) {
        info->comp_info[0].h_samp_factor = h;
        info->comp_info[0].v_samp_factor = v;
        info->comp_info[1].h_samp_factor = info->comp_info[1].v_samp_factor = 1;
        info->comp_info[2].h_samp_factor = info->comp_info[2].v_samp_factor = 1;
    }
    info->raw_data_in = colour == cjpeg_ycc;
    jpeg_start_compress(info, TRUE);
    return self;
}

void cjpeg_encoder_free(cjpeg_encoder *self) {
    if (!self) return;
    if (!setjmp(self->escape)) jpeg_destroy_compress(&self->info);
    free(self->bytes);
    free(self);
}

int cjpeg_encoder_write_segment(cjpeg_encoder *self, int marker, const uint8_t *bytes, uint32_t length) {
    if (setjmp(self->escape)) return self->status;
    jpeg_write_marker(&self->info, marker, bytes, length);
    return cjpeg_ok;
}

int cjpeg_encoder_write_planes(cjpeg_encoder *self, const uint8_t *const planes[3], const size_t stride[3]) {
    if (setjmp(self->escape)) return self->status;
    struct jpeg_compress_struct *info = &self->info;
    JSAMPROW rows[3][4 * DCTSIZE];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    JDIMENSION group = (JDIMENSION)(info->max_v_samp_factor * DCTSIZE);
    for (JDIMENSION line = 0; line < info->image_height; line += group) {
        for (int p = 0; p < 3; p++) {
            int v = info->comp_info[p].v_samp_factor;
            uint32_t height = (info->image_height * (uint32_t)v + (uint32_t)info->max_v_samp_factor - 1)
                / (uint32_t)info->max_v_samp_factor;
            uint32_t first = line / group * (uint32_t)(v * DCTSIZE);
            for (uint32_t i = 0; i < (uint32_t)(v * DCTSIZE); i++) {
                // Lines past the end repeat the last one, so that the final blocks cost few bits.
                uint32_t from = first + i < height ? first + i : height - 1;
                rows[p][i] = (JSAMPROW)(planes[p] + (size_t)from * stride[p]);
            }
        }
        jpeg_write_raw_data(info, arrays, group);
    }
    return cjpeg_ok;
}

int cjpeg_encoder_write_row(cjpeg_encoder *self, const uint8_t *row) {
    if (setjmp(self->escape)) return self->status;
    JSAMPROW rows[1] = {(JSAMPROW)row};
    jpeg_write_scanlines(&self->info, rows, 1);
    return cjpeg_ok;
}

int cjpeg_encoder_finish(cjpeg_encoder *self, const uint8_t **bytes, size_t *length) {
    if (setjmp(self->escape)) return self->status;
    jpeg_finish_compress(&self->info);
    *bytes = self->bytes;
    *length = self->length;
    return cjpeg_ok;
}
