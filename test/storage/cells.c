/*
 * Each operation on a session that has everything: an index of words and a tally in its store, artifacts that
 * its events name, a title, labels, an expiry, a lease, a draft, an input, and followers. The same is done
 * to a store that derives nothing. Afterwards both must find and count the same, everything that the session
 * has must be as the operation says, and the check of the store must find nothing. test/README.md lists these
 * cells.
 */
#include "session/lines_text.h"

#include <limits.h>

#include "seslite_agent.h"
#include "seslite_artifact.h"
#include "seslite_draft.h"
#include "seslite_erase.h"
#include "seslite_inbox.h"
#include "seslite_memory.h"
#include "seslite_usage.h"

static const ses_key full = {"app", "user", "full"};
static const ses_key other = {"app", "user", "other"};
static const ses_key everything = {NULL, NULL, NULL};
static const ses_label label = {"kind", "demo"};
enum { EVENTS = 6 };
#define EXPIRES_IN_US (3600 * INT64_C(1000000))

/* One store of a pair. */
struct side {
    ses_store *store;
    ses_follower *follower; /* of the session, after its events */
    ses_follower *of_store;
    int64_t token;
    int64_t now;
};

struct cells {
    struct fixture *fixture;
    struct side derived; /* has an index and a tally */
    struct side plain;
    bool gone;    /* the session was deleted */
    bool resets;  /* followers begin again */
    int events;   /* that a follower is given */
    int versions; /* of the artifact that are left */
};

static const char *event_text(int number)
{
    static char text[700];

    snprintf(
        text, sizeof text,
        "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"author\":\"%s\",\"timestamp\":%d,\"modelVersion\":\"m\","
        "\"content\":{\"role\":\"%s\",\"parts\":[{\"text\":\"word%d common apple\"}]},\"usageMetadata\":{"
        "\"promptTokenCount\":%d,\"totalTokenCount\":%d},\"actions\":{\"stateDelta\":{\"k\":%d,\"user:u\":%d},"
        "\"artifactDelta\":{\"file\":%d}}}",
        number, (number + 1) / 2, number % 2 ? "user" : "agent", 1000 + number, number % 2 ? "user" : "model",
        number, number, number * 10, number, number, number - 1);
    return text;
}

static void fill(struct side *side)
{
    const int64_t expires = side->now + EXPIRES_IN_US;
    const ses_lease_options hour = {.size = sizeof hour, .duration_us = 3600 * (int64_t)1000000};
    ses_lease lease;
    ses_error error;

    const char *state = Q("{'k':0,'first':'word0'}");
    const ses_loaded child = {
        .size = sizeof child, .initial_state = state, .initial_state_len = SES_NUL, .child_of = &other};
    assert_ok(ses_load(side->store, &full, &child, NULL, NULL, &error));
    must_create(side->store, &other, NULL);
    for (int i = 1; i <= EVENTS; i++) {
        char bytes[16];
        snprintf(bytes, sizeof bytes, "version %d", i - 1);
        assert_ok(
            ses_artifact_save_by_key(side->store, &full, "file", bytes, strlen(bytes), NULL, NULL, &error));
        must_append_by_key(side->store, &full, event_text(i));
    }
    must_append_by_key(side->store, &other, event_text(50));
    assert_ok(ses_title_set_by_key(side->store, &full, "a title", NULL, &error));
    assert_ok(ses_labels_set_by_key(side->store, &full, &label, 1, NULL, &error));
    assert_ok(ses_expiry_set_by_key(side->store, &full, &expires, NULL, &error));
    assert_ok(ses_archive_set_by_key(side->store, &full, 1, NULL, &error));
    assert_ok(ses_memory_add_session(side->store, &full, 3, NULL, &error));
    assert_ok(ses_lease_take(side->store, &full, "worker", &hour, &lease, &error));
    side->token = lease.token;
    assert_ok(ses_draft_set(side->store, &full, "Hel", SES_NUL, NULL, &error));
    assert_ok(ses_inbox_add(side->store, &full, "request", "1", 1, NULL, &error));
}

static void follow(struct side *side)
{
    const ses_follow_options fresh = {.size = sizeof fresh, .flags = SES_FOLLOW_NEW};
    ses_error error;

    assert_ok(ses_follower_open(side->store, &full, &fresh, &side->follower, &error));
    assert_ok(ses_follower_open(side->store, &everything, &fresh, &side->of_store, &error));
}

