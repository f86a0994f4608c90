/* Pruning does not change which versions of artifacts a later rewind restores, and a cut leaves. */
#include "../random.h"
#include "../session/lines_text.h"

#define assert_sound assert_artifacts_sound /* the other one is about any file */
#include "artifact.h"

static const ses_key whole_key = {"app", "user", "whole"};
static const ses_key forked_key = {"app", "user", "forked"};

static void name_version(ses_store *store, const ses_key *of, int event, const char *name, int64_t version)
{
    char json[300];

    snprintf(
        json, sizeof json,
        "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"timestamp\":1,\"actions\":{\"artifactDelta\":{\"%s\":%lld}}}",
        event, event, name, (long long)version);
    must_append_by_key(store, of, json);
}

static void prune_keeping(ses_store *store, const ses_key *of, int64_t keep)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = keep};
    ses_error error;
    int code;

    while ((code = ses_prune_by_key(store, of, &options, NULL, &error)) == SES_MORE)
        ;
    assert_true(code >= 0);
}

static int64_t base_of(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    const int64_t base = ses_session_base_seq(session);

    ses_session_close(session);
    return base;
}

static void rewind_to(ses_store *store, const ses_key *of, int64_t seq)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    ses_error error;
    assert_true(ses_rewind_by_key(store, of, &point, NULL, NULL, &error) >= 0);
}

static void assert_checked(ses_store *store)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 0);
}

/* ------------------------------------------------------------------------------------------- the rewind */

/* Version 0 of "f" is named and pruned, version 1 by nobody; "g" has a version before the prune that nobody
 * names. */
static void fill_and_prune(ses_store *store)
{
    must_create(store, &key, NULL);
    must_save(store, &key, "f", "zero");
    must_save(store, &key, "g", "by itself");
    name_version(store, &key, 1, "f", 0);
    name_version(store, &key, 2, "other", 0);
    must_save(store, &key, "f", "one, by nobody");
    must_save(store, &key, "f", "two");
    must_save(store, &key, "g", "named");
    name_version(store, &key, 3, "f", 2);
    name_version(store, &key, 4, "g", 1);
    prune_keeping(store, &key, 2);
    assert_int_equal(base_of(store, &key), 2);
}

static void assert_restored(ses_store *store, const ses_key *of)
{
    rewind_to(store, of, 2);
    assert_artifact(store, of, "f", NULL, "zero");
    assert_no_artifact(store, of, "g");
    assert_checked(store);
}

TEST(a_rewind_restores_what_pruned_events_named)
{
    ses_store *store = fixture->store;

    fill_and_prune(store);
    assert_checked(store);
    assert_ok(ses_fork_by_key(store, &key, NULL, &forked_key, NULL, NULL, &error));
    assert_restored(store, &forked_key);
    assert_restored(store, &key);
}

/* The text of a session, or of all; its first line has this format. */
static void assert_format(ses_store *store, const char *session, const char *head)
{
    const ses_export_options one = {.size = sizeof one, .app = "app", .user = "user", .session = session};
    struct text text = exported(store, session ? &one : NULL);

    if (strncmp(text.data, head, strlen(head)) != 0)
        fail_msg("%.60s", text.data);
    assert_int_equal(strstr(text.data, "\"kind\":\"base_artifact\"") != NULL, strstr(head, "2") != NULL);
    free(text.data);
}

/* A reader of format 1 passes over kinds of lines that it does not know. */
TEST(an_export_says_which_reader_loses_nothing)
{
    const ses_key plain = {"app", "user", "plain"};

    must_create(fixture->store, &plain, Q("{'k':1}"));
    for (int i = 0; i < 4; i++)
        must_append_by_key(fixture->store, &plain, Q("{'timestamp':1,'actions':{'stateDelta':{'k':2}}}"));
    prune_keeping(fixture->store, &plain, 1);
    assert_format(fixture->store, NULL, Q("{'kind':'seslite','format':1}\n"));
    fill_and_prune(fixture->store);
    assert_format(fixture->store, NULL, Q("{'kind':'seslite','format':2}\n"));
    assert_format(fixture->store, "session", Q("{'kind':'seslite','format':2}\n"));
    assert_format(fixture->store, "plain", Q("{'kind':'seslite','format':1}\n"));
}

