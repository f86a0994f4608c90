/* Kinds of sessions: children of others, and memory, and what the operations make of them. */
#include "lines_text.h"
#include "seslite_erase.h"

static const int64_t DAY = INT64_C(86400000000);
static const ses_key talk = {"app", "user", "talk"};
static const ses_key child = {"app", "user", "child"};
static const ses_key memory = {"app", "user", "memory"};

static const struct kind_case {
    const ses_key *key;
    int kind;
} each[] = {{&talk, SES_KIND_CONVERSATION}, {&child, SES_KIND_CHILD}, {&memory, SES_KIND_MEMORY}};
enum { KINDS = sizeof each / sizeof each[0] };

static void must_load(ses_store *store, const ses_key *key, int kind, int64_t created_us)
{
    const ses_loaded loaded = {.size = sizeof loaded,
                               .created_us = &created_us,
                               .child_of = kind == SES_KIND_CHILD ? &talk : NULL,
                               .kind = kind == SES_KIND_MEMORY ? kind : 0};
    ses_error error;

    assert_ok(ses_load(store, key, &loaded, NULL, NULL, &error));
}

static void must_load_each(const struct fixture *fixture)
{
    for (int i = 0; i < KINDS; i++)
        must_load(fixture->store, each[i].key, each[i].kind, fixture->now);
}

/* A handle, a session that was read again, and a check agree about the kind. */
static void assert_kind(ses_store *store, const ses_key *key, int kind)
{
    ses_session *session = must_get(store, key);
    const ses_key *of = ses_session_child_of(session);

    assert_int_equal(ses_session_kind(session), kind);
    assert_int_equal(of != NULL, kind == SES_KIND_CHILD);
    if (of) {
        assert_string_equal(of->app, talk.app);
        assert_string_equal(of->user, talk.user);
        assert_string_equal(of->session, talk.session);
    }
    ses_session_close(session);
}

static void assert_store_sound(ses_store *store)
{
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &whole, &problems, &error));
    assert_int_equal(problems, 0);
}