static int setup(void **state)
{
    struct cells *cells = calloc(1, sizeof *cells);
    ses_open_options options = {.size = sizeof options, .clock = support_clock};
    void *fixture = NULL;
    ses_error error;

    assert_non_null(cells);
    assert_int_equal(fixture_setup(&fixture), 0);
    cells->fixture = fixture;
    cells->derived = (struct side){.store = cells->fixture->store, .now = cells->fixture->now};
    cells->plain.now = cells->fixture->now;
    options.clock_context = &cells->plain.now;
    char *path = support_path(cells->fixture->folder, "plain.db");
    assert_ok(ses_open(path, &options, &cells->plain.store, &error));
    free(path);
    cells->versions = EVENTS;
    fill(&cells->derived);
    fill(&cells->plain);
    support_make_index(cells->derived.store);
    assert_ok(ses_store_tally(cells->derived.store, NULL, NULL, &error));
    follow(&cells->derived);
    follow(&cells->plain);
    *state = cells;
    return 0;
}

static int teardown(void **state)
{
    struct cells *cells = *state;
    void *fixture = cells->fixture;

    ses_follower_close(cells->derived.follower);
    ses_follower_close(cells->plain.follower);
    ses_follower_close(cells->derived.of_store);
    ses_follower_close(cells->plain.of_store);
    ses_close(cells->plain.store);
    free(cells);
    return fixture_teardown(&fixture);
}

/* ----------------------------------------------------------------------------------------- what must hold */

static void text_of_search(struct text *text, ses_store *store, const char *word, unsigned flags)
{
    const ses_search_options options = {.size = sizeof options, .flags = flags};
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_store_search(store, &(ses_key){"app", NULL, NULL}, word, SES_NUL, &options, &hits, &error));
    for (size_t i = 0; i < ses_hits_count(hits); i++)
        text_printf(text, "%s: %s %lld\n", word, ses_hits_at(hits, i)->session,
                    (long long)ses_hits_at(hits, i)->seq);
    ses_hits_close(hits);
}

/* Data that is derived from the events of the store, or found in them. */
static struct text derived_text(ses_store *store)
{
    static const char *const words[] = {"common", "word0", "word1", "word2",  "word3",  "word4",
                                        "word5",  "word6", "word7", "word50", "hidden", "imported"};
    const ses_usage_options by = {.size = sizeof by, .flags = SES_USAGE_BY_SESSION | SES_USAGE_BY_MODEL};
    ses_usage_rows *rows = NULL;
    struct text text = {NULL, 0};
    ses_error error;

    text_add(&text, "", 0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        text_of_search(&text, store, words[i], 0);
        text_of_search(&text, store, words[i], SES_SEARCH_LIVE);
    }
    assert_ok(ses_store_usage(store, NULL, &by, &rows, &error));
    for (size_t i = 0; i < ses_usage_rows_count(rows); i++) {
        const ses_usage_row *row = ses_usage_rows_at(rows, i);
        text_printf(&text, "%s: %lld calls, %lld\n", row->session, (long long)row->calls,
                    (long long)row->total);
    }
    ses_usage_rows_close(rows);
    return text;
}

static void assert_sound_store(ses_store *store)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
}

