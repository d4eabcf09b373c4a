/* What is drawn: SVG that is well-formed whatever names hold, and small; PNG; text as computed by hand. */
#include "pictured.h"

#include "base/strbuf.h"
#include "picture/paint.h"
#include "picture/png.h"
#include "picture/svg.h"
#include "picture/text.h"

static struct made d;
static char *output; /* of the last drawing; with a 0 behind it */
static size_t output_bytes;

static void draw(enum rs_picture_format format, bool fold, struct rs_picture_options o)
{
    free(output);
    output = NULL;
    o.format = format;
    o.fold = fold;
    bool text = format == RS_PICTURE_TEXT;
    struct rs_picture_take take = {.fold = fold,
                                   .cells = text,
                                   .width = text ? rs_text_cells(&d.t, &o) : rs_layout_plot_width(&d.t, &o),
                                   .most = text ? 48 : 256,
                                   .from = d.t.focus_from,
                                   .to = d.t.focus_to};
    struct rs_picture_rows rows;
    struct rs_err err = {0};
    rs_picture_rows_init(&rows, &d.t, &take, made_sums(&d));
    rs_picture_rows_add(&rows, &d.bars);
    rs_picture_rows_end(&rows, RS_PAINT_BARS);
    FILE *out = open_memstream(&output, &output_bytes);
    assert_non_null(out);
    if (text)
        assert_int_equal(rs_text_draw(&rows, &o, out, "x", &err), RS_OK);
    else {
        struct rs_relations relations;
        struct rs_layout l;
        struct rs_canvas *c;
        rs_relations_init(&relations, &rows, o.relations);
        rs_layout_init(&l, &rows, &o, rs_relations_whats(&relations));
        if (format == RS_PICTURE_SVG)
            rs_svg_make(&c, l.width, l.height, l.title, out, "x");
        else if (rs_png_make(&c, l.width, l.height, out, "x", &err) != RS_OK)
            fail_msg("%s", err.msg);
        rs_paint(c, &l, &rows, &relations, o.dark ? &rs_theme_dark : &rs_theme_light);
        assert_int_equal(c->end(c, &err), RS_OK);
        rs_layout_free(&l);
        rs_relations_free(&relations);
    }
    assert_int_equal(fclose(out), 0);
    rs_picture_rows_free(&rows);
}

/* As strcspn() and strncmp(), which under AddressSanitizer walk through all of a text of megabytes each time. */
static size_t up_to(const char *p, const char *ends)
{
    size_t n = 0;
    while (p[n] && !strchr(ends, p[n])) n++;
    return n;
}

static bool begins(const char *p, const char *with)
{
    while (*with && *p == *with) p++, with++;
    return !*with;
}

/* Elements nest, attributes are quoted, characters and entities are those that XML allows. */
static void check_xml(const char *p)
{
    char open[32][24];
    unsigned depth = 0;
    while (*p) {
        if (*p == '&') {
            assert_true(begins(p, "&amp;") || begins(p, "&lt;") || begins(p, "&gt;"));
            p++;
        } else if (*p != '<') {
            assert_true((unsigned char)*p >= 0x20 || *p == '\n');
            p++;
        } else if (p[1] == '?') {
            p = strstr(p, "?>") + 2;
        } else if (p[1] == '/') {
            size_t n = up_to(p + 2, ">");
            assert_true(depth > 0);
            depth--;
            assert_true(strlen(open[depth]) == n && !memcmp(open[depth], p + 2, n));
            p += n + 3;
        } else {
            size_t n = up_to(p + 1, " />");
            assert_true(n > 0 && n < 24 && depth < 32);
            memcpy(open[depth], p + 1, n);
            open[depth][n] = '\0';
            for (p += n + 1; *p == ' ';) {
                p += up_to(p, "=");
                assert_true(p[0] == '=' && p[1] == '"');
                size_t value = up_to(p + 2, "\"<");
                assert_int_equal(p[2 + value], '"');
                p += value + 3;
            }
            if (p[0] == '/')
                p++;
            else
                depth++;
            assert_int_equal(*p, '>');
            p++;
        }
    }
    assert_int_equal(depth, 0);
}

