/* Titles and labels: set, removed, given on create; shown as of a handle's reading; and what is refused. */
#include "append.h"
#include "open.h"

enum { TITLE = SES_TITLE_MAX, NAME = SES_LABEL_NAME_MAX, VALUE = SES_LABEL_VALUE_MAX };

/* As one text: the title, and name=value of each label. */
static void assert_shows(const ses_session *session, const char *expected)
{
    char text[9000];
    const char *title = ses_session_title(session);
    size_t len = (size_t)snprintf(text, sizeof text, "%s", title ? title : "-");

    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        len += (size_t)snprintf(text + len, sizeof text - len, " %s=%s", label->name, label->value);
        assert_string_equal(ses_session_label_value(session, label->name), label->value);
    }
    assert_null(ses_session_label(session, ses_session_label_count(session)));
    assert_string_equal(text, expected);
}

static void assert_stored(ses_store *store, const ses_key *of, const char *expected)
{
    ses_session *session = must_get(store, of);
    assert_shows(session, expected);
    ses_session_close(session);
}

static int create_with(ses_store *store, const ses_key *of, const char *title, const ses_label *labels,
                       size_t count, ses_session **session, ses_error *error)
{
    const ses_create_options options = {
        .size = sizeof options, .title = title, .labels = labels, .label_count = count};
    return ses_create(store, of, NULL, 0, &options, session, error);
}

/* --------------------------------------------------------------------------------------------- shown */

TEST(a_session_has_none_at_first)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_shows(session, "-");
    assert_null(ses_session_label_value(session, "x"));
    must_refresh(session);
    assert_shows(session, "-");
    assert_int_equal(ses_session_label_count(session), 0);
}

TEST_FILE_AND_MEMORY(create_takes_them)
{
    static const ses_label labels[] = {{"kind", "support"}, {"a", ""}, {"kind", "sales"}};
    ses_session *session = NULL;

    assert_ok(create_with(fixture->store, &key, "Caf\xC3\xA9", labels, 3, &session, &error));
    assert_shows(session, "Caf\xC3\xA9 a= kind=sales");
    ses_session_close(session);
    assert_stored(fixture->store, &key, "Caf\xC3\xA9 a= kind=sales");
    assert_int_equal(ses_delete(fixture->store, &key, NULL, NULL, &error), SES_OK);
    assert_ok(create_with(fixture->store, &key, NULL, labels, 1, NULL, &error));
    assert_stored(fixture->store, &key, "- kind=support");
}

TEST(get_or_create_leaves_those_of_an_existing_session)
{
    static const ses_label label = {"a", "1"};
    const ses_create_options options = {
        .size = sizeof options, .title = "T", .labels = &label, .label_count = 1};
    const ses_create_options wrong = {.size = sizeof wrong, .title = ""};
    ses_session *session = NULL;

    must_create(fixture->store, &key, NULL);
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_shows(session, "-");
    ses_session_close(session);
    assert_code(SES_INVALID, ses_get_or_create(fixture->store, &key, NULL, 0, &wrong, &session, &error));
    must_delete(fixture->store, &key);
    assert_ok(ses_get_or_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_shows(session, "T a=1");
    ses_session_close(session);
}

TEST_FILE_AND_MEMORY(setting_through_a_handle_shows_at_once)
{
    static const ses_label labels[] = {{"b", "2"}, {"a", "1"}, {"c", "3"}};
    static const ses_label changes[] = {{"b", NULL}, {"a", "x"}, {"none", NULL}, {"d", "y"}, {"d", "4"}};
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_ok(ses_title_set(session, "First", NULL, &error));
    assert_shows(session, "First");
    assert_ok(ses_labels_set(session, labels, 3, NULL, &error));
    assert_shows(session, "First a=1 b=2 c=3");
    assert_ok(ses_labels_set(session, changes, 5, NULL, &error));
    assert_shows(session, "First a=x c=3 d=4");
    assert_ok(ses_title_set(session, NULL, NULL, &error));
    assert_shows(session, "- a=x c=3 d=4");
    assert_stored(fixture->store, &key, "- a=x c=3 d=4");
    assert_ok(ses_labels_set(session, NULL, 0, NULL, &error));
    assert_shows(session, "- a=x c=3 d=4");
}

TEST(other_handles_show_it_when_refreshed)
{
    static const ses_label label = {"a", "1"};
    static const ses_label gone = {"a", NULL};
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_ok(ses_title_set_by_key(fixture->store, &key, "T", NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &key, &label, 1, NULL, &error));
    assert_shows(session, "-");
    must_append(session, "{}"); /* is no reading of them */
    assert_shows(session, "-");
    must_refresh(session);
    assert_shows(session, "T a=1");
    assert_ok(ses_title_set_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &key, &gone, 1, NULL, &error));
    must_append(session, "{}");
    assert_shows(session, "T a=1");
    must_refresh(session);
    assert_shows(session, "-");
    ses_session_close(session);
    assert_query(fixture->path, "SELECT details FROM sessions", "0\n");
}

