/* A store with an index against one without: whatever happens to both, every search gives the same. */
#include "seslite_history.h"
#include "seslite_search.h"
#include "seslite_transfer.h"

#include "open.h"
#include "random.h"
#include "support.h"

enum { USERS = 2, SESSIONS = 4, WORDS = 12, OPERATIONS = 250 };

static const char *const words[WORDS] = {"one",          "two",    "three",        "vier",
                                         "f\u00fcnf",    "\u516d", "\u516d\u4e03", "\u4e03",
                                         "\u0e41\u0e1b", "nine",   "ten's",        "eleven12"};

struct twins {
    struct fixture *indexed;
    struct fixture *plain;
    uint64_t seed;
    int events;
    int64_t second;
};

static const char *any_of(struct twins *twins, char letter, int count, char name[2])
{
    name[0] = (char)(letter + (int)random_below(&twins->seed, (size_t)count));
    name[1] = '\0';
    return name;
}

static void append_words(struct twins *twins, const ses_key *to, ses_store *store, uint64_t seed, int id)
{
    char event[2000];
    int len = snprintf(
        event, sizeof event,
        "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"timestamp\":%lld,\"content\":{\"parts\":[{\"text\":\"",
        id, id, (long long)twins->second);
    ses_error error;

    for (uint64_t n = random_below(&seed, 6); n > 0; n--)
        len += snprintf(event + len, sizeof event - (size_t)len, "%s ", words[random_below(&seed, WORDS)]);
    snprintf(event + len, sizeof event - (size_t)len, "\"}]}}");
    const int code = ses_append_by_key(store, to, event, SES_NUL, NULL, NULL, &error);
    if (code != SES_NOTFOUND)
        assert_ok(code);
}

/* The same on both; what one refuses, the other does, too. */
static void change(struct twins *twins, ses_store *store, const ses_key *key, uint64_t seed, int what)
{
    const ses_point point = {
        .size = sizeof point, .kind = SES_POINT_SEQ, .seq = (int64_t)random_below(&seed, 10)};
    const ses_prune_options prune = {
        .size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = (int64_t)random_below(&seed, 6)};
    const char fork[2] = {(char)('a' + (int)random_below(&seed, SESSIONS)), '\0'};
    const ses_key to = {key->app, key->user, fork};
    ses_error error;

    switch (what) {
    case 0:
        (void)ses_delete(store, key, NULL, NULL, &error);
        break;
    case 1:
        (void)ses_cut_by_key(store, key, &point, NULL, NULL, &error);
        break;
    case 2:
        (void)ses_prune_by_key(store, key, &prune, NULL, &error);
        break;
    case 3:
        (void)ses_fork_by_key(store, key, &point, &to, NULL, NULL, &error);
        break;
    case 4:
        if (random_below(&seed, 5) == 0)
            (void)ses_delete_user(store, key->app, key->user, NULL, NULL, NULL, &error);
        break;
    case 5:
        (void)ses_rewind_by_key(store, key, &point, NULL, NULL, &error);
        break;
    default:
        (void)ses_create(store, key, NULL, 0, NULL, NULL, &error);
        for (int i = 0; i < 3; i++)
            append_words(twins, key, store, random_next(&seed), twins->events + i);
    }
}

static void change_both(struct twins *twins)
{
    char user[2];
    char session[2];
    const ses_key key = {"app", any_of(twins, 'u', USERS, user), any_of(twins, 'a', SESSIONS, session)};
    const int what = (int)random_below(&twins->seed, 12);
    const uint64_t seed = random_next(&twins->seed);

    twins->second += (int64_t)random_below(&twins->seed, 3);
    twins->indexed->now = twins->plain->now = twins->second * 1000000;
    change(twins, twins->indexed->store, &key, seed, what);
    change(twins, twins->plain->store, &key, seed, what);
    twins->events += 3;
}

