/*
 * Pending calls in long logs, in a store that keeps how far a log is settled, and in one that loses it before
 * each look. The row is damaged at random. SESLITE_TEST_SEED gives another seed than 1, and
 * SESLITE_TEST_HISTORIES another number of histories.
 */
#include "check.h"
#include "random.h"
#include "session/history.h"

#include "base/hash.h"
#include "seslite_agent.h"
#include "seslite_erase.h"
#include "session/store.h"
#include "storage/sql/engine.h"

enum { OPEN_MAX = 8, BATCH = 50 };

struct pair {
    ses_store *with;
    ses_store *without;
    char *path;
    char without_path[4096];
    uint64_t random;
    int number;          /* of the next event */
    int turn;            /* the invocation of the next event */
    int calls[OPEN_MAX]; /* without a response, by the number of their events */
    size_t open;
};

/* ------------------------------------------------------------------------------------------------- events */

static int write_event(char *event, size_t size, const struct pair *pair, const char *author,
                       const char *part)
{
    return snprintf(event, size,
                    "{\"id\":\"e%d\",\"invocationId\":\"v%d\",\"author\":\"%s\",\"timestamp\":1,"
                    "\"content\":{\"parts\":[%s]}}",
                    pair->number, pair->turn, author, part);
}

static void next_event(struct pair *pair, char *event, size_t size)
{
    char part[200];
    const size_t kind = random_below(&pair->random, 10);

    if (kind < 3 || (kind < 7 && pair->open == OPEN_MAX)) {
        pair->turn++;
        (void)write_event(event, size, pair, "user", "{\"text\":\"words\"}");
    } else if (kind < 5 && pair->open < OPEN_MAX) {
        pair->calls[pair->open++] = pair->number;
        snprintf(part, sizeof part, "{\"functionCall\":{\"id\":\"c%d\",\"name\":\"f\",\"args\":{}}}",
                 pair->number);
        (void)write_event(event, size, pair, "agent", part);
    } else if (pair->open > 0) {
        const size_t which = random_below(&pair->random, pair->open);
        snprintf(part, sizeof part, "{\"functionResponse\":{\"id\":\"c%d\",\"name\":\"f\",\"response\":{}}}",
                 pair->calls[which]);
        pair->calls[which] = pair->calls[--pair->open];
        (void)write_event(event, size, pair, "agent", part);
    } else {
        (void)write_event(event, size, pair, "agent", "{\"text\":\"words\"}");
    }
    pair->number++;
}

static void append_at_random(struct pair *pair, size_t count)
{
    static char events[BATCH][400];
    ses_text texts[BATCH];
    ses_error error;

    for (size_t i = 0; i < count; i++) {
        next_event(pair, events[i], sizeof events[i]);
        texts[i] = (ses_text){events[i], strlen(events[i])};
    }
    assert_ok(ses_append_batch_by_key(pair->with, &key, texts, count, NULL, NULL, &error));
    assert_ok(ses_append_batch_by_key(pair->without, &key, texts, count, NULL, NULL, &error));
}

/* ------------------------------------------------------------------------------------------------ looking */

static char *pending_of(ses_store *store)
{
    struct text text = {NULL, 0};
    ses_pending *pending = NULL;
    ses_error error;

    assert_ok(ses_pending_open_by_key(store, &key, NULL, &pending, &error));
    text_printf(&text, "%zu:", ses_pending_count(pending));
    for (size_t i = 0; i < ses_pending_count(pending); i++)
        text_printf(&text, " %lld", (long long)ses_pending_event(pending, i)->seq);
    ses_pending_close(pending);
    return text.data;
}

static void compare(const struct pair *pair)
{
    raw_exec(pair->without_path, "DELETE FROM derived");
    char *expected = pending_of(pair->without);
    char *found = pending_of(pair->with);
    assert_string_equal(found, expected);
    free(expected);
    free(found);
}

/* -------------------------------------------------------------------------------------------- the changes */