TEST(one_setting_shows_what_others_have_set)
{
    static const ses_label label = {"a", "1"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_ok(ses_labels_set_by_key(fixture->store, &key, &label, 1, NULL, &error));
    assert_ok(ses_title_set(session, "T", NULL, &error));
    assert_shows(session, "T a=1");
}

TEST(they_are_no_events)
{
    static const ses_label label = {"a", "1"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    must_append(session, "{}");
    const int64_t version = ses_session_version(session);
    const int64_t updated = ses_session_updated_us(session);
    fixture->now += 5000000;
    assert_ok(ses_title_set_by_key(fixture->store, &key, "T", NULL, &error));
    assert_ok(ses_labels_set(session, &label, 1, NULL, &error));
    must_refresh(session);
    assert_int_equal(ses_session_version(session), version);
    assert_int_equal(ses_session_updated_us(session), updated);
    assert_int_equal(ses_session_event_count(session), 1);
    assert_ok(ses_title_set_by_key(fixture->store, &key, "U", NULL, &error));
    must_append(session, "{}"); /* not STALE */
    assert_shows(session, "T a=1");
}

TEST(an_outdated_handle_sets_them)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    must_append_by_key(fixture->store, &key, "{}");
    assert_ok(ses_title_set(session, "T", NULL, &error));
    assert_shows(session, "T");
    assert_int_equal(ses_session_last_seq(session), 0); /* and is as outdated as before */
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
}

TEST(lists_show_them)
{
    static const ses_label labels[] = {{"a", "1"}, {"b", "2"}};
    ses_page *page = NULL;

    for (int i = 0; i < 6; i++) {
        char name[8];
        const ses_key of = {"app", "user", name};
        snprintf(name, sizeof name, "s%d", i);
        assert_ok(
            create_with(fixture->store, &of, i % 2 ? name : NULL, labels, (size_t)(i % 3), NULL, &error));
    }
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED};
    assert_ok(ses_list(fixture->store, "app", NULL, &options, &page, &error));
    static const char *const expected[] = {"-", "s1 a=1", "- a=1 b=2", "s3", "- a=1", "s5 a=1 b=2"};
    for (size_t i = 0; i < 6; i++)
        assert_shows(ses_page_session(page, i), expected[i]);
    ses_page_close(page);
}

TEST(a_fork_shows_those_of_its_parent)
{
    static const ses_label labels[] = {{"a", "1"}, {"b", "2"}};
    const ses_key to = {"app", "user", "fork"};
    ses_session *session = NULL;
    ses_session *fork = NULL;

    assert_ok(create_with(fixture->store, &key, "T", labels, 2, &session, &error));
    assert_ok(ses_fork(session, NULL, &to, NULL, &fork, &error));
    assert_shows(fork, "T a=1 b=2");
    assert_non_null(ses_session_parent(fork, NULL));
    assert_ok(ses_title_set(fork, "Fork", NULL, &error));
    must_refresh(session);
    assert_shows(session, "T a=1 b=2");
    assert_stored(fixture->store, &to, "Fork a=1 b=2");
    ses_session *again = must_get(fixture->store, &to);
    assert_string_equal(ses_session_parent(again, NULL)->session, key.session);
    ses_session_close(fork);
    ses_session_close(session);
}

/* The parent's texts are borrowed until the handle is closed, title and labels until the next reading. */
TEST(a_refresh_leaves_the_parent)
{
    const ses_key to = {"app", "user", "fork"};
    ses_session *fork = NULL;

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &to, NULL, &fork, &error));
    const ses_key *parent = ses_session_parent(fork, NULL);
    assert_ok(ses_title_set(fork, "T", NULL, &error));
    must_refresh(fork);
    assert_ptr_equal(ses_session_parent(fork, NULL), parent);
    assert_string_equal(parent->session, key.session);
    ses_session_close(fork);
}

