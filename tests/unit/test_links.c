/* The communication matrix: sums, and which links are slow. Times of messages are given; chances are counted by hand. */
#include "joined.h"

#include <math.h>

#include "conclude/report.h"

static struct rs_view view;
static struct rs_matrix found;

static int forget(void **state)
{
    (void)state;
    rs_matrix_free(&found);
    rs_view_free(&view);
    rs_model_free(&model);
    return 0;
}

static void find(void)
{
    rs_matrix_free(&found);
    rs_view_free(&view);
    look(&view);
    rs_matrix_find(&found, &view, &everything, RS_TIME_NONE);
}

static void close_to(double a, double b)
{
    if (fabs(a - b) > 1e-9 * fabs(b)) fail_msg("%.12g is not %.12g", a, b);
}

enum { EACH = 4 }; /* messages in a block */

/* A block of equal messages of 64 KiB between two members. */
static void add_block(uint32_t member, uint32_t peer, bool sent, int64_t at, int64_t ns)
{
    struct rs_net_sample s = {.member = member,
                              .peer = (int32_t)peer,
                              .from = at,
                              .to = at + ns,
                              .messages = EACH,
                              .size = 16,
                              .sent = sent,
                              .n = EACH};
    for (int i = 0; i < EACH; i++) s.ns[i] = (uint32_t)ns;
    rs_model_net_sample(&model, &s);
}

/* The sums of a link whose blocks are added. */
static void add_sums(uint32_t member, uint32_t peer, uint32_t blocks, int64_t ns)
{
    struct rs_net net = {.member = member,
                         .peer = (int32_t)peer,
                         .send_ns = (int64_t)blocks * EACH * ns,
                         .credit_ns = 7,
                         .sent = blocks * EACH,
                         .sent_bytes = blocks * EACH << 16};
    rs_model_net(&model, &net);
}

/* A link with blocks of which each takes `ns`, a little more in every second one. */
static void add_link(uint32_t member, uint32_t peer, uint32_t blocks, int64_t ns)
{
    add_sums(member, peer, blocks, ns);
    for (uint32_t b = 0; b < blocks; b++) add_block(member, peer, true, b * MS, ns + (b + member) % 2 * (ns / 50));
}

static const struct rs_link_row *row_of(int32_t rank, int32_t peer)
{
    uint32_t i = rs_matrix_link(&found, rank, peer);
    assert_true(i != RS_NONE);
    return &found.rows[i];
}

/* Two links of a kind, one of them four times as slow: of ten blocks it is the slower in all with a chance of 2^-10, and so
 * could be either of them. Seven blocks are not enough. */
static void test_two(void **state)
{
    (void)state;
    for (uint32_t blocks = 7; blocks <= 10; blocks += 3) {
        make_job(2, 1, 1 * US);
        make_comm(1, 0, 1, 2);
        for (uint32_t r = 0; r < 2; r++) add_link(r, 1 - r, blocks, r ? 40 * US : 10 * US);
        find();
        const struct rs_link_row *slow = row_of(1, 0), *other = row_of(0, 1);
        close_to(slow->p_value, 2 * pow(2, -(double)blocks));
        close_to(other->p_value, 1);
        assert_true(slow->slower > 3.9 && slow->slower < 4.1 && slow->low > 3.9 && slow->high < 4.1);
        assert_int_equal(slow->compared, blocks * EACH);
        assert_int_equal(slow->blocks, blocks);
        assert_int_equal(slow->links, 2);
        assert_int_equal(slow->place, RS_LINK_BETWEEN_HOSTS);
        assert_int_equal(found.judged, 2);
        assert_int_equal(found.nslow, blocks > 7);
        if (blocks > 7) {
            assert_int_equal(found.slow[0].scope, RS_SLOW_LINK);
            assert_int_equal(found.rows[found.slow[0].row].rank, 1);
            close_to(found.slow[0].slower, slow->slower);
        }
        forget(NULL);
    }
}