/* Every mark that there is, names with markup, controls and broken UTF-8. */
static void make_everything(void)
{
    static const char *const names[] = {
        "</text><script>alert(1)</script>", "a\033[2J\x01\x7f", "\xff\xfe\xc3(", "\"&quot;'&#0;", "]]>", ""};
    made_make(&d, 3);
    for (uint32_t i = 0; i < 3; i++) {
        made_lane(&d, i, 1, RS_ROW_CALLS, "<thread> \x02");
        uint32_t call = made_bar(&d, MADE_CALL, 10, 50);
        made_lane(&d, i, 2, RS_ROW_COMPUTE, "stream");
        made_bar(&d, MADE_COMPUTE, 0, 1000);
        made_lane(&d, i, 3, RS_ROW_OPERATIONS, "operations & more");
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t bar = made_bar(&d, k == 3 ? (i ? MADE_RECV : MADE_SEND) : MADE_ALLREDUCE, 100 + k * 110, 90);
            d.bars.name[bar] = made_text(&d, names[k % 6]);
            d.bars.flags[bar] = (uint8_t)(1u << k);
            d.bars.fade[bar] = k == 0 ? 20 : 0;
            d.bars.wait[bar] = k == 5 ? 40 : 0;
            d.bars.m1[bar] = 30;
            d.bars.op[bar] = k;
            d.bars.parent[bar] = call;
        }
    }
}

static void test_svg(void **state)
{
    (void)state;
    make_everything();
    static struct rs_timeline_flag flags[2];
    flags[0] = (struct rs_timeline_flag){.at = 50, .group = 3, .label = made_text(&d, "<created>")};
    flags[1] = (struct rs_timeline_flag){.at = 950, .group = 3, .label = made_text(&d, "gone"), .destroyed = true};
    d.t.flags = flags;
    d.t.nflags = 2;
    for (int dark = 0; dark < 2; dark++)
        for (int fold = 0; fold < 2; fold++) {
            draw(RS_PICTURE_SVG, fold,
                 (struct rs_picture_options){
                     .title = "a <b> & \x01", .width = 1200, .dark = dark, .relations = RS_RELATIONS_ALL});
            check_xml(output);
            assert_null(strstr(output, "<script"));
            assert_non_null(strstr(output, "&lt;script&gt;alert(1)"));
            assert_non_null(strstr(output, "a &lt;b&gt; &amp; ?"));
            assert_non_null(strstr(output, "url(#hd")); /* losses hatched: #d0021b, in the dark a little lighter */
            assert_non_null(strstr(output, "linearGradient"));
            assert_non_null(strstr(output, "communicator created"));
            assert_non_null(strstr(output, "communicator destroyed"));
            assert_non_null(strstr(output, "the last to arrive"));
            assert_non_null(strstr(output, "clock error up to 6.00 us"));
            assert_non_null(strstr(output, "ringscope " RS_VERSION));
            assert_non_null(strstr(output, dark ? "#14171d" : "#ffffff"));
            assert_true((strstr(output, "stroke-dasharray") != NULL) == !fold); /* parents only where rows are open */
        }
    made_free(&d);
}

/* The place of a bar in the file is that of its time: 1000 ns are the plot's width. */
static void test_svg_places(void **state)
{
    (void)state;
    made_make(&d, 1);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    uint32_t bar = made_bar(&d, MADE_ALLREDUCE, 250, 500);
    d.bars.wait[bar] = 100;
    struct rs_picture_options o = {.width = 1200, .fold = true};
    unsigned plot = rs_layout_plot_width(&d.t, &o);
    draw(RS_PICTURE_SVG, true, o);
    double x = 1200 - 12 - plot + plot * 0.25, w = plot * 0.1;
    char wanted[64];
    const char *at = strstr(output, "AllReduce\nat 0.000000s, 500 ns");
    assert_non_null(at);
    double seen_x, seen_w;
    at = strstr(at, "<rect");
    assert_int_equal(sscanf(at, "<rect x=\"%lf\" y=\"%*f\" width=\"%lf\"", &seen_x, &seen_w), 2);
    assert_true(seen_x - x < 0.06 && x - seen_x < 0.06 && seen_w - w < 0.06 && w - seen_w < 0.06);
    snprintf(wanted, sizeof(wanted), "fill=\"#%06x\"", rs_colour_mix(0xffffff, 0x0072b2, RS_WAIT_STRENGTH));
    assert_true(strstr(at, wanted) && strstr(at, wanted) < strchr(at, '\n')); /* the wait is paler */
    at = strstr(at + 1, "<rect");
    assert_non_null(strstr(at, "#0072b2"));
    made_free(&d);
}