/* All pages of a search, as "user/session/seq " each. */
static char *all_hits(ses_store *store, const ses_key *scope, const char *asked, unsigned flags, int indexed)
{
    struct text all = {NULL, 0};
    char token[500] = "";
    ses_error error;

    text_printf(&all, "%s:", asked);
    do {
        const ses_search_options options = {
            .size = sizeof options, .limit = 7, .flags = flags, .token = token[0] ? token : NULL};
        ses_hits *hits = NULL;
        assert_ok(ses_store_search(store, scope, asked, SES_NUL, &options, &hits, &error));
        assert_int_equal(ses_hits_indexed(hits), indexed);
        for (size_t i = 0; i < ses_hits_count(hits); i++) {
            const ses_hit *hit = ses_hits_at(hits, i);
            text_printf(&all, " %s/%s/%lld", hit->user, hit->session, (long long)hit->seq);
        }
        snprintf(token, sizeof token, "%s", ses_hits_token(hits) ? ses_hits_token(hits) : "");
        ses_hits_close(hits);
    } while (token[0]);
    return all.data;
}

static void compare_searches(struct twins *twins, int round)
{
    const ses_key scopes[] = {{"app", NULL, NULL}, {"app", "u", NULL}, {"app", "v", NULL}};
    const unsigned flags[] = {0, SES_SEARCH_ANY, SES_SEARCH_PHRASE, SES_SEARCH_LIVE};
    char asked[100];

    for (int i = 0; i < 4; i++) {
        const ses_key *scope = &scopes[random_below(&twins->seed, 3)];
        snprintf(asked, sizeof asked, "%s %s", words[random_below(&twins->seed, WORDS)],
                 i % 2 ? words[random_below(&twins->seed, WORDS)] : "");
        char *indexed = all_hits(twins->indexed->store, scope, asked, flags[i], 1);
        char *plain = all_hits(twins->plain->store, scope, asked, flags[i], 0);
        if (strcmp(indexed, plain) != 0)
            fail_msg("round %d, flags %u: with an index %s; without %s", round, flags[i], indexed, plain);
        free(plain);
        free(indexed);
    }
}

static int say_problem(void *context, const ses_problem *problem)
{
    (void)context;
    print_message("%s: %s\n", ses_problem_name(problem->kind), problem->message);
    return 0;
}

/* The index holds the words of the events up to where it has come. */
static void check_index(ses_store *store)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG, .report = say_problem};
    int64_t problems = 0;
    ses_error error;

    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 0);
}

TEST(random_changes)
{
    void *plain = NULL;
    struct twins twins = {.indexed = fixture, .seed = 42, .second = 4000000000};

    assert_int_equal(fixture_setup(&plain), 0);
    twins.plain = plain;
    for (int round = 0; round < OPERATIONS; round++) {
        if (round == 20)
            assert_ok(ses_store_index(twins.indexed->store, NULL, NULL, &error));
        change_both(&twins);
        if (round > 20 && random_below(&twins.seed, 3) == 0)
            compare_searches(&twins, round);
        if (round % 25 == 24)
            check_index(twins.indexed->store);
    }
    fixture_teardown(&plain);
}

/* ------------------------------------------------------------------------------------------ hostile texts */

enum { STRANGE = 300, STRANGE_LEN = 30 };

/* From all planes, but mostly where scripts are; NUL and single surrogates, too. */
static uint32_t any_character(uint64_t *seed)
{
    static const uint32_t limits[] = {0x80,   0x250,   0x1000,  0x3400,  0xa000,
                                      0xd7a4, 0x10000, 0x20000, 0x110000};
    return (uint32_t)random_below(seed, limits[random_below(seed, 9)]);
}

static int add_escaped(char *out, uint32_t character)
{
    if (character < 0x10000)
        return sprintf(out, "\\u%04x", (unsigned)character);
    return sprintf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((character - 0x10000) >> 10)),
                   (unsigned)(0xdc00 + ((character - 0x10000) & 0x3ff)));
}

