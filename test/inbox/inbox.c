/* Inboxes: inputs that wait, and are taken together with the lease of their session. */
#include "session/append.h"
#include "seslite_erase.h"
#include "seslite_inbox.h"

static const ses_key other = {"app", "user", "other"};
static const ses_key of_bob = {"app", "bob", "one"};
static const ses_key elsewhere = {"app2", "user", "one"};
static const ses_key app = {"app", NULL, NULL};
static const ses_key user = {"app", "user", NULL};

static int setup(void **state)
{
    (void)fixture_setup(state);
    const struct fixture *fixture = *state;
    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    must_create(fixture->store, &of_bob, NULL);
    must_create(fixture->store, &elsewhere, NULL);
    return 0;
}

static int add(ses_store *store, const ses_key *of, const char *request, const char *body, ses_error *error)
{
    return ses_inbox_add(store, of, request, body, SES_NUL, NULL, error);
}

static void must_add(ses_store *store, const ses_key *of, const char *request)
{
    ses_error error;
    assert_ok(add(store, of, request, "{\"text\":\"hello\"}", &error));
}

/* Takes an input, which must be that of the request (NULL: none), and returns the lease's token. */
static int64_t take(ses_store *store, const ses_key *whose, const char *owner, const char *request)
{
    ses_lease lease = {.token = 0};
    ses_inputs *input = NULL;
    ses_error error;

    assert_code(request ? SES_OK : SES_ABSENT,
                ses_inbox_take(store, whose, owner, NULL, &input, &lease, &error));
    if (request) {
        assert_int_equal(ses_inputs_count(input), 1);
        assert_string_equal(ses_inputs_at(input, 0)->request, request);
        assert_true(lease.token > 0);
    } else {
        assert_null(input);
        assert_int_equal(lease.token, 0);
    }
    ses_inputs_close(input);
    return lease.token;
}

static int answer(ses_store *store, const ses_key *of, const char *event, const char *request, int64_t lease,
                  ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .answers = request, .lease = lease};
    return ses_append_by_key(store, of, event, SES_NUL, &options, NULL, error);
}

/* Ends a turn. */
static void must_answer(ses_store *store, const ses_key *of, const char *request, int64_t lease)
{
    ses_error error;
    assert_ok(answer(store, of, "{\"author\":\"agent\"}", request, lease, &error));
    assert_ok(ses_lease_release(store, of, lease, NULL, &error));
}

/* The requests that wait, each followed by a space. */
static void assert_waiting(ses_store *store, const ses_key *whose, const char *expected)
{
    ses_inputs *page = NULL;
    ses_error error;
    char requests[200] = "";
    size_t len = 0;

    assert_ok(ses_inbox_list(store, whose, NULL, &page, &error));
    for (size_t i = 0; i < ses_inputs_count(page) && len < sizeof requests; i++)
        len +=
            (size_t)snprintf(requests + len, sizeof requests - len, "%s ", ses_inputs_at(page, i)->request);
    assert_string_equal(requests, expected);
    ses_inputs_close(page);
}

/* --------------------------------------------------------------------------------------- add and list */

TEST_OF(setup, inputs_wait_in_the_order_in_which_they_came)
{
    const ses_inbox_list_options two = {.size = sizeof two, .limit = 2};
    ses_inbox_list_options rest = {.size = sizeof rest};
    ses_inputs *page = NULL;

    must_add(fixture->store, &key, "r1");
    must_add(fixture->store, &other, "r2");
    fixture->now += 5;
    assert_ok(add(fixture->store, &key, "r3", "[1, \"w\xc3\xb6rld\"]", &error));
    must_add(fixture->store, &of_bob, "r4");
    must_add(fixture->store, &elsewhere, "r1");
    assert_waiting(fixture->store, NULL, "r1 r2 r3 r4 r1 ");
    assert_waiting(fixture->store, &app, "r1 r2 r3 r4 ");
    assert_waiting(fixture->store, &user, "r1 r2 r3 ");
    assert_waiting(fixture->store, &key, "r1 r3 ");
    assert_ok(ses_inbox_list(fixture->store, &user, &two, &page, &error));
    assert_int_equal(ses_inputs_count(page), 2);
    assert_null(ses_inputs_at(page, 2));
    rest.after = ses_inputs_at(page, 1)->place;
    ses_inputs_close(page);
    assert_ok(ses_inbox_list(fixture->store, &user, &rest, &page, &error));
    assert_int_equal(ses_inputs_count(page), 1);
    const ses_input *input = ses_inputs_at(page, 0);
    assert_string_equal(input->app, "app");
    assert_string_equal(input->user, "user");
    assert_string_equal(input->session, key.session);
    assert_string_equal(input->body, "[1, \"w\xc3\xb6rld\"]");
    assert_int_equal(input->body_len, strlen(input->body));
    assert_int_equal(input->added_us, fixture->now);
    ses_inputs_close(page);
}