TEST(they_go_with_the_session)
{
    static const ses_label label = {"a", "1"};
    ses_session *session = NULL;

    assert_ok(create_with(fixture->store, &key, "T", &label, 1, &session, &error));
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_title_set(session, "U", NULL, &error));
    assert_code(SES_NOTFOUND, ses_labels_set_by_key(fixture->store, &key, &label, 1, NULL, &error));
    assert_shows(session, "T a=1");
    ses_session_close(session);
    must_create(fixture->store, &key, NULL);
    assert_stored(fixture->store, &key, "-");
    assert_query(fixture->path, "SELECT count(*) FROM session_labels", "0\n");
}

TEST(they_do_not_touch_the_initial_state)
{
    char *json = NULL;

    must_create(fixture->store, &key, Q("{'k':1}"));
    assert_ok(ses_title_set_by_key(fixture->store, &key, "T", NULL, &error));
    assert_ok(ses_title_set_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_ok(ses_state_json_initial_by_key(fixture->store, &key, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'k':1}"));
    ses_free(json);
}

/* ------------------------------------------------------------------------------------------- refused */

static char *letters(char *text, size_t count)
{
    memset(text, 'x', count);
    text[count] = '\0';
    return text;
}

TEST(bounds)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    static char title[TITLE + 2];
    static char name[NAME + 2];
    static char value[VALUE + 2];

    assert_ok(ses_title_set(session, letters(title, TITLE), NULL, &error));
    assert_ok(
        ses_labels_set(session, &(ses_label){letters(name, NAME), letters(value, VALUE)}, 1, NULL, &error));
    assert_string_equal(ses_session_title(session), title);
    assert_string_equal(ses_session_label_value(session, name), value);
    assert_code(SES_INVALID, ses_title_set(session, letters(title, TITLE + 1), NULL, &error));
    assert_code(SES_INVALID, ses_title_set(session, "", NULL, &error));
    assert_code(SES_INVALID, ses_title_set(session, "\xff", NULL, &error));
    assert_message("title");
    const ses_label wrong[] = {{letters(name, NAME + 1), "v"},
                               {"", "v"},
                               {"\xff", "v"},
                               {"n", letters(value, VALUE + 1)},
                               {"n", "\xff"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const ses_label both[] = {{"fine", "1"}, wrong[i]};
        assert_code(SES_INVALID, ses_labels_set(session, both, 2, NULL, &error));
        assert_message("label 1");
        assert_code(SES_INVALID, ses_labels_set_by_key(fixture->store, &key, both, 2, NULL, &error));
    }
    assert_null(ses_session_label_value(session, "fine"));
}

TEST(arguments_that_are_missing)
{
    static const ses_label nameless = {NULL, "v"};
    static const ses_label removal = {"n", NULL};
    const ses_key other = {"app", "user", "other"};

    must_create(fixture->store, &key, NULL);
    assert_code(SES_MISUSE, ses_labels_set_by_key(fixture->store, &key, NULL, 1, NULL, &error));
    assert_code(SES_MISUSE, ses_labels_set_by_key(fixture->store, &key, &nameless, 1, NULL, &error));
    assert_code(SES_MISUSE, ses_labels_set(NULL, &removal, 1, NULL, &error));
    assert_code(SES_MISUSE, ses_title_set(NULL, "T", NULL, &error));
    assert_code(SES_MISUSE, create_with(fixture->store, &other, NULL, NULL, 1, NULL, &error));
    assert_code(SES_INVALID, create_with(fixture->store, &other, NULL, &removal, 1, NULL, &error));
    assert_message("create options");
    assert_code(SES_INVALID, create_with(fixture->store, &other, "", NULL, 0, NULL, &error));
    assert_code(SES_NOTFOUND, ses_title_set_by_key(fixture->store, &other, "T", NULL, &error));
}

static void make_labels(ses_label *labels, char (*names)[32], size_t count, const char *value)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        labels[i] = (ses_label){names[i], value};
    }
}

