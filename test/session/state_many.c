/* States of thousands of keys that come and go: every key is found, none that is gone, in every scope. */
#include "support.h"

#include <stdbool.h>

static const ses_key key = {"app", "user", "session"};

enum { KEYS = 6000, LONGEST = 400 };

/* The expected state: the value of each key, 0 for none. */
struct model {
    char names[KEYS][LONGEST + 16];
    int values[KEYS];
    uint64_t random;
};

static unsigned next_random(struct model *model, unsigned below)
{
    model->random ^= model->random << 13; /* xorshift64 */
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return (unsigned)(model->random >> 33) % below;
}

/* Names that share what they begin with, what they end with, or are the beginning of one another. */
static struct model *model_new(void)
{
    static const char *const prefixes[] = {"", "app:", "user:", "temp:"};
    struct model *model = calloc(1, sizeof *model);
    char xs[LONGEST + 1];

    assert_non_null(model);
    memset(xs, 'x', LONGEST);
    xs[LONGEST] = '\0';
    model->random = UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < KEYS; i++) {
        const char *prefix = prefixes[i % 4];
        char *name = model->names[i];
        if (i < LONGEST * 4) /* x, xx, xxx, ... */
            snprintf(name, sizeof model->names[i], "%s%s", prefix, xs + LONGEST - i / 4);
        else if (i % 8 < 4)
            snprintf(name, sizeof model->names[i], "%sconversation/turn-%d", prefix, i / 4);
        else
            snprintf(name, sizeof model->names[i], "%s%d.of.the.many.keys", prefix, i / 4);
    }
    return model;
}

/* Adds one change to a delta and to the model. */
static size_t add_change(struct model *model, char *delta, size_t at, int number, bool removes)
{
    model->values[number] = removes ? 0 : (int)next_random(model, 1000000) + 1;
    delta[at] = at == 1 ? ' ' : ',';
    at++;
    if (removes)
        at += (size_t)sprintf(delta + at, "\"%s\":\"__ADK_SENTINEL_REMOVED__\"", model->names[number]);
    else
        at += (size_t)sprintf(delta + at, "\"%s\":%d", model->names[number], model->values[number]);
    return at;
}

/* A delta of `count` changes to random keys among those from `first` on; free it. */
static char *random_delta(struct model *model, int first, int among, int count, unsigned removals_of_100)
{
    char *delta = malloc((size_t)count * (LONGEST + 64) + 8);
    size_t at = 1;

    assert_non_null(delta);
    delta[0] = '{';
    for (int i = 0; i < count; i++) {
        int number = first + (int)next_random(model, (unsigned)among);
        at = add_change(model, delta, at, number, next_random(model, 100) < removals_of_100);
    }
    strcpy(delta + at, "}");
    return delta;
}

static void append_delta(ses_session *session, char *delta)
{
    size_t room = strlen(delta) + 80;
    char *event = malloc(room);

    assert_non_null(event);
    snprintf(event, room, "{\"invocationId\":\"i\",\"actions\":{\"stateDelta\":%s}}", delta);
    must_append(session, event);
    free(event);
    free(delta);
}

static bool is_temp(const char *name)
{
    return strncmp(name, "temp:", 5) == 0;
}

/* Every key is there with its value, or not there; and the walk meets exactly those. */
static void check(const struct model *model, const ses_session *session, bool with_temp)
{
    size_t count = 0;
    ses_error error;

    for (int i = 0; i < KEYS; i++) {
        bool there = model->values[i] && (with_temp || !is_temp(model->names[i]));
        int64_t value = -1;
        int code = ses_state_get_int64(session, model->names[i], &value, &error);
        if (code != (there ? SES_OK : SES_ABSENT) || (there && value != model->values[i]))
            fail_msg("%.60s: %s, %lld, not %d", model->names[i], ses_code_name(code), (long long)value,
                     model->values[i]);
        count += there;
    }
    assert_int_equal(ses_state_count(session), count);
    const char *before = NULL;
    for (size_t i = 0; i < count; i++) {
        static const char *const prefixes[] = {"app:", "user:", "", "temp:"};
        const char *name = NULL;
        assert_ok(ses_state_at(session, i, &name, NULL, NULL, &error));
        size_t scope_of[2] = {2, 2};
        for (size_t scope = 0; scope < 4; scope++) {
            if (scope != 2 && strncmp(name, prefixes[scope], strlen(prefixes[scope])) == 0)
                scope_of[1] = scope;
            if (scope != 2 && before && strncmp(before, prefixes[scope], strlen(prefixes[scope])) == 0)
                scope_of[0] = scope;
        }
        if (before)
            assert_true(scope_of[0] < scope_of[1] ||
                        (scope_of[0] == scope_of[1] && strcmp(before, name) < 0));
        before = name;
    }
}

/* The handle that appends, one that refreshes, and one that is read anew agree with the model. */
static void check_all(const struct fixture *fixture, const struct model *model, const ses_session *writer,
                      ses_session *reader)
{
    check(model, writer, true);
    must_refresh(reader);
    check(model, reader, false);
    ses_session *fresh = must_get(fixture->store, &key);
    check(model, fresh, false);
    assert_string_equal(support_state(reader, NULL), support_state(fresh, NULL));
    ses_session_close(fresh);
}

TEST(thousands_of_keys_grow_shrink_and_grow_again)
{
    static const struct {
        int rounds, changes, first, among;
        unsigned removals_of_100;
    } phases[] = {
        {1, 8, 0, KEYS, 0},       {1, 5000, 0, KEYS, 0}, {20, 50, 0, KEYS, 50},   {4, 4000, 0, KEYS, 95},
        {1, 3000, 1600, 4400, 0}, {30, 3, 1600, 64, 50}, {3, 5000, 0, KEYS, 100}, {2, 2000, 0, KEYS, 10},
    };
    struct model *model = model_new();
    ses_session *writer = must_open_new(fixture->store, &key, NULL);
    ses_session *reader = must_get(fixture->store, &key);

    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        for (int round = 0; round < phases[i].rounds; round++)
            append_delta(writer, random_delta(model, phases[i].first, phases[i].among, phases[i].changes,
                                              phases[i].removals_of_100));
        check_all(fixture, model, writer, reader);
    }
    free(model);
}

/* One key after the other goes, until none is left. */
MEMORY_TEST(every_key_can_be_removed)
{
    struct model *model = model_new();
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char delta[LONGEST + 64];

    append_delta(session, random_delta(model, 1500, 400, 1000, 0));
    for (int i = 0; i < 400; i++) {
        int number = 1500 + i * 7 % 400;
        bool was_there = model->values[number] != 0;
        size_t count = ses_state_count(session);
        delta[0] = '{';
        size_t at = add_change(model, delta, 1, number, true);
        strcpy(delta + at, "}");
        append_delta(session, strdup(delta));
        assert_int_equal(ses_state_count(session), was_there ? count - 1 : count);
        if (i % 50 == 0)
            check(model, session, true);
    }
    assert_string_equal(support_state(session, NULL), "{}");
    free(model);
}

TEST(initial_state_of_thousands_of_keys)
{
    struct model *model = model_new();

    char *json = random_delta(model, 0, KEYS, 9000, 20);
    ses_session *session = must_open_new(fixture->store, &key, json);
    check(model, session, false);
    free(json);
    free(model);
}
