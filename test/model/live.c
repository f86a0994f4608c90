/* The live part of a log after rewinds, compared with a plain list of its numbers. */
#include "model/event/log.h"

#include "base/memory.h"
#include "random.h"

enum { LOG = 60 };

static void add_rewind(struct live *live, bool *taken, int seq, int target)
{
    assert_true(ses__live_add_rewind(live, seq, target));
    if (!taken[seq]) {
        for (int i = target > 0 ? target : seq; i <= seq; i++)
            taken[i] = true;
    }
}

static void check(const struct live *live, const bool *taken)
{
    bool seen[LOG + 1] = {false};
    int64_t first = 0;
    int64_t last = 0;
    int64_t before = INT64_MAX;

    for (size_t i = 0; ses__live_stretch(live, i, &first, &last); i++) {
        assert_true(first >= 1 && last <= before);
        before = first - 1;
        for (int64_t seq = first; seq <= last && seq <= LOG; seq++)
            seen[seq] = true;
    }
    for (int seq = 1; seq <= LOG; seq++) {
        assert_int_equal(seen[seq], !taken[seq]);
        assert_int_equal(ses__live_has(live, seq), !taken[seq]);
        assert_true(ses__live_stretch(live, ses__live_find(live, seq), &first, &last));
        assert_true(last >= seq && (first <= seq || taken[seq]));
        bool within = false;
        for (int to = seq; to <= LOG; to++) {
            within = within || !taken[to];
            assert_int_equal(ses__live_within(live, seq, to), within);
        }
    }
}

PLAIN_TEST(random_rewinds)
{
    ses_allocator allocator;
    uint64_t seed = 1;

    ses__memory_default(&allocator);
    for (int round = 0; round < 300; round++) {
        bool taken[LOG + 1] = {false};
        struct live live;
        ses__live_init(&live, &allocator);
        check(&live, taken);
        for (int seq = LOG; seq >= 1; seq--) {
            if (random_below(&seed, (size_t)round % 20 + 2) == 0)
                add_rewind(&live, taken, seq, (int)random_below(&seed, (size_t)seq));
        }
        check(&live, taken);
        ses__live_free(&live);
    }
}

PLAIN_TEST(gaps_side_by_side)
{
    ses_allocator allocator;
    bool taken[LOG + 1] = {false};
    struct live live;

    ses__memory_default(&allocator);
    ses__live_init(&live, &allocator);
    for (int seq = 50; seq >= 20; seq--)
        add_rewind(&live, taken, seq, 0);
    check(&live, taken);
    ses__live_free(&live);
}
