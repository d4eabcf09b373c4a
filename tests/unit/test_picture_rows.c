/* Rows of a picture: which there are, how bars share their height, what is left out; headings, legend and relations. */
#include "pictured.h"

#include "picture/layout.h"
#include "picture/paint.h"
#include "picture/relations.h"

static struct rs_picture_rows rows;
static struct made d;

static void take(bool fold, unsigned most)
{
    const struct rs_picture_take take = {.fold = fold, .width = 1000, .most = most, .from = 0, .to = 1000};
    rs_picture_rows_init(&rows, &d.t, &take, made_sums(&d));
    rs_picture_rows_add(&rows, &d.bars);
    rs_picture_rows_end(&rows, RS_PAINT_BARS);
}

static void done(void)
{
    rs_picture_rows_free(&rows);
    made_free(&d);
}

static const char *label(uint32_t row)
{
    static char text[100];
    rs_picture_row_label(&rows, &rows.rows[row], text, sizeof(text));
    return text;
}

static void test_folded(void **state)
{
    (void)state;
    made_make(&d, 2);
    made_lane(&d, 0, 1, RS_ROW_CALLS, "thread 7");
    made_bar(&d, MADE_CALL, 0, 10);
    made_lane(&d, 0, 2, RS_ROW_COMPUTE, "stream 7");
    made_bar(&d, MADE_COMPUTE, 0, 500);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    made_bar(&d, MADE_ALLREDUCE, 100, 100);
    made_bar(&d, MADE_ALLREDUCE, 400, 100);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations"); /* sub 1: overlaps the first */
    made_bar(&d, MADE_SEND, 150, 100);
    made_lane(&d, 1, 3, RS_ROW_OPERATIONS, "operations");
    made_bar(&d, MADE_ALLREDUCE, 5000, 100); /* not in the span */
    take(true, 0);
    assert_int_equal(rows.n, 2); /* a GPU a row, also one without anything to see */
    assert_string_equal(label(0), "rank 0");
    assert_string_equal(label(1), "rank 1");
    assert_int_equal(rows.rows[1].nbars, 0);
    const struct rs_picture_row *row = &rows.rows[0];
    assert_true(row->has_lower);
    assert_int_equal(row->nbars, 4); /* no calls */
    static const struct {
        int64_t start;
        uint8_t slot, slots;
    } wanted[] = {{0, 0, 1}, {100, 0, 2}, {150, 1, 2}, {400, 0, 1}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(row->bars[i].start, wanted[i].start);
        assert_int_equal(row->bars[i].slot, wanted[i].slot);
        assert_int_equal(row->bars[i].slots, wanted[i].slots);
    }
    done();
}

static void test_losses_take_no_share(void **state)
{
    (void)state;
    made_make(&d, 1);
    made_lane(&d, 0, 2, RS_ROW_OPERATIONS, "lost");
    uint32_t lost = made_bar(&d, MADE_ALLREDUCE, 0, 1000);
    d.bars.flags[lost] = RS_BAR_LOST;
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    made_bar(&d, MADE_ALLREDUCE, 100, 100);
    take(true, 0);
    assert_int_equal(rows.rows[0].nbars, 2);
    assert_int_equal(rows.rows[0].bars[0].slots, 1);
    assert_int_equal(rows.rows[0].bars[1].slots, 1);
    done();
}

static void test_more_than_fit_lie_over_others(void **state)
{
    (void)state;
    made_make(&d, 1);
    for (int i = 0; i < 20; i++) {
        made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
        made_bar(&d, MADE_ALLREDUCE, i, 500);
    }
    take(true, 0);
    assert_int_equal(rows.rows[0].nbars, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(rows.rows[0].bars[i].slots, 6);
        assert_true(rows.rows[0].bars[i].slot < 6);
    }
    done();
}

