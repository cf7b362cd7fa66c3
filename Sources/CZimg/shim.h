#pragma once
#include <zimg.h>

// The planes are arrays of unnamed structs, which Swift imports as tuples of types without a name.

static inline void czimg_set_source(
    zimg_image_buffer_const *buffer, int plane, const void *data, ptrdiff_t stride, unsigned mask) {
    buffer->version = ZIMG_API_VERSION;
    buffer->plane[plane].data = data;
    buffer->plane[plane].stride = stride;
    buffer->plane[plane].mask = mask;
}

static inline void czimg_set_target(zimg_image_buffer *buffer, int plane, void *data, ptrdiff_t stride, unsigned mask) {
    buffer->version = ZIMG_API_VERSION;
    buffer->plane[plane].data = data;
    buffer->plane[plane].stride = stride;
    buffer->plane[plane].mask = mask;
}

/// ZIMG_API_VERSION is a macro with arguments.
static const unsigned czimg_version = ZIMG_API_VERSION;
