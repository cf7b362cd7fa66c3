#include "cfilm.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/// What is read at once.
enum { buffer_bytes = 64 << 10 };
/// Bytes at a film's beginning by which its kind and, where the header does not say it, its streams are told.
static const char probe_bytes[] = "5000000";
/// Microseconds of a film that are looked at for the same.
static const char probe_duration[] = "5000000";
/// Tracks of a film. Phones write five, discs twenty.
static const char most_streams[] = "64";
/// Pixels of a frame: 16K.
static const int64_t most_pixels = 16384LL * 8640;
/// Packets that are read for one frame. A second of a transport stream has some hundred.
enum { most_packets = 4000 };
/// Frames that are decoded for one where the key frame alone gives none: fields that come in pairs, pictures that refresh bit by bit.
enum { most_frames = 60 };
/// Pixels of a side from which a frame is at least halved to be shown.
enum { large = 3000 };
/// A year, in milliseconds: nothing runs longer.
static const int64_t longest = 366LL * 24 * 3600 * 1000;
/// What cameras, phones and discs write. Text formats that name other files, and devices, are not among them.
static const char demuxers[] = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,asf";

struct cfilm {
    int descriptor;
    int64_t size;
    int64_t position;
    /// What reading failed with; 0 while it has not.
    int failure;
    AVIOContext *input;
    AVFormatContext *format;
    AVStream *video;
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;
    AVFrame *kept;
    uint8_t *rows;
};

static int read_bytes(void *opaque, uint8_t *buffer, int count) {
    cfilm *film = opaque;
    ssize_t got;
    do {
        got = pread(film->descriptor, buffer, (size_t)count, film->position);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        film->failure = errno;
        return AVERROR(errno);
    }
    if (got == 0) return AVERROR_EOF;
    film->position += got;
    return (int)got;
}

static int64_t seek_bytes(void *opaque, int64_t offset, int whence) {
    cfilm *film = opaque;
    switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return film->size;
    case SEEK_SET: break;
    case SEEK_CUR: offset += film->position; break;
    case SEEK_END: offset += film->size; break;
    default: return AVERROR(EINVAL);
    }
    if (offset < 0 || offset > film->size) return AVERROR(EINVAL);
    return film->position = offset;
}

/// A film that names another file gets none.
static int open_nothing(AVFormatContext *format, AVIOContext **input, const char *url, int flags, AVDictionary **options) {
    (void)format, (void)input, (void)url, (void)flags, (void)options;
    return AVERROR(EPERM);
}

static cfilm_status status_of(const cfilm *film, int code, cfilm_status otherwise) {
    if (film->failure) return cfilm_not_readable;
    return code == AVERROR(ENOMEM) ? cfilm_no_memory : otherwise;
}

void cfilm_prepare(void) {
    av_log_set_level(AV_LOG_QUIET);
    // Each makes tables at its first use.
    for (int id = 0; id < 2; id++) {
        const AVCodec *codec = avcodec_find_decoder(id ? AV_CODEC_ID_HEVC : AV_CODEC_ID_H264);
        AVCodecContext *context = codec ? avcodec_alloc_context3(codec) : NULL;
        if (!context) continue;
        context->thread_count = 1;
        avcodec_open2(context, codec, NULL);
        avcodec_free_context(&context);
    }
    void *walk = NULL;
    while (av_demuxer_iterate(&walk)) {}
}

static bool is_picture(const AVStream *stream) {
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC);
}

/// The first of the largest pictures: phones put small ones for thumbnails beside them.
static AVStream *find_video(const AVFormatContext *format) {
    AVStream *found = NULL;
    int64_t pixels = -1;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        AVStream *stream = format->streams[i];
        int64_t size = (int64_t)stream->codecpar->width * stream->codecpar->height;
        if (is_picture(stream) && size > pixels) {
            found = stream;
            pixels = size;
        }
    }
    return found;
}

static const char *find_audio(const AVFormatContext *format) {
    for (unsigned i = 0; i < format->nb_streams; i++) {
        const AVCodecParameters *codec = format->streams[i]->codecpar;
        if (codec->codec_type == AVMEDIA_TYPE_AUDIO && codec->codec_id != AV_CODEC_ID_NONE) return avcodec_get_name(codec->codec_id);
    }
    return NULL;
}

