#include "cjpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

enum { most_group_lines = 4 * 16 };

struct cjpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    int status;
    int most_scans;
    // Whether the data were over before an end marker.
    int ran_out;
    // Whether coded data were missing in a scan, and the lines of that scan that were there.
    int has_gap;
    uint32_t lines_at_gap;
    // Of several scans: whether they are being read, and whether the gap is the end of all data.
    int reads_scans;
    int ends_at_gap;
    // The lines that the first scan of each component has: with them the component can be seen, however coarse.
    uint32_t first_lines[MAX_COMPONENTS];
    // Whether the gap is in a first scan of detail, which then has never been whole.
    int lacks_detail;
    cjpeg_presence presence;
    char message[JMSG_LENGTH_MAX];
};

static cjpeg_decoder *self_of(j_common_ptr info) { return (cjpeg_decoder *)info->client_data; }

static void on_error(j_common_ptr info) {
    cjpeg_decoder *self = self_of(info);
    info->err->format_message(info, self->message);
    self->status = info->err->msg_code == JERR_OUT_OF_MEMORY ? cjpeg_no_memory : cjpeg_damaged;
    longjmp(self->escape, 1);
}

// The input row counts MCU rows of the current scan, which for one-scan files is the picture itself.
static uint32_t lines_of_scan(const struct jpeg_decompress_struct *info) {
    uint64_t lines = (uint64_t)info->input_iMCU_row * (uint64_t)(info->max_v_samp_factor * DCTSIZE);
    return lines > info->image_height ? info->image_height : (uint32_t)lines;
}

// Between two scans the row is past the last one.
static int is_between_scans(const struct jpeg_decompress_struct *info) {
    return info->input_iMCU_row >= info->total_iMCU_rows;
}

// Keeps what the current scan has given of each component that no scan before it has.
static void note_lines(cjpeg_decoder *self) {
    const struct jpeg_decompress_struct *info = &self->info;
    if (!self->reads_scans || self->ends_at_gap) return;
    if (info->progressive_mode && (info->Ss != 0 || info->Ah != 0)) return;
    uint32_t lines = lines_of_scan(info);
    for (int i = 0; i < info->comps_in_scan; i++) {
        uint32_t *first = &self->first_lines[info->cur_comp_info[i]->component_index];
        if (lines > *first) *first = lines;
    }
}

static void note_gap(cjpeg_decoder *self, int is_end) {
    if (self->has_gap) return;
    const struct jpeg_decompress_struct *info = &self->info;
    note_lines(self);
    self->has_gap = 1;
    self->lines_at_gap = lines_of_scan(info);
    self->ends_at_gap = is_end;
    if (!is_end || !info->progressive_mode || info->Ss == 0 || info->Ah != 0) return;
    self->lacks_detail = info->cur_comp_info[0]->component_index == 0;
}

static void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    info->err->num_warnings++;
    cjpeg_decoder *self = self_of(info);
    // A marker where coded data should be: without restart markers nothing after it is decoded, and an end marker
    // ends it in any case. libjpeg says so when it needs bits that are not there, not when it looks ahead for some.
    int is_end = self->info.unread_marker == JPEG_EOI;
    if (info->err->msg_code == JWRN_HIT_MARKER && (self->info.restart_interval == 0 || is_end)) note_gap(self, is_end);
}

static void on_output(j_common_ptr info) { (void)info; }

static void on_progress(j_common_ptr info) {
    cjpeg_decoder *self = self_of(info);
    if (self->info.input_scan_number > self->most_scans) {
        self->status = cjpeg_too_many_scans;
        snprintf(self->message, sizeof self->message, "more than %d scans", self->most_scans);
        longjmp(self->escape, 1);
    }
    if (self->reads_scans) note_lines(self);
}

static void source_begins(j_decompress_ptr info) { (void)info; }

// The data are over: libjpeg gets an end marker and fills the rest with grey. How many lines were real decides
// later whether that is still the photo.
static boolean source_runs_out(j_decompress_ptr info) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    cjpeg_decoder *self = self_of((j_common_ptr)info);
    self->ran_out = 1;
    // In the middle of a segment between two scans, whose reader would take the end marker for a part of it. It is told
    // that there is no more for now, and nobody reads that segment to its end (`ends_early`). It may have begun to say
    // what the next scan is of, so nothing is noted from here on.
    if (self->reads_scans && is_between_scans(info)) {
        self->reads_scans = 0;
        return FALSE;
    }
    // The arithmetic decoder goes on with zeros, without a word.
    if (info->arith_code) note_gap(self, 1);
    info->src->next_input_byte = end;
    info->src->bytes_in_buffer = 2;
    return TRUE;
}

