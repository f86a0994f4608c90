/* Searches through the public header. */
#include "seslite_search.h"

#include "random.h"
#include "support.h"

static const ses_key key = {"app", "user", "session"};

/* True if a search must use an index. */
static int expects_index;

/* Events later than their sessions, which move to the front of a list with them. */
#define LATER INT64_C(4000000000)

static void must_say(ses_store *store, const ses_key *to, const char *id, int64_t second, const char *text)
{
    char event[2000];

    snprintf(
        event, sizeof event,
        "{\"id\":\"%s\",\"invocationId\":\"%s\",\"timestamp\":%lld,\"content\":{\"parts\":[{\"text\":\"%s\"}]}}",
        id, id, (long long)(LATER + second), text);
    must_append_by_key(store, to, event);
}

/* The ids of the events that are found, with a space after each. */
static const char *found_with(ses_store *store, const ses_key *scope, const char *words,
                              const ses_search_options *options)
{
    static char ids[4000];
    ses_hits *hits = NULL;
    size_t len = 0;
    ses_error error;

    assert_ok(ses_store_search(store, scope, words, SES_NUL, options, &hits, &error));
    assert_int_equal(ses_hits_indexed(hits), expects_index);
    ids[0] = '\0';
    for (size_t i = 0; i < ses_hits_count(hits); i++)
        len += (size_t)snprintf(ids + len, sizeof ids - len, "%s ", ses_hits_at(hits, i)->id);
    assert_null(ses_hits_at(hits, ses_hits_count(hits)));
    ses_hits_close(hits);
    return ids;
}

static const char *found(ses_store *store, const char *words)
{
    return found_with(store, &key, words, NULL);
}

/* Every search must give the same with an index, which the search itself brings up to date. */
static int indexed_setup(void **state)
{
    const int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    ses_error error;

    if (!failed)
        assert_ok(ses_store_index(fixture->store, NULL, NULL, &error));
    expects_index = 1;
    return failed;
}

static int plain_setup(void **state)
{
    expects_index = 0;
    return fixture_setup(state);
}

#define SEARCH_TEST(name) TEST_ALSO(indexed_setup, fixture_teardown, name) TEST_OF(plain_setup, name)

SEARCH_TEST(all_words_in_any_order)
{
    ses_store *store = fixture->store;
    const ses_search_options any = {.size = sizeof any, .flags = SES_SEARCH_ANY};
    const ses_search_options phrase = {.size = sizeof phrase, .flags = SES_SEARCH_PHRASE};

    must_create(store, &key, NULL);
    must_say(store, &key, "e1", 1, "The train to Paris leaves at noon.");
    must_say(store, &key, "e2", 2, "Which train? To PARIS, or to Caf\u00e9 Paris?");
    must_say(store, &key, "e3", 3, "trains, parish");
    assert_string_equal(found(store, "paris TRAIN"), "e2 e1 ");
    assert_string_equal(found(store, "cafe"), "e2 ");
    assert_string_equal(found(store, "train to nowhere"), "");
    assert_string_equal(found_with(store, &key, "noon cafe nowhere", &any), "e2 e1 ");
    assert_string_equal(found_with(store, &key, "to paris", &phrase), "e2 e1 ");
    assert_string_equal(found_with(store, &key, "paris to", &phrase), "");
    assert_string_equal(found(store, "leaves-at"), "e1 ");
    assert_string_equal(found(store, "leaves-noon"), "");
}

SEARCH_TEST(characters_that_follow_each_other)
{
    ses_store *store = fixture->store;

    must_create(store, &key, NULL);
    must_say(store, &key, "e1", 1, "\u6211\u7528GPT4\u6a21\u578b\u5199\u4e2d\u6587");
    must_say(store, &key, "e2", 2, "\u4e2d\uff0c\u6587");
    assert_string_equal(found(store, "\u4e2d\u6587"), "e1 ");
    assert_string_equal(found(store, "\u6587 \u4e2d"), "e2 e1 ");
    assert_string_equal(found(store, "gpt4\u6a21"), "e1 ");
    assert_string_equal(found(store, "\u6a21\u5199"), "");
}