TEST_OF(setup, the_same_request_is_a_duplicate)
{
    must_add(fixture->store, &key, "r1");
    assert_code(SES_DUPLICATE, add(fixture->store, &key, "r1", "{\"text\":\"hello\"}", &error));
    assert_code(SES_EXISTS, add(fixture->store, &key, "r1", "{\"text\":\"other\"}", &error));
    must_add(fixture->store, &other, "r1");
    assert_waiting(fixture->store, NULL, "r1 r1 ");
}

/* A retry that comes late is not answered twice, if the input was stored under its request. */
TEST_OF(setup, a_request_that_is_an_event_is_a_duplicate)
{
    must_add(fixture->store, &key, "r1");
    const int64_t token = take(fixture->store, &key, "a", "r1");
    assert_ok(answer(fixture->store, &key, "{\"id\":\"r1\",\"author\":\"user\"}", NULL, token, &error));
    assert_code(SES_DUPLICATE, add(fixture->store, &key, "r1", "{\"text\":\"hello\"}", &error));
    must_answer(fixture->store, &key, "r1", token);
    assert_code(SES_DUPLICATE, add(fixture->store, &key, "r1", "{\"text\":\"hello\"}", &error));
    assert_waiting(fixture->store, &key, "");
}

TEST_OF(setup, a_session_is_created_for_an_input_if_asked)
{
    const ses_inbox_add_options creates = {.size = sizeof creates, .flags = SES_INBOX_CREATES};
    const ses_key fresh = {"new app", "new user", "new"};

    assert_code(SES_NOTFOUND, add(fixture->store, &fresh, "r1", "1", &error));
    assert_code(SES_NOTFOUND, ses_get(fixture->store, &fresh, NULL, &(ses_session *){NULL}, &error));
    for (int i = 0; i < 2; i++)
        assert_code(i == 0 ? SES_OK : SES_DUPLICATE,
                    ses_inbox_add(fixture->store, &fresh, "r1", "1", 1, &creates, &error));
    ses_session *session = must_get(fixture->store, &fresh);
    assert_int_equal(ses_session_last_seq(session), 0);
    assert_int_equal(ses_session_created_us(session), fixture->now);
    ses_session_close(session);
    (void)take(fixture->store, NULL, "a", "r1");
}