static void damage_at_random(struct pair *pair)
{
    static const char *const damages[] = {
        "UPDATE derived SET seq = seq + 100 WHERE what = 'settled1' AND seq < 1000000",
        "UPDATE derived SET seq = 9223372036854775807 WHERE what = 'settled1'",
        "UPDATE derived SET epoch = epoch + 1 WHERE what = 'settled1'",
        "DELETE FROM derived",
    };
    raw_exec(pair->path, damages[random_below(&pair->random, sizeof damages / sizeof damages[0])]);
}

static void do_both(struct pair *pair, size_t what)
{
    char id[16];
    ses_error error;
    ses_store *const stores[] = {pair->with, pair->without};
    const size_t back = random_below(&pair->random, random_below(&pair->random, 2) == 0 ? 900 : 60);
    char *last = raw_text(pair->path, "SELECT last_seq FROM sessions");
    const int64_t seq = atol(last) - (int64_t)back;
    int codes[2];

    free(last);
    snprintf(id, sizeof id, "v%d", pair->turn - (int)back / 3);
    for (int i = 0; i < 2; i++) {
        const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = 700};
        codes[i] = what == 0   ? ses_rewind_by_key(stores[i], &key, LAST_TURN, NULL, NULL, &error)
                   : what == 1 ? ses_rewind_by_key(stores[i], &key, BEFORE_INVOCATION(id), NULL, NULL, &error)
                   : what == 2 ? ses_redo_by_key(stores[i], &key, NULL, NULL, &error)
                   : what == 3 ? ses_cut_by_key(stores[i], &key, AFTER_SEQ(seq), NULL, NULL, &error)
                               : ses_prune_by_key(stores[i], &key, &prune, NULL, &error);
    }
    assert_int_equal(codes[0], codes[1]);
}

static void change_at_random(struct pair *pair)
{
    const size_t what = random_below(&pair->random, 16);

    if (what < 5)
        do_both(pair, what);
    else if (what < 8)
        do_both(pair, 1); /* a rewind that may go back far */
    else if (what == 8)
        damage_at_random(pair);
    else if (what < 14)
        append_at_random(pair, 1 + random_below(&pair->random, BATCH));
    compare(pair);
}

static void run_history(struct pair *pair)
{
    ses_store *const stores[] = {pair->with, pair->without};

    pair->number = 0;
    pair->turn = 0;
    pair->open = 0;
    for (int i = 0; i < 2; i++)
        must_create(stores[i], &key, NULL);
    while (pair->number < 900)
        append_at_random(pair, BATCH);
    for (int i = 0; i < 40; i++)
        change_at_random(pair);
    for (int i = 0; i < 2; i++)
        must_delete(stores[i], &key);
}

TEST(random_histories)
{
    const char *seed = getenv("SESLITE_TEST_SEED");
    const char *histories = getenv("SESLITE_TEST_HISTORIES");
    struct pair pair = {.with = fixture->store, .path = fixture->path, .random = 1};

    if (seed)
        pair.random = strtoull(seed, NULL, 10);
    snprintf(pair.without_path, sizeof pair.without_path, "%s-without", fixture->path);
    assert_ok(ses_open(pair.without_path, NULL, &pair.without, &error));
    for (long left = histories ? atol(histories) : 10; left > 0; left--)
        run_history(&pair);
    ses_close(pair.without);
}

/* --------------------------------------------------------------------------------------------------- each */

#define SETTLED "SELECT seq FROM derived WHERE what = 'settled1'"

/* Appends events without calls, or with one in the first of them. */
static void append_words(ses_store *store, int *number, int count, const char *first)
{
    for (int i = 0; i < count; i++) {
        char event[300];
        snprintf(event, sizeof event,
                 "{\"invocationId\":\"v%d\",\"author\":\"%s\",\"content\":{\"parts\":[%s]}}", *number / 2,
                 *number % 2 ? "agent" : "user", i == 0 && first ? first : "{\"text\":\"words\"}");
        must_append_by_key(store, &key, event);
        ++*number;
    }
}