/* Where people and models write, and where nobody does. */
SEARCH_TEST(the_texts_of_an_event)
{
    static const char event[] =
        "{\"id\":\"e1\",\"author\":\"hidden1\",\"errorMessage\":\"shown1\",\"invocationId\":\"hidden2\",\"content\":{"
        "\"role\":\"hidden3\",\"parts\":[{\"text\":\"shown2 \\\"shown3\\\"\\nshown4\",\"thoughtSignature\":\"hidden4\"},"
        "{\"inlineData\":{\"data\":\"hidden5\",\"mimeType\":\"hidden6\",\"displayName\":\"shown5\"}},"
        "{\"functionCall\":{\"id\":\"hidden7\",\"name\":\"shown6\",\"args\":{\"hidden8\":\"shown7\",\"id\":[{\"data\":"
        "\"shown8\"}],\"n\":12345}}},{\"functionResponse\":{\"response\":{\"r\":\"\\u0073hown9 \\ud800 shown10\"}}}]},"
        "\"actions\":{\"stateDelta\":{\"k\":\"hidden9\"}}}";
    char word[20];

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, event);
    for (int i = 1; i <= 10; i++) {
        snprintf(word, sizeof word, "shown%d", i);
        assert_string_equal(found(fixture->store, word), "e1 ");
        snprintf(word, sizeof word, "hidden%d", i);
        assert_string_equal(found(fixture->store, word), "");
    }
    assert_string_equal(found(fixture->store, "12345"), "");
    assert_string_equal(found(fixture->store, "shown4-shown5"), "");
}

SEARCH_TEST(scopes_and_times)
{
    ses_store *store = fixture->store;
    const ses_key keys[] = {{"app", "a", "1"}, {"app", "a", "2"}, {"app", "b", "1"}, {"other", "a", "1"}};
    const int64_t two = (LATER + 2) * 1000000;
    const int64_t three = (LATER + 3) * 1000000;
    const ses_search_options since = {.size = sizeof since, .since_us = &two};
    const ses_search_options before = {.size = sizeof before, .before_us = &three};

    for (int i = 0; i < 4; i++) {
        char id[] = {'e', (char)('1' + i), '\0'};
        must_create(store, &keys[i], NULL);
        must_say(store, &keys[i], id, i + 1, "word");
    }
    assert_string_equal(found_with(store, &keys[0], "word", NULL), "e1 ");
    assert_string_equal(found_with(store, &(ses_key){"app", "a", NULL}, "word", NULL), "e2 e1 ");
    assert_string_equal(found_with(store, &(ses_key){"app", NULL, NULL}, "word", NULL), "e3 e2 e1 ");
    assert_string_equal(found_with(store, &(ses_key){"app", NULL, NULL}, "word", &since), "e3 e2 ");
    assert_string_equal(found_with(store, &(ses_key){"app", NULL, NULL}, "word", &before), "e2 e1 ");
    assert_string_equal(found_with(store, &(ses_key){"nobody", NULL, NULL}, "word", NULL), "");
}

