/* After any damage to the index of words or to the tally, deletions work as without them, and they are made
 * again. */
#include "check.h"
#include "seslite_erase.h"
#include "seslite_history.h"
#include "seslite_search.h"
#include "seslite_transfer.h"
#include "seslite_usage.h"

#define SECRET "xyzzy4711qwertz"

static const ses_key key = {"app", "user", "session"};
static const ses_key other = {"app", "user", "other"};

/* --------------------------------------------------------------------------------------------- the damage */

static const struct damage {
    const char *sql;    /* NULL: none */
    const char *broken; /* the table (or index) whose pages are filled with nonsense; NULL: none */
    bool is_silent;     /* a search may miss events, and only a check finds out */
} damages[] = {
    {NULL, NULL, false},
    {"UPDATE search_words_data SET block = zeroblob(length(block)) WHERE id > 10", NULL, false},
    {"UPDATE search_words_data SET block = substr(block, 1, length(block) / 2)", NULL, false},
    {"DELETE FROM search_words_data", NULL, false},
    {"DELETE FROM search_words_config", NULL, false},
    {"DELETE FROM search_words_idx", NULL, false},
    {"DELETE FROM search_places", NULL, false},
    {"UPDATE search_places SET id = 9223372036854775807 - id", NULL, false},
    {"DROP TABLE search_places", NULL, false},
    {"DROP TABLE search_words", NULL, false},
    {"ALTER TABLE search_places ADD COLUMN mine TEXT", NULL, false},
    {"CREATE UNIQUE INDEX mine ON search_places (first_seq > 0) WHERE first_seq > 85", NULL, false},
    {"UPDATE features SET name = 'search2' WHERE name = 'search'", NULL, false},
    {"DELETE FROM features WHERE name <> 'families'", NULL, false},
    {"UPDATE derived SET seq = 9223372036854775807", NULL, false},
    {"UPDATE derived SET seq = 9223372036854775807, epoch = epoch + 1", NULL, false},
    {"UPDATE derived SET seq = -9223372036854775807", NULL, false},
    {"DELETE FROM derived", NULL, false},
    {"UPDATE usage_sums SET calls = -1", NULL, false},
    {"UPDATE usage_sums SET calls = 9223372036854775807", NULL, false},
    {"UPDATE usage_sums SET last_seq = 9223372036854775807", NULL, false},
    {"DELETE FROM usage_sums", NULL, false},
    {"DROP TABLE usage_sums", NULL, false},
    {"ALTER TABLE usage_sums ADD COLUMN mine TEXT", NULL, false},
    {NULL, "search_words_data", false},
    {NULL, "search_words_idx", false},
    {NULL, "search_places", false},
    {NULL, "sqlite_autoindex_search_places_1", false},
    {NULL, "usage_sums", false},
    {"DELETE FROM search_words_data", "usage_sums", false},
};
enum { DAMAGES = sizeof damages / sizeof damages[0] };

static void damage_file(const char *path, const struct damage *damage)
{
    sqlite3 *db = raw_open(path);

    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL), SQLITE_OK);
    raw_run(db, damage->sql ? damage->sql : "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    if (damage->broken)
        raw_break_table(path, damage->broken);
}

/* ------------------------------------------------------------------------------------------ the deletions */

static int cut(ses_store *store, ses_error *error)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 60};
    return ses_cut_by_key(store, &key, &point, NULL, NULL, error);
}

static int prune(ses_store *store, ses_error *error)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 40};
    return ses_prune_by_key(store, &key, &options, NULL, error);
}

static int redact(ses_store *store, ses_error *error)
{
    const int64_t seqs[] = {3, 60};
    return ses_redact_by_key(store, &key, seqs, 2, NULL, NULL, error);
}

static int delete_it(ses_store *store, ses_error *error)
{
    return ses_delete(store, &key, NULL, NULL, error);
}

static int delete_securely(ses_store *store, ses_error *error)
{
    const ses_delete_options options = {.size = sizeof options, .flags = SES_SECURE};
    return ses_delete(store, &key, &options, NULL, error);
}

static int delete_user(ses_store *store, ses_error *error)
{
    return ses_delete_user(store, "app", "user", NULL, NULL, NULL, error);
}

static int delete_app(ses_store *store, ses_error *error)
{
    int code = SES_MORE;

    while (code == SES_MORE)
        code = ses_delete_app(store, "app", NULL, NULL, error);
    return code;
}

static int expire(ses_store *store, ses_error *error)
{
    const ses_expire_options options = {.size = sizeof options, .sessions_per_user = 1};
    return ses_store_expire(store, NULL, &options, NULL, error);
}

static int (*const deletions[])(ses_store *store, ses_error *error) = {
    cut, prune, redact, delete_it, delete_securely, delete_user, delete_app, expire};