static bool has(const char *names, const char *name) { return names && strstr(names, name); }

static cfilm_container container_of(const AVFormatContext *format) {
    const char *names = format->iformat->name;
    if (has(names, "matroska")) {
        // The demuxer is one for both; only the file says which it is.
        uint8_t head[64] = {0};
        const cfilm *film = format->opaque;
        ssize_t count = pread(film->descriptor, head, sizeof head, 0);
        for (ssize_t i = 0; i + 4 <= count; i++)
            if (memcmp(head + i, "webm", 4) == 0) return cfilm_webm;
        return cfilm_matroska;
    }
    if (has(names, "avi")) return cfilm_avi;
    if (has(names, "mpegts")) return cfilm_transport_stream;
    if (has(names, "asf")) return cfilm_asf;
    if (!has(names, "mov")) return cfilm_program_stream;
    const AVDictionaryEntry *brand = av_dict_get(format->metadata, "major_brand", NULL, 0);
    if (!brand || strncmp(brand->value, "qt", 2) == 0) return cfilm_quicktime;
    return strncmp(brand->value, "3g", 2) == 0 ? cfilm_3gpp : cfilm_mp4;
}

/// A matrix is a turn by quarters, perhaps mirrored, or is taken for none.
static int32_t orientation_of(const AVStream *stream) {
    const int32_t *matrix = (const int32_t *)av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
    if (!matrix) return 1;
    int32_t turned[9];
    memcpy(turned, matrix, sizeof turned);
    bool mirrored = (double)turned[0] * turned[4] - (double)turned[1] * turned[3] < 0;
    if (mirrored) av_display_matrix_flip(turned, 1, 0);
    // Counter-clockwise; not a number where it turns nothing into anything.
    double angle = av_display_rotation_get(turned);
    if (isnan(angle)) return 1;
    double quarters = -angle / 90;
    if (fabs(quarters - round(quarters)) > 0.05) return 1;
    static const int32_t plain[] = {1, 6, 3, 8}, mirrors[] = {2, 7, 4, 5};
    int turn = ((int)lround(quarters) % 4 + 4) % 4;
    return mirrored ? mirrors[turn] : plain[turn];
}

static int64_t duration_of(const AVFormatContext *format, const AVStream *video) {
    int64_t duration = -1;
    if (format->duration > 0 && format->duration != AV_NOPTS_VALUE) {
        duration = format->duration / (AV_TIME_BASE / 1000);
    } else if (video->duration > 0 && video->duration != AV_NOPTS_VALUE) {
        duration = av_rescale_q(video->duration, video->time_base, (AVRational){1, 1000});
    }
    return duration > 0 && duration <= longest ? duration : -1;
}

static void fill(cfilm_facts *facts, const cfilm *film) {
    const AVCodecParameters *codec = film->video->codecpar;
    memset(facts, 0, sizeof *facts);
    facts->container = container_of(film->format);
    if (codec->width > 0 && codec->height > 0) {
        facts->width = codec->width;
        facts->height = codec->height;
        enum AVPixelFormat pixels = codec->format == AV_PIX_FMT_NONE ? AV_PIX_FMT_YUV420P10 : codec->format;
        int bytes = av_image_get_buffer_size(pixels, codec->width, codec->height, 32);
        facts->frame_bytes = bytes > 0 ? bytes : INT64_MAX;
    }
    AVRational pixel = av_guess_sample_aspect_ratio(film->format, film->video, NULL);
    // What would make a strip of a picture is no pixel.
    bool shaped = pixel.num > 0 && pixel.den > 0 && (double)pixel.num / pixel.den < 4 && (double)pixel.den / pixel.num < 4;
    facts->pixel_width = shaped ? pixel.num : 1;
    facts->pixel_height = shaped ? pixel.den : 1;
    facts->orientation = orientation_of(film->video);
    facts->duration = duration_of(film->format, film->video);
    snprintf(facts->video_codec, sizeof facts->video_codec, "%s", avcodec_get_name(codec->codec_id));
    const char *audio = find_audio(film->format);
    snprintf(facts->audio_codec, sizeof facts->audio_codec, "%s", audio ? audio : "");
}