/* The sessions of the user that a filter leaves, in the order of creation. */
static void assert_listed(ses_store *store, int order, unsigned kinds, int archived, const char *expected)
{
    const ses_filter filter = {.size = sizeof filter, .kinds = kinds, .archived = archived};
    const ses_list_options options = {.size = sizeof options, .order = order, .filter = &filter};
    char names[200] = "";
    ses_page *page = NULL;
    int64_t count = -1;
    ses_error error;

    assert_ok(ses_list(store, "app", "user", &options, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? " " : "",
                 ses_session_id(ses_page_session(page, i)));
    assert_string_equal(names, expected);
    assert_ok(ses_list_count(store, "app", "user", &filter, NULL, &count, &error));
    assert_int_equal(count, ses_page_count(page));
    assert_ok(ses_list_count(store, "app", NULL, &filter, NULL, &count, &error));
    assert_int_equal(count, ses_page_count(page));
    ses_page_close(page);
}

TEST(a_kind_stays)
{
    static const char *const event =
        "{\"id\":\"e1\",\"invocationId\":\"i1\",\"author\":\"a\",\"timestamp\":1}";
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_prune_options oldest = {.size = sizeof oldest, .which = SES_PRUNE_KEEP};

    must_load_each(fixture);
    for (int i = 0; i < KINDS; i++) {
        const ses_key *key = each[i].key;
        assert_kind(fixture->store, key, each[i].kind);
        ses_session *session = must_get(fixture->store, key);
        must_append(session, event);
        must_append(session, "{\"invocationId\":\"i2\",\"author\":\"a\"}");
        assert_int_equal(ses_append(session, event, SES_NUL, NULL, NULL, &error), SES_DUPLICATE);
        assert_ok(ses_title_set(session, "t", NULL, &error));
        assert_ok(ses_archive_set(session, 1, NULL, &error));
        assert_int_equal(ses_session_kind(session), each[i].kind);
        assert_ok(ses_archive_set(session, 0, NULL, &error));
        assert_ok(ses_cut_by_key(fixture->store, key, &start, NULL, NULL, &error));
        assert_ok(ses_prune_by_key(fixture->store, key, &oldest, NULL, &error));
        must_refresh(session);
        assert_int_equal(ses_session_kind(session), each[i].kind);
        assert_int_equal(ses_session_child_of(session) != NULL, each[i].kind == SES_KIND_CHILD);
        ses_session_close(session);
        assert_kind(fixture->store, key, each[i].kind);
    }
    assert_store_sound(fixture->store);
}

TEST(a_child_is_created)
{
    static const ses_key short_key = {NULL, "user", "talk"};
    static const ses_key grandchild = {"app", "user", "grandchild"};
    static const ses_key others = {"others", "user", "talk"};
    static const ses_key nameless = {"app", "user", ""};
    ses_create_options options = {.size = sizeof options, .child_of = &short_key, .title = "a title"};
    ses_session *session = NULL;

    assert_code(SES_NOTFOUND,
                ses_create(fixture->store, &child, "{\"user:k\":1}", SES_NUL, &options, NULL, &error));
    assert_non_null(strstr(error.message, "create options: child_of: "));
    assert_code(SES_NOTFOUND, ses_get_or_create(fixture->store, &child, NULL, 0, &options, &session, &error));
    must_create(fixture->store, &talk, NULL);
    assert_ok(ses_create(fixture->store, &child, "{\"k\":1}", SES_NUL, &options, &session, &error));
    assert_int_equal(ses_session_kind(session), SES_KIND_CHILD);
    assert_string_equal(ses_session_child_of(session)->session, "talk");
    assert_string_equal(ses_session_title(session), "a title");
    assert_string_equal(support_state(session, NULL), "{\"k\":1}");
    ses_session_close(session);
    assert_kind(fixture->store, &child, SES_KIND_CHILD);
    assert_code(SES_EXISTS, ses_create(fixture->store, &child, NULL, 0, &options, NULL, &error));
    assert_code(SES_EXISTING, ses_get_or_create(fixture->store, &child, NULL, 0, &options, NULL, &error));
    options.child_of = &child;
    assert_ok(ses_get_or_create(fixture->store, &grandchild, NULL, 0, &options, &session, &error));
    assert_string_equal(ses_session_child_of(session)->session, "child");
    ses_session_close(session);
    assert_listed(fixture->store, SES_ORDER_CREATED, SES_KIND_CHILD, 0, "child grandchild");
    options.child_of = &others;
    assert_code(SES_INVALID, ses_create(fixture->store, &memory, NULL, 0, &options, NULL, &error));
    options.child_of = &nameless;
    assert_code(SES_INVALID, ses_create(fixture->store, &memory, NULL, 0, &options, NULL, &error));
    assert_store_sound(fixture->store);
}

TEST(filters_select_kinds)
{
    must_load_each(fixture);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        const bool by_name = order != SES_ORDER_CREATED;
        assert_listed(fixture->store, order, 0, 0, by_name ? "child memory talk" : "talk child memory");
        assert_listed(fixture->store, order, SES_KIND_CONVERSATION, 0, "talk");
        assert_listed(fixture->store, order, SES_KIND_CHILD, SES_ARCHIVED_NO, "child");
        assert_listed(fixture->store, order, SES_KIND_CHILD, SES_ARCHIVED_ONLY, "");
        assert_listed(fixture->store, order, SES_KIND_MEMORY | SES_KIND_CONVERSATION, SES_ARCHIVED_NO,
                      by_name ? "memory talk" : "talk memory");
    }
    assert_ok(ses_archive_set_by_key(fixture->store, &child, 1, NULL, &error));
    assert_listed(fixture->store, SES_ORDER_NEWEST, SES_KIND_CHILD, SES_ARCHIVED_ONLY, "child");
    assert_listed(fixture->store, SES_ORDER_NEWEST, SES_KIND_CHILD, SES_ARCHIVED_NO, "");
    assert_listed(fixture->store, SES_ORDER_NEWEST, 0, SES_ARCHIVED_NO, "memory talk");
    const ses_filter wrong = {.size = sizeof wrong, .kinds = 0x8};
    assert_code(SES_MISUSE, ses_list_count(fixture->store, "app", NULL, &wrong, NULL, NULL, &error));
}

static int64_t expire(ses_store *store, ses_expire_options options, unsigned flags)
{
    int64_t deleted = -1;
    ses_error error;

    options.size = sizeof options;
    options.flags = flags;
    assert_ok(ses_store_expire(store, "app", &options, &deleted, &error));
    return deleted;
}

TEST(memory_expires_by_its_own_rule)
{
    const ses_expire_options idle = {.idle_us = DAY};
    const ses_expire_options one = {.sessions_per_user = 1};
    const ses_expire_options forgets = {.memory_us = 3 * DAY};
    const int64_t then_us = fixture->now - 2 * DAY;

    for (int i = 0; i < KINDS; i++)
        must_load(fixture->store, each[i].key, each[i].kind, then_us);
    must_load(fixture->store, &(ses_key){"app", "user", "ahead"}, SES_KIND_MEMORY, fixture->now + DAY);
    assert_int_equal(expire(fixture->store, one, SES_EXPIRE_DRY_RUN), 1);
    assert_int_equal(expire(fixture->store, one, 0), 1); /* a child goes first */
    assert_listed(fixture->store, SES_ORDER_CREATED, 0, 0, "talk memory ahead");
    must_load(fixture->store, &child, SES_KIND_CHILD, then_us);
    assert_int_equal(expire(fixture->store, one, SES_EXPIRE_CHANGED), 1);
    assert_int_equal(expire(fixture->store, one, SES_EXPIRE_CHANGED), 0);
    assert_int_equal(expire(fixture->store, idle, SES_EXPIRE_DRY_RUN), 1);
    assert_int_equal(expire(fixture->store, idle, 0), 1);
    assert_listed(fixture->store, SES_ORDER_CREATED, 0, 0, "memory ahead");
    assert_int_equal(expire(fixture->store, forgets, SES_EXPIRE_DRY_RUN), 0);
    assert_int_equal(expire(fixture->store, forgets, 0), 0);
    fixture->now += 2 * DAY;
    assert_int_equal(expire(fixture->store, idle, 0), 0);
    assert_int_equal(expire(fixture->store, forgets, SES_EXPIRE_DRY_RUN), 1);
    assert_int_equal(expire(fixture->store, forgets, 0), 1);
    assert_listed(fixture->store, SES_ORDER_CREATED, 0, 0, "ahead");
    fixture->now += 2 * DAY;
    assert_int_equal(expire(fixture->store, forgets, 0),
                     1); /* it was written to in the past, by the store's clock */
    const ses_expire_options wrong = {.size = sizeof wrong, .memory_us = -1};
    assert_code(SES_INVALID, ses_store_expire(fixture->store, NULL, &wrong, NULL, &error));
}

