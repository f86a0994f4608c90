/*
 * After a secure redaction nothing of what was redacted is in the file or its log, and the state at every
 * point is what the log leads to: over random histories with rewinds, forks, prunes, artifacts and an index
 * of words. SESLITE_HISTORIES says how many (40), SESLITE_TEST_SEED with which seed. In the twelfth one from
 * the seed below on, SQLite leaves copies of the mark in unused bytes of pages, before the redaction.
 */
#include "erase.h"
#include "random.h"
#include "seslite_agent.h"
#include "seslite_search.h"

/* One word, and its base64. */
#define MARKER "xyzzy4711"
#define ENCODED "eHl6enk0NzEx"

enum { MOST = 60 };

struct history {
    const struct fixture *fixture;
    uint64_t random;
    int64_t marked[MOST]; /* numbers of the events with a secret; 0 is the creation */
    size_t marked_count;
    int64_t last;
    int calls;
    bool rewound;
    int forks;
    char *before[MOST * 2]; /* the state as of each point; NULL: pruned */
};

static int chance(struct history *history, int below)
{
    return (int)random_below(&history->random, (size_t)below);
}

/* ------------------------------------------------------------------------------------------- making one */

static const char *value_of(struct history *history, bool secret)
{
    static char values[8][64];
    static unsigned next;
    char *value = values[next++ % 8];

    snprintf(value, sizeof values[0], secret ? "\"" MARKER "-%d\"" : "\"harmless-%d\"", chance(history, 4));
    return value;
}

static int append(struct history *history, const char *event)
{
    SES_OPTIONS(ses_append_options, options);
    ses_store *store = history->fixture->store;
    ses_artifacts *artifacts;
    ses_appended appended;
    ses_error error;

    assert_ok(ses_artifacts_open(store, &key, &artifacts, &error));
    assert_ok(ses_artifacts_offload(artifacts, 40, &error));
    options.artifacts = artifacts;
    assert_ok(ses_append_by_key(store, &key, event, SES_NUL, &options, &appended, &error));
    ses_artifacts_close(artifacts);
    history->last = appended.seq;
    return (int)appended.seq;
}

/* A turn: a question, a call with its response, and an answer. */
static void add_turn(struct history *history)
{
    static char event[30000];
    const int turn = history->calls++;

    for (int part = 0; part < 4; part++) {
        const bool secret = chance(history, 3) == 0;
        const char *word = secret ? MARKER : "word";
        const char *data = secret ? ENCODED : "d29yZHdvcmRz";
        const int filling = chance(history, 8) == 0 ? 9000 : 10;
        const int name = chance(history, 3);
        char content[500];

        if (part == 1)
            snprintf(content, sizeof content,
                     "{\"functionCall\":{\"id\":\"c%d\",\"name\":\"f\",\"args\":{\"%s\":\"%s\"}}}", turn,
                     word, word);
        else if (part == 2)
            snprintf(content, sizeof content,
                     "{\"functionResponse\":{\"id\":\"c%d\",\"name\":\"f\",\"response\":{\"x\":[\"%s\"]}}}",
                     turn, word);
        else
            snprintf(
                content, sizeof content,
                "{\"text\":\"a %s b\"},{\"inlineData\":{\"mimeType\":\"text/plain\",\"displayName\":\"file%d\","
                "\"data\":\"%s%s%s%s%s\"}}",
                word, chance(history, 3), data, data, data, data, chance(history, 2) ? data : "");
        snprintf(
            event, sizeof event,
            "{\"invocationId\":\"i%d\",\"author\":\"%s\",\"errorMessage\":\"%s\",\"customMetadata\":{\"%s\":"
            "\"%s%0*d\"},\"content\":{\"parts\":[%s]},\"actions\":{\"stateDelta\":{\"k%d\":%s,\"k%d\":%s%s%s}}}",
            turn, part == 0 || part == 2 ? "user" : "agent", word, word, word, filling, 0, content, name,
            value_of(history, secret), name + 1,
            chance(history, 4) ? value_of(history, secret)
                               : "\""
                                 "__ADK_SENTINEL_REMOVED__"
                                 "\"",
            chance(history, 3) == 0 ? ",\"user:u\":" : "", "");
        if (strstr(event, "\"user:u\":}"))
            snprintf(strstr(event, "\"user:u\":}"), 60, "\"user:u\":%s}}}", value_of(history, secret));
        const int64_t seq = append(history, event);
        if (secret)
            history->marked[history->marked_count++] = seq;
    }
}

