/* Searches by the index of words, and what it costs. */
#include "bench.h"

#include <sqlite3.h>
#include <string.h>

#include "seslite_search.h"

enum {
    USERS = 100,
    USER_SESSIONS = 100,
    SESSION_EVENTS = 100,
    EVENT_WORDS = 70,
    VOCABULARY_BITS = 16,
    SEARCHES = 200
};

struct haystack {
    ses_store *store;
    uint64_t seed;
    int users;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* The word of a rank. */
static size_t put_word(char *out, uint32_t rank)
{
    static const char consonants[] = "bcdfghklmnprstvz";
    static const char vowels[] = "aeiou";
    size_t len = 0;

    for (uint32_t left = rank + 6; left > 0; left /= 80) {
        out[len++] = consonants[left % 16];
        out[len++] = vowels[left / 16 % 5];
    }
    return len;
}

/* As in a language, a word is the rarer the higher its rank. */
static uint32_t random_rank(uint64_t *seed)
{
    const uint32_t begin = 1U << (next_random(seed) >> 20) % VOCABULARY_BITS;
    return begin - 1 + (uint32_t)((next_random(seed) >> 20) % begin);
}

static size_t make_words_event(char *event, uint64_t *seed)
{
    size_t len =
        (size_t)sprintf(event,
                        "{\"id\":\"0193%012" PRIx64 "-7000-8000-000000000000\",\"timestamp\":1700000000.25,"
                        "\"invocationId\":\"e-3a796739-8780-4e33-a63e-e7a7041707e2\",\"author\":\"agent\","
                        "\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"",
                        next_random(seed) & 0xffffffffffff);

    for (int i = 0; i < EVENT_WORDS; i++) {
        len += put_word(event + len, random_rank(seed));
        event[len++] = ' ';
    }
    return len + (size_t)sprintf(event + len, "\"}]}}");
}

/* Returns the bytes of the events. */
static double fill_session(struct haystack *hay, const ses_key *key)
{
    static char events[SESSION_EVENTS][EVENT_WORDS * 9 + 300];
    ses_text texts[SESSION_EVENTS];
    ses_session *session = NULL;
    double bytes = 0;

    for (size_t i = 0; i < SESSION_EVENTS; i++) {
        texts[i] = (ses_text){events[i], make_words_event(events[i], &hay->seed)};
        bytes += (double)texts[i].len;
    }
    CHECK(ses_create(hay->store, key, NULL, 0, NULL, &session, NULL) == SES_OK);
    CHECK(ses_append_batch(session, texts, SESSION_EVENTS, NULL, NULL, NULL) == SES_OK);
    ses_session_close(session);
    return bytes;
}

static double fill(struct haystack *hay)
{
    double bytes = 0;

    for (int i = 0; i < hay->users * USER_SESSIONS; i++) {
        char user[32];
        char name[32];
        snprintf(user, sizeof user, "user-%d", i % hay->users);
        snprintf(name, sizeof name, "session-%d", i);
        bytes += fill_session(hay, &(ses_key){"app", user, name});
    }
    return bytes;
}

static double index_bytes(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;

    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db,
                             "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search_%' AND aggregate = 1",
                             -1, &statement, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    const double bytes = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return bytes;
}

/* Times searches for one or two words from that rank on, each for others. */
static void time_searches(struct haystack *hay, const char *name, bool of_user, uint32_t rank, int words,
                          double most)
{
    const int count = measure_is_quick() ? 2 : SEARCHES;
    double times[SEARCHES];
    char title[100];

    for (int i = 0; i < count; i++) {
        char asked[100];
        char user[32];
        size_t len = 0;
        ses_hits *hits = NULL;
        for (int k = 0; k < words; k++) {
            len += put_word(asked + len, rank + (uint32_t)(next_random(&hay->seed) % (rank + 1)));
            asked[len++] = ' ';
        }
        snprintf(user, sizeof user, "user-%d", i % hay->users);
        const double start = now_us();
        CHECK(ses_store_search(hay->store, &(ses_key){"app", of_user ? user : NULL, NULL}, asked, len, NULL,
                               &hits, NULL) == SES_OK);
        times[i] = (now_us() - start) / 1000;
        CHECK(ses_hits_indexed(hits) == 1);
        ses_hits_close(hits);
    }
    const double middle = median(times, (size_t)count);
    snprintf(title, sizeof title, "%s, %s: half of them", of_user ? "user of 100 sessions" : "over all",
             name);
    report_time(title, "limit", "ms", middle, most);
    snprintf(title, sizeof title, "%s, %s: 99 %%", of_user ? "user of 100 sessions" : "over all", name);
    report_time(title, "limit", "ms", times[count * 99 / 100], most);
}

static void search_all(struct haystack *hay)
{
    static const struct {
        const char *name;
        uint32_t rank;
        int words;
    } kinds[] = {{"a rare word", 20000, 1},     {"a word", 500, 1},
                 {"a frequent word", 10, 1},    {"two words", 500, 2},
                 {"two frequent words", 10, 2}, {"five words", 20, 5}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        time_searches(hay, kinds[i].name, true, kinds[i].rank, kinds[i].words, 5);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        time_searches(hay, kinds[i].name, false, kinds[i].rank, kinds[i].words, 50);
}

static void bench_searches(void)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    char *path = fresh_path("bench-search.db");
    struct haystack hay = {.seed = 42, .users = measure_is_quick() ? 1 : USERS};
    int64_t events = 0;

    CHECK(ses_open(path, &options, &hay.store, NULL) == SES_OK);
    const double bytes = fill(&hay);
    const double start = now_us();
    CHECK(ses_store_index(hay.store, NULL, &events, NULL) == SES_OK);
    CHECK(events == (int64_t)hay.users * USER_SESSIONS * SESSION_EVENTS);
    report_time("indexing 1,000,000 events", "limit", "s", (now_us() - start) / 1000000, 300);
    report_time("the index, of the bytes of the events", "limit", "%", 100 * index_bytes(path) / bytes, 20);
    search_all(&hay);
    ses_close(hay.store);
    free(fresh_path("bench-search.db"));
    free(path);
}

static void bench_appends_with_index(void)
{
    struct library indexed;
    struct library plain;
    char *path = fresh_path("bench-indexed.db");
    char *plain_path = fresh_path("bench-not-indexed.db");

    library_open(&indexed, NULL, path, false, 1);
    CHECK(ses_store_index(indexed.store, NULL, NULL, NULL) == SES_OK);
    library_open(&plain, NULL, plain_path, false, 1);
    compare(&(struct comparison){.name = "append to a store with an index of words",
                                 .left = {"with an index", library_append, &indexed},
                                 .right = {"without", library_append, &plain},
                                 .rounds = 200,
                                 .count = 100,
                                 .at_most = 1.02});
    library_close(&indexed, true);
    library_close(&plain, true);
    free(fresh_path("bench-indexed.db"));
    free(fresh_path("bench-not-indexed.db"));
    free(plain_path);
    free(path);
}

void bench_search(void)
{
    bench_appends_with_index();
    bench_searches();
}