enum { DELETIONS = sizeof deletions / sizeof deletions[0] };

/* --------------------------------------------------------------------------------------------- the stores */

static void say(ses_store *store, const ses_key *to, int number)
{
    char event[500];

    snprintf(event, sizeof event,
             Q("{'id':'e%d','timestamp':%d,'invocationId':'i%d','author':'user','modelVersion':'m" SECRET "',"
               "'content':{'parts':[{'text':'each number%d " SECRET
               "'}]},'usageMetadata':{'totalTokenCount':%d}}"),
             number, number + 1, number, number, number);
    must_append_by_key(store, to, event);
}

/* A store with an index and a tally that lack the last events. */
static void make_store(const char *path, const ses_open_options *options)
{
    ses_error error;

    ses_store *store = must_open(path, options);
    must_create(store, &other, NULL);
    must_create(store, &key, NULL);
    for (int i = 0; i < 100; i++) {
        say(store, &key, i);
        if (i % 10 == 0)
            say(store, &other, i);
        if (i % 30 == 20) {
            assert_ok(ses_store_index(store, NULL, NULL, &error));
            assert_ok(ses_store_tally(store, NULL, NULL, &error));
        }
    }
    ses_close(store);
}

static int add_text(void *context, const char *text, size_t len, ses_error *error)
{
    (void)error;
    text_add(context, text, len);
    return 0;
}

/* All that is told of a store: its lines, what a search finds, and what was used. Free it. */
static char *picture_of(ses_store *store, bool with_hits)
{
    const ses_search_options options = {.size = sizeof options, .limit = 1000};
    struct text text = {NULL, 0};
    ses_hits *hits = NULL;
    ses_usage_rows *rows = NULL;
    ses_error error;

    assert_ok(ses_store_export(store, NULL, add_text, &text, &error));
    assert_ok(
        ses_store_search(store, &(ses_key){"app", NULL, NULL}, "each", SES_NUL, &options, &hits, &error));
    for (size_t i = 0; i < ses_hits_count(hits) && with_hits; i++)
        text_printf(&text, "%s %lld\n", ses_hits_at(hits, i)->session, (long long)ses_hits_at(hits, i)->seq);
    ses_hits_close(hits);
    assert_ok(ses_store_usage(store, NULL, NULL, &rows, &error));
    text_printf(&text, "%lld calls, %lld tokens\n", (long long)ses_usage_rows_sum(rows)->calls,
                (long long)ses_usage_rows_sum(rows)->total);
    ses_usage_rows_close(rows);
    return text.data;
}

static bool is_in_file(const char *path)
{
    size_t len = 0;
    char *bytes = support_read_file(path, &len);
    bool is_there = false;

    for (size_t i = 0; bytes && i + 9 <= len && !is_there; i++)
        is_there = memcmp(bytes + i, &SECRET[4], 9) == 0;
    free(bytes);
    return is_there;
}

static ses_store *open_damaged(struct fixture *fixture, const struct damage *damage)
{
    char *made = support_path(fixture->folder, "made.db");
    copy_file(made, fixture->path);
    free(made);
    damage_file(fixture->path, damage);
    ses_store *store = must_open(fixture->path, &fixture->options);
    return store;
}

/* A table whose pages are damaged cannot be dropped: it is unlinked, and its pages are in nobody's use. */
static void assert_made_again(struct fixture *fixture, ses_store *store, const struct damage *damage)
{
    const ses_index_options index = {.size = sizeof index,
                                     .flags = damage->is_silent ? SES_INDEX_REBUILD : 0};
    const ses_tally_options tally = {.size = sizeof tally,
                                     .flags = damage->is_silent ? SES_TALLY_REBUILD : 0};
    ses_error error;

    assert_ok(ses_store_index(store, &index, NULL, &error));
    assert_ok(ses_store_tally(store, &tally, NULL, &error));
    char *problems = problems_of(store, SES_CHECK_LOG);
    if (!damage->broken && *problems)
        fail_msg("%s: %s", damage->sql, problems);
    free(problems);
    ses_close(store);
    if (damage->broken) {
        raw_exec(fixture->path, "VACUUM");
        assert_ok(ses_open(fixture->path, &fixture->options, &store, &error));
        assert_no_problems(store);
        ses_close(store);
    }
    unlink(fixture->path);
}

static void close_made(struct fixture *fixture)
{
    ses_close(fixture->store);
    fixture->store = NULL;
    fixture->options.synchronous = SES_SYNC_NORMAL;
    unlink(fixture->path);
    char *made = support_path(fixture->folder, "made.db");
    make_store(made, &fixture->options);
    raw_exec(made, SUPPORT_DROP_VIEWS);
    free(made);
}