TEST_OF(setup, arguments_that_break_a_rule_are_refused)
{
    const ses_inbox_add_options negative = {.size = sizeof negative, .max_waiting = -1};
    const ses_inbox_add_options few = {.size = sizeof few, .max_waiting = 1};
    const ses_inbox_list_options before = {.size = sizeof before, .after = -1};
    const ses_inbox_list_options many = {.size = sizeof many, .limit = 10001};
    const ses_inbox_take_options past = {.size = sizeof past, .duration_us = -1};
    const ses_key nobody = {"app", "user", "nobody"};
    const ses_key no_user = {"app", NULL, "one"};
    ses_inputs *page = NULL;
    ses_lease lease;

    assert_code(SES_INVALID, add(fixture->store, &key, "", "1", &error));
    assert_code(SES_MISUSE, add(fixture->store, &key, NULL, "1", &error));
    assert_code(SES_JSON, add(fixture->store, &key, "r", "{", &error));
    assert_code(SES_JSON, add(fixture->store, &key, "r", "", &error));
    assert_code(SES_INVALID, ses_inbox_add(fixture->store, &key, "r", "1", 1, &negative, &error));
    assert_code(SES_NOTFOUND, ses_inbox_remove(fixture->store, &nobody, "r", NULL, &error));
    assert_code(SES_INVALID, ses_inbox_remove(fixture->store, &key, "", NULL, &error));
    assert_code(SES_INVALID, ses_inbox_list(fixture->store, &key, &before, &page, &error));
    assert_code(SES_INVALID, ses_inbox_list(fixture->store, &key, &many, &page, &error));
    assert_code(SES_MISUSE, ses_inbox_list(fixture->store, &no_user, NULL, &page, &error));
    assert_code(SES_INVALID, ses_inbox_take(fixture->store, &key, "", NULL, &page, &lease, &error));
    assert_code(SES_INVALID, ses_inbox_take(fixture->store, &key, "a", &past, &page, &lease, &error));
    assert_code(SES_MISUSE, ses_inbox_take(fixture->store, &key, "a", NULL, &page, NULL, &error));
    assert_code(SES_MISUSE, ses_inbox_take(fixture->store, &key, "a", NULL, NULL, &lease, &error));
    assert_code(SES_INVALID, answer(fixture->store, &key, "{}", "", 0, &error));
    assert_waiting(fixture->store, NULL, "");
    assert_ok(ses_inbox_add(fixture->store, &key, "r", "1", 1, &few, &error));
    assert_code(SES_DUPLICATE, ses_inbox_add(fixture->store, &key, "r", "1", 1, &few, &error));
    assert_code(SES_LIMIT, ses_inbox_add(fixture->store, &key, "s", "1", 1, &few, &error));
    assert_ok(ses_inbox_add(fixture->store, &other, "s", "1", 1, &few, &error));
    fixture->options.max_event_bytes = 10;
    fixture_reopen(fixture);
    assert_code(SES_LIMIT, add(fixture->store, &key, "t", "\"123456789\"", &error));
    assert_ok(add(fixture->store, &key, "t", "\"12345678\"", &error));
}

/* ----------------------------------------------------------------------------------------------- taking */

TEST_OF(setup, the_oldest_input_of_a_free_session_is_taken)
{
    must_add(fixture->store, &key, "r1");
    must_add(fixture->store, &key, "r2");
    must_add(fixture->store, &of_bob, "r3");
    must_add(fixture->store, &elsewhere, "r4");
    const int64_t first = take(fixture->store, &app, "a", "r1");
    const int64_t second = take(fixture->store, &app, "b", "r3");
    (void)take(fixture->store, &app, "c", NULL);
    (void)take(fixture->store, &key, "c", NULL);
    (void)take(fixture->store, &user, "c", NULL);
    const int64_t third = take(fixture->store, NULL, "c", "r4");
    must_answer(fixture->store, &key, "r1", first);
    assert_int_not_equal(take(fixture->store, &user, "c", "r2"), first);
    must_answer(fixture->store, &of_bob, "r3", second);
    must_answer(fixture->store, &elsewhere, "r4", third);
    assert_waiting(fixture->store, NULL, "r2 ");
}

TEST_OF(setup, nothing_is_there_to_take)
{
    const ses_key nobody = {"nobody", "nobody", "nobody"};
    const ses_key no_app = {"nobody", NULL, NULL};

    (void)take(fixture->store, NULL, "a", NULL);
    (void)take(fixture->store, &key, "a", NULL);
    (void)take(fixture->store, &nobody, "a", NULL);
    (void)take(fixture->store, &no_app, "a", NULL);
    assert_waiting(fixture->store, &nobody, "");
}

TEST_OF(setup, an_owner_keeps_its_token_and_gets_the_input_again)
{
    must_add(fixture->store, &key, "r1");
    const int64_t token = take(fixture->store, &key, "a", "r1");
    fixture->now += 1000;
    assert_int_equal(take(fixture->store, NULL, "a", "r1"), token);
    (void)take(fixture->store, NULL, "b", NULL);
}