static int versions_of(ses_store *store, const ses_key *key)
{
    ses_artifact_list *list = NULL;
    ses_error error;

    assert_ok(ses_artifact_versions_by_key(store, key, "file", NULL, &list, &error));
    const int count = (int)ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

static void assert_follower(const struct cells *cells, ses_follower *follower)
{
    const ses_event *event = NULL;
    ses_error error;

    if (cells->gone) {
        assert_code(SES_NOTFOUND, ses_follower_next(follower, 0, &event, &error));
        return;
    }
    if (cells->resets)
        assert_code(SES_RESET, ses_follower_next(follower, 0, &event, &error));
    for (int i = 0; i < cells->events; i++)
        assert_code(SES_ROW, ses_follower_next(follower, 0, &event, &error));
    if (!cells->resets)
        assert_code(SES_OK, ses_follower_next(follower, 0, &event, &error));
}

/* A deletion has no name. Of other sessions there may be more. */
static void assert_follower_of_store(const struct cells *cells, ses_follower *follower)
{
    const ses_event *event = NULL;
    ses_error error;
    int rows = 0;
    int resets = 0;
    int deletions = 0;
    int code;

    while ((code = ses_follower_next(follower, 0, &event, &error)) > 0) {
        const ses_key *of = ses_follower_key(follower);
        const bool is_it = of->session && strcmp(of->session, full.session) == 0;
        rows += is_it && code == SES_ROW;
        resets += is_it && code == SES_RESET;
        deletions += !of->session;
    }
    assert_int_equal(code, SES_OK);
    assert_int_equal(deletions > 0, cells->gone);
    if (!cells->gone) {
        assert_int_equal(resets, cells->resets);
        assert_in_range(rows, cells->events, cells->resets ? INT_MAX : cells->events);
    }
}

/* The lease is held still: its token appends, and another does not. */
static void assert_lease(struct side *side)
{
    const ses_append_options held = {.size = sizeof held, .lease = side->token};
    const ses_append_options wrong = {.size = sizeof wrong, .lease = side->token + 1};
    ses_error error;

    assert_code(SES_LEASED,
                ses_append_by_key(side->store, &full, event_text(90), SES_NUL, &wrong, NULL, &error));
    assert_ok(ses_append_by_key(side->store, &full, event_text(91), SES_NUL, &held, NULL, &error));
}

static void assert_draft(ses_store *store, const ses_key *key, const char *expected)
{
    char *body = NULL;
    ses_error error;

    assert_code(expected ? SES_OK : SES_ABSENT, ses_draft_get(store, key, NULL, &body, NULL, NULL, &error));
    assert_string_equal(body ? body : "", expected ? expected : "");
    ses_free(body);
}

static void assert_waiting(ses_store *store, const ses_key *key, size_t expected)
{
    ses_inputs *inputs = NULL;
    ses_error error;

    assert_ok(ses_inbox_list(store, key, NULL, &inputs, &error));
    assert_int_equal(ses_inputs_count(inputs), expected);
    ses_inputs_close(inputs);
}

/* Its title, its labels, its expiry and its kind; a fork is not in the archive, and not remembered. */
static void assert_attributes(const struct cells *cells, ses_store *store, const ses_key *key)
{
    ses_session *session = must_get(store, key);

    assert_string_equal(ses_session_title(session), "a title");
    assert_string_equal(ses_session_label_value(session, "kind"), "demo");
    assert_int_equal(ses_session_expires_us(session), cells->fixture->now + EXPIRES_IN_US);
    assert_int_equal(ses_session_archived_us(session) != 0, strcmp(key->session, full.session) == 0);
    assert_int_equal(ses_session_remembered_seq(session), strcmp(key->session, full.session) == 0 ? 3 : 0);
    assert_int_equal(ses_session_kind(session), SES_KIND_CHILD);
    assert_string_equal(ses_session_child_of(session)->session, other.session);
    ses_session_close(session);
}

/* A context of one turn is the end of the whole context. */
static void assert_context(ses_store *store)
{
    const ses_context_options turn = {.size = sizeof turn, .max_turns = 1};
    ses_context *whole = NULL;
    ses_context *last = NULL;
    ses_error error;

    assert_ok(ses_context_open_by_key(store, &full, NULL, &whole, &error));
    assert_ok(ses_context_open_by_key(store, &full, &turn, &last, &error));
    const size_t left_out = (size_t)ses_context_left_out(last)->events;
    assert_int_equal(ses_context_count(whole), left_out + ses_context_count(last));
    assert_in_range(ses_context_count(last), 1, 3);
    for (size_t i = 0; i < ses_context_count(last); i++) {
        const ses_event *event = ses_context_event(last, i);
        assert_string_equal(event->id, ses_context_event(whole, left_out + i)->id);
        assert_int_equal(strcmp(event->author, "user") == 0, i == 0);
    }
    ses_context_close(last);
    ses_context_close(whole);
}

static void assert_session(const struct cells *cells, struct side *side)
{
    assert_context(side->store);
    assert_attributes(cells, side->store, &full);
    assert_int_equal(versions_of(side->store, &full), cells->versions);
    assert_lease(side);
    assert_draft(side->store, &full, "Hel");
    assert_waiting(side->store, &full, 1);
}

static void assert_everything(struct cells *cells)
{
    struct text derived = derived_text(cells->derived.store);
    struct text plain = derived_text(cells->plain.store);

    assert_string_equal(derived.data, plain.data);
    assert_follower(cells, cells->derived.follower);
    assert_follower(cells, cells->plain.follower);
    assert_follower_of_store(cells, cells->derived.of_store);
    assert_follower_of_store(cells, cells->plain.of_store);
    if (!cells->gone) {
        assert_session(cells, &cells->derived);
        assert_session(cells, &cells->plain);
    }
    assert_sound_store(cells->derived.store);
    assert_sound_store(cells->plain.store);
    free(plain.data);
    free(derived.data);
}

/* Does it to both. */
#define ON_BOTH(code, call)                                                        \
    for (int side_ = 0; side_ < 2; side_++) {                                      \
        ses_store *store = side_ == 0 ? cells->derived.store : cells->plain.store; \
        assert_code(code, call);                                                   \
    }

/* ----------------------------------------------------------------------------------------- each operation */

#define AT(number) (&(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = (number)})

#define CELLS_TEST(name) TEST_WITH(struct cells *cells, setup, teardown, name)

CELLS_TEST(an_append)
{
    ON_BOTH(SES_OK, ses_append_by_key(store, &full, event_text(7), SES_NUL, NULL, NULL, &error));
    cells->events = 1;
    assert_everything(cells);
}

CELLS_TEST(a_batch)
{
    char *first = strdup(event_text(7));
    char *second = strdup(event_text(8));
    const ses_text events[] = {{first, SES_NUL}, {second, SES_NUL}};

    ON_BOTH(SES_OK, ses_append_batch_by_key(store, &full, events, 2, NULL, NULL, &error));
    cells->events = 2;
    assert_everything(cells);
    free(second);
    free(first);
}

CELLS_TEST(a_duplicate)
{
    ON_BOTH(SES_DUPLICATE, ses_append_by_key(store, &full, event_text(3), SES_NUL, NULL, NULL, &error));
    assert_everything(cells);
}

CELLS_TEST(a_rewind_and_a_redo)
{
    ON_BOTH(SES_OK, ses_rewind_by_key(store, &full, AT(2), NULL, NULL, &error));
    cells->events = 1;
    cells->versions++; /* the version at the point, once more */
    assert_everything(cells);
    struct text undone = derived_text(cells->derived.store);
    ON_BOTH(SES_OK,
            ses_rewind_by_key(store, &full, AT(2), NULL, NULL, &error)); /* what assert_lease has appended */
    ON_BOTH(SES_OK, ses_redo_by_key(store, &full, NULL, NULL, &error));
    struct text derived = derived_text(cells->derived.store);
    struct text plain = derived_text(cells->plain.store);
    assert_string_equal(derived.data, plain.data);
    assert_string_equal(derived.data, undone.data); /* as before the second */
    assert_sound_store(cells->derived.store);
    free(plain.data);
    free(derived.data);
    free(undone.data);
}

CELLS_TEST(a_fork)
{
    const ses_key to = {"app", "user", "fork"};

    ON_BOTH(SES_OK, ses_fork_by_key(store, &full, AT(4), &to, NULL, NULL, &error));
    assert_int_equal(versions_of(cells->derived.store, &to), 4);
    assert_attributes(cells, cells->derived.store, &to);
    /* It has no lease, no draft and no inputs. */
    assert_draft(cells->derived.store, &to, NULL);
    assert_waiting(cells->derived.store, &to, 0);
    ON_BOTH(SES_LEASED,
            ses_append_by_key(store, &to, "{}", 2,
                              &(ses_append_options){.size = sizeof(ses_append_options), .lease = 1}, NULL,
                              &error));
    assert_everything(cells);
}

CELLS_TEST(a_cut)
{
    ON_BOTH(SES_OK, ses_cut_by_key(store, &full, AT(3), NULL, NULL, &error));
    cells->resets = true;
    cells->versions = 3;
    assert_everything(cells);
}

CELLS_TEST(a_pop)
{
    const ses_point turn = {.size = sizeof turn, .kind = SES_POINT_LAST_TURN};

    for (int side = 0; side < 2; side++) {
        ses_popped *popped = NULL;
        assert_ok(ses_pop_by_key(side == 0 ? cells->derived.store : cells->plain.store, &full, &turn, NULL,
                                 &popped, &error));
        assert_int_equal(ses_popped_count(popped), 2);
        ses_popped_close(popped);
    }
    cells->resets = true;
    cells->versions = 4;
    assert_everything(cells);
}

CELLS_TEST(a_prune)
{
    const ses_prune_options first = {.size = sizeof first, .which = SES_PRUNE_SEQ, .last_seq = 2};

    ON_BOTH(SES_OK, ses_prune_by_key(store, &full, &first, NULL, &error));
    assert_everything(cells);
}

CELLS_TEST(an_expiry)
{
    const int64_t before = cells->fixture->now + EXPIRES_IN_US - 1;
    const int64_t after = before + 1;
    const ses_expire_options early = {.size = sizeof early, .now_us = &before};
    const ses_expire_options late = {.size = sizeof late, .now_us = &after};

    ON_BOTH(SES_OK, ses_store_expire(store, "app", &early, NULL, &error));
    assert_everything(cells);
    ON_BOTH(SES_OK, ses_store_expire(store, "app", &late, NULL, &error));
    cells->gone = true;
    assert_everything(cells);
    assert_query(
        cells->fixture->path,
        "SELECT (SELECT count(*) FROM artifacts), (SELECT count(*) FROM session_labels), (SELECT "
        "count(*) FROM session_leases), (SELECT count(*) FROM (SELECT session_id FROM session_drafts UNION ALL SELECT session_id FROM session_inbox))",
        "0|0|0|0\n");
}

CELLS_TEST(a_deletion)
{
    ON_BOTH(SES_OK, ses_delete(store, &full, NULL, NULL, &error));
    cells->gone = true;
    assert_everything(cells);
    assert_query(
        cells->fixture->path,
        "SELECT (SELECT count(*) FROM artifacts), (SELECT count(*) FROM session_labels), (SELECT "
        "count(*) FROM session_leases), (SELECT count(*) FROM (SELECT session_id FROM session_drafts UNION ALL SELECT session_id FROM session_inbox)), (SELECT count(*) FROM derived)",
        "0|0|0|0|2\n");
}

CELLS_TEST(a_deletion_of_the_user)
{
    ON_BOTH(SES_OK, ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error));
    cells->gone = true;
    assert_everything(cells);
    assert_query(
        cells->fixture->path,
        "SELECT (SELECT count(*) FROM artifacts), (SELECT count(*) FROM session_labels), (SELECT "
        "count(*) FROM session_leases), (SELECT count(*) FROM (SELECT session_id FROM session_drafts UNION ALL SELECT session_id FROM session_inbox)), (SELECT count(*) FROM derived), "
        "(SELECT count(*) FROM usage_sums)",
        "0|0|0|0|0|0\n");
}

