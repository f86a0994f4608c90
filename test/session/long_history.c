/*
 * A log of more events than a server sends at a time, held against a model at random points: states, undone
 * and redone turns, forks, cuts, and a base. The seed is fixed; SESLITE_TEST_SEED gives another.
 */
#include "random.h"
#include "history.h"

enum { EVENTS = 1300, TURN = 4, BATCH = 100, KEYS = 10, MOST = EVENTS + 100, ABSENT = -1 };

/* The values of the keys k0, k1 ... after each event. */
struct model {
    uint64_t random;
    int values[MOST + 1][KEYS];
    int64_t last;
};

static bool chance(struct model *model, size_t below)
{
    return random_below(&model->random, below) == 0;
}

/* k0 and k2 are changed at the end only, k1 only early, and k3 by every other event. */
static int64_t rarity(int of, int64_t seq)
{
    switch (of) {
    case 0:
    case 2:
        return seq > EVENTS - 40 ? 8 : INT64_MAX;
    case 1:
        return seq > 20 ? INT64_MAX : 4;
    default:
        return of == 3 ? 2 : INT64_C(1) << of;
    }
}

/* A key may appear twice: then the last one counts. */
static void print_delta(struct model *model, int64_t seq, FILE *out)
{
    int *values = model->values[seq];
    const char *separator = "";

    memcpy(values, model->values[seq - 1], sizeof model->values[seq]);
    for (int times = 0; times < 2; times++) {
        for (int of = 0; of < KEYS; of++) {
            if (rarity(of, seq) == INT64_MAX || !chance(model, (size_t)rarity(of, seq)))
                continue;
            values[of] = chance(model, 4) ? ABSENT : (int)random_below(&model->random, 1000);
            if (values[of] == ABSENT)
                fprintf(out, "%s\"k%d\":%s", separator, of, SES_TOMBSTONE);
            else
                fprintf(out, "%s\"k%d\":%d", separator, of, values[of]);
            separator = ",";
        }
    }
}

static void append_batch(struct model *model, ses_store *store)
{
    static char events[BATCH][1024];
    ses_text texts[BATCH];
    ses_error error;

    for (int i = 0; i < BATCH; i++) {
        const int64_t seq = ++model->last;
        FILE *out = fmemopen(events[i], sizeof events[i], "w");
        assert_non_null(out);
        fprintf(out,
                "{\"invocationId\":\"v%d\",\"author\":\"%s\",\"content\":{\"parts\":[{\"text\":\"t\"}]},"
                "\"actions\":{\"stateDelta\":{",
                (int)((seq - 1) / TURN), (seq - 1) % TURN == 0 ? "user" : "agent");
        print_delta(model, seq, out);
        fprintf(out, "}}}");
        assert_int_equal(fclose(out), 0);
        texts[i] = (ses_text){events[i], strlen(events[i])};
    }
    assert_ok(ses_append_batch_by_key(store, &key, texts, BATCH, NULL, NULL, &error));
}

static const char *state_of(const struct model *model, int64_t seq)
{
    static char text[400];
    size_t len = (size_t)snprintf(text, sizeof text, "{");

    for (int of = 0; of < KEYS; of++) {
        if (model->values[seq][of] != ABSENT)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s\"k%d\":%d", len > 1 ? "," : "", of,
                                    model->values[seq][of]);
    }
    snprintf(text + len, sizeof text - len, "}");
    return text;
}

static void check_state(const struct model *model, ses_store *store, const ses_key *of, int64_t seq)
{
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_by_key(store, of, NULL, &json, NULL, &error));
    assert_string_equal(json, state_of(model, seq));
    ses_free(json);
}

/* Most of them near the end. */
static void check_points(struct model *model, ses_store *store, int64_t base)
{
    for (int i = 0; i < 60; i++) {
        const int64_t far = model->last - base;
        const int64_t most = chance(model, 3) ? far : far / 12;
        const int64_t seq = model->last - (int64_t)random_below(&model->random, (size_t)most + 1);
        assert_as_of(store, &key, AFTER_SEQ(seq), state_of(model, seq));
    }
}

/* The event that goes back leads to the state there. */
static void note_rewind(struct model *model, int64_t to)
{
    model->last++;
    memcpy(model->values[model->last], model->values[to], sizeof model->values[to]);
}