static int add_plain(char *out, uint32_t character)
{
    if (character >= 0xd800 && character < 0xe000)
        return 0;
    if (character < 0x80)
        out[0] = (char)character;
    else if (character < 0x800)
        out[0] = (char)(0xc0 | (character >> 6));
    else if (character < 0x10000)
        out[0] = (char)(0xe0 | (character >> 12));
    else
        out[0] = (char)(0xf0 | (character >> 18));
    const int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    for (int i = 1; i <= more; i++)
        out[i] = (char)(0x80 | ((character >> (6 * (more - i))) & 0x3f));
    return more + 1;
}

static void append_to_both(struct twins *twins, const char *text)
{
    char *event = malloc(strlen(text) + 200);
    const ses_key key = {"app", "u", "a"};

    twins->events++;
    sprintf(event, "{\"id\":\"e%d\",\"timestamp\":4000000000,\"content\":{\"parts\":[{\"text\":\"%s\"}]}}",
            twins->events, text);
    must_append_by_key(twins->indexed->store, &key, event);
    must_append_by_key(twins->plain->store, &key, event);
    free(event);
}

/* Returns the hits of all pages, of both stores, which are the same. */
static size_t search_both(struct twins *twins, const char *asked, size_t len, unsigned flags)
{
    const ses_key scope = {"app", "u", NULL};
    const ses_search_options options = {.size = sizeof options, .limit = 1000, .flags = flags};
    ses_hits *hits[2] = {NULL, NULL};
    ses_error error;

    const int code = ses_store_search(twins->indexed->store, &scope, asked, len, &options, &hits[0], &error);
    assert_int_equal(ses_store_search(twins->plain->store, &scope, asked, len, &options, &hits[1], &error),
                     code);
    if (code == SES_INVALID) /* no word */
        return 0;
    assert_ok(code);
    assert_int_equal(ses_hits_indexed(hits[0]), 1);
    const size_t count = ses_hits_count(hits[1]);
    if (ses_hits_count(hits[0]) != count)
        fail_msg("\"%.100s\": %zu hits by the index, and %zu by a scan", asked, ses_hits_count(hits[0]),
                 count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ses_hits_at(hits[0], i)->seq, ses_hits_at(hits[1], i)->seq);
    ses_hits_close(hits[0]);
    ses_hits_close(hits[1]);
    return count;
}

static void open_twins(struct twins *twins, struct fixture *fixture, void **plain)
{
    const ses_key key = {"app", "u", "a"};
    ses_error error;

    *twins = (struct twins){.indexed = fixture, .seed = 27};
    assert_int_equal(fixture_setup(plain), 0);
    twins->plain = *plain;
    assert_ok(ses_store_index(twins->indexed->store, NULL, NULL, &error));
    must_create(twins->indexed->store, &key, NULL);
    must_create(twins->plain->store, &key, NULL);
}

TEST(texts_of_all_scripts)
{
    static uint32_t texts[STRANGE][STRANGE_LEN];
    static const unsigned flags[] = {0, SES_SEARCH_ANY, SES_SEARCH_PHRASE};
    void *plain = NULL;
    struct twins twins;
    size_t found = 0;

    open_twins(&twins, fixture, &plain);
    for (int i = 0; i < STRANGE; i++) {
        char text[12 * STRANGE_LEN + 1];
        int len = 0;
        for (int k = 0; k < STRANGE_LEN; k++) {
            texts[i][k] = any_character(&twins.seed);
            len += add_escaped(text + len, texts[i][k]);
        }
        append_to_both(&twins, text);
    }
    for (int round = 0; round < 3 * STRANGE; round++) {
        const uint32_t *from = texts[random_below(&twins.seed, STRANGE)];
        const size_t first = random_below(&twins.seed, STRANGE_LEN - 8);
        char asked[4 * 8];
        size_t len = 0;
        for (size_t k = 0, count = 1 + random_below(&twins.seed, 8); k < count; k++)
            len += (size_t)add_plain(asked + len, from[first + k]);
        found += search_both(&twins, asked, len, flags[round % 3]) > 0;
    }
    assert_in_range(found, STRANGE, 3 * STRANGE);
    check_index(twins.indexed->store);
    fixture_teardown(&plain);
}

