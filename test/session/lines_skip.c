/* An export that steps over what is damaged. */
#include "check.h"
#include "seslite_artifact.h"
#include "lines.h"

static const ses_key one = {"app", "user", "one"};
static const ses_key two = {"app", "user", "two"};
static const ses_key three = {"other", "user", "three"};

/* The items that were left out, a message a line. */
struct skipped {
    int count;
    char messages[2000];
};

static int note_skipped(void *context, const ses_error *why)
{
    struct skipped *skipped = context;

    assert_int_equal(why->code, SES_CORRUPT);
    skipped->count++;
    snprintf(skipped->messages + strlen(skipped->messages),
             sizeof skipped->messages - strlen(skipped->messages), "%s\n", why->message);
    return 0;
}

static int export_sound(ses_store *store, struct text *text, struct skipped *skipped, ses_error *error)
{
    const ses_export_options options = {.size = sizeof options,
                                        .flags = SES_EXPORT_SKIP,
                                        .left_out = note_skipped,
                                        .left_out_context = skipped};

    *skipped = (struct skipped){.count = 0};
    *text = (struct text){NULL, 0};
    text_add(text, "", 0);
    return ses_store_export(store, &options, collect_lines, text, error);
}

/* Three sessions with state of their users, and artifacts. */
static int setup(void **state)
{
    const ses_key *const keys[] = {&one, &two, &three};
    ses_error error;

    (void)fixture_setup(state);
    const struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++) {
        must_create(fixture->store, keys[i], "{\"user:u\":1,\"app:a\":2,\"k\":3}");
        must_append_by_key(fixture->store, keys[i], "{\"id\":\"e1\",\"timestamp\":1}");
        must_append_by_key(fixture->store, keys[i], "{\"id\":\"e2\",\"timestamp\":2}");
        assert_ok(
            ses_artifact_save_by_key(fixture->store, keys[i], "f", keys[i]->session, 3, NULL, NULL, &error));
    }
    return 0;
}

/* The rest is what an export without the damaged session gives; it is imported, and sound. */
static void assert_rest_of(const struct fixture *fixture, const char *message, const ses_key *lost)
{
    ses_store *copy = empty_store();
    struct skipped skipped;
    ses_import_report report;
    struct text text;
    ses_error error;

    assert_ok(export_sound(fixture->store, &text, &skipped, &error));
    if (skipped.count != 1)
        fail_msg("%s", skipped.messages);
    if (!strstr(skipped.messages, message))
        fail_msg("%s", skipped.messages);
    assert_ok(import_text(copy, text.data, text.len, 0, &report, &error));
    assert_int_equal(report.made, lost ? 2 : 3);
    assert_no_problems(copy);
    ses_session *session = NULL;
    if (lost)
        assert_code(SES_NOTFOUND, ses_get(copy, lost, NULL, &session, &error));
    free(text.data);
    ses_close(copy);
}

static void assert_rest(const struct fixture *fixture, const char *damage, const char *message,
                        const ses_key *lost)
{
    struct text broken = {NULL, 0};
    ses_error error;

    raw_exec(fixture->path, damage);
    assert_code(SES_CORRUPT, ses_store_export(fixture->store, NULL, collect_lines, &broken, &error));
    free(broken.data);
    assert_rest_of(fixture, message, lost);
}

#define UNGUARDED                                                                               \
    "DROP TRIGGER IF EXISTS guard_events_update; DROP TRIGGER IF EXISTS guard_sessions_update;" \
    "DROP TRIGGER IF EXISTS guard_user_state_update;"

TEST_OF(setup, a_sound_store_is_exported_whole)
{
    struct skipped skipped;
    struct text text;

    struct text plain = exported(fixture->store, NULL);
    assert_ok(export_sound(fixture->store, &text, &skipped, &error));
    assert_int_equal(skipped.count, 0);
    assert_same_text(&plain, &text);
    free(plain.data);
    free(text.data);
}

TEST_OF(setup, a_damaged_event_leaves_its_session_out)
{
    assert_rest(fixture,
                UNGUARDED "UPDATE events SET body = 'nothing' WHERE position & 3 = 2 AND session_id ="
                          " (SELECT id FROM sessions WHERE name = 'two')",
                "app/user/two: ", &two);
}

/* Its braces are there. A call that stops at damage leaves finding it to the reader of the lines. */
TEST_OF(setup, an_event_that_is_no_json_within_leaves_its_session_out)
{
    raw_exec(fixture->path, UNGUARDED "UPDATE events SET body = replace(body, '\"id\"', '[id\"')"
                                      " WHERE session_id = (SELECT id FROM sessions WHERE name = 'two')");
    assert_rest_of(fixture, "app/user/two: ", &two);
}

TEST_OF(setup, a_missing_event_leaves_its_session_out)
{
    assert_rest(fixture, UNGUARDED "UPDATE sessions SET event_count = 1 WHERE name = 'three'",
                "other/user/three: ", &three);
}

TEST_OF(setup, a_damaged_artifact_leaves_its_session_out)
{
    assert_rest(fixture,
                UNGUARDED "UPDATE artifact_contents SET hash = replace(hash, 'a', 'b')"
                          " WHERE id = (SELECT min(id) FROM artifact_contents)",
                "app/user/one: ", &one);
}

TEST_OF(setup, a_damaged_row_of_a_session_is_passed_over)
{
    assert_rest(fixture, UNGUARDED "UPDATE sessions SET version = -1 WHERE name = 'one'", "app: ", &one);
}

TEST_OF(setup, a_damaged_shared_key_is_passed_over)
{
    assert_rest(fixture,
                "PRAGMA ignore_check_constraints = ON;" UNGUARDED
                "UPDATE user_state SET value = 'x' WHERE user_id = 1",
                "app/user: ", NULL);
}

TEST_OF(setup, the_callback_is_needed_and_can_end_it)
{
    ses_export_options options = {.size = sizeof options, .flags = SES_EXPORT_SKIP};
    struct text text = {NULL, 0};

    assert_code(SES_MISUSE, ses_store_export(fixture->store, &options, collect_lines, &text, &error));
    free(text.data);
}