CELLS_TEST(a_redaction)
{
    static const int64_t seqs[] = {2, 5};
    const ses_redact_options hidden = {.size = sizeof hidden, .text = "hidden"};

    ON_BOTH(SES_OK, ses_redact_by_key(store, &full, seqs, 2, &hidden, NULL, &error));
    cells->resets = true;
    cells->versions = EVENTS - 2;
    assert_everything(cells);
}

/* The file has two events more. */
CELLS_TEST(an_import_that_updates)
{
    ses_store *longer = empty_store();
    struct text short_text = exported(cells->plain.store, NULL);
    ses_import_report report;

    assert_ok(import_text(longer, short_text.data, short_text.len, 0, &report, &error));
    must_append_by_key(longer, &full, event_text(7));
    must_append_by_key(longer, &full,
                       Q("{'id':'e8','timestamp':1008,'content':{'parts':[{'text':'imported'}]}}"));
    struct text long_text = exported(longer, NULL);
    for (int side = 0; side < 2; side++)
        assert_ok(import_text(side == 0 ? cells->derived.store : cells->plain.store, long_text.data,
                              long_text.len, SES_IMPORT_UPDATE, &report, &error));
    cells->events = 2;
    assert_everything(cells);
    free(long_text.data);
    free(short_text.data);
    ses_close(longer);
}

