/* Lists in the order of the last writes, by the store's clock. */
#include "lines_text.h"
#include "seslite_erase.h"

static const ses_key one = {"app", "alice", "one"};
static const ses_key two = {"app", "bob", "two"};
static const ses_key three = {"app", "alice", "three"};

/* The ids in this order, a page at a time. */
static void assert_changed(ses_store *store, const char *user, size_t limit, const ses_filter *filter,
                           const char *expected)
{
    ses_list_options options = {
        .size = sizeof options, .order = SES_ORDER_CHANGED, .limit = limit, .filter = filter};
    int64_t before_us = INT64_MAX;
    char names[2000] = "";
    ses_page *page = NULL;
    ses_error error;

    do {
        ses_page *next;
        options.token = page ? ses_page_token(page) : NULL;
        assert_ok(ses_list(store, "app", user, &options, &next, &error));
        ses_page_close(page);
        page = next;
        for (size_t i = 0; i < ses_page_count(page); i++) {
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? " " : "",
                     ses_session_id(ses_page_session(page, i)));
            assert_true(ses_page_changed_us(page, i) <= before_us);
            before_us = ses_page_changed_us(page, i);
        }
        assert_int_equal(ses_page_changed_us(page, ses_page_count(page)), 0);
    } while (ses_page_token(page));
    ses_page_close(page);
    assert_string_equal(names, expected);
}

/* Each is created a second after the one before. */
static void make_three(struct fixture *fixture)
{
    const ses_key *const keys[] = {&one, &two, &three};

    for (int i = 0; i < 3; i++) {
        fixture->now += 1000000;
        must_create(fixture->store, keys[i], NULL);
    }
}

static void append_at(const struct fixture *fixture, const ses_key *key, int64_t seconds_ahead)
{
    char event[64];

    snprintf(event, sizeof event, "{\"timestamp\":%lld,\"invocationId\":\"i\"}",
             (long long)(fixture->now / 1000000 + seconds_ahead));
    must_append_by_key(fixture->store, key, event);
}

TEST(the_clocks_of_clients_do_not_matter)
{
    make_three(fixture);
    append_at(fixture, &one, 5 * 3600);
    fixture->now += 1000000;
    append_at(fixture, &two, -5 * 3600);
    for (size_t limit = 1; limit <= 4; limit++) {
        assert_changed(fixture->store, NULL, limit, NULL, "two one three");
        assert_changed(fixture->store, "alice", limit, NULL, "one three");
    }
    fixture_reopen(fixture);
    assert_changed(fixture->store, NULL, 2, NULL, "two one three");
}

TEST(every_change_of_the_log_is_a_write)
{
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ};
    ses_session *fork = NULL;

    make_three(fixture);
    append_at(fixture, &one, 0);
    fixture->now += 1000000;
    append_at(fixture, &two, 0);
    fixture->now += 1000000;
    assert_ok(ses_rewind_by_key(fixture->store, &one, &start, NULL, NULL, &error));
    assert_changed(fixture->store, NULL, 2, NULL, "one two three");
    fixture->now += 1000000;
    assert_ok(ses_cut_by_key(fixture->store, &two, &start, NULL, NULL, &error));
    assert_changed(fixture->store, NULL, 2, NULL, "two one three");
    fixture->now += 1000000;
    assert_ok(ses_fork_by_key(fixture->store, &three, &start, &(ses_key){"app", "alice", "fork"}, NULL, &fork,
                              &error));
    ses_session_close(fork);
    assert_changed(fixture->store, NULL, 2, NULL, "fork two one three");
}

/* ------------------------------------------------------------------------------------- each operation */

static int64_t changed_us_of(ses_store *store, const char *id)
{
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CHANGED};
    int64_t changed_us = 0;
    ses_page *page = NULL;
    ses_error error;

    assert_ok(ses_list(store, "app", NULL, &options, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++)
        if (strcmp(ses_session_id(ses_page_session(page, i)), id) == 0)
            changed_us = ses_page_changed_us(page, i);
    ses_page_close(page);
    return changed_us;
}

/* Operations on a session with four events, of a turn each. */
typedef int operation(ses_store *store, const ses_key *of, ses_error *error);

static int rewind_it(ses_store *store, const ses_key *of, ses_error *error)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 2};
    return ses_rewind_by_key(store, of, &point, NULL, NULL, error);
}

static int redo(ses_store *store, const ses_key *of, ses_error *error)
{
    return ses_redo_by_key(store, of, NULL, NULL, error);
}

static int cut(ses_store *store, const ses_key *of, ses_error *error)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 2};
    return ses_cut_by_key(store, of, &point, NULL, NULL, error);
}

static int pop(ses_store *store, const ses_key *of, ses_error *error)
{
    const ses_point turn = {.size = sizeof turn, .kind = SES_POINT_LAST_TURN};
    ses_popped *popped = NULL;
    const int code = ses_pop_by_key(store, of, &turn, NULL, &popped, error);

    ses_popped_close(popped);
    return code;
}