/* Three links whose ranks in four blocks add up to 6: of 81 ways 15 give at most 6 (4: 1, 5: 4, 6: 10). */
static void test_chance(void **state)
{
    (void)state;
    make_job(3, 1, 1 * US);
    make_comm(1, 0, 1, 3);
    static const int64_t us[3][4] = {{30, 30, 20, 20}, {20, 20, 30, 10}, {10, 10, 10, 30}};
    for (uint32_t r = 0; r < 3; r++) {
        add_sums(r, (r + 1) % 3, 4, 20 * US);
        for (uint32_t b = 0; b < 4; b++) add_block(r, (r + 1) % 3, true, b * MS, us[r][b] * US);
    }
    find();
    close_to(row_of(0, 1)->p_value, 3 * 15.0 / 81);
    assert_int_equal(found.nslow, 0);
}

/* Rows over 8 ranks on 4 hosts, from each rank to those at odd distances: `slow` says which links take twice as long. */
static void make_links(bool (*slow)(uint32_t rank, uint32_t peer), uint32_t hosts)
{
    make_job((int)hosts, 8 / (int)hosts, 1 * US);
    make_comm(1, 0, 1, 8);
    for (uint32_t r = 0; r < 8; r++)
        for (uint32_t far = 1; far < 8; far += 2) {
            uint32_t peer = (r + far) % 8;
            add_link(r, peer, 16, slow(r, peer) ? 20 * US : 10 * US + r * 100);
            add_sums(r, peer, 16, 10 * US); /* two spans are one row */
        }
    find();
    assert_int_equal(found.nrows, 32);
}

static bool none(uint32_t rank, uint32_t peer)
{
    (void)rank, (void)peer;
    return false;
}
static bool from_3_to_4(uint32_t rank, uint32_t peer)
{
    return rank == 3 && peer == 4;
}
static bool from_3(uint32_t rank, uint32_t peer)
{
    (void)peer;
    return rank == 3;
}
static bool to_5(uint32_t rank, uint32_t peer)
{
    (void)rank;
    return peer == 5;
}
static bool from_host_1(uint32_t rank, uint32_t peer) /* of four */
{
    return rank / 2 == 1 && peer / 2 != 1;
}
static bool to_host_1(uint32_t rank, uint32_t peer)
{
    return from_host_1(peer, rank);
}

/* What slow links share is named, once. */
static void test_shared(void **state)
{
    (void)state;
    static const struct {
        bool (*slow)(uint32_t rank, uint32_t peer);
        enum rs_slow_scope scope;
        uint32_t links;
        int32_t rank, peer; /* of the slowest; -1: any */
    } cases[] = {
        {from_3_to_4, RS_SLOW_LINK, 1, 3, 4},
        {from_3, RS_SLOW_SENDER, 3, 3, -1}, /* and one to 2, in its host */
        {to_5, RS_SLOW_RECEIVER, 3, -1, 5},
        {from_host_1, RS_SLOW_SENDING_HOST, 6, -1, -1},
        {to_host_1, RS_SLOW_RECEIVING_HOST, 6, -1, -1},
    };
    make_links(none, 4);
    assert_int_equal(found.nslow, 0);
    forget(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_links(cases[i].slow, 4);
        assert_int_equal(found.nslow, 1);
        const struct rs_slow_link *x = &found.slow[0];
        const struct rs_link_row *row = &found.rows[x->row];
        assert_int_equal(x->scope, cases[i].scope);
        assert_int_equal(x->links, cases[i].links);
        if (cases[i].rank >= 0) assert_int_equal(row->rank, cases[i].rank);
        if (cases[i].peer >= 0) assert_int_equal(row->peer, cases[i].peer);
        assert_true(x->slower > 1.8 && x->slower < 2.05 && x->low >= 1.8 && x->high <= 2.1 && x->p_value < 0.001);
        assert_int_equal(x->place, RS_LINK_BETWEEN_HOSTS);
        assert_int_equal(x->peer_host == RS_NONE, x->scope != RS_SLOW_LINK && x->scope != RS_SLOW_RECEIVER &&
                                                      x->scope != RS_SLOW_RECEIVING_HOST);
        assert_int_equal(row->messages, 2 * 16 * EACH);
        assert_int_equal(row->credit_ns, 14);
        forget(NULL);
    }
}

