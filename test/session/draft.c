/* Drafts: a text beside the log that is replaced in place. */
#include "append.h"
#include "seslite_draft.h"
#include "seslite_erase.h"

static const ses_key other = {"app", "user", "other"};
static const char event[] =
    "{\"id\":\"e1\",\"author\":\"agent\",\"content\":{\"parts\":[{\"text\":\"Hello\"}]}}";

static void must_set(ses_store *store, const ses_key *of, const char *body)
{
    ses_error error;
    assert_ok(ses_draft_set(store, of, body, SES_NUL, NULL, &error));
}

/* NULL: none. */
static void assert_draft(ses_store *store, const ses_key *of, const char *expected)
{
    char *body = NULL;
    size_t len = 0;
    ses_error error;

    assert_code(expected ? SES_OK : SES_ABSENT, ses_draft_get(store, of, NULL, &body, &len, NULL, &error));
    if (expected) {
        assert_string_equal(body, expected);
        assert_int_equal(len, strlen(expected));
    } else {
        assert_null(body);
    }
    ses_free(body);
}

static int append_taking(ses_store *store, const char *text, int64_t lease, ses_error *error)
{
    const ses_append_options options = {
        .size = sizeof options, .flags = SES_APPEND_TAKES_DRAFT, .lease = lease};
    return ses_append_by_key(store, &key, text, SES_NUL, &options, NULL, error);
}

static int setup(void **state)
{
    (void)fixture_setup(state);
    const struct fixture *fixture = *state;
    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    return 0;
}

/* ------------------------------------------------------------------------------------- set, get, clear */

TEST_OF(setup, a_draft_is_replaced_in_place)
{
    int64_t updated_us = 7;
    char *body = NULL;

    assert_code(SES_ABSENT, ses_draft_get(fixture->store, &key, NULL, &body, NULL, &updated_us, &error));
    assert_null(body);
    assert_int_equal(updated_us, 7);
    must_set(fixture->store, &key, "Hel");
    fixture->now += 1000;
    must_set(fixture->store, &key, "Hello \"w\xc3\xb6rld\"");
    assert_draft(fixture->store, &key, "Hello \"w\xc3\xb6rld\"");
    assert_ok(ses_draft_get(fixture->store, &key, NULL, &body, NULL, &updated_us, &error));
    ses_free(body);
    assert_int_equal(updated_us, fixture->now);
    assert_draft(fixture->store, &other, NULL);
    must_set(fixture->store, &key, "");
    assert_draft(fixture->store, &key, "");
    assert_ok(ses_draft_set(fixture->store, &key, "part of it", 4, NULL, &error));
    assert_draft(fixture->store, &key, "part");
    assert_ok(ses_draft_clear(fixture->store, &key, NULL, &error));
    assert_code(SES_UNCHANGED, ses_draft_clear(fixture->store, &key, NULL, &error));
    assert_draft(fixture->store, &key, NULL);
}

/* Handles stay up to date, and lists, places and times as they are. */
TEST_OF(setup, a_draft_is_no_event)
{
    ses_session *session = must_get(fixture->store, &key);
    const int64_t version = ses_session_version(session);
    const int64_t updated_us = ses_session_updated_us(session);

    fixture->now += 1000000;
    must_set(fixture->store, &key, "Hel");
    assert_ok(ses_refresh(session, NULL, &error));
    assert_int_equal(ses_session_version(session), version);
    assert_int_equal(ses_session_updated_us(session), updated_us);
    assert_ok(ses_append(session, event, SES_NUL, NULL, NULL, &error));
    assert_draft(fixture->store, &key, "Hel");
    ses_session_close(session);
}

