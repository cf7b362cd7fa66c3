// libavformat, libavcodec and libswscale behind a C interface: a film's header, and frames of it as rows of RGB. It reads from one
// descriptor by pread(2) and opens nothing: no other file that a film names, no address, no thread. Bounds on what a film may ask
// for stand in film.c; that decoding ends, and with how much memory, is the cell's part.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cfilm cfilm;

typedef enum cfilm_status {
    cfilm_ok = 0,
    /// No demuxer of those that are allowed takes it.
    cfilm_no_film,
    /// It has sound, and nothing to see.
    cfilm_no_pictures,
    /// Nothing here decodes its pictures: a codec that is not known, or a film that is encrypted.
    cfilm_no_decoder,
    cfilm_damaged,
    cfilm_no_memory,
    /// The descriptor could not be read.
    cfilm_not_readable,
} cfilm_status;

/// How it is packed.
typedef enum cfilm_container {
    cfilm_mp4,
    cfilm_quicktime,
    cfilm_3gpp,
    cfilm_matroska,
    cfilm_webm,
    cfilm_avi,
    cfilm_transport_stream,
    cfilm_program_stream,
    cfilm_asf,
} cfilm_container;

/// How its pixels say their light.
typedef enum cfilm_light { cfilm_ordinary, cfilm_hlg, cfilm_pq } cfilm_light;

typedef struct cfilm_facts {
    cfilm_container container;
    /// Pixels as they are stored; 0 where the header does not say it.
    int32_t width;
    int32_t height;
    /// How wide a pixel is for its height; 1 and 1 where that is not said, or cannot be.
    int32_t pixel_width;
    int32_t pixel_height;
    /// What EXIF's orientation would be: 1 to 8. A matrix that turns by no quarter counts as 1.
    int32_t orientation;
    /// Milliseconds; -1 where it is not said, or cannot be.
    int64_t duration;
    /// Of the pictures and of the sound: libavcodec's short names; empty where there is no sound.
    char video_codec[32];
    char audio_codec[32];
    /// Bytes of one frame as it is decoded; 0 where the size is not said.
    int64_t frame_bytes;
} cfilm_facts;

/// Everything that is loaded or made at first use, made now.
void cfilm_prepare(void);

/// Reads the header of a film in a descriptor, which stays the caller's and has to stay open until the film is closed.
cfilm_status cfilm_open(int descriptor, int64_t size, cfilm **film, cfilm_facts *facts);
void cfilm_close(cfilm *film);

/// What the header says under a name, of the film, else of its pictures; null where it says nothing. Valid until the film is closed.
const char *cfilm_tag(const cfilm *film, const char *name);

/// Gets ready to decode.
cfilm_status cfilm_begin(cfilm *film);

/// How a frame looks: the mean of its light and how far that varies, both 0 to 255.
typedef struct cfilm_look {
    int32_t width;
    int32_t height;
    int32_t light;
    int32_t contrast;
} cfilm_look;

/// Decodes the key frame at a time or before it, in milliseconds. It is the film's frame until the next one is decoded.
cfilm_status cfilm_decode(cfilm *film, int64_t at, cfilm_look *look);

/// Keeps the frame that was decoded last, in place of the one that was kept.
void cfilm_keep(cfilm *film);

/// The frame that was kept, as rows of `width * 3` bytes: red, green, blue; full range. Freed with the film.
cfilm_status cfilm_rows(cfilm *film, const uint8_t **rows, cfilm_look *look, cfilm_light *light);

#ifdef __cplusplus
}
#endif