TEST(every_deletion_goes_on)
{
    close_made(fixture);
    for (size_t d = 0; d < DELETIONS; d++) {
        char *expected[2] = {NULL, NULL};
        for (size_t i = 0; i < DAMAGES; i++) {
            ses_store *store = open_damaged(fixture, &damages[i]);
            const int code = deletions[d](store, &error);
            if (code < 0)
                fail_msg("deletion %zu, damage %zu: %s: %s", d, i, ses_code_name(code), error.message);
            if (i == 0)
                expected[0] = picture_of(store, false);
            if (i == 0)
                expected[1] = picture_of(store, true);
            char *picture = picture_of(store, !damages[i].is_silent);
            if (strcmp(picture, expected[!damages[i].is_silent]) != 0)
                fail_msg("deletion %zu, damage %zu: not\n%s\nbut\n%s", d, i, expected[!damages[i].is_silent],
                         picture);
            free(picture);
            assert_made_again(fixture, store, &damages[i]);
        }
        free(expected[0]);
        free(expected[1]);
    }
}

/* Nothing is left of what was erased, or the call says so. */
TEST(nothing_is_left_in_what_is_void)
{
    close_made(fixture);
    for (size_t i = 0; i < DAMAGES; i++) {
        ses_store *store = open_damaged(fixture, &damages[i]);
        ses_erased erased = {.size = sizeof erased};
        const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE, .erased = &erased};
        const int code = ses_delete_user(store, "app", "user", &secure, NULL, NULL, &error);
        if (code < 0)
            fail_msg("damage %zu: %s: %s", i, ses_code_name(code), error.message);
        assert_int_equal(erased.derived_left, code == SES_MORE ? 110 : 0);
        assert_true(code == SES_OK || damages[i].broken);
        if (code == SES_OK && is_in_file(fixture->path))
            fail_msg("damage %zu: the secret is in the file", i);
        assert_made_again(fixture, store, &damages[i]);
    }
}

/* A redaction drops what is void even without SES_SECURE. */
TEST(a_redaction_drops_what_is_void)
{
    close_made(fixture);
    for (size_t i = 0; i < DAMAGES; i++) {
        ses_store *store = open_damaged(fixture, &damages[i]);
        ses_erased erased = {.size = sizeof erased};
        const int code = ses_redact_by_key(store, &key, NULL, 0, NULL, &erased, &error);
        if (code < 0)
            fail_msg("damage %zu: %s: %s", i, ses_code_name(code), error.message);
        assert_int_equal(erased.derived_left, code == SES_MORE ? 100 : 0);
        assert_query(fixture->path,
                     code == SES_MORE ? "SELECT 0"
                                      : "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'search_words'"
                                        " AND NOT EXISTS (SELECT 1 FROM features WHERE name = 'search')",
                     "0\n");
        assert_made_again(fixture, store, &damages[i]);
    }
}

/* Also the index where only the tally is damaged. */
TEST(drop_and_rebuild_work)
{
    static const unsigned flags[] = {SES_INDEX_DROP, SES_INDEX_REBUILD};

    close_made(fixture);
    for (size_t i = 0; i < DAMAGES; i++) {
        for (size_t j = 0; j < 2; j++) {
            const ses_index_options index = {.size = sizeof index, .flags = flags[j]};
            const ses_tally_options tally = {.size = sizeof tally,
                                             .flags = j == 0 ? SES_TALLY_DROP : SES_TALLY_REBUILD};
            ses_store *store = open_damaged(fixture, &damages[i]);
            if (ses_store_index(store, &index, NULL, &error) < 0 ||
                ses_store_tally(store, &tally, NULL, &error) < 0)
                fail_msg("damage %zu: %s", i, error.message);
            assert_made_again(fixture, store, &damages[i]);
        }
    }
}

/* The session as it is: the same number of events, one of which differs. */
struct others {
    size_t count;
    size_t changed;
    size_t next;
    ses_session *session;
};

static int give_event(void *context, ses_loaded_event *event, ses_error *error)
{
    struct others *others = context;
    const size_t next = others->next++;

    (void)error;
    if (next >= others->count)
        return 0;
    event->json = next == others->changed ? Q("{'id':'changed','timestamp':60}")
                                          : ses_session_event(others->session, next)->json;
    event->json_len = SES_NUL;
    return 1;
}

/* The events that were asked for cannot be asked for again. */
static void replace_by(ses_store *store, struct others others, const struct damage *damage)
{
    const ses_load_options replace = {.size = sizeof replace, .flags = SES_LOAD_REPLACE};
    ses_load_result result;
    ses_error error;

    others.session = must_get(store, &key);
    const int64_t created_us = ses_session_created_us(others.session);
    const ses_loaded loaded = {
        .size = sizeof loaded, .created_us = &created_us, .next = give_event, .next_context = &others};
    if (ses_load(store, &key, &loaded, &replace, &result, &error) < 0)
        fail_msg("%s%s: %s", damage->sql ? damage->sql : "", damage->broken ? damage->broken : "",
                 error.message);
    assert_int_equal(result.outcome, SES_LOADED_REPLACED);
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), others.count);
    for (size_t i = 0; i < others.count; i++) {
        const char *const id = i == others.changed ? "changed" : ses_session_event(others.session, i)->id;
        assert_string_equal(ses_session_event(session, i)->id, id);
    }
    ses_session_close(session);
    ses_session_close(others.session);
}