static void test_open(void **state)
{
    (void)state;
    made_make(&d, 1);
    made_lane(&d, 0, 1, RS_ROW_CALLS, "thread 7");
    made_bar(&d, MADE_CALL, 0, 10);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    made_bar(&d, MADE_ALLREDUCE, 100, 100);
    for (int i = 0; i < 4; i++) { /* four channels, one of them without anything to see */
        made_lane(&d, 0, 3, RS_ROW_CHANNELS, i ? "channel 1" : "channel 0");
        made_bar(&d, MADE_ALLREDUCE, i == 2 ? 3000 : 100, 50);
    }
    take(false, 0);
    assert_int_equal(rows.n, 3);
    assert_string_equal(label(0), "calls, thread 7");
    assert_string_equal(label(1), "operations");
    assert_string_equal(label(2), "3 GPU channels");
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(rows.rows[2].bars[i].slots, 3);
        assert_int_equal(rows.rows[2].bars[i].slot, i);
    }
    /* One heading for what begins together: the process's lanes, then the GPU's. */
    struct rs_layout l;
    const struct rs_picture_options o = {.title = "t", .width = 1200};
    rs_layout_init(&l, &rows, &o, 0);
    assert_int_equal(l.nheadings, 2);
    assert_string_equal(l.headings[0].text, "host 0 › process 0");
    assert_int_equal(l.headings[0].before, 0);
    assert_string_equal(l.headings[1].text, "rank 0 › world");
    assert_int_equal(l.headings[1].before, 1);
    /* Nothing lies over anything else. */
    double y = l.plot.y;
    for (uint32_t i = 0, h = 0; i < rows.n; i++) {
        if (h < l.nheadings && l.headings[h].before == i) {
            assert_true(l.headings[h].y == y);
            y += l.headings[h++].height;
        }
        assert_true(rows.rows[i].y == y);
        y += rows.rows[i].height;
    }
    assert_true(l.legend_y > y && l.footer_y > l.legend_y && l.height > l.footer_y);
    assert_string_equal(l.footer, "clock error up to 6.00 us");
    rs_layout_free(&l);
    done();
}

static void test_places(void **state)
{
    (void)state;
    made_make(&d, 1);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    made_bar(&d, MADE_ALLREDUCE, -500, 1000); /* begins before the span */
    made_bar(&d, MADE_ALLREDUCE, 600, 0); /* has no width */
    made_bar(&d, MADE_ALLREDUCE, 900, 5000); /* ends behind it */
    take(true, 0);
    struct rs_layout l;
    const struct rs_picture_options o = {.width = 1200};
    rs_layout_init(&l, &rows, &o, 0);
    assert_true(l.plot.w == 1000);
    struct rs_box box = rs_layout_bar(&l, &rows.rows[0], &rows.rows[0].bars[0]);
    assert_true(box.x == l.plot.x && box.w == 500);
    box = rs_layout_bar(&l, &rows.rows[0], &rows.rows[0].bars[1]);
    assert_true(box.x == l.plot.x + 600 && box.w > 0.5 && box.w < 1);
    box = rs_layout_bar(&l, &rows.rows[0], &rows.rows[0].bars[2]);
    assert_true(box.x == l.plot.x + 900 && box.w == 100);
    rs_layout_free(&l);
    done();
}

static void test_keeps_who_waited_most(void **state)
{
    (void)state;
    made_make(&d, 10);
    for (uint32_t i = 0; i < 10; i++) {
        made_lane(&d, i, 3, RS_ROW_OPERATIONS, "operations");
        uint32_t bar = made_bar(&d, MADE_ALLREDUCE, 100, 100);
        d.bars.wait[bar] = i == 7 ? 90 : i == 2 ? 80 : i == 4 ? 70 : 5;
    }
    take(true, 4);
    assert_int_equal(rows.n, 4);
    assert_int_equal(rows.left_out, 6);
    assert_int_equal(rows.units, 10);
    assert_string_equal(label(0), "rank 0"); /* the first of those that are alike */
    assert_string_equal(label(1), "rank 2"); /* in the order of the run, not of their waits */
    assert_string_equal(label(2), "rank 4");
    assert_string_equal(label(3), "rank 7");
    struct rs_layout l;
    const struct rs_picture_options o = {.width = 1200};
    rs_layout_init(&l, &rows, &o, 0);
    assert_non_null(strstr(l.footer, "6 of 10 GPUs not shown: those shown waited most or were last"));
    rs_layout_free(&l);
    done();
}