/* In one host links share its CPUs: twice as slow is no finding there. */
static void test_in_host(void **state)
{
    (void)state;
    make_links(from_3_to_4, 1);
    const struct rs_link_row *r = row_of(3, 4);
    assert_true(r->slower > 1.8 && r->p_value < 0.001);
    assert_int_equal(r->place, RS_LINK_IN_HOST);
    assert_int_equal(found.nslow, 0);
}

/* A ring of 8 ranks on 8 hosts, in which messages from 3 to 4 take four times as long in some way. */
enum { STALLS, BURST, LATE_RECEIVER, LATE_SENDER, FEW, SLOW };
static void make_ring(int how)
{
    make_job(8, 1, 1 * US);
    make_comm(1, 0, 1, 8);
    for (uint32_t r = 0; r < 8; r++) {
        uint32_t peer = (r + 1) % 8, blocks = how == FEW ? 3 : 20;
        add_sums(r, peer, blocks, 10 * US);
        for (uint32_t b = 0; b < blocks; b++) {
            bool odd = r == 3 && (how != BURST || b < 8);
            int64_t ns = 10 * US + (b * 7 + r * 5) % 11 * 20, sent = odd ? 4 * ns : ns;
            int64_t received = how == LATE_RECEIVER ? ns : odd && how != LATE_SENDER ? 6 * ns : 5 * ns;
            if (how == LATE_SENDER) sent = ns;
            add_block(r, peer, true, b * MS, sent);
            add_block(peer, r, false, b * MS, received);
            struct rs_net_sample *s = &model.net_samples[model.nnet_samples - 2];
            for (uint32_t i = 0; odd && how == STALLS && i < EACH; i++)
                s->ns[i] = (uint32_t)(i ? ns : 1000 * ns); /* one of four stalls */
        }
    }
    find();
}

/* Only a link that is slow for most of its messages, in most blocks, and for both its ends, is one. */
static void test_not_the_link(void **state)
{
    (void)state;
    for (int how = STALLS; how <= SLOW; how++) {
        make_ring(how);
        const struct rs_link_row *r = row_of(3, 4);
        if (found.nslow != (how == SLOW)) fail_msg("case %d: %u slow links", how, found.nslow);
        if (how == FEW)
            assert_int_equal(r->compared, 0);
        else if (how == SLOW)
            assert_true(r->slower > 3.9 && r->slower < 4.1);
        else if (how != BURST)
            assert_true(r->slower < 1.1);
        if (how == BURST) assert_true(r->steady > 0.35 && r->steady < 0.45);
        forget(NULL);
    }
}

/* What remains of transfers without the slow link: a ring that has it, one that does not, a send over it. */
static void test_cure(void **state)
{
    (void)state;
    make_ring(SLOW);
    uint32_t row = rs_matrix_link(&found, 3, 4);
    struct rs_link_cure c;
    assert_true(rs_matrix_cure(&found, row, 0, false, &c));
    double pace = 1;
    for (uint32_t i = 0; i < found.nrows; i++)
        if (i != row && found.rows[i].messages) pace = fmax(pace, found.rows[i].slower);
    close_to(c.remains, pace / found.rows[row].slower);
    assert_true(c.low <= c.remains && c.remains <= c.high && c.high < 0.3);
    assert_true(rs_matrix_cure(&found, row, 0, true, &c));
    close_to(c.remains, 1 / found.rows[row].slower);
    assert_true(rs_matrix_cure(&found, row, 1, false, &c));
    close_to(c.remains, 1);
    assert_true(rs_matrix_cure(&found, rs_matrix_link(&found, 5, 6), 0, false, &c));
    assert_true(c.remains > 0.99);
    assert_false(rs_matrix_cure(&found, RS_NONE, 0, false, &c));
    close_to(c.remains, 1);
    assert_int_equal(rs_matrix_link(&found, 4, 3), RS_NONE);
}