/// Whether the header says all that is needed, as of MP4 and Matroska it does. What it does not say is found by decoding some.
static bool is_told(const cfilm *film) {
    const AVStream *video = find_video(film->format);
    return video && video->codecpar->codec_id != AV_CODEC_ID_NONE && video->codecpar->width > 0 && video->codecpar->height > 0;
}

static cfilm_status open_film(cfilm *film) {
    uint8_t *buffer = av_malloc(buffer_bytes);
    if (!buffer) return cfilm_no_memory;
    film->input = avio_alloc_context(buffer, buffer_bytes, 0, film, read_bytes, NULL, seek_bytes);
    if (!film->input) {
        av_free(buffer);
        return cfilm_no_memory;
    }
    film->format = avformat_alloc_context();
    if (!film->format) return cfilm_no_memory;
    film->format->pb = film->input;
    film->format->opaque = film;
    film->format->io_open = open_nothing;
    film->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    AVDictionary *options = NULL;
    av_dict_set(&options, "format_whitelist", demuxers, 0);
    av_dict_set(&options, "protocol_whitelist", "", 0);
    av_dict_set(&options, "probesize", probe_bytes, 0);
    av_dict_set(&options, "analyzeduration", probe_duration, 0);
    av_dict_set(&options, "max_streams", most_streams, 0);
    // On failure it frees the context, and not the input.
    int code = avformat_open_input(&film->format, NULL, NULL, &options);
    av_dict_free(&options);
    if (code < 0) {
        film->format = NULL;
        return status_of(film, code, code == AVERROR_INVALIDDATA ? cfilm_no_film : cfilm_damaged);
    }
    if (!is_told(film)) {
        code = avformat_find_stream_info(film->format, NULL);
        if (code < 0 && (film->failure || code == AVERROR(ENOMEM))) return status_of(film, code, cfilm_damaged);
    }
    film->video = find_video(film->format);
    if (!film->video) return film->format->nb_streams ? cfilm_no_pictures : cfilm_damaged;
    // Of the others no packet is put together.
    for (unsigned i = 0; i < film->format->nb_streams; i++)
        film->format->streams[i]->discard = film->format->streams[i] == film->video ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    return cfilm_ok;
}

cfilm_status cfilm_open(int descriptor, int64_t size, cfilm **opened, cfilm_facts *facts) {
    *opened = NULL;
    av_log_set_level(AV_LOG_QUIET);
    cfilm *film = calloc(1, sizeof *film);
    if (!film) return cfilm_no_memory;
    film->descriptor = descriptor;
    film->size = size;
    cfilm_status status = open_film(film);
    if (status != cfilm_ok) {
        cfilm_close(film);
        return status;
    }
    fill(facts, film);
    *opened = film;
    return cfilm_ok;
}

void cfilm_close(cfilm *film) {
    if (!film) return;
    av_freep(&film->rows);
    av_frame_free(&film->frame);
    av_frame_free(&film->kept);
    av_packet_free(&film->packet);
    avcodec_free_context(&film->decoder);
    avformat_close_input(&film->format);
    if (film->input) av_freep(&film->input->buffer);
    avio_context_free(&film->input);
    free(film);
}

const char *cfilm_tag(const cfilm *film, const char *name) {
    const AVDictionaryEntry *found = av_dict_get(film->format->metadata, name, NULL, 0);
    if (!found) found = av_dict_get(film->video->metadata, name, NULL, 0);
    return found ? found->value : NULL;
}