TEST_OF(setup, arguments_that_break_a_rule_are_refused)
{
    const ses_draft_options negative = {.size = sizeof negative, .lease = -1};
    const ses_key nobody = {"app", "user", "nobody"};
    char *body = NULL;

    must_set(fixture->store, &key, "kept");
    assert_code(SES_INVALID, ses_draft_set(fixture->store, &key, "\xff", 1, NULL, &error));
    assert_code(SES_INVALID, ses_draft_set(fixture->store, &key, "a\0b", 3, NULL, &error));
    assert_code(SES_INVALID, ses_draft_set(fixture->store, &key, "a", 1, &negative, &error));
    assert_code(SES_INVALID, ses_draft_clear(fixture->store, &key, &negative, &error));
    assert_code(SES_MISUSE, ses_draft_set(fixture->store, &key, NULL, 0, NULL, &error));
    assert_code(SES_NOTFOUND, ses_draft_set(fixture->store, &nobody, "a", 1, NULL, &error));
    assert_code(SES_NOTFOUND, ses_draft_clear(fixture->store, &nobody, NULL, &error));
    assert_code(SES_NOTFOUND, ses_draft_get(fixture->store, &nobody, NULL, &body, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_draft_get(fixture->store, &key, NULL, NULL, NULL, NULL, &error));
    assert_draft(fixture->store, &key, "kept");
    fixture->options.max_event_bytes = 10;
    fixture_reopen(fixture);
    assert_code(SES_LIMIT, ses_draft_set(fixture->store, &key, "12345678901", SES_NUL, NULL, &error));
    must_set(fixture->store, &key, "1234567890");
}

TEST_OF(setup, only_the_holder_of_a_lease_that_is_named_writes)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    ses_draft_options own = {.size = sizeof own};
    ses_lease lease;

    assert_ok(ses_lease_take(fixture->store, &key, "a", &at_once, &lease, &error));
    own.lease = lease.token;
    assert_ok(ses_draft_set(fixture->store, &key, "by a", SES_NUL, &own, &error));
    assert_ok(ses_lease_release(fixture->store, &key, lease.token, NULL, &error));
    assert_ok(ses_draft_set(fixture->store, &key, "still by a", SES_NUL, &own, &error));
    assert_ok(ses_lease_take(fixture->store, &key, "b", &at_once, &lease, &error));
    assert_code(SES_LEASED, ses_draft_set(fixture->store, &key, "too late", SES_NUL, &own, &error));
    assert_code(SES_LEASED, ses_draft_clear(fixture->store, &key, &own, &error));
    assert_draft(fixture->store, &key, "still by a");
    assert_code(SES_LEASED, append_taking(fixture->store, event, own.lease, &error));
    assert_draft(fixture->store, &key, "still by a");
    own.lease = lease.token;
    assert_ok(ses_draft_clear(fixture->store, &key, &own, &error));
}

/* ---------------------------------------------------------------------------------------------- taking */

TEST_OF(setup, an_append_takes_the_draft)
{
    must_set(fixture->store, &key, "Hel");
    must_set(fixture->store, &other, "stays");
    assert_code(SES_PARTIAL, append_taking(fixture->store, "{\"partial\":true}", 0, &error));
    assert_code(SES_INVALID, append_taking(fixture->store, "{\"id\":\"\"}", 0, &error));
    assert_draft(fixture->store, &key, "Hel");
    assert_ok(append_taking(fixture->store, event, 0, &error));
    assert_draft(fixture->store, &key, NULL);
    assert_draft(fixture->store, &other, "stays");
    assert_ok(append_taking(fixture->store, "{\"id\":\"e2\"}", 0, &error)); /* there is none */
}

/* The draft may be that of the next message by then. */
TEST_OF(setup, a_retry_leaves_the_draft)
{
    must_set(fixture->store, &key, "Hel");
    assert_ok(append_taking(fixture->store, event, 0, &error));
    must_set(fixture->store, &key, "How ar");
    assert_code(SES_DUPLICATE, append_taking(fixture->store, event, 0, &error));
    assert_draft(fixture->store, &key, "How ar");
}