static void check_undo(struct model *model, ses_store *store)
{
    const int64_t end = model->last;
    ses_error error;

    for (int64_t turns = 1; turns <= 3; turns++) {
        must_rewind(store, &key, LAST_TURN);
        note_rewind(model, end - turns * TURN);
        check_state(model, store, &key, model->last);
    }
    assert_ok(ses_redo_by_key(store, &key, NULL, NULL, &error));
    note_rewind(model, end - 2 * TURN);
    check_state(model, store, &key, model->last);
    assert_as_of(store, &key, LAST_TURN, state_of(model, end - 3 * TURN));
}

static void check_fork_and_cut(struct model *model, ses_store *store)
{
    const ses_key to = {"app", "user", "fork"};
    const int64_t seq = model->last - 1 - (int64_t)random_below(&model->random, 20);
    ses_error error;

    assert_ok(ses_fork_by_key(store, &key, AFTER_SEQ(seq), &to, NULL, NULL, &error));
    check_state(model, store, &to, seq);
    assert_as_of(store, &to, AFTER_SEQ(seq - 9), state_of(model, seq - 9));
    must_delete(store, &to);
    assert_ok(ses_cut_by_key(store, &key, AFTER_SEQ(seq), NULL, NULL, &error));
    model->last = seq;
    check_state(model, store, &key, seq);
}

TEST(its_end_is_as_it_would_be_replayed)
{
    const ses_prune_options early = {.size = sizeof early, .which = SES_PRUNE_SEQ, .last_seq = 30 * TURN};
    const char *seed = getenv("SESLITE_TEST_SEED");
    struct model *model = calloc(1, sizeof *model);

    assert_non_null(model);
    model->random = seed ? strtoull(seed, NULL, 10) : 1;
    for (int of = 0; of < KEYS; of++)
        model->values[0][of] = of % 3 == 0 ? of : ABSENT;
    must_create(fixture->store, &key, state_of(model, 0));
    while (model->last < EVENTS)
        append_batch(model, fixture->store);
    check_points(model, fixture->store, 0);
    check_undo(model, fixture->store);
    check_fork_and_cut(model, fixture->store);
    assert_ok(ses_prune_by_key(fixture->store, &key, &early, NULL, &error));
    check_points(model, fixture->store, early.last_seq);
    free(model);
}

static void append_run(ses_store *store, const char *invocation, int64_t seq)
{
    char event[200];
    ses_error error;

    snprintf(event, sizeof event,
             "{\"invocationId\":\"%s\",\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"t\"}]},"
             "\"actions\":{\"stateDelta\":{\"n\":%d}}}",
             invocation, (int)seq);
    assert_ok(ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error));
}

TEST(the_last_turn_is_behind_messages_in_older_invocations)
{
    static const char *const runs[] = {"a", "b", "c", "d", "e", "last", "a", "b", "c", "d", "e"};

    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        append_run(fixture->store, runs[i], (int64_t)i + 1);
    assert_as_of(fixture->store, &key, LAST_TURN, "{\"n\":5}");
}

/* A look through the log for each of them would take longer than the limit. */
TEST(many_messages_in_older_invocations_cost_no_more_than_others)
{
    enum { INVOCATIONS = 4000 };
    const ses_as_of_options limited = {.size = sizeof limited, .timeout_ms = 2000};
    static char events[BATCH][200];
    ses_text texts[BATCH];
    char *json = NULL;

    must_create(fixture->store, &key, NULL);
    for (int seq = 1; seq <= 2 * INVOCATIONS; seq++) {
        char *event = events[(seq - 1) % BATCH];
        const int len = snprintf(event, sizeof events[0],
                                 "{\"invocationId\":\"v%d\",\"author\":\"user\",\"content\":{\"parts\":"
                                 "[{\"text\":\"t\"}]},\"actions\":{\"stateDelta\":{\"n\":%d}}}",
                                 seq % INVOCATIONS, seq);
        texts[(seq - 1) % BATCH] = (ses_text){event, (size_t)len};
        if (seq % BATCH == 0)
            assert_ok(ses_append_batch_by_key(fixture->store, &key, texts, BATCH, NULL, NULL, &error));
    }
    assert_ok(ses_state_json_as_of_by_key(fixture->store, &key, LAST_TURN, &limited, &json, NULL, &error));
    assert_string_equal(json, "{\"n\":3999}");
    ses_free(json);
}