SEARCH_TEST(filters)
{
    ses_store *store = fixture->store;
    const ses_key user = {"app", "user", NULL};
    const ses_key other = {"app", "user", "other"};
    const ses_label label = {"kind", "chat"};
    const ses_filter labelled = {.size = sizeof labelled, .label = "kind", .label_value = "chat"};
    const ses_filter prefixed = {.size = sizeof prefixed, .id_prefix = "sess"};
    const int64_t later = fixture->now + 1000000;
    const ses_filter written = {.size = sizeof written, .changed_since_us = &later};
    const ses_filter unlabelled = {.size = sizeof unlabelled, .without_label = "kind"};
    const ses_filter archived = {.size = sizeof archived, .archived = SES_ARCHIVED_ONLY};
    const ses_search_options of_archive = {.size = sizeof of_archive, .filter = &archived};
    const ses_search_options of_label = {.size = sizeof of_label, .filter = &labelled};
    const ses_search_options of_prefix = {.size = sizeof of_prefix, .filter = &prefixed};
    const ses_search_options of_write = {.size = sizeof of_write, .filter = &written};
    const ses_search_options of_none = {.size = sizeof of_none, .filter = &unlabelled};

    must_create(store, &key, NULL);
    must_create(store, &other, NULL);
    must_say(store, &key, "e1", 1, "word");
    fixture->now = later;
    must_say(store, &other, "e2", 2, "word");
    assert_ok(ses_labels_set_by_key(store, &other, &label, 1, NULL, &error));
    assert_string_equal(found_with(store, &user, "word", NULL), "e2 e1 ");
    assert_string_equal(found_with(store, &user, "word", &of_label), "e2 ");
    assert_string_equal(found_with(store, &user, "word", &of_prefix), "e1 ");
    assert_string_equal(found_with(store, &user, "word", &of_write), "e2 ");
    assert_string_equal(found_with(store, &user, "word", &of_none), "e1 ");
    assert_string_equal(found_with(store, &user, "word", &of_archive), "");
    assert_ok(ses_archive_set_by_key(store, &key, 1, NULL, &error));
    assert_string_equal(found_with(store, &user, "word", &of_archive), "e1 ");
}

/* The session in which a page ends is updated: its other events, and the sessions after it, are still
 * found. */
SEARCH_TEST(sessions_that_move)
{
    ses_store *store = fixture->store;
    const ses_key user = {"app", "user", NULL};
    const ses_key keys[] = {{"app", "user", "0"}, {"app", "user", "1"}, {"app", "user", "2"}};
    ses_search_options options = {.size = sizeof options, .limit = 3};
    ses_hits *first = NULL;
    ses_hits *second = NULL;

    for (int i = 0; i < 6; i++) {
        const char id[] = {'e', (char)('0' + i), '\0'};
        if (i % 2 == 0)
            must_create(store, &keys[i / 2], NULL);
        must_say(store, &keys[i / 2], id, i, "word");
    }
    assert_ok(ses_store_search(store, &user, "word", SES_NUL, &options, &first, &error));
    assert_string_equal(ses_hits_at(first, 2)->id, "e3");
    must_say(store, &keys[1], "new", 100, "word");
    options.token = ses_hits_token(first);
    assert_ok(ses_store_search(store, &user, "word", SES_NUL, &options, &second, &error));
    assert_int_equal(ses_hits_count(second), 3);
    assert_string_equal(ses_hits_at(second, 0)->id, "e2");
    assert_string_equal(ses_hits_at(second, 1)->id, "e1");
    assert_string_equal(ses_hits_at(second, 2)->id, "e0");
    ses_hits_close(second);
    assert_int_equal(ses_store_search(store, &user, "other", SES_NUL, &options, &second, &error),
                     SES_INVALID);
    ses_hits_close(first);
}

SEARCH_TEST(only_live_events)
{
    ses_store *store = fixture->store;
    const ses_search_options live = {.size = sizeof live, .flags = SES_SEARCH_LIVE};
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};

    must_create(store, &key, NULL);
    must_say(store, &key, "e1", 1, "word");
    must_say(store, &key, "e2", 2, "word");
    assert_ok(ses_rewind_by_key(store, &key, &first, NULL, NULL, &error));
    assert_string_equal(found(store, "word"), "e2 e1 ");
    assert_string_equal(found_with(store, &key, "word", &live), "e1 ");
}

SEARCH_TEST(snippets)
{
    const ses_search_options options = {.size = sizeof options, .snippet_bytes = 30};
    ses_hits *hits = NULL;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(
        fixture->store, &key,
        "{\"id\":\"e1\",\"content\":{\"parts\":[{\"text\":\"not this\"},{\"text\":\"a long text with "
        "\\\"quotes\\\" in which \\u00e4lmost at the end the word comes, and goes on\"}]}}");
    assert_ok(ses_store_search(fixture->store, &key, "word end", SES_NUL, &options, &hits, &error));
    const ses_hit *hit = ses_hits_at(hits, 0);
    assert_string_equal(hit->snippet, "st at the end the word comes, ");
    assert_int_equal(hit->snippet_len, strlen(hit->snippet));
    assert_memory_equal(hit->snippet + hit->snippet_found, "end", 3);
    assert_string_equal(hit->session, "session");
    assert_int_equal(hit->seq, 1);
    ses_hits_close(hits);
    assert_ok(ses_store_search(fixture->store, &key, "almost", SES_NUL, &options, &hits, &error));
    hit = ses_hits_at(hits, 0);
    assert_memory_equal(hit->snippet + hit->snippet_found, "\u00e4lmost", 7);
    ses_hits_close(hits);
}