static void take_back(struct history *history)
{
    ses_error error;
    ses_appended appended;
    const int code =
        ses_rewind_by_key(history->fixture->store, &key, AFTER_SEQ(chance(history, (int)history->last + 1)),
                          NULL, &appended, &error);

    if (code == SES_OK)
        history->last = appended.seq, history->rewound = true;
    else if (code != SES_UNCHANGED && code != SES_INVALID && code != SES_NOTFOUND)
        assert_code(SES_OK, code);
}

static void fork_off(struct history *history)
{
    char name[16];
    const ses_key to = {"app", "user", name};
    ses_error error;

    snprintf(name, sizeof name, "fork%d", history->forks++);
    const int code =
        ses_fork_by_key(history->fixture->store, &key, AFTER_SEQ(chance(history, (int)history->last + 1)),
                        &to, NULL, NULL, &error);
    if (code != SES_NOTFOUND) /* it was pruned */
        assert_code(SES_OK, code);
}

/* Secure deletion is about files. */
static unsigned secure_flag(void)
{
    return support_on_server() ? 0 : SES_SECURE;
}

/* Nobody knows any more which artifacts the pruned events had named, so they are deleted by their names. */
static void prune(struct history *history)
{
    const ses_delete_options secure = {.size = sizeof secure, .flags = secure_flag()};
    static const char *const names[] = {"file0", "file1", "file2"};
    const ses_prune_options options = {.size = sizeof options,
                                       .which = SES_PRUNE_SEQ,
                                       .flags = secure_flag(),
                                       .last_seq = chance(history, (int)history->last + 1)};
    ses_error error;

    if (ses_prune_by_key(history->fixture->store, &key, &options, NULL, &error) < 0)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_ok(ses_artifact_delete_by_key(history->fixture->store, &key, names[i], &secure, NULL, &error));
}

/* Not every server has one. */
static void make_index(ses_store *store)
{
    ses_error error;
    const int code = ses_store_index(store, NULL, NULL, &error);

    assert_code(code == SES_UNSUPPORTED && support_on_server() ? code : SES_OK, code);
}

static void make_history(struct history *history)
{
    const bool secret = chance(history, 2) == 0;
    char initial[200];

    snprintf(initial, sizeof initial, "{\"k0\":%s,\"k1\":%s,\"user:u\":%s}", value_of(history, secret),
             value_of(history, secret), value_of(history, secret));
    must_create(history->fixture->store, &key, initial);
    if (secret)
        history->marked[history->marked_count++] = 0;
    const int steps = 3 + chance(history, 10);
    for (int i = 0; i < steps; i++) {
        const int kind = chance(history, 10);
        if (i == 0 || kind < 5)
            add_turn(history);
        else if (kind < 7)
            take_back(history);
        else if (kind < 8)
            fork_off(history);
        else if (kind < 9)
            make_index(history->fixture->store);
        else if (!history->rewound) /* a pruned rewind may have repeated a value that nobody knows any more */
            prune(history);
    }
}

/* ------------------------------------------------------------------------------------------ looking at it */

/* As `text` is after the redaction: "MARKER-n" becomes "[redacted]". */
static char *redacted(const char *text)
{
    char *copy = calloc(1, strlen(text) * 2 + 1);
    char *to = copy;

    assert_non_null(copy);
    while (*text) {
        if (strncmp(text, MARKER "-", sizeof MARKER) == 0) {
            to += sprintf(to, "[redacted]");
            text += sizeof MARKER + 1;
        } else {
            *to++ = *text++;
        }
    }
    return copy;
}