/* A worker that dies answers nothing, and one that was thought dead answers too late. */
TEST_OF(setup, an_input_is_given_again_when_its_lease_has_ended)
{
    must_add(fixture->store, &key, "r1");
    const int64_t late = take(fixture->store, NULL, "a", "r1");
    fixture->now += 61000000;
    const int64_t token = take(fixture->store, NULL, "b", "r1");
    assert_code(SES_LEASED, answer(fixture->store, &key, "{}", "r1", late, &error));
    assert_waiting(fixture->store, NULL, "r1 ");
    must_answer(fixture->store, &key, "r1", token);
    assert_code(SES_LEASED, answer(fixture->store, &key, "{}", "r1", late, &error));
    assert_waiting(fixture->store, NULL, "");
    (void)take(fixture->store, NULL, "c", NULL);
}

/* As a lease ends then. */
TEST_OF(setup, a_clock_that_is_set_back_gives_it_again)
{
    must_add(fixture->store, &key, "r1");
    (void)take(fixture->store, NULL, "a", "r1");
    fixture->now -= INT64_C(86400000000);
    (void)take(fixture->store, NULL, "b", NULL);
    fixture->now += 61000000;
    (void)take(fixture->store, NULL, "b", "r1");
}

/* ------------------------------------------------------------------------------------------- answering */

TEST_OF(setup, only_an_append_that_stores_answers)
{
    must_add(fixture->store, &key, "r1");
    must_add(fixture->store, &other, "r1");
    assert_code(SES_PARTIAL, answer(fixture->store, &key, "{\"partial\":true}", "r1", 0, &error));
    assert_code(SES_INVALID, answer(fixture->store, &key, "{\"id\":\"\"}", "r1", 0, &error));
    assert_ok(answer(fixture->store, &key, "{\"id\":\"e\"}", NULL, 0, &error));
    assert_code(SES_DUPLICATE, answer(fixture->store, &key, "{\"id\":\"e\"}", "r1", 0, &error));
    assert_ok(answer(fixture->store, &key, "{}", "r2", 0, &error));
    assert_waiting(fixture->store, &key, "r1 ");
    assert_ok(answer(fixture->store, &key, "{}", "r1", 0, &error));
    assert_waiting(fixture->store, NULL, "r1 ");
}

TEST_OF(setup, batches_and_appends_with_more_answer)
{
    const ses_text batch[] = {{"{\"id\":\"b1\"}", 11}, {"{\"id\":\"b2\"}", 11}};
    const ses_label label = {"l", "v"};
    ses_append_options options = {.size = sizeof options, .answers = "r1"};
    ses_session *session = must_get(fixture->store, &key);

    must_add(fixture->store, &key, "r1");
    must_add(fixture->store, &key, "r2");
    assert_ok(ses_append_batch(session, batch, 2, &options, NULL, &error));
    assert_waiting(fixture->store, &key, "r2 ");
    options =
        (ses_append_options){.size = sizeof options, .answers = "r2", .labels = &label, .label_count = 1};
    assert_ok(ses_append(session, "{}", 2, &options, NULL, &error));
    assert_waiting(fixture->store, &key, "");
    ses_session_close(session);
}

TEST_OF(setup, an_input_that_nobody_is_to_answer_is_removed)
{
    must_add(fixture->store, &key, "r1");
    must_add(fixture->store, &other, "r1");
    assert_ok(ses_inbox_remove(fixture->store, &key, "r1", NULL, &error));
    assert_code(SES_UNCHANGED, ses_inbox_remove(fixture->store, &key, "r1", NULL, &error));
    assert_waiting(fixture->store, &user, "r1 ");
}

/* ------------------------------------------------------------------------------------- other operations */

TEST_OF(setup, histories_leave_the_inbox)
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
    must_add(fixture->store, &key, "r1");
    assert_ok(ses_fork_by_key(fixture->store, &key, &now, &copy, NULL, NULL, &error));
    assert_waiting(fixture->store, &copy, "");
    assert_ok(ses_prune_by_key(fixture->store, &key, &first, NULL, &error));
    assert_ok(ses_rewind_by_key(fixture->store, &key, &four, NULL, NULL, &error));
    assert_ok(ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_ok(ses_pop_by_key(fixture->store, &key, &four, NULL, &popped, &error));
    ses_popped_close(popped);
    assert_ok(ses_cut_by_key(fixture->store, &key, &three, NULL, NULL, &error));
    assert_waiting(fixture->store, &key, "r1 ");
}