/* Every page but the last is full, and together they have every hit once. */
SEARCH_TEST(pages)
{
    enum { SESSIONS = 7, EVENTS = 9, LIMIT = 4 };
    const ses_key scope = {"app", "user", NULL};
    int seen[SESSIONS][EVENTS] = {{0}};
    char token[1000] = "";
    int pages = 0;

    for (int s = 0; s < SESSIONS; s++) {
        const char name[] = {(char)('0' + s), '\0'};
        const ses_key of = {"app", "user", name};
        must_create(fixture->store, &of, NULL);
        for (int e = 0; e < EVENTS; e++) {
            const char id[] = {(char)('0' + e), '\0'};
            must_say(fixture->store, &of, id, 10 * s + e, "a word");
        }
    }
    do {
        const ses_search_options options = {
            .size = sizeof options, .limit = LIMIT, .token = token[0] ? token : NULL};
        ses_hits *hits = NULL;
        assert_ok(ses_store_search(fixture->store, &scope, "word", SES_NUL, &options, &hits, &error));
        for (size_t i = 0; i < ses_hits_count(hits); i++) {
            const ses_hit *hit = ses_hits_at(hits, i);
            seen[hit->session[0] - '0'][hit->id[0] - '0']++;
        }
        assert_true(ses_hits_count(hits) == LIMIT || !ses_hits_token(hits));
        snprintf(token, sizeof token, "%s", ses_hits_token(hits) ? ses_hits_token(hits) : "");
        ses_hits_close(hits);
        pages++;
    } while (token[0]);
    assert_int_equal(pages, (SESSIONS * EVENTS + LIMIT) / LIMIT);
    for (int s = 0; s < SESSIONS; s++)
        for (int e = 0; e < EVENTS; e++)
            assert_int_equal(seen[s][e], 1);
}

/* A search finds the events that contain the text, as with LIKE, for scripts without spaces. */
SEARCH_TEST(random_texts_against_a_scan)
{
    enum { EVENTS = 200, LETTERS = 6, ROUNDS = 300 };
    static const char *const letters[LETTERS] = {"\u4e2d", "\u6587", "\u30ab", "\u0e44", "\ud55c", "\uff0c"};
    const ses_search_options most = {.size = sizeof most, .limit = 1000};
    static char texts[EVENTS][100];
    uint64_t seed = 7;

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < EVENTS; i++) {
        char id[8];
        texts[i][0] = '\0';
        for (size_t n = random_below(&seed, 20); n > 0; n--)
            strcat(texts[i], letters[random_below(&seed, LETTERS)]);
        snprintf(id, sizeof id, "%d", i);
        must_say(fixture->store, &key, id, i, texts[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        char word[40] = "";
        ses_hits *hits = NULL;
        size_t expected = 0;
        for (size_t n = 1 + random_below(&seed, 4); n > 0; n--)
            strcat(word, letters[random_below(&seed, LETTERS - 1)]);
        for (int i = 0; i < EVENTS; i++)
            expected += strstr(texts[i], word) != NULL;
        assert_ok(ses_store_search(fixture->store, &key, word, SES_NUL, &most, &hits, &error));
        assert_int_equal(ses_hits_count(hits), expected);
        for (size_t i = 0; i < ses_hits_count(hits); i++)
            assert_non_null(strstr(texts[atoi(ses_hits_at(hits, i)->id)], word));
        ses_hits_close(hits);
    }
}

static void refuse(ses_store *store, const ses_key *scope, const char *words,
                   const ses_search_options *options, int code, int line)
{
    ses_hits *hits = (ses_hits *)1;
    ses_error error;

    const int got = ses_store_search(store, scope, words, SES_NUL, options, &hits, &error);
    if (got != code || hits)
        fail_msg("line %d: %s, not %s: %s", line, ses_code_name(got), ses_code_name(code), error.message);
}

#define refused(scope, words, options, code) refuse(store, (scope), (words), (options), (code), __LINE__)

SEARCH_TEST(words_that_cannot_be_searched_for)
{
    static char long_text[66000];
    static char many_words[2 * 10001];
    ses_store *store = fixture->store;

    must_create(store, &key, NULL);
    memset(long_text, 'a', sizeof long_text - 1);
    for (size_t i = 0; i < 10000; i++)
        memcpy(many_words + 2 * i, "a ", 3);
    refused(&key, "", NULL, SES_INVALID);
    refused(&key, " ,;* ", NULL, SES_INVALID);
    refused(&key, NULL, NULL, SES_MISUSE);
    refused(&key, long_text, NULL, SES_LIMIT);
    refused(&key, many_words, NULL, SES_LIMIT);
}

SEARCH_TEST(punctuation_is_no_syntax)
{
    ses_hits *hits = NULL;

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "e1", 1, "AND NEAR(\\\"x\\\") col:y*");
    assert_string_equal(found(fixture->store, "\"x\")* NEAR AND"), "e1 ");
    assert_string_equal(found(fixture->store, "NOT x"), "");
    assert_string_equal(found(fixture->store, "co*"), "");
    assert_ok(ses_store_search(fixture->store, &key, "near\0x", 6, NULL, &hits, &error));
    assert_int_equal(ses_hits_count(hits), 1);
    ses_hits_close(hits);
}