// After a step that wanted more data: whether it is to be tried again, now with the end of all data as the next marker.
static int ends_early(cjpeg_decoder *self) {
    if (!self->ran_out || self->info.unread_marker == JPEG_EOI) return 0;
    self->info.unread_marker = JPEG_EOI;
    return 1;
}

static void source_skips(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    if ((size_t)count > info->src->bytes_in_buffer) {
        info->src->bytes_in_buffer = 0;
        source_runs_out(info);
        return;
    }
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

static void source_ends(j_decompress_ptr info) { (void)info; }

cjpeg_decoder *cjpeg_decoder_create(const uint8_t *bytes, size_t length, int most_scans) {
    cjpeg_decoder *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->most_scans = most_scans;
    self->info.err = jpeg_std_error(&self->errors);
    self->errors.error_exit = on_error;
    self->errors.emit_message = on_message;
    self->errors.output_message = on_output;
    self->info.client_data = self;
    if (setjmp(self->escape)) {
        jpeg_destroy_decompress(&self->info);
        free(self);
        return NULL;
    }
    jpeg_create_decompress(&self->info);
    self->info.client_data = self;
    self->progress.progress_monitor = on_progress;
    self->info.progress = &self->progress;
    self->source.init_source = source_begins;
    self->source.fill_input_buffer = source_runs_out;
    self->source.skip_input_data = source_skips;
    self->source.resync_to_restart = jpeg_resync_to_restart;
    self->source.term_source = source_ends;
    self->source.next_input_byte = bytes;
    self->source.bytes_in_buffer = length;
    self->info.src = &self->source;
    return self;
}

void cjpeg_decoder_free(cjpeg_decoder *self) {
    if (!self) return;
    // Destroying can fail only through the memory functions, which do not report here.
    if (!setjmp(self->escape)) jpeg_destroy_decompress(&self->info);
    free(self);
}

const char *cjpeg_decoder_message(const cjpeg_decoder *self) { return self->message; }

int cjpeg_decoder_read_header(cjpeg_decoder *self, cjpeg_header *header) {
    if (setjmp(self->escape)) return self->status;
    jpeg_read_header(&self->info, TRUE);
    struct jpeg_decompress_struct *info = &self->info;
    header->width = info->image_width;
    header->height = info->image_height;
    header->components = info->num_components;
    switch (info->jpeg_color_space) {
        case JCS_GRAYSCALE: header->colour = cjpeg_grey; break;
        case JCS_YCbCr: header->colour = cjpeg_ycc; break;
        case JCS_RGB: header->colour = cjpeg_rgb; break;
        case JCS_CMYK: header->colour = cjpeg_cmyk; break;
        case JCS_YCCK: header->colour = cjpeg_ycck; break;
        default: header->colour = cjpeg_other; break;
    }
    header->holds_coefficients = jpeg_has_multiple_scans(info);
    header->coefficient_bytes = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        header->coefficient_bytes +=
            (uint64_t)component->width_in_blocks * component->height_in_blocks * DCTSIZE2 * sizeof(JCOEF);
    }
    return cjpeg_ok;
}

static void describe(const struct jpeg_decompress_struct *info, int raw, cjpeg_layout *layout) {
    memset(layout, 0, sizeof *layout);
    layout->width = info->output_width;
    layout->height = info->output_height;
    layout->planes = info->num_components < 4 ? info->num_components : 4;
    layout->lines_per_group = raw ? info->max_v_samp_factor * info->min_DCT_scaled_size : 1;
    for (int i = 0; i < layout->planes; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        layout->plane_width[i] = component->downsampled_width;
        layout->plane_height[i] = component->downsampled_height;
        layout->plane_padded_width[i] = component->width_in_blocks * (JDIMENSION)component->DCT_scaled_size;
        layout->plane_lines_per_group[i] = component->v_samp_factor * component->DCT_scaled_size;
    }
}

int cjpeg_decoder_plan(cjpeg_decoder *self, int eighths, cjpeg_layout *layout) {
    if (setjmp(self->escape)) return self->status;
    self->info.scale_num = (unsigned)eighths;
    self->info.scale_denom = 8;
    self->info.raw_data_out = TRUE;
    self->info.out_color_space = self->info.jpeg_color_space;
    jpeg_calc_output_dimensions(&self->info);
    describe(&self->info, 1, layout);
    return cjpeg_ok;
}