static void test_keeps_who_came_last(void **state)
{
    (void)state;
    made_make(&d, 40);
    for (uint32_t i = 0; i < 40; i++) {
        made_lane(&d, i, 3, RS_ROW_OPERATIONS, "operations");
        uint32_t bar = made_bar(&d, MADE_ALLREDUCE, 100, 100);
        d.bars.wait[bar] = i == 33 ? 0 : 50;
        d.bars.flags[bar] = i == 33 ? RS_BAR_LAST : 0;
    }
    take(true, 8);
    assert_int_equal(rows.n, 8);
    assert_string_equal(label(6), "rank 6");
    assert_string_equal(label(7), "rank 33");
    done();
}

static void test_many_bars_are_folded(void **state)
{
    (void)state;
    made_make(&d, 1);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    d.t.span = 100000;
    for (int i = 0; i < 10000; i++) made_bar(&d, MADE_ALLREDUCE, i * 10, i % 1000 ? 4 : 10);
    const struct rs_picture_take wanted = {.fold = true, .width = 500, .from = 0, .to = 1000};
    rs_picture_rows_init(&rows, &d.t, &wanted, made_sums(&d));
    rs_picture_rows_add(&rows, &d.bars);
    assert_int_equal(rows.rows[0].nbars, 100); /* of [0, 1000): few, so each is taken */
    rs_picture_rows_free(&rows);

    const struct rs_picture_take all = {.fold = true, .width = 500, .from = 0, .to = 100000};
    rs_picture_rows_init(&rows, &d.t, &all, made_sums(&d));
    rs_picture_rows_add(&rows, &d.bars);
    assert_int_equal(rows.rows[0].nbars, 0); /* none is two pixels wide */
    assert_int_equal(rows.rows[0].upper.width, 500);
    rs_picture_rows_free(&rows);

    /* More than may be drawn one by one: the narrowest go into the pixels. */
    const struct rs_picture_take wide = {.fold = true, .width = 10000, .from = 0, .to = 1010};
    rs_picture_rows_init(&rows, &d.t, &wide, made_sums(&d));
    rs_picture_rows_add(&rows, &d.bars);
    assert_int_equal(rows.rows[0].nbars, 101);
    rs_picture_rows_end(&rows, 50);
    assert_int_equal(rows.rows[0].nbars, 1); /* of 10 ns at 0: all others are alike */
    assert_int_equal(rows.rows[0].upper.width, 10000);
    assert_true(rows.rows[0].upper.kind[120] == MADE_ALLREDUCE + 1); /* 12 ns: the second */
    assert_true(rows.rows[0].upper.kind[170] == 0);
    done();
}