cfilm_status cfilm_begin(cfilm *film) {
    const AVCodecParameters *codec = film->video->codecpar;
    const AVCodec *found = avcodec_find_decoder(codec->codec_id);
    // Its samples are what the header says once they are decrypted, which nothing here can do.
    if (!found || av_stream_get_side_data(film->video, AV_PKT_DATA_ENCRYPTION_INIT_INFO, NULL)) return cfilm_no_decoder;
    film->packet = av_packet_alloc();
    film->frame = av_frame_alloc();
    film->kept = av_frame_alloc();
    film->decoder = avcodec_alloc_context3(found);
    if (!film->packet || !film->frame || !film->kept || !film->decoder) return cfilm_no_memory;
    int code = avcodec_parameters_to_context(film->decoder, codec);
    if (code < 0) return status_of(film, code, cfilm_damaged);
    // A cell has one thread.
    film->decoder->thread_count = 1;
    film->decoder->max_pixels = most_pixels;
    film->decoder->pkt_timebase = film->video->time_base;
    code = avcodec_open2(film->decoder, found, NULL);
    return code < 0 ? status_of(film, code, code == AVERROR_PATCHWELCOME ? cfilm_no_decoder : cfilm_damaged) : cfilm_ok;
}

/// The next packet of the pictures, a key frame's where that is wanted.
static int next_packet(cfilm *film, bool key) {
    for (int i = 0; i < most_packets; i++) {
        int code = av_read_frame(film->format, film->packet);
        if (code < 0) return code;
        bool wanted = film->packet->stream_index == film->video->index && (!key || film->packet->flags & AV_PKT_FLAG_KEY);
        if (wanted) return 0;
        av_packet_unref(film->packet);
    }
    return AVERROR_EOF;
}

/// The key frame alone: what comes after it is told to be nothing, so that it is not waited for.
static int decode_key_frame(cfilm *film) {
    int code = next_packet(film, true);
    if (code < 0) return code;
    code = avcodec_send_packet(film->decoder, film->packet);
    av_packet_unref(film->packet);
    if (code < 0) return code;
    avcodec_send_packet(film->decoder, NULL);
    return avcodec_receive_frame(film->decoder, film->frame);
}

/// The first frame that comes of what follows.
static int decode_some(cfilm *film) {
    int code = AVERROR_EOF;
    for (int i = 0; i < most_frames; i++) {
        code = next_packet(film, false);
        int sent = code < 0 ? avcodec_send_packet(film->decoder, NULL) : avcodec_send_packet(film->decoder, film->packet);
        av_packet_unref(film->packet);
        if (sent == AVERROR(ENOMEM)) return sent;
        int received = avcodec_receive_frame(film->decoder, film->frame);
        if (received == 0 || received == AVERROR(ENOMEM)) return received;
        if (code < 0) return code;
    }
    return code < 0 ? code : AVERROR_INVALIDDATA;
}

static int go_to(cfilm *film, int64_t milliseconds) {
    int64_t start = film->video->start_time == AV_NOPTS_VALUE ? 0 : film->video->start_time;
    int64_t at = av_rescale_q(milliseconds, (AVRational){1, 1000}, film->video->time_base);
    int64_t wanted = at > INT64_MAX - llabs(start) ? at : start + at;
    return avformat_seek_file(film->format, film->video->index, INT64_MIN, wanted, wanted, 0);
}

static int decode_at(cfilm *film, int64_t at, int (*decode)(cfilm *)) {
    // Where it cannot be sought in, the next frame is as good.
    go_to(film, at);
    avcodec_flush_buffers(film->decoder);
    return decode(film);
}

enum { sampled = 64 };

/// By the first plane, on a grid: luma, or one colour of those that have none.
static void look_at(const AVFrame *frame, cfilm_look *look) {
    look->width = frame->width;
    look->height = frame->height;
    look->light = look->contrast = 0;
    const AVPixFmtDescriptor *kind = av_pix_fmt_desc_get(frame->format);
    if (!kind || !frame->data[0] || kind->flags & (AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM)) return;
    int step = kind->comp[0].step, depth = kind->comp[0].depth;
    double sum = 0, squares = 0;
    for (int row = 0; row < sampled; row++) {
        const uint8_t *line = frame->data[0] + (ptrdiff_t)frame->linesize[0] * ((int64_t)frame->height * row / sampled);
        for (int column = 0; column < sampled; column++) {
            const uint8_t *at = line + (ptrdiff_t)step * ((int64_t)frame->width * column / sampled) + kind->comp[0].offset;
            double value = depth > 8 ? (at[0] | at[1] << 8) >> kind->comp[0].shift >> (depth - 8) : at[0];
            sum += value;
            squares += value * value;
        }
    }
    double count = sampled * sampled, mean = sum / count, variance = squares / count - mean * mean;
    look->light = (int32_t)mean;
    look->contrast = (int32_t)sqrt(variance > 0 ? variance : 0);
}