static char *state_at(const struct history *history, int64_t seq)
{
    const ses_as_of_options shared = {.size = sizeof shared, .flags = SES_AS_OF_SHARED};
    char *json = NULL;
    ses_error error;
    const int code = ses_state_json_as_of_by_key(history->fixture->store, &key, AFTER_SEQ(seq), &shared,
                                                 &json, NULL, &error);

    if (code != SES_NOTFOUND)
        assert_code(SES_OK, code);
    return json;
}

static void note_states(struct history *history)
{
    assert_true(history->last < MOST * 2);
    for (int64_t seq = 0; seq <= history->last; seq++)
        history->before[seq] = state_at(history, seq);
}

static void check_states(struct history *history)
{
    for (int64_t seq = 0; seq <= history->last; seq++) {
        char *now = state_at(history, seq);
        assert_true((now == NULL) == (history->before[seq] == NULL));
        if (now) {
            char *expected = redacted(history->before[seq]);
            assert_string_equal(now, expected);
            free(expected);
        }
        ses_free(now);
        ses_free(history->before[seq]);
    }
}

/* Every call in the context has its response, as before. */
static void check_context(const struct history *history)
{
    ses_context *context = NULL;
    ses_error error;

    assert_ok(ses_context_open_by_key(history->fixture->store, &key, NULL, &context, &error));
    int open = 0;
    for (size_t i = 0; i < ses_context_count(context); i++) {
        const ses_event *event = ses_context_event(context, i);
        open += strstr(event->json, "\"functionCall\"") != NULL;
        open -= strstr(event->json, "\"functionResponse\"") != NULL;
        assert_in_range(open, 0, 1);
    }
    ses_context_close(context);
}

static void redact_marked(struct history *history)
{
    const unsigned secure = secure_flag();
    const ses_redact_options options = {
        .size = sizeof options, .flags = (unsigned)SES_REDACT_STATE | (unsigned)SES_REDACT_FORKS | secure};
    ses_erased erased = {.size = sizeof erased};
    ses_error error;
    const int code = ses_redact_by_key(history->fixture->store, &key, history->marked, history->marked_count,
                                       &options, &erased, &error);

    if (code != SES_UNCHANGED)
        assert_code(SES_OK, code);
    assert_int_equal(erased.forks_left, 0);
}

/* A value that an event has set, and that was overwritten before the event was pruned, is nowhere any
 * more. */
static void run_history(const struct fixture *fixture, uint64_t seed)
{
    struct history history = {.fixture = fixture, .random = seed};
    const ses_key forks[] = {{"app", "user", "fork0"}, {"app", "user", "fork1"}};
    ses_error error;

    make_history(&history);
    note_states(&history);
    redact_marked(&history);
    check_states(&history);
    check_context(&history);
    assert_no_problems(fixture->store);
    for (size_t i = 0; i < 2; i++) {
        ses_session *fork = NULL;
        if (ses_get(fixture->store, &forks[i], NULL, &fork, &error) == SES_OK)
            for (size_t e = 0; e < ses_session_event_count(fork); e++)
                assert_null(strstr(ses_session_event(fork, e)->json, MARKER));
        ses_session_close(fork);
    }
    if (!support_on_server()) {
        assert_int_equal(support_count_in_files(fixture->path, MARKER), 0);
        assert_int_equal(support_count_in_files(fixture->path, ENCODED), 0);
    }
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
}

static int histories(void)
{
    const char *given = getenv("SESLITE_HISTORIES");
    return given ? atoi(given) : support_steps(40);
}

/* The history under way; a test that fails leaves it for the teardown to print. */
static uint64_t seed_now;

static int tell_seed(void **state)
{
    if (seed_now)
        print_error("seed %llu\n", (unsigned long long)seed_now);
    return fixture_teardown(state);
}

TEST_WITH(struct fixture *fixture, fixture_setup, tell_seed, nothing_is_left_of_what_was_redacted)
{
    const char *given = getenv("SESLITE_TEST_SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 10) : 2000;

    fixture->options.synchronous = SES_SYNC_NORMAL;
    for (int i = 0; i < histories(); i++) {
        if (i % 20 == 0)
            fixture_reopen(fixture);
        seed_now = seed + (uint64_t)i;
        run_history(fixture, seed_now);
    }
    seed_now = 0;
}