static void test_relations(void **state)
{
    (void)state;
    made_make(&d, 3);
    for (uint32_t i = 0; i < 3; i++) {
        made_lane(&d, i, 1, RS_ROW_CALLS, "thread");
        uint32_t call = made_bar(&d, MADE_CALL, 50, 20);
        made_lane(&d, i, 3, RS_ROW_OPERATIONS, "operations");
        uint32_t bar = made_bar(&d, MADE_ALLREDUCE, 100, 100);
        d.bars.op[bar] = 4;
        d.bars.parent[bar] = call;
        bar = made_bar(&d, i == 0 ? MADE_SEND : MADE_RECV, 300, 100);
        d.bars.op[bar] = i == 2 ? 6 : 5; /* rank 2 has the one end of a pair */
        bar = made_bar(&d, MADE_ALLREDUCE, 500, 1); /* too narrow where few are wanted */
        d.bars.op[bar] = 7;
    }
    take(false, 0);
    struct rs_relations x;
    rs_relations_init(&x, &rows, RS_RELATIONS_NONE);
    assert_int_equal(x.n, 0);
    rs_relations_free(&x);

    rs_relations_init(&x, &rows, RS_RELATIONS_FEW);
    assert_int_equal(x.n, 5);
    assert_int_equal(rs_relations_whats(&x), 1u << RS_LEGEND_SAME_OP | 1u << RS_LEGEND_ARROW | 1u << RS_LEGEND_PARENT);
    for (uint32_t i = 0; i < x.n; i++) {
        const struct rs_relation_end *ends = &x.ends[x.list[i].end];
        if (x.list[i].what == RS_LEGEND_SAME_OP) assert_int_equal(x.list[i].n, 3);
        if (x.list[i].what == RS_LEGEND_ARROW) { /* from the send */
            assert_int_equal(rows.rows[ends[0].row].bars[ends[0].bar].kind, MADE_SEND);
            assert_int_equal(rows.rows[ends[1].row].bars[ends[1].bar].kind, MADE_RECV);
        }
        if (x.list[i].what == RS_LEGEND_PARENT) assert_int_equal(rows.rows[ends[1].row].row, RS_ROW_CALLS);
    }
    rs_relations_free(&x);

    rs_relations_init(&x, &rows, RS_RELATIONS_ALL);
    assert_int_equal(x.n, 6);
    rs_relations_free(&x);
    done();
}

static void test_few_relations_are_the_heaviest(void **state)
{
    (void)state;
    made_make(&d, 2);
    for (uint32_t i = 0; i < 2; i++) {
        made_lane(&d, i, 3, RS_ROW_OPERATIONS, "operations");
        for (uint32_t k = 0; k < 100; k++) {
            uint32_t bar = made_bar(&d, MADE_ALLREDUCE, k * 10, 6);
            d.bars.op[bar] = k;
            d.bars.wait[bar] = k == 77 ? 5 : 0;
        }
    }
    take(true, 0);
    struct rs_relations x;
    rs_relations_init(&x, &rows, RS_RELATIONS_FEW);
    assert_int_equal(x.n, 60);
    assert_int_equal(rows.rows[0].bars[x.ends[x.list[0].end].bar].op, 77);
    rs_relations_free(&x);
    done();
}

static void test_legend_names_what_is_used(void **state)
{
    (void)state;
    made_make(&d, 1);
    made_lane(&d, 0, 3, RS_ROW_OPERATIONS, "operations");
    uint32_t i = made_bar(&d, MADE_SEND, 0, 100);
    d.bars.flags[i] = RS_BAR_END_BOUNDED | RS_BAR_LAST;
    d.bars.fade[i] = 50;
    uint32_t lost = made_bar(&d, MADE_ALLREDUCE, 200, 100);
    d.bars.flags[lost] = RS_BAR_LOST; /* no AllReduce: a loss */
    take(true, 0);
    struct rs_layout l;
    const struct rs_picture_options o = {.width = 1200};
    rs_layout_init(&l, &rows, &o, 1u << RS_LEGEND_ARROW);
    static const enum rs_legend_what wanted[] = {RS_LEGEND_KIND, RS_LEGEND_LAST, RS_LEGEND_FADE, RS_LEGEND_LOST,
                                                 RS_LEGEND_ARROW};
    assert_int_equal(l.nlegend, 5);
    for (uint32_t k = 0; k < 5; k++) assert_int_equal(l.legend[k].what, wanted[k]);
    assert_string_equal(l.legend[0].text, "Send");
    rs_layout_free(&l);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_losses_take_no_share),
        cmocka_unit_test(test_more_than_fit_lie_over_others),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_keeps_who_waited_most),
        cmocka_unit_test(test_keeps_who_came_last),
        cmocka_unit_test(test_many_bars_are_folded),
        cmocka_unit_test(test_relations),
        cmocka_unit_test(test_few_relations_are_the_heaviest),
        cmocka_unit_test(test_legend_names_what_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