TEST_OF(setup, batches_and_appends_with_more_take_it)
{
    const ses_text batch[] = {{"{\"id\":\"b1\"}", 11}, {"{\"id\":\"b2\"}", 11}};
    const ses_label label = {"l", "v"};
    ses_append_options options = {.size = sizeof options, .flags = SES_APPEND_TAKES_DRAFT};
    ses_session *session = must_get(fixture->store, &key);

    must_set(fixture->store, &key, "one");
    assert_ok(ses_append_batch(session, batch, 2, &options, NULL, &error));
    assert_draft(fixture->store, &key, NULL);
    must_set(fixture->store, &key, "two");
    options.labels = &label;
    options.label_count = 1;
    assert_ok(ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_draft(fixture->store, &key, NULL);
    ses_session_close(session);
}

TEST_OF(setup, an_append_that_is_refused_leaves_it)
{
    ses_session *session = must_get(fixture->store, &key);
    const ses_append_options options = {.size = sizeof options, .flags = SES_APPEND_TAKES_DRAFT};

    must_append_by_key(fixture->store, &key, "{\"id\":\"first\"}");
    must_set(fixture->store, &key, "Hel");
    assert_code(SES_STALE, ses_append(session, event, SES_NUL, &options, NULL, &error));
    assert_code(SES_EXISTS, append_taking(fixture->store, "{\"id\":\"first\",\"author\":\"x\"}", 0, &error));
    assert_draft(fixture->store, &key, "Hel");
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------- other operations */

TEST_OF(setup, histories_leave_the_draft)
{
    const ses_point three = {.size = sizeof three, .kind = SES_POINT_SEQ, .seq = 3};
    const ses_point four = {.size = sizeof four, .kind = SES_POINT_SEQ, .seq = 4};
    const ses_point now = {.size = sizeof now, .kind = SES_POINT_NOW};
    const ses_prune_options first = {.size = sizeof first, .which = SES_PRUNE_SEQ, .last_seq = 1};
    const ses_key copy = {"app", "user", "copy"};
    ses_popped *popped = NULL;

    for (int i = 0; i < 6; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"invocationId\":\"i%d\",\"author\":\"user\"}", i);
        must_append_by_key(fixture->store, &key, text);
    }
    must_set(fixture->store, &key, "Hel");
    assert_ok(ses_fork_by_key(fixture->store, &key, &now, &copy, NULL, NULL, &error));
    assert_draft(fixture->store, &copy, NULL);
    assert_ok(ses_prune_by_key(fixture->store, &key, &first, NULL, &error));
    assert_ok(ses_rewind_by_key(fixture->store, &key, &four, NULL, NULL, &error));
    assert_ok(ses_pop_by_key(fixture->store, &key, &four, NULL, &popped, &error));
    ses_popped_close(popped);
    assert_ok(ses_cut_by_key(fixture->store, &key, &three, NULL, NULL, &error));
    assert_draft(fixture->store, &key, "Hel");
}

TEST_OF(setup, a_deletion_takes_the_draft_along)
{
    int64_t deleted = 0;

    must_set(fixture->store, &key, "Hel");
    must_set(fixture->store, &other, "stays");
    assert_ok(ses_delete(fixture->store, &key, NULL, &deleted, &error));
    assert_int_equal(deleted, 1);
    must_create(fixture->store, &key, NULL);
    assert_draft(fixture->store, &key, NULL);
    assert_draft(fixture->store, &other, "stays");
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    must_create(fixture->store, &other, NULL);
    assert_draft(fixture->store, &other, NULL);
}

/* ---------------------------------------------------------------------------------------------- erasure */

static int find_secret(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    (void)context;
    (void)error;
    for (size_t at = from; at + 6 <= len; at++) {
        if (memcmp(text + at, "secret", 6) == 0) {
            *begin = at;
            *end = at + 6;
            return 1;
        }
    }
    return 0;
}

static size_t count_found(ses_store *store)
{
    ses_findings *found = NULL;
    ses_error error;

    assert_ok(ses_store_find(store, &key, "secret", SES_NUL, NULL, &found, &error));
    const size_t count = ses_findings_count(found);
    if (count > 0) {
        assert_int_equal(ses_findings_at(found, 0)->kind, SES_FOUND_DRAFT);
        assert_string_equal(ses_findings_at(found, 0)->session, key.session);
    }
    ses_findings_close(found);
    return count;
}

TEST_OF(setup, a_text_in_it_is_found_and_erased)
{
    static const char *const bodies[] = {"a secret", "{\"text\":\"a s\\u0065cret\"}"};
    const ses_redact_options options = {.size = sizeof options, .find = find_secret};
    ses_redact_options dry = options;

    dry.flags = SES_REDACT_DRY_RUN;
    must_append_by_key(fixture->store, &key, "{\"id\":\"e\"}");
    for (size_t i = 0; i < 2; i++) {
        must_set(fixture->store, &key, bodies[i]);
        assert_int_equal(count_found(fixture->store), 1);
        assert_code(SES_OK, ses_redact_by_key(fixture->store, &key, NULL, 0, &dry, NULL, &error));
        assert_draft(fixture->store, &key, bodies[i]);
        assert_code(SES_OK, ses_redact_by_key(fixture->store, &key, NULL, 0, &options, NULL, &error));
        assert_draft(fixture->store, &key, NULL);
        assert_int_equal(count_found(fixture->store), 0);
    }
    must_set(fixture->store, &key, "harmless");
    assert_code(SES_UNCHANGED, ses_redact_by_key(fixture->store, &key, NULL, 0, &options, NULL, &error));
    assert_draft(fixture->store, &key, "harmless");
}

TEST_OF(setup, a_redaction_of_everything_removes_it)
{
    const int64_t seq = 1;

    must_append_by_key(fixture->store, &key, event);
    must_set(fixture->store, &key, "anything");
    assert_code(SES_OK, ses_redact_by_key(fixture->store, &key, &seq, 1, NULL, NULL, &error));
    assert_draft(fixture->store, &key, "anything");
    assert_code(SES_OK, ses_redact_by_key(fixture->store, &key, NULL, 0, NULL, NULL, &error));
    assert_draft(fixture->store, &key, NULL);
}