SEARCH_TEST(bad_scopes_and_options)
{
    static const char *const tokens[] = {"", "s1.1.1.1.ab", "AQ", "AQAAAAAB", "\xff"};
    const ses_key gone = {"app", "user", "gone"};
    const ses_key no_user = {"app", NULL, "session"};
    const ses_key no_app = {NULL, NULL, NULL};
    const ses_key app = {"app", NULL, NULL};
    ses_store *store = fixture->store;
    ses_search_options options = {.size = sizeof options, .limit = 1001};

    must_create(store, &key, NULL);
    refused(&gone, "a", NULL, SES_NOTFOUND);
    refused(&no_user, "a", NULL, SES_MISUSE);
    refused(&no_app, "a", NULL, SES_MISUSE);
    refused(NULL, "a", NULL, SES_MISUSE);
    refused(&key, "a", &options, SES_INVALID);
    options = (ses_search_options){.size = sizeof options, .snippet_bytes = 64 * 1024 + 1};
    refused(&key, "a", &options, SES_INVALID);
    options =
        (ses_search_options){.size = sizeof options, .filter = &(ses_filter){.size = sizeof(ses_filter)}};
    refused(&key, "a", &options, SES_MISUSE);
    options.filter = &(ses_filter){.size = sizeof(ses_filter), .label_value = "v"};
    refused(&app, "a", &options, SES_MISUSE);
    options = (ses_search_options){.size = sizeof options, .flags = 0x10};
    refused(&key, "a", &options, SES_MISUSE);
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        options = (ses_search_options){.size = sizeof options, .token = tokens[i]};
        refused(&app, "a", &options, SES_INVALID);
    }
}

SEARCH_TEST(limits)
{
    const ses_key app = {"app", NULL, NULL};
    ses_search_options options = {.size = sizeof options};
    ses_hits *hits = NULL;

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "e1", 1, "word");
    assert_ok(ses_cancel_open(fixture->store, &options.cancel, &error));
    assert_ok(ses_store_search(fixture->store, &key, "word", SES_NUL, &options, &hits, &error));
    ses_hits_close(hits);
    ses_cancel_pull(options.cancel);
    assert_code(SES_INTERRUPTED,
                ses_store_search(fixture->store, &key, "word", SES_NUL, &options, &hits, &error));
    assert_code(SES_INTERRUPTED,
                ses_store_search(fixture->store, &app, "word", SES_NUL, &options, &hits, &error));
    ses_cancel_close(options.cancel);
}