/* The row is kept by a write of less than 20 ms, which may take another try on a machine that is busy. */
static void look_until_settled(const struct fixture *fixture, const char *seq)
{
    char *found = NULL;

    for (int tries = 0; tries < 500 && (!found || strcmp(found, seq) != 0); tries++) {
        free(found);
        free(pending_of(fixture->store));
        found = raw_text(fixture->path, SETTLED);
    }
    assert_string_equal(found, seq);
    free(found);
}

TEST(a_long_walk_keeps_where_it_was_settled)
{
    int number = 0;

    must_create(fixture->store, &key, NULL);
    append_words(fixture->store, &number, 699, NULL);
    free(pending_of(fixture->store));
    assert_query(fixture->path, SETTLED, "");
    append_words(fixture->store, &number, 101, NULL);
    look_until_settled(fixture, "600\n");
    append_words(fixture->store, &number, 700, "{\"functionCall\":{\"name\":\"f\",\"args\":{}}}");
    char *pending = pending_of(fixture->store);
    assert_string_equal(pending, "1: 801");
    free(pending);
    assert_query(fixture->path, SETTLED, "600\n");
    ses_popped *popped = NULL;
    assert_ok(ses_pop_by_key(fixture->store, &key, AFTER_SEQ(700), NULL, &popped, &error));
    ses_popped_close(popped);
    append_words(fixture->store, &number, 10, NULL);
    free(pending_of(fixture->store));
    assert_query(fixture->path, SETTLED, "600\n"); /* the cut kept it */
    assert_ok(ses_cut_by_key(fixture->store, &key, AFTER_SEQ(599), NULL, NULL, &error));
    append_words(fixture->store, &number, 800, NULL);
    look_until_settled(fixture, "2110\n");
}

TEST(a_fork_and_a_redacted_log_begin_without)
{
    const ses_key to = {"app", "user", "fork"};
    const ses_open_options reading = {.size = sizeof reading, .flags = SES_OPEN_READ_ONLY};
    const int64_t seqs[] = {3};
    int number = 0;

    must_create(fixture->store, &key, NULL);
    append_words(fixture->store, &number, 800, NULL);
    ses_store *reader = must_open(fixture->path, &reading);
    free(pending_of(reader));
    ses_close(reader);
    assert_query(fixture->path, SETTLED, "");
    look_until_settled(fixture, "600\n");
    append_words(fixture->store, &number, 10, NULL);
    assert_ok(ses_fork_by_key(fixture->store, &key, AFTER_SEQ(700), &to, NULL, NULL, &error));
    assert_query(fixture->path, "SELECT count(*) FROM derived", "1\n");
    assert_ok(ses_redact_by_key(fixture->store, &key, seqs, 1, NULL, NULL, &error));
    look_until_settled(fixture, "610\n"); /* walks all, and further */
    assert_no_problems(fixture->store);
    must_delete(fixture->store, &key);
    assert_query(fixture->path, "SELECT count(*) FROM derived", "0\n");
}

/* A call at number 100, with a response at 101 unless it is `unanswered`, among 800 events. */
static void fill_with_call(ses_store *store, bool unanswered)
{
    int number = 0;

    must_create(store, &key, NULL);
    append_words(store, &number, 99, NULL);
    append_words(store, &number, 1, "{\"functionCall\":{\"id\":\"c\",\"name\":\"f\",\"args\":{}}}");
    append_words(store, &number, 700,
                 unanswered ? NULL : "{\"functionResponse\":{\"id\":\"c\",\"name\":\"f\",\"response\":{}}}");
}

static void assert_pending(ses_store *store, const char *expected)
{
    char *pending = pending_of(store);
    assert_string_equal(pending, expected);
    free(pending);
}