static int redact(ses_store *store, const ses_key *of, ses_error *error)
{
    return ses_redact_by_key(store, of, (const int64_t[]){3}, 1, NULL, NULL, error);
}

static int append(ses_store *store, const ses_key *of, ses_error *error)
{
    return ses_append_by_key(store, of, "{\"timestamp\":1}", SES_NUL, NULL, NULL, error);
}

static int append_again(ses_store *store, const ses_key *of, ses_error *error)
{
    return ses_append_by_key(
        store, of,
        Q("{'id':'e1','author':'user','invocationId':'i1','timestamp':1,'content':{'parts':[{'text':'x'}]}}"),
        SES_NUL, NULL, NULL, error);
}

static int prune(ses_store *store, const ses_key *of, ses_error *error)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = 1};
    return ses_prune_by_key(store, of, &options, NULL, error);
}

static int fork_it(ses_store *store, const ses_key *of, ses_error *error)
{
    return ses_fork_by_key(store, of, NULL, &(ses_key){"app", "alice", "fork"}, NULL, NULL, error);
}

static int export_it(ses_store *store, const ses_key *of, ses_error *error)
{
    struct text text = {NULL, 0};
    const ses_export_options options = {
        .size = sizeof options, .app = of->app, .user = of->user, .session = of->session};
    const int code = ses_store_export(store, &options, collect_lines, &text, error);

    free(text.data);
    return code;
}

static const struct {
    const char *name;
    operation *make;
    int code;
    bool writes;
} operations[] = {
    {"append", append, SES_OK, true},    {"duplicate", append_again, SES_DUPLICATE, false},
    {"rewind", rewind_it, SES_OK, true}, {"redo", redo, SES_OK, true},
    {"redact", redact, SES_OK, true},    {"fork", fork_it, SES_OK, false},
    {"prune", prune, SES_OK, false},     {"export", export_it, SES_OK, false},
    {"pop", pop, SES_OK, true},          {"cut", cut, SES_OK, true},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void make_with_events(struct fixture *fixture, const ses_key *of)
{
    char event[200];

    must_create(fixture->store, of, NULL);
    for (int i = 1; i <= 4; i++) {
        snprintf(
            event, sizeof event,
            "{\"id\":\"e%d\",\"author\":\"user\",\"invocationId\":\"i%d\",\"timestamp\":1,\"content\":{\"parts\":["
            "{\"text\":\"x\"}]}}",
            i, i);
        must_append_by_key(fixture->store, of, event);
    }
}

/* One after the other, on one session. */
TEST(when_each_operation_has_written)
{
    make_three(fixture);
    fixture->now += 1000000;
    const ses_key of = {"app", "alice", "each"};
    make_with_events(fixture, &of);
    int64_t expected_us = fixture->now;
    for (int i = 0; i < OPERATIONS; i++) {
        fixture->now += 1000000;
        const int code = operations[i].make(fixture->store, &of, &error);
        if (code != operations[i].code)
            fail_msg("%s: %s: %s", operations[i].name, ses_code_name(code), error.message);
        if (operations[i].writes)
            expected_us = fixture->now;
        if (changed_us_of(fixture->store, "each") != expected_us)
            fail_msg("%s: written at another time", operations[i].name);
        assert_int_equal(changed_us_of(fixture->store, "three"),
                         changed_us_of(fixture->store, "two") + 1000000);
    }
    assert_true(changed_us_of(fixture->store, "fork") > changed_us_of(fixture->store, "three"));
}

enum { WALKED = 7, SEEN = 3 };

/* The ids of all pages, after the first of which the operation is made on that session: NULL deletes it. */
static void walk_with(struct fixture *fixture, operation *make, int code, int which, char *ids,
                      size_t capacity)
{
    ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CHANGED, .limit = SEEN};
    ses_page *page = NULL;
    bool is_done = false;
    char id[20];
    ses_error error;

    snprintf(id, sizeof id, "s%d", which);
    const ses_key of = {"app", "alice", id};
    ids[0] = '\0';
    do {
        ses_page *next = NULL;
        options.token = page ? ses_page_token(page) : NULL;
        assert_ok(ses_list(fixture->store, "app", NULL, &options, &next, &error));
        ses_page_close(page);
        page = next;
        for (size_t i = 0; i < ses_page_count(page); i++)
            snprintf(ids + strlen(ids), capacity - strlen(ids), "%s ",
                     ses_session_id(ses_page_session(page, i)));
        fixture->now += !is_done;
        if (!is_done) {
            const int found = make ? make(fixture->store, &of, &error)
                                   : ses_delete(fixture->store, &of, NULL, NULL, &error);
            if (found != code)
                fail_msg("s%d: %s: %s", which, ses_code_name(found), error.message);
        }
        is_done = true;
    } while (ses_page_token(page));
    ses_page_close(page);
}

