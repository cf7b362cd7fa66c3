#pragma once
#include <libheif/heif.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// libheif gives out no item that its file calls hidden, and the tiles of a grid are. So it reads the file through this,
// which shows the flag of some items as not set.

typedef struct cheif_bytes {
    const uint8_t *bytes;
    size_t length;
    int64_t position;
    /// Where the flags are whose lowest bit is shown as 0, in ascending order; somebody else's.
    const uint64_t *flags;
    size_t flag_count;
} cheif_bytes;

static inline int64_t cheif_position(void *source) { return ((cheif_bytes *)source)->position; }

static inline int cheif_seek(int64_t position, void *source) {
    ((cheif_bytes *)source)->position = position;
    return 0;
}

static inline int cheif_read(void *into, size_t count, void *source) {
    cheif_bytes *self = (cheif_bytes *)source;
    if (self->position < 0 || (uint64_t)self->position > self->length) return 1;
    size_t start = (size_t)self->position;
    if (count > self->length - start) return 1;
    memcpy(into, self->bytes + start, count);
    self->position += (int64_t)count;
    // The first flag in what was read; hundreds of them, and thousands of reads.
    size_t low = 0, high = self->flag_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->flags[middle] < start) low = middle + 1;
        else high = middle;
    }
    for (; low < self->flag_count && self->flags[low] < start + count; low++)
        ((uint8_t *)into)[self->flags[low] - start] &= 0xFE;
    return 0;
}

static inline enum heif_reader_grow_status cheif_wait(int64_t size, void *source) {
    const cheif_bytes *self = (const cheif_bytes *)source;
    return size >= 0 && (uint64_t)size <= self->length ? heif_reader_grow_status_size_reached
                                                       : heif_reader_grow_status_size_beyond_eof;
}

static const struct heif_reader cheif_reader = {
    .reader_api_version = 1,
    .get_position = cheif_position,
    .read = cheif_read,
    .seek = cheif_seek,
    .wait_for_file_size = cheif_wait,
};

/// Reads a container from `source`, which must outlive `context`.
static inline struct heif_error cheif_open(struct heif_context *context, cheif_bytes *source) {
    return heif_context_read_from_reader(context, &cheif_reader, source, NULL);
}