/* Any part of a text is found, whatever is before and after it, and of which scripts. */
TEST(letters_that_follow_each_other)
{
    static const char *const letters[] = {"\u4e2d", "\u6587", "\u304b", "\u30ab", "\u0e01",
                                          "\u0e32", "\ud55c", "a",      " "};
    enum { TEXTS = 150, TEXT_LEN = 12, LETTERS = sizeof letters / sizeof letters[0] };
    static const char *texts[TEXTS][TEXT_LEN];
    void *plain = NULL;
    struct twins twins;
    size_t found = 0;

    open_twins(&twins, fixture, &plain);
    for (int i = 0; i < TEXTS; i++) {
        char text[TEXT_LEN * 4 + 1] = "";
        for (int k = 0; k < TEXT_LEN; k++) {
            texts[i][k] = letters[random_below(&twins.seed, LETTERS)];
            strcat(text, texts[i][k]);
        }
        append_to_both(&twins, text);
    }
    for (int round = 0; round < 4 * TEXTS; round++) {
        const char **from = texts[random_below(&twins.seed, TEXTS)];
        const size_t len = 1 + random_below(&twins.seed, 5);
        const size_t first = random_below(&twins.seed, TEXT_LEN - len + 1);
        char asked[5 * 4 + 1] = "";
        for (size_t k = 0; k < len; k++)
            strcat(asked, from[first + k]);
        found += search_both(&twins, asked, strlen(asked), SES_SEARCH_PHRASE) > 0;
    }
    assert_in_range(found, 3 * TEXTS, 4 * TEXTS);
    fixture_teardown(&plain);
}

static char *repeated(char letter, size_t count, const char *end)
{
    char *text = malloc(count + strlen(end) + 1);

    memset(text, letter, count);
    strcpy(text + count, end);
    return text;
}

/* Longer than an engine takes, and more of them than an engine takes. */
TEST(long_words_and_many)
{
    static const char *const ends[] = {"", "x", "y", " x", "\u00e9", "\u4e2d"};
    static const size_t lengths[] = {253, 254, 255, 256, 2046, 2047, 2048, 60000};
    void *plain = NULL;
    struct twins twins;
    char *many = malloc(200000 * 8);
    size_t len = 0;

    open_twins(&twins, fixture, &plain);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] * 6; i++) {
        char *text = repeated('a', lengths[i / 6], ends[i % 6]);
        append_to_both(&twins, text);
        free(text);
    }
    char *longest = repeated('b', 1000 * 1000, " after");
    append_to_both(&twins, longest);
    for (int i = 0; i < 200000; i++)
        len += (size_t)sprintf(many + len, "%x ", (unsigned)i * 7);
    append_to_both(&twins, many);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] * 6; i++) {
        char *text = repeated('a', lengths[i / 6], ends[i % 6]);
        assert_in_range(search_both(&twins, text, strlen(text), i % 2 ? SES_SEARCH_PHRASE : 0), 1, 3);
        free(text);
    }
    assert_int_equal(search_both(&twins, "after", 5, 0), 1);
    assert_int_equal(search_both(&twins, "155cb9 7", 8, 0), 1); /* the last word */
    assert_int_equal(search_both(&twins, "155cb9 7", 8, SES_SEARCH_PHRASE), 0);
    assert_int_equal(search_both(&twins, "155cb2 155cb9", 13, SES_SEARCH_PHRASE), 1);
    assert_int_equal(search_both(&twins, longest, 60000, 0), 0);
    many[300] = '\0';
    (void)search_both(&twins, many, strlen(many), SES_SEARCH_ANY);
    check_index(twins.indexed->store);
    free(longest);
    free(many);
    fixture_teardown(&plain);
}

/* ----------------------------------------------------------------------------------------------- the call */

static const ses_key key = {"app", "user", "session"};