TEST(an_export_has_what_pruned_events_named)
{
    ses_import_report report;

    fill_and_prune(fixture->store);
    struct text text = exported(fixture->store, NULL);
    assert_non_null(strstr(
        text.data, Q("{'kind':'base_artifact'}\n{'kind':'base_artifact','key':'f','seq':1,'value':0}\n")));
    ses_store *other = empty_store();
    assert_ok(import_text(other, text.data, text.len, 0, &report, &error));
    assert_int_equal(report.unknown, 0);
    assert_same_store(fixture->store, other);
    assert_ok(import_text(other, text.data, text.len, 0, &report, &error));
    assert_int_equal(report.equal, 1);
    assert_restored(other, &key);
    ses_close(other);
    free(text.data);
}

TEST(a_cut_leaves_what_pruned_events_named)
{
    ses_store *store = fixture->store;
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 3};

    fill_and_prune(store);
    name_version(store, &key, 5, "f", 0);
    assert_ok(ses_cut_by_key(store, &key, &point, NULL, NULL, &error));
    assert_artifact(store, &key, "f", &(int64_t){0}, "zero");
    rewind_to(store, &key, 2);
    assert_artifact(store, &key, "f", NULL, "zero");
    assert_checked(store);
}

/* Another session of its name begins without them, and a fork keeps its own. */
TEST(an_expired_session_takes_its_base_along)
{
    ses_store *store = fixture->store;
    const int64_t due = fixture->now + 10;
    const ses_expire_options options = {.size = sizeof options, .now_us = &due};
    int64_t deleted = 0;

    fill_and_prune(store);
    assert_ok(ses_fork_by_key(store, &key, NULL, &forked_key, NULL, NULL, &error));
    assert_ok(ses_expiry_set_by_key(store, &key, &due, NULL, &error));
    assert_ok(ses_store_expire(store, "app", &options, &deleted, &error));
    assert_int_equal(deleted, 1);
    if (!support_on_server())
        assert_query(
            fixture->path,
            "SELECT count(DISTINCT session_id), count(*) FILTER (WHERE session_id NOT IN (SELECT id FROM "
            "sessions)) FROM base_state",
            "1|0\n");
    must_create(store, &key, NULL);
    for (int event = 1; event <= 4; event++)
        name_version(store, &key, event, "other", 0);
    rewind_to(store, &key, 2);
    assert_no_artifact(store, &key, "f");
    assert_restored(store, &forked_key);
}

/* The file has an event more, which names a third version. */
static struct text continued(ses_store *store)
{
    must_save(store, &key, "f", "three");
    name_version(store, &key, 5, "f", 3);
    return exported(store, NULL);
}

TEST(an_update_goes_on_from_the_base)
{
    ses_store *other = empty_store();
    ses_import_report report;

    fill_and_prune(fixture->store);
    struct text first = exported(fixture->store, NULL);
    assert_ok(import_text(other, first.data, first.len, 0, &report, &error));
    struct text longer = continued(other);
    assert_ok(import_text(fixture->store, longer.data, longer.len, SES_IMPORT_UPDATE, &report, &error));
    assert_int_equal(report.updated, 1);
    assert_artifact(fixture->store, &key, "f", NULL, "three");
    assert_checked(fixture->store);
    assert_restored(fixture->store, &key);
    free(longer.data);
    free(first.data);
    ses_close(other);
}

/* One that was pruned further has another base: it is refused, or takes the place of the other. */
TEST(an_update_with_another_base)
{
    ses_store *other = empty_store();
    ses_import_report report;

    fill_and_prune(fixture->store);
    struct text first = exported(fixture->store, NULL);
    assert_ok(import_text(other, first.data, first.len, 0, &report, &error));
    struct text longer = continued(other);
    prune_keeping(other, &key, 1);
    assert_int_equal(base_of(other, &key), 4);
    struct text further = exported(other, NULL);
    assert_code(SES_EXISTS,
                import_text(fixture->store, further.data, further.len, SES_IMPORT_UPDATE, &report, &error));
    assert_int_equal(base_of(fixture->store, &key), 2);
    assert_artifact(fixture->store, &key, "f", NULL, "two");
    assert_code(SES_EXISTS, import_text(other, longer.data, longer.len, SES_IMPORT_UPDATE, &report, &error));
    assert_ok(import_text(fixture->store, further.data, further.len, SES_IMPORT_REPLACE, &report, &error));
    assert_artifact(fixture->store, &key, "f", NULL, "three");
    rewind_to(fixture->store, &key, 4);
    assert_artifact(fixture->store, &key, "f", NULL, "two");
    assert_artifact(fixture->store, &key, "g", NULL, "named");
    assert_checked(fixture->store);
    free(further.data);
    free(longer.data);
    free(first.data);
    ses_close(other);
}