cfilm_status cfilm_decode(cfilm *film, int64_t at, cfilm_look *look) {
    av_frame_unref(film->frame);
    int code = decode_at(film, at, decode_key_frame);
    // Without an index a place is found by guessing, and there may be no key frame behind it.
    if (code < 0 && code != AVERROR(ENOMEM) && at > 0) code = decode_at(film, 0, decode_key_frame);
    if (code < 0 && code != AVERROR(ENOMEM)) code = decode_at(film, 0, decode_some);
    if (code < 0) return status_of(film, code, cfilm_damaged);
    if (film->frame->width <= 0 || film->frame->height <= 0) return cfilm_damaged;
    look_at(film->frame, look);
    return cfilm_ok;
}

void cfilm_keep(cfilm *film) {
    av_frame_unref(film->kept);
    av_frame_move_ref(film->kept, film->frame);
}

static int matrix_of(const AVFrame *frame) {
    switch (frame->colorspace) {
    case AVCOL_SPC_BT709: return SWS_CS_ITU709;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return SWS_CS_BT2020;
    case AVCOL_SPC_SMPTE240M: return SWS_CS_SMPTE240M;
    case AVCOL_SPC_FCC: return SWS_CS_FCC;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M: return SWS_CS_ITU601;
    // As players guess.
    default: return frame->height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601;
    }
}

/// Formats that say by their name that they are of full range, and which libswscale takes for others of that range.
static bool is_full_range(enum AVPixelFormat *pixels) {
    switch (*pixels) {
    case AV_PIX_FMT_YUVJ420P: *pixels = AV_PIX_FMT_YUV420P; return true;
    case AV_PIX_FMT_YUVJ422P: *pixels = AV_PIX_FMT_YUV422P; return true;
    case AV_PIX_FMT_YUVJ444P: *pixels = AV_PIX_FMT_YUV444P; return true;
    case AV_PIX_FMT_YUVJ440P: *pixels = AV_PIX_FMT_YUV440P; return true;
    default: return false;
    }
}

cfilm_status cfilm_rows(cfilm *film, const uint8_t **rows, cfilm_look *look, cfilm_light *light) {
    const AVFrame *frame = film->kept;
    if (frame->width <= 0) return cfilm_damaged;
    look_at(frame, look);
    *light = frame->color_trc == AVCOL_TRC_ARIB_STD_B67 ? cfilm_hlg : frame->color_trc == AVCOL_TRC_SMPTE2084 ? cfilm_pq : cfilm_ordinary;
    enum AVPixelFormat pixels = frame->format;
    bool full = is_full_range(&pixels) || frame->color_range == AVCOL_RANGE_JPEG;
    if (!sws_isSupportedInput(pixels)) return cfilm_no_decoder;
    size_t line = (size_t)frame->width * 3;
    av_freep(&film->rows);
    // libswscale writes a few bytes beyond a line where it uses wide registers.
    film->rows = av_malloc(line * (size_t)frame->height + 64);
    if (!film->rows) return cfilm_no_memory;
    // The quick way gives neighbours one colour, which the reduction of a large frame makes good.
    int scaling = frame->width > large && frame->height > large / 2
        ? SWS_POINT : SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT;
    struct SwsContext *scaler = sws_getContext(
        frame->width, frame->height, pixels, frame->width, frame->height, AV_PIX_FMT_RGB24,
        scaling, NULL, NULL, NULL);
    if (!scaler) return cfilm_no_memory;
    const int *matrix = sws_getCoefficients(matrix_of(frame));
    sws_setColorspaceDetails(scaler, matrix, full, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
    uint8_t *targets[4] = {film->rows};
    int strides[4] = {(int)line};
    int done = sws_scale(scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height, targets, strides);
    sws_freeContext(scaler);
    if (done != frame->height) return cfilm_damaged;
    *rows = film->rows;
    return cfilm_ok;
}