/* 400 GPUs with bars and gaps at every pixel: the worst that there is. */
static void test_svg_is_small(void **state)
{
    (void)state;
    made_make(&d, 400);
    uint32_t seed = 1;
    char name[400];
    memset(name, '&', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    uint32_t long_name = made_text(&d, name);
    for (uint32_t i = 0; i < 400; i++) {
        made_lane(&d, i, 3, RS_ROW_OPERATIONS, "operations of a communicator with a long name");
        int64_t at = 0;
        for (uint32_t k = 0; k < 700; k++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t bar = made_bar(&d, seed >> 24 & 1 ? MADE_ALLREDUCE : MADE_SEND, at, 1000 + (seed >> 20) % 4000);
            d.bars.flags[bar] = (uint8_t)(RS_BAR_LAST | RS_BAR_MISMATCH);
            d.bars.wait[bar] = d.bars.dur[bar] / 2;
            d.bars.op[bar] = k;
            d.bars.name[bar] = long_name;
            d.bars.a2[bar] = long_name;
            at += d.bars.dur[bar] + (seed >> 8) % 2000;
        }
        if (at > d.t.focus_to) d.t.focus_to = d.t.span = at;
    }
    for (int fold = 0; fold < 2; fold++) {
        draw(RS_PICTURE_SVG, fold, (struct rs_picture_options){.width = 4000, .relations = RS_RELATIONS_ALL});
        assert_true(output_bytes < 2000000);
        check_xml(output);
        assert_non_null(strstr(output, "144 of 400 GPUs"));
    }
    made_free(&d);
}

static void test_png(void **state)
{
    (void)state;
    struct rs_canvas *c;
    struct rs_err err;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    if (rs_png_make(&c, 1000, 1000, full, "x", &err) == RS_NOT_FOUND) {
        assert_non_null(strstr(err.msg, "libcairo2"));
        assert_non_null(strstr(err.msg, "SVG"));
        fclose(full);
        skip();
    }
    assert_int_equal(c->end(c, &err), RS_FAILED); /* nothing is lost in silence */
    assert_non_null(strstr(err.msg, "x: cannot write the picture: No space left"));
    fclose(full);
    make_everything();
    for (int fold = 0; fold < 2; fold++) {
        draw(RS_PICTURE_PNG, fold,
             (struct rs_picture_options){.title = "<t>", .width = 700, .relations = RS_RELATIONS_ALL});
        const uint8_t *p = (const uint8_t *)output;
        assert_true(output_bytes > 1000);
        assert_memory_equal(p, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
        assert_int_equal(p[18] << 8 | p[19], 700);
        assert_memory_equal(p + output_bytes - 8, "IEND", 4);
    }
    made_free(&d);
}

/* ---- text ---- */

static void test_text(void **state)
{
    (void)state;
    made_make(&d, 2);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    uint32_t bar = made_bar(&d, MADE_ALLREDUCE, 0, 500);
    d.bars.wait[bar] = 250;
    bar = made_bar(&d, MADE_SEND, 750, 125);
    d.bars.flags[bar] = RS_BAR_OPEN;
    made_lane(&d, 1, 2, RS_ROW_COMPUTE, "stream");
    made_bar(&d, MADE_COMPUTE, 0, 1000);
    made_lane(&d, 1, 3, RS_ROW_OPERATIONS, "operations");
    bar = made_bar(&d, MADE_ALLREDUCE, 250, 250);
    d.bars.flags[bar] = RS_BAR_LAST;
    bar = made_bar(&d, MADE_ALLREDUCE, 500, 250);
    d.bars.flags[bar] = RS_BAR_LOST;
    bar = made_bar(&d, MADE_ALLREDUCE, 750, 0);
    d.bars.flags[bar] = RS_BAR_END_BOUNDED;
    d.bars.fade[bar] = 250;
    /* 6 columns of labels, 2 around: 32 cells of 31.25 ns; 250 ns are 8 cells. */
    const struct rs_picture_options o = {.title = "run\033[2J", .width = 40, .ascii = true};
    draw(RS_PICTURE_TEXT, true, o);
    assert_string_equal(output, "run?[2J\n"
                                "       |0              |0.5 us\n"
                                "rank 0|aaaaaaaaAAAAAAAA        SSSS    >\n"
                                "rank 1|KKKKKKKKAAAAAAAA!!!!!!!!~~~~~~~~\n"
                                "A AllReduce  S Send  K kernel\n"
                                "abc waits for the last rank\n"
                                "~ ended somewhere here  > not ended\n"
                                "! callbacks lost\n"
                                "clock error up to 6.00 us\n");
    const struct rs_picture_options blocks = {.title = "run", .width = 40};
    draw(RS_PICTURE_TEXT, true, blocks);
    assert_non_null(strstr(output, "rank 0│A░░░░░░░████████        S███    >\n"));
    /* Where there is room: how long each waited, and how often it was the last. */
    draw(RS_PICTURE_TEXT, true, (struct rs_picture_options){.width = 80, .ascii = true});
    assert_non_null(strstr(output, "   waited  last\nrank 0|"));
    assert_non_null(strstr(output, ">  250 ns     -\nrank 1|"));
    assert_non_null(strstr(output, "~~~~        -     1\n"));
    const struct rs_picture_options colours = {.title = "run", .width = 40, .colour = true};
    draw(RS_PICTURE_TEXT, true, colours);
    assert_non_null(
        strstr(output, "rank 0│\033[38;5;25m░░░░░░░░████████\033[0m        \033[38;5;166m████\033[0m    >\n"));
    made_free(&d);
}

static void test_text_is_never_too_wide(void **state)
{
    (void)state;
    make_everything();
    for (unsigned width = 1; width < 200; width += 13)
        for (int fold = 0; fold < 2; fold++) {
            draw(RS_PICTURE_TEXT, fold,
                 (struct rs_picture_options){.title = "\xe6\x97\xa5 long, long title of a run", .width = width});
            unsigned columns = 0, most = width < 40 ? 40 : width;
            for (const char *p = output; *p; p++) {
                assert_true((unsigned char)*p >= 0x20 || *p == '\n');
                if (*p == '\n') {
                    assert_true(columns <= most);
                    columns = 0;
                } else if (((unsigned char)*p & 0xc0) != 0x80)
                    columns += (unsigned char)*p == 0xe6 ? 2 : 1;
            }
        }
    made_free(&d);
}

static void test_text_of_many(void **state)
{
    (void)state;
    made_make(&d, 500);
    for (uint32_t i = 0; i < 500; i++) {
        made_lane(&d, i, 3, RS_ROW_OPERATIONS, "operations");
        uint32_t bar = made_bar(&d, MADE_ALLREDUCE, 0, 500);
        d.bars.wait[bar] = i % 10 ? 0 : 10;
    }
    draw(RS_PICTURE_TEXT, true, (struct rs_picture_options){.width = 80, .ascii = true});
    unsigned lines = 0;
    for (const char *p = output; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 1 + 48 + 1 + 2); /* the footer takes two */
    assert_non_null(strstr(output, "\nrank 470"));
    assert_null(strstr(output, "\nrank 471"));
    assert_non_null(strstr(output, "452 of 500 GPUs not shown: those shown waited most or were last"));
    made_free(&d);
}

static int free_output(void **state)
{
    (void)state;
    free(output);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svg),          cmocka_unit_test(test_svg_places),
        cmocka_unit_test(test_svg_is_small), cmocka_unit_test(test_png),
        cmocka_unit_test(test_text),         cmocka_unit_test(test_text_is_never_too_wide),
        cmocka_unit_test(test_text_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, free_output);
}
