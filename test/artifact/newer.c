/* Artifacts and marks of kinds that a later version adds: only what has to understand them refuses them. */
#include "../session/lines_text.h"

#define assert_sound assert_artifacts_sound /* the other one is about any file */
#include "artifact.h"
#include "seslite_agent.h"
#include "seslite_erase.h"

static const ses_key fork_key = {"app", "user", "fork"};
static const ses_key other_key = {"app", "other", "fork"};

#define NAMES(id, delta)                                                                      \
    "{\"id\":\"" id "\",\"invocationId\":\"" id                                               \
    "\",\"timestamp\":1,\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"secret\"}]}," \
    "\"actions\":{\"artifactDelta\":" delta "}}"

/* "f" has two versions, of which the second is of a later version; events name both. */
static void fill_newer(const struct fixture *fixture)
{
    if (support_on_server())
        skip();
    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "f", "zero");
    must_save(fixture->store, &key, "f", "one");
    must_save(fixture->store, &key, "g", "known");
    must_append_by_key(fixture->store, &key, NAMES("e1", "{\"f\":0}"));
    must_append_by_key(fixture->store, &key, NAMES("e2", "{\"f\":1}"));
    raw_exec(fixture->path, "UPDATE artifacts SET kind = 3 WHERE name = 'f' AND version = 1");
}

static void assert_unsupported(ses_store *store, const ses_key *of)
{
    ses_artifact *artifact = (ses_artifact *)1;
    ses_error error;

    assert_code(SES_UNSUPPORTED, ses_artifact_open_by_key(store, of, "f", NULL, &artifact, &error));
    assert_message("\"f\", version 1");
    assert_message("kind 3");
    assert_null(artifact);
}

static int note_problem(void *context, const ses_problem *problem)
{
    text_printf(context, "%s %s;", ses_problem_name(problem->kind), problem->message);
    return 0;
}

/* The check finds so many problems, each of this kind. */
static void assert_newer(ses_store *store, int64_t count)
{
    struct text found = {NULL, 0};
    const ses_check_options options = {
        .size = sizeof options, .level = SES_CHECK_LOG, .report = note_problem, .report_context = &found};
    int64_t problems = -1;
    ses_error error;

    text_add(&found, "", 0);
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, count);
    if (count > 0) {
        assert_int_equal(strncmp(found.data, "newer ", 6), 0);
        assert_non_null(strstr(found.data, "use a newer seslite"));
    }
    free(found.data);
}

/* ----------------------------------------------------------------------------------------- an artifact */

TEST(lists_show_it_and_only_its_own_reading_is_refused)
{
    ses_store *store = fixture->store;
    ses_artifact_list *list = NULL;

    fill_newer(fixture);
    assert_unsupported(store, &key);
    assert_artifact(store, &key, "f", &(int64_t){0}, "zero");
    assert_artifact(store, &key, "g", NULL, "known");
    assert_ok(ses_artifact_names_by_key(store, &key, NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 2);
    assert_int_equal(ses_artifact_list_at(list, 0)->kind, 3);
    assert_int_equal(ses_artifact_list_at(list, 0)->version, 1);
    ses_artifact_list_close(list);
    assert_int_equal(count_versions(store, &key, "f"), 2);
    assert_newer(store, 1);
    assert_int_equal(must_save(store, &key, "f", "two"), 2);
    assert_artifact(store, &key, "f", NULL, "two");
}

static int note_left_out(void *context, const ses_error *why)
{
    int *count = context;

    assert_int_equal(why->code, SES_UNSUPPORTED);
    assert_non_null(strstr(why->message, "\"f\", version 1"));
    return ++*count > 1;
}

TEST(an_export_goes_on_and_says_what_it_leaves_out)
{
    int count = 0;
    const ses_export_options options = {
        .size = sizeof options, .left_out = note_left_out, .left_out_context = &count};
    struct text discarded = {NULL, 0};
    ses_import_report report;

    fill_newer(fixture);
    struct text text = exported(fixture->store, &options);
    assert_int_equal(count, 1);
    ses_store *other = empty_store();
    assert_ok(import_text(other, text.data, text.len, 0, &report, &error));
    assert_int_equal(report.made, 1);
    assert_int_equal(report.artifacts, 2);
    assert_int_equal(report.events, 2);
    assert_artifact(other, &key, "g", NULL, "known");
    ses_close(other);
    assert_code(SES_INTERRUPTED,
                ses_store_export(fixture->store, &options, collect_lines, &discarded, &error));
    free(discarded.data);
    free(text.data);
}

TEST(copies_keep_it)
{
    const ses_fork_options other_user = {.size = sizeof other_user, .flags = SES_FORK_OTHER_USER};
    ses_store *store = fixture->store;
    ses_store *copy = NULL;

    fill_newer(fixture);
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork_key, NULL, NULL, &error));
    assert_ok(ses_fork_by_key(store, &key, NULL, &other_key, &other_user, NULL, &error));
    assert_unsupported(store, &fork_key);
    assert_unsupported(store, &other_key);
    assert_newer(store, 3);
    assert_ok(ses_open_copy(store, NULL, &copy, &error));
    assert_unsupported(copy, &key);
    ses_close(copy);
    assert_sound(fixture);
}

