#include "picture/palette.h"

#include <stddef.h>
#include <string.h>

const struct rs_theme rs_theme_light = {
    .dark = false,
    .background = 0xffffff,
    .row = 0xf6f7f9,
    .heading = 0xe9ecf1,
    .grid = 0xd5dae2,
    .text = 0x1b1f27,
    .dim = 0x5a6270,
    .on_bar = 0x10131a,
    .relation = 0x0b5fff,
    .same_op = 0xc8102e,
    .arrow = 0x7a3db8,
};

const struct rs_theme rs_theme_dark = {
    .dark = true,
    .background = 0x14171d,
    .row = 0x191d25,
    .heading = 0x232934,
    .grid = 0x343c4a,
    .text = 0xe8ebf0,
    .dim = 0xa3adbd,
    .on_bar = 0x0b0d11,
    .relation = 0x7fb0ff,
    .same_op = 0xff6b7d,
    .arrow = 0xc9a0ff,
};

static const struct {
    const char *word;
    uint32_t colour;
} named[] = {
    {"AllReduce", 0x0072b2},  {"AllGather", 0x009f5f},  {"ReduceScatter", 0x56b4e9}, {"Broadcast", 0xe69f00},
    {"Reduce", 0x664b17},     {"AlltoAll", 0xb57fa1},   {"Gather", 0xe8b4d0},        {"Scatter", 0x8e4270},
    {"Send", 0xd55e00},       {"Recv", 0xf0e442},       {"SendRecv", 0xd55e00},      {"call", 0x8d99ae},
    {"api", 0x8d99ae},        {"group", 0xa5b1c2},      {"launch", 0x7d8ba4},        {"channel", 0x4aa3df},
    {"phase", 0x7cc0ea},      {"proxy-send", 0xd98b5f}, {"proxy-recv", 0xd9cf6a},    {"step-send", 0xe0a07a},
    {"step-recv", 0xe6dd85},  {"proxy", 0xe6b800},      {"network", 0x9a8f3f},       {"proxy-thread", 0xb0a160},
    {"proxy-idle", 0xcfc9ad}, {"compute", 0x9bbf85},    {"copy", 0x7f9f9f},          {"copy-engine", 0x5f8f8f},
    {"annotation", 0xb7a6d8}, {"step", 0x9a86c4},       {"sync", 0xb58fa0},          {"host", 0xaab2bd},
    {"other", 0x777f8c},      {"lost", 0xd0021b},       {"not-recorded", 0x8a8f98},  {"flag", 0xc8102e},
};
static const uint32_t others[] = {0x56b4e9, 0xe69f00, 0x009f5f, 0xb57fa1, 0x0072b2, 0xd55e00, 0xb7a6d8, 0x9bbf85};

uint32_t rs_colour_mix(uint32_t a, uint32_t b, double share)
{
    uint32_t out = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        double from = (double)(a >> shift & 255), to = (double)(b >> shift & 255);
        double value = from + (to - from) * share + 0.5;
        out |= (value <= 0 ? 0 : value >= 255 ? 255 : (uint32_t)value) << shift;
    }
    return out;
}

uint32_t rs_colour_of(const char *word, unsigned place, const struct rs_theme *theme)
{
    uint32_t colour = others[place % (sizeof(others) / sizeof(others[0]))];
    for (size_t i = 0; word && i < sizeof(named) / sizeof(named[0]); i++)
        if (strcmp(named[i].word, word) == 0) colour = named[i].colour;
    return theme->dark ? rs_colour_mix(colour, 0xffffff, 0.16) : colour;
}

uint32_t rs_colour_on(uint32_t colour, const struct rs_theme *theme)
{
    double light = 0.299 * (colour >> 16 & 255) + 0.587 * (colour >> 8 & 255) + 0.114 * (colour & 255);
    return light < 110 ? 0xffffff : theme->on_bar;
}

unsigned rs_colour_256(uint32_t colour)
{
    static const int level[6] = {0, 95, 135, 175, 215, 255};
    unsigned index = 16, weight = 36;
    for (int shift = 16; shift >= 0; shift -= 8, weight /= 6) {
        int value = (int)(colour >> shift & 255), best = 0;
        for (int i = 1; i < 6; i++) {
            int far = value - level[i], near = value - level[best];
            if (far * far < near * near) best = i;
        }
        index += (unsigned)best * weight;
    }
    return index;
}