TEST(a_fork_has_the_kind_of_its_parent)
{
    static const ses_key fork = {"app", "user", "fork"};

    must_load_each(fixture);
    assert_code(SES_INVALID, ses_fork_by_key(fixture->store, &memory, NULL, &fork, NULL, NULL, &error));
    assert_ok(ses_fork_by_key(fixture->store, &child, NULL, &fork, NULL, NULL, &error));
    assert_kind(fixture->store, &fork, SES_KIND_CHILD);
    assert_listed(fixture->store, SES_ORDER_CREATED, SES_KIND_CHILD, 0, "child fork");
    assert_store_sound(fixture->store);
}

TEST(lines_keep_kinds)
{
    ses_store *copy = must_open(":memory:", NULL);
    ses_import_report report = {.size = sizeof report};

    must_load_each(fixture);
    struct text lines = exported(fixture->store, NULL);
    assert_non_null(strstr(lines.data, "\"format\":2"));
    assert_ok(import_text(copy, lines.data, lines.len, 0, &report, &error));
    for (int i = 0; i < KINDS; i++)
        assert_kind(copy, each[i].key, each[i].kind);
    assert_store_sound(copy);
    struct text again = exported(copy, NULL);
    assert_string_equal(lines.data, again.data);
    assert_ok(import_text(copy, lines.data, lines.len, SES_IMPORT_UPDATE, &report, &error));
    assert_int_equal(report.equal, KINDS);
    char *unknown = strstr(lines.data, "\"session_kind\":\"memory\"");
    unknown[strlen("\"session_kind\":\"m")] = 'E';
    assert_code(SES_INVALID, import_text(copy, lines.data, lines.len, 0, &report, &error));
    assert_non_null(strstr(error.message, "the session_kind is none that this version knows"));
    ses_close(copy);
    free(lines.data);
    free(again.data);
}

/* A session of another kind is a different one. */
TEST(a_load_compares_kinds)
{
    const ses_loaded plain = {.size = sizeof plain};
    const ses_loaded other = {.size = sizeof other, .child_of = &(ses_key){"app", "user", "another"}};
    const ses_loaded both = {.size = sizeof both, .child_of = &talk, .kind = SES_KIND_MEMORY};
    const ses_loaded wrong = {.size = sizeof wrong, .kind = SES_KIND_CHILD};
    const ses_loaded far = {.size = sizeof far, .child_of = &(ses_key){"others", "user", "another"}};
    const ses_loaded nameless = {.size = sizeof nameless, .child_of = &(ses_key){"app", "user", ""}};

    must_load_each(fixture);
    assert_code(SES_EXISTS, ses_load(fixture->store, &child, &plain, NULL, NULL, &error));
    assert_non_null(strstr(error.message, "the kind"));
    assert_code(SES_EXISTS, ses_load(fixture->store, &child, &other, NULL, NULL, &error));
    assert_code(SES_EXISTS, ses_load(fixture->store, &memory, &plain, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_load(fixture->store, &child, &both, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_load(fixture->store, &child, &wrong, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_load(fixture->store, &child, &far, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_load(fixture->store, &child, &nameless, NULL, NULL, &error));
}

TEST(the_names_of_a_child_are_found)
{
    ses_findings *found = NULL;

    must_load(fixture->store, &(ses_key){"app", "other", "x"}, SES_KIND_CHILD, fixture->now);
    const ses_key app = {"app", NULL, NULL};
    assert_ok(ses_store_find(fixture->store, &app, "talk", SES_NUL, NULL, &found, &error));
    assert_int_equal(ses_findings_count(found), 1);
    assert_int_equal(ses_findings_at(found, 0)->kind, SES_FOUND_PARENT);
    ses_findings_close(found);
}
