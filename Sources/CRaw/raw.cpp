#include "craw.h"

#include <dlfcn.h>
#include <libraw/libraw.h>

#include <memory>
#include <new>

/// A file's bytes, of which LibRaw may read so many times while it looks at what they are. LibRaw 0.20 follows the boxes of a CR3
/// file for ever where one says that it has no length.
///
/// Rejected: to check the boxes first. What LibRaw takes for one in which place is LibRaw's alone, and its other formats
/// have loops as well.
class BoundedBytes final : public LibRaw_buffer_datastream {
public:
    BoundedBytes(const uint8_t *bytes, size_t length)
        // It writes to none of them: its buffer is another form of a file that is read.
        : LibRaw_buffer_datastream(const_cast<uint8_t *>(bytes), length) {}

    int read(void *to, size_t size, size_t count) override {
        step();
        return LibRaw_buffer_datastream::read(to, size, count);
    }
    int seek(INT64 offset, int whence) override {
        step();
        return LibRaw_buffer_datastream::seek(offset, whence);
    }
    char *gets(char *line, int size) override {
        step();
        return LibRaw_buffer_datastream::gets(line, size);
    }
    int scanf_one(const char *format, void *value) override {
        step();
        return LibRaw_buffer_datastream::scanf_one(format, value);
    }
    int get_char() override {
        step();
        return LibRaw_buffer_datastream::get_char();
    }

    /// Decoding reads as often as there are bytes, and the worker's time bounds it.
    void lift_bound() { is_bounded = false; }

private:
    /// A camera's file takes some thousands.
    size_t left = 4000000;
    bool is_bounded = true;

    void step() {
        if (is_bounded && left-- == 0) throw LIBRAW_EXCEPTION_IO_CORRUPT;
    }
};

struct craw_file {
    /// Goes after what reads it.
    std::unique_ptr<BoundedBytes> stream;
    LibRaw raw{LIBRAW_OPIONS_NO_DATAERR_CALLBACK};
    const uint8_t *bytes = nullptr;
    size_t length = 0;
    craw_header header = {};
    libraw_processed_image_t *developed = nullptr;

    ~craw_file() {
        if (developed) LibRaw::dcraw_clear_mem(developed);
    }
};

static int status_of(int error) {
    switch (error) {
    case LIBRAW_SUCCESS: return craw_ok;
    case LIBRAW_FILE_UNSUPPORTED:
    case LIBRAW_NOT_IMPLEMENTED: return craw_unsupported;
    case LIBRAW_UNSUFFICIENT_MEMORY:
    case LIBRAW_TOO_BIG:
    case LIBRAW_MEMPOOL_OVERFLOW: return craw_no_memory;
    default: return craw_damaged;
    }
}

/// What a development is made with; said before the file is opened, because some of it is looked at there.
static void prepare(LibRaw &raw) {
    auto &wanted = raw.imgdata.params;
    wanted.half_size = 1;
    wanted.use_camera_wb = 1;
    wanted.output_color = 1;
    wanted.output_bps = 8;
}

/// LibRaw is built with OpenMP, whose default is a thread for each processor, and has no setting for it. Looked for by
/// its name, since another build of LibRaw has none. Rejected: to stand in front of its functions, as in CCell for
/// other libraries; theirs have versions, and no linker puts ours in their place.
static void be_one_thread() {
    auto *limit = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    if (limit) limit(1);
}

/// - Parameter stream: what `raw` reads from then on.
static int open(LibRaw &raw, std::unique_ptr<BoundedBytes> &stream, const uint8_t *bytes, size_t length) {
    prepare(raw);
    raw.recycle();
    stream.reset(new BoundedBytes(bytes, length));
    const int status = status_of(raw.open_datastream(stream.get()));
    stream->lift_bound();
    return status;
}

/// EXIF's number of what LibRaw says in bits: mirrored, upside down, sides exchanged.
static int orientation_of(int flip) {
    static const int numbers[8] = {1, 2, 4, 3, 5, 8, 6, 7};
    return numbers[flip & 7];
}

