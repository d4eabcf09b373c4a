/* Colours of pictures: those of the page (viewer/src/scene/palette.ts; tests/unit/test_picture_words.c compares the
 * two). No meaning depends on hue alone: losses are hatched, waits are paler, ends fade. Pure functions. */
#ifndef RS_PICTURE_PALETTE_H
#define RS_PICTURE_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

/* Colours are 0xRRGGBB. */
struct rs_theme {
    bool dark;
    uint32_t background, row, heading, grid, text, dim, on_bar;
    uint32_t relation, same_op, arrow; /* child to parent; one operation across ranks; send to receive */
};
extern const struct rs_theme rs_theme_light, rs_theme_dark;

/* Opacity of a bar while it waits for the last rank. */
#define RS_WAIT_STRENGTH 0.42

/* By the colour of a kind (timeline/kinds.h), in a theme; unknown ones get a hue by the kind's number. */
uint32_t rs_colour_of(const char *word, unsigned place, const struct rs_theme *theme);
uint32_t rs_colour_mix(uint32_t a, uint32_t b, double share);
/* The colour of text on a bar of this colour. */
uint32_t rs_colour_on(uint32_t colour, const struct rs_theme *theme);
/* The nearest of a terminal's 256 colours. */
unsigned rs_colour_256(uint32_t colour);

#endif