/* Another session of that name takes its place. */
CELLS_TEST(an_import_that_replaces)
{
    ses_store *another = empty_store();
    ses_import_report report;

    must_create(another, &full, NULL);
    must_append_by_key(another, &full,
                       Q("{'id':'x','timestamp':1,'content':{'parts':[{'text':'imported'}]}}"));
    struct text text = exported(another, NULL);
    for (int side = 0; side < 2; side++)
        assert_ok(import_text(side == 0 ? cells->derived.store : cells->plain.store, text.data, text.len,
                              SES_IMPORT_REPLACE, &report, &error));
    cells->gone = true; /* the session that was followed */
    assert_everything(cells);
    assert_query(
        cells->fixture->path,
        "SELECT (SELECT count(*) FROM session_labels), (SELECT count(*) FROM session_leases), "
        "(SELECT count(*) FROM (SELECT session_id FROM session_drafts UNION ALL SELECT session_id FROM session_inbox))",
        "0|0|0\n");
    free(text.data);
    ses_close(another);
}

/* A session that is exported from one store and imported into another is the same there, except for what
 * belongs to a store. */
CELLS_TEST(an_export_and_a_load)
{
    ses_store *loaded = empty_store();
    struct text text = exported(cells->derived.store, NULL);
    struct text before = derived_text(cells->derived.store);
    ses_import_report report;
    ses_lease lease;

    assert_ok(ses_store_tally(loaded, NULL, NULL, &error));
    assert_ok(ses_store_index(loaded, NULL, NULL, &error));
    assert_ok(import_text(loaded, text.data, text.len, 0, &report, &error));
    struct text after = derived_text(loaded);
    assert_string_equal(after.data, before.data);
    assert_same_store(loaded, cells->derived.store);
    assert_attributes(cells, loaded, &full);
    assert_int_equal(versions_of(loaded, &full), EVENTS);
    /* A lease, a draft and inputs are not part of it. */
    assert_draft(loaded, &full, NULL);
    assert_waiting(loaded, &full, 0);
    assert_ok(ses_lease_take(loaded, &full, "somebody else", NULL, &lease, &error));
    assert_everything(cells);
    free(after.data);
    free(before.data);
    free(text.data);
    ses_close(loaded);
}