/* A row as the library writes it, with its sum. */
static void forge(struct fixture *fixture, int seq)
{
    struct text sql = {NULL, 0};
    char *id = raw_text(fixture->path, "SELECT id FROM sessions");
    char *epoch = raw_text(fixture->path, "SELECT version - last_seq FROM sessions");
    const uint64_t sum = ses__sum64((uint64_t)atoll(id), (uint64_t)atoll(epoch));

    text_printf(
        &sql,
        "INSERT OR REPLACE INTO derived (session_id, what, seq, epoch) VALUES (%s, 'settled1', %d, %lld)", id,
        seq, (long long)(ses__sum64(sum, (uint64_t)seq) >> 1));
    raw_exec(fixture->path, sql.data);
    free(sql.data);
    free(id);
    free(epoch);
}

TEST(a_wrong_row_is_found)
{
    fill_with_call(fixture->store, true);
    assert_pending(fixture->store, "1: 100");
    forge(fixture, 99);
    assert_pending(fixture->store, "1: 100");
    assert_no_problems(fixture->store);
    forge(fixture, 600);
    assert_pending(fixture->store, "0:"); /* no program of this library writes that */
    char *problems = problems_of(fixture->store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "no call is pending up to event 600, which is wrong"));
    free(problems);
    raw_exec(fixture->path, "UPDATE derived SET seq = 601");
    assert_pending(fixture->store, "1: 100");
    assert_no_problems(fixture->store);
    forge(fixture, 600);
    must_rewind(fixture->store, &key, BEFORE_INVOCATION("v200")); /* takes event 600 back */
    assert_pending(fixture->store, "1: 100");
    assert_no_problems(fixture->store);
}

/* ------------------------------------------------------------------------ between the walk and its write */

static const struct engine *real;
static ses_store *another;
static int (*between)(ses_store *store, ses_error *error); /* the work of another program then; NULL: none */

static int run_after_another(struct storage *storage, const struct manner *manner, storage_job *job,
                             void *context, ses_error *error)
{
    ses_error failure;

    struct manner patient = *manner; /* that write has a time limit, which this would exceed */

    if (manner->writes && between) {
        assert_int_equal(between(another, &failure), SES_OK);
        patient.limits = NULL;
    }
    return real->run(storage, &patient, job, context, error);
}

static int cut_answer(ses_store *store, ses_error *error)
{
    int number = 0;
    const int code = ses_cut_by_key(store, &key, AFTER_SEQ(100), NULL, NULL, error);

    append_words(store, &number, 900, NULL);
    return code;
}

static int redact_words(ses_store *store, ses_error *error)
{
    const int64_t seqs[] = {3};
    return ses_redact_by_key(store, &key, seqs, 1, NULL, NULL, error);
}

static int begin_again(ses_store *store, ses_error *error)
{
    const int code = ses_delete(store, &key, NULL, NULL, error);

    fill_with_call(store, true);
    return code;
}

TEST(another_writes_before_the_row_is_kept)
{
    int (*const changes[])(ses_store * store, ses_error * error) = {cut_answer, redact_words, begin_again};
    static struct engine changed;

    another = must_open(fixture->path, NULL);
    real = fixture->store->storage->engine;
    changed = *real;
    changed.run = run_after_another;
    fixture->store->storage->engine = &changed;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fill_with_call(another, false);
        between = changes[i];
        assert_pending(fixture->store, "0:");
        between = NULL;
        assert_query(fixture->path, SETTLED, "");
        char *expected = pending_of(another);
        assert_pending(fixture->store, expected);
        free(expected);
        assert_no_problems(another);
        must_delete(another, &key);
    }
    fixture->store->storage->engine = real;
    ses_close(another);
}

/* A reader neither waits for a writer nor fails. */
TEST(a_writer_is_not_waited_for)
{
    int number = 0;

    must_create(fixture->store, &key, NULL);
    append_words(fixture->store, &number, 800, NULL);
    sqlite3 *db = raw_open(fixture->path);
    raw_run(db, "BEGIN IMMEDIATE");
    free(pending_of(fixture->store));
    raw_run(db, "ROLLBACK");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_query(fixture->path, SETTLED, "");
}
