// Letters as shades, by FreeType. Its headers are reached by macros and its flags are shifted constants, neither of which
// Swift imports.
#pragma once
#include <ft2build.h>
#include FT_FREETYPE_H
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/// An open font: `cfreetype_open` makes it, `cfreetype_close` frees it.
struct cfreetype_font {
    FT_Library library;
    FT_StreamRec stream;
    FT_Face face;
};

static inline unsigned long cfreetype_read(
    FT_Stream stream, unsigned long offset, unsigned char *buffer, unsigned long count) {
    // With nothing to read it is a seek, which is wrong where it does not return 0.
    if (count == 0) return offset > stream->size;
    ssize_t done = pread((int)stream->descriptor.value, buffer, count, (off_t)offset);
    return done < 0 ? 0 : (unsigned long)done;
}

static inline void cfreetype_close(struct cfreetype_font *font) {
    if (font->face != NULL) FT_Done_Face(font->face);
    if (font->library != NULL) FT_Done_FreeType(font->library);
    free(font);
}

/// The first font of a file of `size` bytes, which is read as it is needed: a font of all scripts has 20 MB. The descriptor
/// stays the caller's, and has to be open until the font is closed. NULL where the file holds no font whose letters can have
/// any size.
static inline struct cfreetype_font *cfreetype_open(int descriptor, unsigned long size) {
    struct cfreetype_font *font = (struct cfreetype_font *)calloc(1, sizeof *font);
    if (font == NULL) return NULL;
    font->stream.size = size;
    font->stream.descriptor.value = descriptor;
    font->stream.read = cfreetype_read;
    FT_Open_Args arguments = {0};
    arguments.flags = FT_OPEN_STREAM;
    arguments.stream = &font->stream;
    if (FT_Init_FreeType(&font->library) != 0 || FT_Open_Face(font->library, &arguments, 0, &font->face) != 0
        || !FT_IS_SCALABLE(font->face)) {
        cfreetype_close(font);
        return NULL;
    }
    return font;
}

/// Whether the font has a letter for a character.
static inline int cfreetype_has(const struct cfreetype_font *font, uint32_t scalar) {
    return FT_Get_Char_Index(font->face, scalar) != 0;
}

/// A letter as shades, which the font keeps until the next one: `left` and `top` say where its upper left corner is, from
/// where the pen stands on the line, and `advance` how far the pen goes on. All in pixels.
struct cfreetype_letter {
    const uint8_t *shades;
    int width, height, pitch, left, top, advance;
};

/// The letter for a character, or the font's sign for what it does not have. Returns 0, or -1 where it cannot be drawn.
static inline int cfreetype_letter(
    const struct cfreetype_font *font, uint32_t scalar, unsigned size, struct cfreetype_letter *letter) {
    if (FT_Set_Pixel_Sizes(font->face, 0, size) != 0) return -1;
    if (FT_Load_Char(font->face, scalar, FT_LOAD_RENDER | FT_LOAD_TARGET_LIGHT) != 0) return -1;
    FT_GlyphSlot slot = font->face->glyph;
    if (slot->bitmap.width > 0 && slot->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY) return -1;
    letter->shades = slot->bitmap.buffer;
    letter->width = (int)slot->bitmap.width;
    letter->height = (int)slot->bitmap.rows;
    letter->pitch = slot->bitmap.pitch;
    letter->left = slot->bitmap_left;
    letter->top = slot->bitmap_top;
    letter->advance = (int)((slot->advance.x + 32) >> 6);
    return 0;
}