TEST(a_load_that_replaces_goes_on)
{
    static const struct others cases[] = {
        {100, 50, 0, NULL}, {100, 0, 0, NULL}, {60, 100, 0, NULL}, {0, 100, 0, NULL}};

    close_made(fixture);
    for (size_t i = 0; i < DAMAGES; i++) {
        for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
            ses_store *store = open_damaged(fixture, &damages[i]);
            replace_by(store, cases[j], &damages[i]);
            assert_made_again(fixture, store, &damages[i]);
        }
    }
}

/* It finds and counts what the store does, and what it did before the damage when what is derived was made
 * again. */
static void assert_copied(ses_store *copy, const struct damage *damage, const char *damaged,
                          const char *sound)
{
    const ses_index_options index = {.size = sizeof index, .flags = SES_INDEX_REBUILD};
    const ses_tally_options tally = {.size = sizeof tally, .flags = SES_TALLY_REBUILD};
    char *picture = picture_of(copy, true);
    ses_error error;

    if (strcmp(picture, damaged) != 0)
        fail_msg("%s %s: not\n%s\nbut\n%s", damage->sql ? damage->sql : "",
                 damage->broken ? damage->broken : "", damaged, picture);
    free(picture);
    assert_ok(
        ses_store_tally(copy, &tally, NULL, &error)); /* its rows refer to those that the index removes */
    assert_ok(ses_store_index(copy, &index, NULL, &error));
    picture = picture_of(copy, true);
    assert_string_equal(picture, sound);
    free(picture);
    if (!damage->broken)
        assert_no_problems(copy);
    ses_close(copy);
}

TEST(copies_of_what_is_void)
{
    char *target = support_path(fixture->folder, "backup.db");
    char *sound = NULL;

    close_made(fixture);
    for (size_t i = 0; i < DAMAGES; i++) {
        ses_store *store = open_damaged(fixture, &damages[i]);
        ses_store *copy = NULL;
        char *damaged = picture_of(store, true);
        if (i == 0)
            sound = strdup(damaged);
        assert_ok(ses_open_copy(store, NULL, &copy, &error));
        assert_copied(copy, &damages[i], damaged, sound);
        assert_ok(ses_store_backup(store, target, NULL, &error));
        assert_ok(ses_open(target, &fixture->options, &copy, &error));
        assert_copied(copy, &damages[i], damaged, sound);
        assert_int_equal(unlink(target), 0);
        free(damaged);
        ses_close(store);
        assert_int_equal(unlink(fixture->path), 0);
    }
    free(sound);
    free(target);
}

/* -------------------------------------------------------------------------------------- dropped meanwhile */

/* Another connection drops both after the first step. */
static int drop_both(void *context, int64_t done, int64_t total)
{
    const ses_index_options index = {.size = sizeof index, .flags = SES_INDEX_DROP};
    const ses_tally_options tally = {.size = sizeof tally, .flags = SES_TALLY_DROP};
    ses_error error;

    (void)total;
    assert_true(done > 0);
    ses_store *other_store = must_open(context, NULL);
    assert_ok(ses_store_index(other_store, &index, NULL, &error));
    assert_ok(ses_store_tally(other_store, &tally, NULL, &error));
    ses_close(other_store);
    return 0;
}

TEST(dropped_between_two_steps)
{
    enum { LONG = 1200000 };
    const ses_index_options index = {
        .size = sizeof index, .progress = drop_both, .progress_context = fixture->path};
    const ses_tally_options tally = {
        .size = sizeof tally, .progress = drop_both, .progress_context = fixture->path};
    char *event = malloc(LONG + 200);

    assert_non_null(event);
    const int head = sprintf(event, "{\"content\":{\"parts\":[{\"text\":\"");
    memset(event + head, 'x', LONG);
    sprintf(event + head + LONG, "\"}]},\"usageMetadata\":{\"totalTokenCount\":1}}");
    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    for (int i = 0; i < 2; i++) {
        must_append_by_key(fixture->store, &key, event);
        must_append_by_key(fixture->store, &other, event);
    }
    free(event);
    assert_ok(ses_store_index(fixture->store, &index, NULL, &error));
    assert_ok(ses_store_tally(fixture->store, &tally, NULL, &error));
    assert_query(fixture->path, "SELECT count(*) FROM features WHERE name <> 'families'", "0\n");
    assert_no_problems(fixture->store);
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