TEST_OF(setup, a_deletion_takes_the_inbox_along)
{
    const int64_t soon = fixture->now + 10;
    const ses_expire_options options = {.size = sizeof options};
    int64_t deleted = 0;

    must_add(fixture->store, &key, "r1");
    must_add(fixture->store, &other, "r2");
    must_add(fixture->store, &of_bob, "r3");
    assert_ok(ses_delete(fixture->store, &key, NULL, &deleted, &error));
    assert_waiting(fixture->store, &app, "r2 r3 ");
    must_create(fixture->store, &key, NULL);
    assert_waiting(fixture->store, &key, "");
    assert_ok(ses_expiry_set_by_key(fixture->store, &of_bob, &soon, NULL, &error));
    fixture->now += 20;
    assert_ok(ses_store_expire(fixture->store, NULL, &options, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_waiting(fixture->store, &app, "r2 ");
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    assert_waiting(fixture->store, NULL, "");
    (void)take(fixture->store, NULL, "a", NULL);
}

TEST_OF(setup, an_input_is_no_event)
{
    ses_session *session = must_get(fixture->store, &key);
    const int64_t version = ses_session_version(session);
    const int64_t updated_us = ses_session_updated_us(session);

    fixture->now += 1000000;
    must_add(fixture->store, &key, "r1");
    assert_ok(ses_refresh(session, NULL, &error));
    assert_int_equal(ses_session_version(session), version);
    assert_int_equal(ses_session_updated_us(session), updated_us);
    assert_ok(ses_append(session, "{}", 2, NULL, NULL, &error));
    ses_session_close(session);
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

/* Of the first, the request. */
static size_t count_found(ses_store *store, const char *request)
{
    ses_findings *found = NULL;
    ses_error error;

    assert_ok(ses_store_find(store, &key, "secret", SES_NUL, NULL, &found, &error));
    const size_t count = ses_findings_count(found);
    if (request) {
        assert_int_equal(ses_findings_at(found, 0)->kind, SES_FOUND_INPUT);
        assert_string_equal(ses_findings_at(found, 0)->session, key.session);
        assert_string_equal(ses_findings_at(found, 0)->name, request);
    }
    ses_findings_close(found);
    return count;
}

TEST_OF(setup, a_text_in_it_is_found_and_erased)
{
    const ses_redact_options options = {.size = sizeof options, .find = find_secret};
    ses_redact_options dry = options;

    dry.flags = SES_REDACT_DRY_RUN;
    must_append_by_key(fixture->store, &key, "{\"id\":\"e\"}");
    assert_ok(add(fixture->store, &key, "r1", "\"a secret, a secret\"", &error));
    assert_ok(add(fixture->store, &key, "r2", "{\"text\":\"a s\\u0065cret\"}", &error));
    assert_ok(add(fixture->store, &key, "r3", "\"harmless\"", &error));
    assert_ok(add(fixture->store, &key, "secret 4", "\"a secret\"", &error));
    assert_int_equal(count_found(fixture->store, "r1"), 3);
    assert_ok(ses_redact_by_key(fixture->store, &key, NULL, 0, &dry, NULL, &error));
    assert_int_equal(count_found(fixture->store, "r1"), 3);
    assert_ok(ses_redact_by_key(fixture->store, &key, NULL, 0, &options, NULL, &error));
    assert_int_equal(count_found(fixture->store, NULL), 0);
    assert_waiting(fixture->store, &key, "r3 ");
    assert_code(SES_UNCHANGED, ses_redact_by_key(fixture->store, &key, NULL, 0, &options, NULL, &error));
}

TEST_OF(setup, a_redaction_of_everything_removes_all)
{
    const int64_t seq = 1;

    must_append_by_key(fixture->store, &key, "{\"content\":{\"parts\":[{\"text\":\"a\"}]}}");
    must_add(fixture->store, &key, "r1");
    must_add(fixture->store, &key, "r2");
    must_add(fixture->store, &other, "r3");
    assert_ok(ses_redact_by_key(fixture->store, &key, &seq, 1, NULL, NULL, &error));
    assert_waiting(fixture->store, &key, "r1 r2 ");
    assert_ok(ses_redact_by_key(fixture->store, &key, NULL, 0, NULL, NULL, &error));
    assert_waiting(fixture->store, NULL, "r3 ");
}