/* A copy and a backup have everything, the lease, the draft and the input too. */
static void assert_copy(struct cells *cells, ses_store *copy)
{
    struct side side = {.store = copy, .token = cells->derived.token};
    struct text before = derived_text(cells->derived.store);
    struct text after = derived_text(copy);

    assert_string_equal(after.data, before.data);
    assert_same_store(copy, cells->derived.store);
    assert_session(cells, &side);
    assert_sound_store(copy);
    free(after.data);
    free(before.data);
}

CELLS_TEST(a_copy)
{
    const ses_open_options options = {
        .size = sizeof options, .clock = support_clock, .clock_context = &cells->fixture->now};
    ses_store *copy = NULL;

    assert_ok(ses_open_copy(cells->derived.store, &options, &copy, &error));
    assert_copy(cells, copy);
    ses_close(copy);
    assert_everything(cells);
}

CELLS_TEST(a_backup)
{
    const ses_open_options options = {
        .size = sizeof options, .clock = support_clock, .clock_context = &cells->fixture->now};
    char *path = support_path(cells->fixture->folder, "backup.db");

    assert_ok(ses_store_backup(cells->derived.store, path, NULL, &error));
    ses_store *copy = must_open(path, &options);
    assert_copy(cells, copy);
    ses_close(copy);
    free(path);
    assert_everything(cells);
}

/* A store whose rollback journal was asked for is that through every operation of a life. */
CELLS_TEST(a_rollback_journal)
{
    const ses_open_options rollback = {.size = sizeof rollback, .journal = SES_JOURNAL_ROLLBACK};
    char *path = support_path(cells->fixture->folder, "rollback.db");
    ses_info info = {.size = sizeof info};

    ses_store *store = must_open(path, &rollback);
    struct text text = exported(cells->plain.store, NULL);
    ses_import_report report;
    assert_ok(import_text(store, text.data, text.len, 0, &report, &error));
    support_make_index(store);
    assert_ok(ses_store_tally(store, NULL, NULL, &error));
    assert_ok(ses_cut_by_key(store, &full, AT(4), NULL, NULL, &error));
    assert_ok(ses_fork_by_key(store, &full, AT(2), &(ses_key){"app", "user", "fork"}, NULL, NULL, &error));
    assert_true(ses_delete(store, &other,
                           &(ses_delete_options){.size = sizeof(ses_delete_options), .flags = SES_SECURE},
                           NULL, &error) >= 0);
    assert_true(ses_store_maintain(store, NULL, &error) >= 0);
    assert_ok(ses_store_info(store, &info, &error));
    assert_string_equal(info.sqlite.journal_mode, "delete");
    assert_sound_store(store);
    ses_close(store);
    free(text.data);
    free(path);
}