TEST(cuts_rewinds_and_deletions_treat_it_as_any_other)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_point second = {.size = sizeof second, .kind = SES_POINT_SEQ, .seq = 2};
    ses_store *store = fixture->store;

    fill_newer(fixture);
    must_append_by_key(store, &key, NAMES("e3", "{\"f\":0}"));
    assert_ok(ses_rewind_by_key(store, &key, &second, NULL, NULL, &error));
    assert_int_equal(count_versions(store, &key, "f"), 3); /* as the one of the point */
    assert_newer(store, 2);
    assert_ok(ses_cut_by_key(store, &key, &first, NULL, NULL, &error));
    assert_int_equal(count_versions(store, &key, "f"), 1);
    assert_newer(store, 0);
    raw_exec(fixture->path, "UPDATE artifacts SET kind = 3 WHERE name = 'f'");
    assert_ok(ses_artifact_delete_by_key(store, &key, "f", NULL, NULL, &error));
    raw_exec(fixture->path, "UPDATE artifacts SET kind = 3 WHERE name = 'g'");
    must_delete(store, &key);
    assert_newer(store, 0);
    assert_sound(fixture);
}

TEST(a_context_leaves_the_reference)
{
    const char *event = Q("{'actions':{'artifactDelta':{'f':1}},'content':{'parts':[{'fileData':{'fileUri':"
                          "'artifact://apps/app/users/user/sessions/session/artifacts/f/versions/1'}}]}}");
    char *inlined = NULL;

    fill_newer(fixture);
    assert_code(SES_UNCHANGED, ses_artifact_inline_by_key(fixture->store, &key, event, SES_NUL, NULL,
                                                          &inlined, NULL, &error));
}

/* --------------------------------------------------------------------------------------------- a mark */

static void mark_newer(const struct fixture *fixture)
{
    fill_newer(fixture);
    raw_exec(fixture->path, "UPDATE artifacts SET kind = 0");
    raw_exec(fixture->path, "INSERT INTO event_marks SELECT id, 2, 3, NULL FROM sessions");
}

static void assert_not_live(ses_store *store, const ses_key *of)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_get_options options = {.size = sizeof options, .range = &live};
    ses_session *session = NULL;
    ses_context *context = NULL;
    ses_error error;

    assert_code(SES_UNSUPPORTED, ses_get(store, of, &options, &session, &error));
    assert_message("event 2");
    assert_message("kind 3");
    assert_code(SES_UNSUPPORTED, ses_context_open_by_key(store, of, NULL, &context, &error));
}

TEST(calls_that_depend_on_a_mark_are_refused)
{
    const ses_point turn = {.size = sizeof turn, .kind = SES_POINT_LAST_TURN};
    const ses_prune_options keep = {.size = sizeof keep, .which = SES_PRUNE_KEEP, .keep = 1};
    ses_store *store = fixture->store;

    mark_newer(fixture);
    assert_not_live(store, &key);
    assert_code(SES_UNSUPPORTED, ses_rewind_by_key(store, &key, &turn, NULL, NULL, &error));
    assert_code(SES_UNSUPPORTED, ses_cut_by_key(store, &key, &turn, NULL, NULL, &error));
    assert_code(SES_UNSUPPORTED, ses_redo_by_key(store, &key, NULL, NULL, &error));
    assert_code(SES_UNSUPPORTED, ses_prune_by_key(store, &key, &keep, NULL, &error));
    assert_newer(store, 1);
}

TEST(calls_that_do_not_depend_on_a_mark_go_on)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    ses_store *store = fixture->store;

    mark_newer(fixture);
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), 2);
    ses_session_close(session);
    must_append_by_key(store, &key, NAMES("e3", "{}"));
    struct text text = exported(store, NULL);
    assert_non_null(strstr(text.data, "\"e3\""));
    free(text.data);
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork_key, NULL, NULL, &error));
    assert_not_live(store, &fork_key);
    assert_ok(ses_cut_by_key(store, &key, &first, NULL, NULL, &error));
    assert_newer(store, 1);
    assert_ok(ses_rewind_by_key(store, &key, &(ses_point){.size = sizeof first, .kind = SES_POINT_SEQ}, NULL,
                                NULL, &error));
    must_delete(store, &fork_key);
    assert_newer(store, 0);
}

TEST(a_redaction_counts_the_event_of_a_mark)
{
    const int64_t seqs[] = {1, 2};
    ses_erased erased = {.size = sizeof erased};

    mark_newer(fixture);
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, seqs + 1, 1, NULL, NULL, &error));
    assert_ok(ses_redact_by_key(fixture->store, &key, seqs, 1, NULL, &erased, &error));
    assert_int_equal(erased.events, 1);
    assert_int_equal(erased.artifacts, 1);
    assert_int_equal(erased.compactions_left, 1);
    assert_ok(ses_redact_by_key(fixture->store, &key, NULL, 0, NULL, &erased, &error));
    struct text text = exported(fixture->store, NULL);
    assert_null(strstr(text.data, "secret"));
    free(text.data);
}