static void say(ses_store *store, int events)
{
    ses_error error;

    for (int i = 0; i < events; i++)
        assert_ok(ses_append_by_key(store, &key, "{\"content\":{\"parts\":[{\"text\":\"some word\"}]}}",
                                    SES_NUL, NULL, NULL, &error));
}

static size_t found(ses_store *store, int indexed)
{
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_store_search(store, &key, "word", SES_NUL, NULL, &hits, &error));
    assert_int_equal(ses_hits_indexed(hits), indexed);
    const size_t count = ses_hits_count(hits);
    ses_hits_close(hits);
    return count;
}

TEST(make_rebuild_and_drop)
{
    ses_store *store = fixture->store;
    const ses_index_options rebuild = {.size = sizeof rebuild, .flags = SES_INDEX_REBUILD};
    const ses_index_options drop = {.size = sizeof drop, .flags = SES_INDEX_DROP};
    const ses_index_options both = {.size = sizeof both, .flags = SES_INDEX_DROP | SES_INDEX_REBUILD};
    int64_t events = -1;

    must_create(store, &key, NULL);
    say(store, 3);
    assert_ok(ses_store_index(store, &drop, &events, &error));
    assert_int_equal(found(store, 0), 3);
    assert_ok(ses_store_index(store, NULL, &events, &error));
    assert_int_equal(events, 3);
    assert_ok(ses_store_index(store, NULL, &events, &error));
    assert_int_equal(events, 0);
    say(store, 2);
    assert_int_equal(found(store, 1), 5);
    assert_ok(ses_store_index(store, &rebuild, &events, &error));
    assert_int_equal(events, 5);
    assert_int_equal(found(store, 1), 5);
    assert_ok(ses_store_index(store, &drop, NULL, &error));
    assert_int_equal(found(store, 0), 5);
    assert_code(SES_MISUSE, ses_store_index(store, &both, NULL, &error));
    assert_code(SES_MISUSE, ses_store_index(NULL, NULL, NULL, &error));
}

struct seen_progress {
    int calls;
    int64_t done;
    int64_t total;
};

static int note_progress(void *context, int64_t done, int64_t total)
{
    struct seen_progress *seen = context;

    assert_true(done >= seen->done);
    seen->calls++;
    seen->done = done;
    seen->total = total;
    return seen->calls == 1;
}

/* Events that were added before the end stay. */
TEST(progress)
{
    struct seen_progress seen = {0, 0, 0};
    const ses_index_options options = {
        .size = sizeof options, .progress = note_progress, .progress_context = &seen};
    const size_t long_text = 700 * 1000;
    char *event = malloc(long_text + 100);
    int64_t events = 0;

    must_create(fixture->store, &key, NULL);
    const size_t head = (size_t)sprintf(event, "{\"content\":{\"parts\":[{\"text\":\"word ");
    memset(event + head, 'x', long_text);
    strcpy(event + head + long_text, "\"}]}}");
    for (int i = 0; i < 4; i++)
        must_append_by_key(fixture->store, &key, event);
    assert_code(SES_INTERRUPTED, ses_store_index(fixture->store, &options, &events, &error));
    assert_int_equal(seen.total, 4);
    assert_int_equal(events, seen.done);
    assert_in_range(events, 1, 3);
    const int64_t before = events;
    seen.done = 0;
    assert_ok(ses_store_index(fixture->store, &options, &events, &error));
    assert_true(seen.calls > 1);
    assert_int_equal(events, 4 - before);
    assert_int_equal(seen.done, events);
    assert_int_equal(seen.total, events);
    assert_int_equal(found(fixture->store, 1), 4);
    free(event);
}

/* Nothing has a word, so no buffer of words was ever allocated. The sanitizers see arithmetic on a null
 * pointer. */
TEST(events_without_words)
{
    int64_t events = 0;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, "{\"author\":\"agent\"}");
    assert_ok(ses_store_index(fixture->store, NULL, &events, &error));
    assert_int_equal(events, 1);
}
