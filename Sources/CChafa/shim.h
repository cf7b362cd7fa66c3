// Pictures on terminals. Chafa speaks in GLib's types and in enumerations whose values Swift imports as different types;
// nothing of that passes this header.
#pragma once
#include <chafa.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// How a terminal can be drawn on.
enum {
    CCHAFA_SYMBOLS = 0,
    CCHAFA_SIXELS = 1,
    CCHAFA_KITTY = 2,
    CCHAFA_ITERM = 3,
};

/// How many colours its symbols can have.
enum {
    CCHAFA_TRUE_COLOUR = 0,
    CCHAFA_256_COLOURS = 1,
    CCHAFA_16_COLOURS = 2,
    CCHAFA_NO_COLOURS = 3,
};

struct cchafa_place {
    /// Characters.
    int columns, rows;
    /// Pixels of one character.
    int cell_width, cell_height;
    int way, colours;
    /// 1 where only ASCII may be written.
    int is_ascii;
};

/// The best way that the terminal of these variables ("NAME=value", ended by NULL) is known to have.
static inline int cchafa_known_way(char **environment) {
    ChafaTermInfo *info = chafa_term_db_detect(chafa_term_db_get_default(), environment);
    int way = CCHAFA_SYMBOLS;
    if (chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_BEGIN_KITTY_IMMEDIATE_IMAGE_V1)) {
        way = CCHAFA_KITTY;
    } else if (chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_BEGIN_ITERM2_IMAGE)) {
        way = CCHAFA_ITERM;
    } else if (chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_BEGIN_SIXELS)) {
        way = CCHAFA_SIXELS;
    }
    chafa_term_info_unref(info);
    return way;
}

/// What to write to show a picture (rows of red, green and blue), which fills the place whatever its proportions: lines for
/// symbols, one sequence for the other ways. To be freed with free(); NULL where there is no memory.
static inline char *cchafa_draw(
    const uint8_t *rgb, int width, int height, const struct cchafa_place *place, size_t *length) {
    static const ChafaPixelMode ways[] = {
        CHAFA_PIXEL_MODE_SYMBOLS, CHAFA_PIXEL_MODE_SIXELS, CHAFA_PIXEL_MODE_KITTY, CHAFA_PIXEL_MODE_ITERM2};
    static const ChafaCanvasMode colours[] = {
        CHAFA_CANVAS_MODE_TRUECOLOR, CHAFA_CANVAS_MODE_INDEXED_240, CHAFA_CANVAS_MODE_INDEXED_16,
        CHAFA_CANVAS_MODE_FGBG};
    ChafaSymbolMap *symbols = chafa_symbol_map_new();
    chafa_symbol_map_add_by_tags(
        symbols, place->is_ascii ? CHAFA_SYMBOL_TAG_ASCII
                                 : (ChafaSymbolTags)(CHAFA_SYMBOL_TAG_SPACE | CHAFA_SYMBOL_TAG_BLOCK
                                                     | CHAFA_SYMBOL_TAG_BORDER));
    ChafaCanvasConfig *config = chafa_canvas_config_new();
    chafa_canvas_config_set_symbol_map(config, symbols);
    chafa_canvas_config_set_geometry(config, place->columns, place->rows);
    chafa_canvas_config_set_cell_geometry(config, place->cell_width, place->cell_height);
    chafa_canvas_config_set_pixel_mode(config, ways[place->way]);
    chafa_canvas_config_set_canvas_mode(
        config, place->way == CCHAFA_SYMBOLS ? colours[place->colours] : CHAFA_CANVAS_MODE_TRUECOLOR);
    if (place->colours == CCHAFA_NO_COLOURS) chafa_canvas_config_set_dither_mode(config, CHAFA_DITHER_MODE_ORDERED);
    ChafaCanvas *canvas = chafa_canvas_new(config);
    chafa_canvas_draw_all_pixels(canvas, CHAFA_PIXEL_RGB8, rgb, width, height, width * 3);
    ChafaTermInfo *info = chafa_term_db_get_fallback_info(chafa_term_db_get_default());
    GString *drawn = chafa_canvas_print(canvas, info);
    char *copy = malloc(drawn->len + 1);
    if (copy != NULL) {
        memcpy(copy, drawn->str, drawn->len + 1);
        *length = drawn->len;
    }
    g_string_free(drawn, TRUE);
    chafa_term_info_unref(info);
    chafa_canvas_unref(canvas);
    chafa_canvas_config_unref(config);
    chafa_symbol_map_unref(symbols);
    return copy;
}