static char *conclude(void)
{
    struct rs_report r;
    struct rs_report_options options = {.filter = &everything, .network = true};
    static char all[4096];
    const int64_t starts[8] = {0};
    for (int i = 0; i < 3; i++) add_coll(0, "AllReduce", 1 << 20, starts, 1 * MS);
    rs_waits_find(&model);
    fine(rs_report_init(&r, &model, &options, NULL));
    *all = '\0';
    for (uint32_t i = 0; i < r.nconclusion; i++) {
        strncat(all, r.conclusion[i], sizeof all - strlen(all) - 1);
        strncat(all, "\n", sizeof all - strlen(all) - 1);
    }
    rs_report_free(&r);
    return all;
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" is not in: %s", part, text);
}

/* Advice is about what the link is made of: cables only between hosts. */
static void test_words(void **state)
{
    (void)state;
    for (int hosts = 8; hosts; hosts = hosts == 8 ? 1 : 0) {
        make_job(hosts, 8 / hosts, 1 * US);
        make_comm(1, 0, 1, 8);
        for (uint32_t r = 0; r < 8; r++) add_link(r, (r + 1) % 8, 20, r == 3 ? 50 * US : 10 * US);
        char *text = conclude();
        says(text, "link from rank 3");
        says(text, " takes 4.9 times (4.9 to 5.1) as long per message as the median of similar links");
        if (hosts == 8) {
            says(text, "check that path (NIC, cable, switch port).");
        } else {
            assert_true(!strstr(text, "NIC") && !strstr(text, "cable") && !strstr(text, "switch"));
            says(text, "inside one host: check why NCCL uses the network there");
        }
        rs_model_free(&model);
    }
    make_links(from_host_1, 4);
    says(conclude(), "ost node01 is slow sending to other hosts (6 links): the network takes 1.9 times");
    forget(NULL);
    make_links(to_5, 4);
    says(conclude(), " is slow receiving from 3 peers: the network takes ");
    forget(NULL);
}

static uint64_t seed = 88172645463325252;
static double random_part(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Links that are alike, with noise of a decade: at a level of 5 % any is below it in at most 5 % of the runs; and none is
 * slow. */
static void test_alike(void **state)
{
    (void)state;
    enum { RUNS = 400 };
    int below = 0;
    for (int run = 0; run < RUNS; run++) {
        make_job(8, 1, 1 * US);
        make_comm(1, 0, 1, 8);
        for (uint32_t r = 0; r < 8; r++) {
            add_sums(r, (r + 1) % 8, 16, 30 * US);
            for (uint32_t b = 0; b < 16; b++) {
                add_block(r, (r + 1) % 8, true, b * MS, 0);
                struct rs_net_sample *s = &model.net_samples[model.nnet_samples - 1];
                for (uint32_t i = 0; i < EACH; i++) s->ns[i] = (uint32_t)(10e3 * pow(10, random_part()));
            }
        }
        find();
        double least = 1;
        for (uint32_t i = 0; i < found.nrows; i++) least = fmin(least, found.rows[i].p_value);
        below += least <= 0.05;
        assert_int_equal(found.nslow, 0);
        forget(NULL);
    }
    assert_true(below > 0 && below <= 0.05 * RUNS + 3 * sqrt(0.05 * 0.95 * RUNS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),          cmocka_unit_test_teardown(test_chance, forget),
        cmocka_unit_test(test_shared),       cmocka_unit_test_teardown(test_in_host, forget),
        cmocka_unit_test(test_not_the_link), cmocka_unit_test_teardown(test_cure, forget),
        cmocka_unit_test(test_words),        cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