/* Nothing is left of the name of an artifact that was deleted. */
TEST(the_base_forgets_an_artifact_that_is_deleted)
{
    ses_store *store = fixture->store;

    fill_and_prune(store);
    assert_ok(ses_artifact_delete_by_key(store, &key, "f", NULL, NULL, &error));
    assert_ok(ses_artifact_delete_by_key(store, &key, "user:f", NULL, NULL, &error));
    struct text text = exported(store, NULL);
    assert_non_null(strstr(text.data, Q("{'kind':'base_artifact'}\n")));
    assert_null(strstr(text.data, Q("'key':'f'")));
    free(text.data);
    rewind_to(store, &key, 2);
    assert_no_artifact(store, &key, "f");
    assert_checked(store);
}

TEST(versions_at_the_base_that_cannot_be_are_found)
{
    static const char *const damages[] = {
        "UPDATE base_state SET value = '-1' WHERE key = 'temp:f'",
        "UPDATE base_state SET value = '4294967295' WHERE key = 'temp:f'",
        "UPDATE base_state SET value = '1' WHERE key = 'temp:'",
    };
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 2};

    if (support_on_server()) /* what looks into the file */
        skip();
    fill_and_prune(fixture->store);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        int64_t problems = 0;
        raw_exec(fixture->path, "CREATE TABLE saved AS SELECT * FROM base_state");
        raw_exec(fixture->path, damages[i]);
        assert_ok(ses_store_check(fixture->store, &options, &problems, &error));
        assert_int_equal(problems, 1);
        assert_code(SES_CORRUPT, ses_rewind_by_key(fixture->store, &key, &point, NULL, NULL, &error));
        raw_exec(fixture->path, "DELETE FROM base_state");
        raw_exec(fixture->path, "INSERT INTO base_state SELECT * FROM saved; DROP TABLE saved");
    }
    assert_restored(fixture->store, &key);
}

/* ----------------------------------------------------------------------------------------- random logs */

static const char *const names[] = {"f", "g", "h"};

/* Saves versions that events name at once, later, several times or never; and rewinds. */
static void random_log(ses_store *store, uint64_t *seed, int64_t versions[3])
{
    must_create(store, &key, NULL);
    for (int event = 1; event <= 20; event++) {
        const size_t which = random_below(seed, 3);
        char text[40];
        if (versions[which] == 0 || random_below(seed, 2) == 0) {
            snprintf(text, sizeof text, "%s %d", names[which], event);
            versions[which] = must_save(store, &key, names[which], text) + 1;
        }
        name_version(store, &key, event, names[which], (int64_t)random_below(seed, (size_t)versions[which]));
        if (random_below(seed, 6) == 0)
            rewind_to(store, &key, (int64_t)random_below(seed, (size_t)event));
    }
}

static char *newest_text(ses_store *store, const ses_key *of, const char *name)
{
    ses_artifact *artifact = NULL;
    ses_error error;
    char *text = calloc(1, 100);
    size_t len;

    assert_non_null(text);
    const int code = ses_artifact_open_by_key(store, of, name, NULL, &artifact, &error);
    assert_true(code == SES_OK || code == SES_NOTFOUND);
    if (code == SES_OK)
        assert_ok(ses_artifact_read(artifact, 0, text, 99, &len, &error));
    ses_artifact_close(artifact);
    return text;
}

static void assert_same_artifacts(ses_store *store, const ses_key *left, const ses_key *right)
{
    for (size_t i = 0; i < 3; i++) {
        char *a = newest_text(store, left, names[i]);
        char *b = newest_text(store, right, names[i]);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
}

static void try_random_log(struct fixture *fixture, uint64_t seed)
{
    int64_t versions[3] = {0, 0, 0};
    ses_store *store = fixture->store;
    ses_error error;

    random_log(store, &seed, versions);
    ses_session *session = must_get(store, &key);
    const int64_t last = ses_session_last_seq(session);
    ses_session_close(session);
    assert_ok(ses_fork_by_key(store, &key, NULL, &whole_key, NULL, NULL, &error));
    prune_keeping(store, &key, 15);
    prune_keeping(store, &key, 8);
    assert_ok(ses_fork_by_key(store, &key, NULL, &forked_key, NULL, NULL, &error));
    for (int64_t seq = base_of(store, &key); seq <= last; seq++) {
        rewind_to(store, &whole_key, seq);
        rewind_to(store, &key, seq);
        rewind_to(store, &forked_key, seq);
        assert_same_artifacts(store, &key, &whole_key);
        assert_same_artifacts(store, &forked_key, &whole_key);
    }
    assert_checked(store);
    must_delete(store, &key);
    must_delete(store, &whole_key);
    must_delete(store, &forked_key);
}

TEST(rewinds_of_random_logs_are_those_of_the_whole_log)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        try_random_log(fixture, seed);
}