TEST(a_session_has_at_most_64)
{
    static const ses_label more = {"more", "1"};
    static const ses_label swap[] = {{"more", "1"}, {"n7", NULL}};
    const ses_key other = {"app", "user", "other"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char names[65][32];
    ses_label labels[65];

    make_labels(labels, names, 65, "v");
    assert_code(SES_LIMIT, create_with(fixture->store, &other, NULL, labels, 65, NULL, &error));
    assert_ok(create_with(fixture->store, &other, NULL, labels, 64, NULL, &error));
    assert_code(SES_LIMIT, ses_labels_set(session, labels, 65, NULL, &error));
    assert_shows(session, "-");
    assert_stored(fixture->store, &key, "-");
    assert_ok(ses_labels_set(session, labels, 64, NULL, &error));
    assert_code(SES_LIMIT, ses_labels_set(session, &more, 1, NULL, &error));
    assert_int_equal(ses_session_label_count(session), 64);
    assert_ok(ses_labels_set(session, swap, 2, NULL, &error));
    assert_int_equal(ses_session_label_count(session), 64);
    make_labels(labels, names, 65, NULL);
    assert_ok(ses_labels_set(session, labels, 65, NULL, &error));
    assert_shows(session, "- more=1");
}

TEST(a_read_only_store_shows_them)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    ses_store *store = NULL;

    assert_ok(create_with(fixture->store, &key, "T", NULL, 0, NULL, &error));
    assert_ok(ses_open(fixture->path, &options, &store, &error));
    assert_stored(store, &key, "T");
    assert_code(SES_READONLY, ses_title_set_by_key(store, &key, "U", NULL, &error));
    ses_close(store);
}

/* ----------------------------------------------------------------------------------- other programs */

TEST(rows_removed_by_another_program_are_not_there)
{
    static const ses_label label = {"a", "1"};

    assert_ok(create_with(fixture->store, &key, "T", &label, 1, NULL, &error));
    raw_exec(fixture->path, "DELETE FROM session_labels; UPDATE session_details SET title = NULL");
    assert_stored(fixture->store, &key, "-");
    assert_ok(ses_title_set_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_query(fixture->path, "SELECT details FROM sessions", "0\n");
}

TEST(damage_is_corrupt)
{
    static const char *const damages[] = {
        "UPDATE session_labels SET app_id = 2",
        "UPDATE session_labels SET name = ''",
        "UPDATE session_labels SET name = printf('%.*c', 129, 'x')",
        "UPDATE session_labels SET name = 'a' || char(0)",
        "UPDATE session_labels SET name = CAST(x'ff' AS TEXT)",
        "UPDATE session_labels SET value = printf('%.*c', 513, 'x')",
        "UPDATE session_labels SET value = CAST(x'ff' AS TEXT)",
        ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64)"
         " INSERT INTO session_labels SELECT id, 'n' || i, '', 1 FROM n, sessions"),
        "UPDATE session_details SET title = ''",
        "UPDATE session_details SET title = printf('%.*c', 1025, 'x')",
        "UPDATE session_details SET title = CAST(x'ff' AS TEXT)",
    };
    static const ses_label label = {"a", "1"};

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        ses_session *session = NULL;
        ses_page *page = NULL;
        assert_ok(create_with(fixture->store, &key, "T", &label, 1, &session, &error));
        char sql[400];
        snprintf(sql, sizeof sql, "DROP TRIGGER IF EXISTS guard_session_labels_insert; %s", damages[i]);
        raw_exec(fixture->path, sql);
        assert_code(SES_CORRUPT, ses_refresh(session, NULL, &error));
        assert_shows(session, "T a=1");
        assert_code(SES_CORRUPT, ses_title_set(session, "U", NULL, &error));
        assert_shows(session, "T a=1");
        ses_session_close(session);
        assert_code(SES_CORRUPT, ses_get(fixture->store, &key, NULL, &session, &error));
        assert_message("of session number");
        assert_code(SES_CORRUPT, ses_list(fixture->store, "app", NULL, NULL, &page, &error));
        assert_code(SES_CORRUPT, ses_fork_by_key(fixture->store, &key, NULL, NULL, NULL, NULL, &error));
        raw_exec(fixture->path, "DELETE FROM session_labels; UPDATE session_details SET title = NULL");
        must_delete(fixture->store, &key);
    }
}