static int read(craw_file *self) {
    const int status = open(self->raw, self->stream, self->bytes, self->length);
    if (status != craw_ok) return status;
    const auto &image = self->raw.imgdata;
    auto &header = self->header;
    header.width = image.sizes.width;
    header.height = image.sizes.height;
    header.stored_width = image.sizes.raw_width;
    header.stored_height = image.sizes.raw_height;
    header.orientation = orientation_of(image.sizes.flip);
    header.is_mosaic = image.idata.filters != 0;
    if (header.width == 0 || header.height == 0) return craw_damaged;
    // Asked of another one, since the answer spoils what it is asked of.
    std::unique_ptr<BoundedBytes> stream;
    std::unique_ptr<LibRaw> other(new LibRaw(LIBRAW_OPIONS_NO_DATAERR_CALLBACK));
    other->imgdata.params.user_flip = 0;
    const int again = open(*other, stream, self->bytes, self->length);
    if (again != craw_ok) return again;
    const int sized = status_of(other->adjust_sizes_info_only());
    if (sized != craw_ok) return sized;
    header.developed_width = other->imgdata.sizes.iwidth;
    header.developed_height = other->imgdata.sizes.iheight;
    return craw_ok;
}

craw_file *craw_open(const uint8_t *bytes, size_t length, int *status) {
    try {
        be_one_thread();
        std::unique_ptr<craw_file> self(new craw_file());
        self->bytes = bytes;
        self->length = length;
        *status = read(self.get());
        return *status == craw_ok ? self.release() : nullptr;
    } catch (const std::bad_alloc &) {
        *status = craw_no_memory;
    } catch (...) {
        *status = craw_damaged;
    }
    return nullptr;
}

void craw_free(craw_file *self) { delete self; }

void craw_read_header(const craw_file *self, craw_header *header) { *header = self->header; }

int craw_read_preview(craw_file *self, size_t most, const uint8_t **bytes, size_t *length) {
    try {
        const auto &found = self->raw.imgdata.thumbnail;
        if (found.tlength == 0 || found.tlength > most) return 0;
        if (self->raw.unpack_thumb() != LIBRAW_SUCCESS || found.tformat != LIBRAW_THUMBNAIL_JPEG || !found.thumb)
            return 0;
        *bytes = reinterpret_cast<const uint8_t *>(found.thumb);
        *length = found.tlength;
        return 1;
    } catch (...) {
        return 0;
    }
}

static int develop(craw_file *self, size_t most) {
    auto &raw = self->raw;
    raw.imgdata.params.max_raw_memory_mb = static_cast<unsigned>(most >> 20) + 1;
    raw.imgdata.params.user_flip = 0;
    // Anew: a preview that could not be read has left it closed.
    int status = open(raw, self->stream, self->bytes, self->length);
    if (status == craw_ok) status = status_of(raw.unpack());
    // What is not there is black, and LibRaw goes on.
    if (status == craw_ok && raw.error_count() > 0) status = craw_damaged;
    if (status == craw_ok) status = status_of(raw.dcraw_process());
    if (status != craw_ok) return status;
    int error = 0;
    self->developed = raw.dcraw_make_mem_image(&error);
    if (!self->developed) return status_of(error);
    const auto *image = self->developed;
    const size_t count = static_cast<size_t>(image->width) * image->height * image->colors;
    const bool is_known = image->type == LIBRAW_IMAGE_BITMAP && image->bits == 8 && image->data_size >= count;
    return is_known && (image->colors == 3 || image->colors == 1) ? craw_ok : craw_unsupported;
}

int craw_develop(
    craw_file *self, size_t most, uint32_t *width, uint32_t *height, uint32_t *colours, const uint8_t **pixels) {
    try {
        const int status = develop(self, most);
        if (status != craw_ok) return status;
        *width = self->developed->width;
        *height = self->developed->height;
        *colours = self->developed->colors;
        *pixels = self->developed->data;
        return craw_ok;
    } catch (const std::bad_alloc &) {
        return craw_no_memory;
    } catch (...) {
        return craw_damaged;
    }
}