int cjpeg_decoder_start(cjpeg_decoder *self, int eighths, int colour, cjpeg_layout *layout) {
    if (setjmp(self->escape)) return self->status;
    struct jpeg_decompress_struct *info = &self->info;
    info->scale_num = (unsigned)eighths;
    info->scale_denom = 8;
    info->raw_data_out = colour == 0;
    info->do_fancy_upsampling = TRUE;
    info->dct_method = JDCT_ISLOW;
    switch (colour) {
        case 0: info->out_color_space = info->jpeg_color_space; break;
        case cjpeg_grey: info->out_color_space = JCS_GRAYSCALE; break;
        case cjpeg_rgb: info->out_color_space = JCS_RGB; break;
        default: info->out_color_space = JCS_CMYK; break;
    }
    self->reads_scans = jpeg_has_multiple_scans(info);
    while (!jpeg_start_decompress(info))
        if (!ends_early(self)) break;
    self->reads_scans = 0;
    describe(info, colour == 0, layout);
    if (layout->lines_per_group > most_group_lines) {
        snprintf(self->message, sizeof self->message, "sampling factors out of range");
        return cjpeg_damaged;
    }
    return cjpeg_ok;
}

int cjpeg_decoder_read_group(cjpeg_decoder *self, const cjpeg_ring *ring, uint32_t first) {
    struct jpeg_decompress_struct *info = &self->info;
    JSAMPROW rows[4][most_group_lines];
    JSAMPARRAY planes[4];
    uint32_t group = first / (uint32_t)(info->max_v_samp_factor * info->min_DCT_scaled_size);
    for (int p = 0; p < info->num_components && p < 4; p++) {
        const jpeg_component_info *component = &info->comp_info[p];
        uint32_t lines = (uint32_t)(component->v_samp_factor * component->DCT_scaled_size);
        uint32_t line = group * lines;
        for (uint32_t i = 0; i < lines && i < most_group_lines; i++) {
            rows[p][i] = ring->data[p] + (size_t)((line + i) & ring->mask[p]) * ring->stride[p];
        }
        planes[p] = rows[p];
    }
    if (setjmp(self->escape)) return self->status;
    jpeg_read_raw_data(info, planes, (JDIMENSION)(info->max_v_samp_factor * info->min_DCT_scaled_size));
    return cjpeg_ok;
}

int cjpeg_decoder_read_row(cjpeg_decoder *self, uint8_t *row) {
    if (setjmp(self->escape)) return self->status;
    JSAMPROW rows[1] = {row};
    jpeg_read_scanlines(&self->info, rows, 1);
    return cjpeg_ok;
}

// Whether the first component has all its detail, at least coarsely. Values of -1 are coefficients that no scan has had.
static int has_detail(const cjpeg_decoder *self) {
    if (self->lacks_detail) return 0;
    for (int k = 1; k < DCTSIZE2; k++)
        if (self->info.coef_bits[0][k] < 0) return 0;
    return 1;
}

static int has_all_bits(const cjpeg_decoder *self) {
    for (int i = 0; i < self->info.num_components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (self->info.coef_bits[i][k] != 0) return 0;
    return 1;
}

static void note_presence(cjpeg_decoder *self) {
    struct jpeg_decompress_struct *info = &self->info;
    cjpeg_presence *presence = &self->presence;
    presence->lines = info->image_height;
    presence->sharpness = cjpeg_sharp;
    int has_scans = jpeg_has_multiple_scans(info);
    if (self->has_gap && !(has_scans && self->ends_at_gap)) presence->lines = self->lines_at_gap;
    if (!has_scans) return;
    for (int i = 0; i < info->num_components; i++)
        if (self->first_lines[i] < presence->lines) presence->lines = self->first_lines[i];
    // A whole file may leave out coefficients on purpose.
    if (!info->progressive_mode || !(self->ran_out || self->has_gap)) return;
    if (!has_detail(self)) {
        presence->sharpness = cjpeg_coarse;
    } else if (self->has_gap || !has_all_bits(self)) {
        presence->sharpness = cjpeg_softened;
    }
}

int cjpeg_decoder_finish(cjpeg_decoder *self, cjpeg_presence *presence) {
    if (setjmp(self->escape)) return self->status;
    // Before libjpeg gives up what it knows of the scans. What follows the last line has no part in the picture.
    note_presence(self);
    jpeg_finish_decompress(&self->info);
    *presence = self->presence;
    return cjpeg_ok;
}