/* A session that is written between two pages moves to the front, and so is not met twice; the others stay in
 * their places. */
TEST(pages_beside_each_operation)
{
    for (int i = 0; i <= OPERATIONS; i++)
        for (int which = 1; which < WALKED; which += 4) {
            const bool is_deletion = i == OPERATIONS;
            const bool moves = is_deletion || operations[i].writes;
            char expected[100] = "";
            char ids[200];
            if (!is_deletion && operations[i].make == redo)
                continue; /* there is nothing to redo */
            for (int n = WALKED; n-- > 0;) {
                char id[20];
                snprintf(id, sizeof id, "s%d", n);
                fixture->now += 1000000;
                make_with_events(fixture, &(ses_key){"app", "alice", id});
            }
            for (int n = 0; n < WALKED; n++)
                if (n < SEEN || n != which || !moves)
                    snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "s%d ", n);
            walk_with(fixture, is_deletion ? NULL : operations[i].make,
                      is_deletion ? SES_OK : operations[i].code, which, ids, sizeof ids);
            if (strcmp(ids, expected) != 0)
                fail_msg("%s of s%d: %s, not %s", is_deletion ? "delete" : operations[i].name, which, ids,
                         expected);
            assert_ok(ses_delete_app(fixture->store, "app", NULL, NULL, &error));
        }
}

/* Events that come with an import were written elsewhere, and earlier. */
TEST(an_import_never_moves_it_back)
{
    const int64_t loaded_us = INT64_C(1000000) * 60;
    ses_store *other = empty_store();
    ses_import_report report;

    make_three(fixture);
    append_at(fixture, &one, -5 * 3600);
    const int64_t written_us = changed_us_of(fixture->store, "one");
    const int64_t of_three_us = changed_us_of(fixture->store, "three");
    assert_int_equal(written_us, fixture->now);
    struct text first = exported(fixture->store, NULL);
    assert_ok(import_text(other, first.data, first.len, 0, &report, &error));
    must_append_by_key(other, &one, Q("{'id':'later','timestamp':61}"));
    must_append_by_key(other, &three, Q("{'id':'later','timestamp':61}"));
    must_create(other, &(ses_key){"app", "alice", "new"}, NULL);
    struct text second = exported(other, NULL);
    fixture->now += 1000000;
    assert_ok(import_text(fixture->store, second.data, second.len, SES_IMPORT_UPDATE, &report, &error));
    assert_int_equal(changed_us_of(fixture->store, "one"), written_us);
    assert_int_equal(changed_us_of(fixture->store, "three"), of_three_us);
    assert_true(changed_us_of(fixture->store, "new") > loaded_us);
    assert_changed(fixture->store, "alice", 1, NULL, "new one three");
    free(second.data);
    free(first.data);
    ses_close(other);
}

TEST(titles_labels_and_expiry_are_not)
{
    const ses_label label = {"l", "v"};
    const ses_filter labelled = {.size = sizeof labelled, .label = "l"};

    make_three(fixture);
    fixture->now += 1000000;
    const int64_t later = fixture->now + 1000000;
    assert_ok(ses_title_set_by_key(fixture->store, &one, "A title", NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &one, &label, 1, NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &three, &label, 1, NULL, &error));
    assert_ok(ses_expiry_set_by_key(fixture->store, &two, &later, NULL, &error));
    assert_changed(fixture->store, NULL, 1, NULL, "three two one");
    assert_changed(fixture->store, NULL, 1, &labelled, "three one");
}

TEST(ties_are_by_id)
{
    const char *const ids[] = {"d", "a", "c", "b"};

    for (int i = 0; i < 4; i++)
        must_create(fixture->store, &(ses_key){"app", i % 2 ? "alice" : "bob", ids[i]}, NULL);
    for (size_t limit = 1; limit <= 4; limit++)
        assert_changed(fixture->store, NULL, limit, NULL, "a b c d");
}

TEST(a_token_belongs_to_its_order)
{
    make_three(fixture);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        ses_list_options options = {.size = sizeof options, .order = order, .limit = 1};
        ses_page *page = NULL;
        assert_ok(ses_list(fixture->store, "app", NULL, &options, &page, &error));
        options.token = ses_page_token(page);
        for (options.order = SES_ORDER_NEWEST; options.order <= SES_ORDER_CHANGED; options.order++) {
            ses_page *next = NULL;
            assert_code(options.order == order ? SES_OK : SES_INVALID,
                        ses_list(fixture->store, "app", NULL, &options, &next, &error));
            ses_page_close(next);
        }
        ses_page_close(page);
    }
    const ses_list_options unknown = {.size = sizeof unknown, .order = SES_ORDER_CHANGED + 1};
    ses_page *none = NULL;
    assert_code(SES_MISUSE, ses_list(fixture->store, "app", NULL, &unknown, &none, &error));
}
