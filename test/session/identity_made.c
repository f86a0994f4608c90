/* Ids that the library makes: UUIDs of version 7 in creation order, or the caller's own. */
#include "support.h"

#include <ctype.h>
#include <stdbool.h>

/* Creates a session without an id; its id is copied to `id`. */
static void create_without_id(ses_store *store, char id[SES_ID_MAX + 1])
{
    const ses_key key = {"app", "user", NULL};
    ses_session *session = must_open_new(store, &key, NULL);

    assert_true(strlen(ses_session_id(session)) <= SES_ID_MAX);
    strcpy(id, ses_session_id(session));
    ses_session_close(session);
}

/* xxxxxxxx-xxxx-7xxx-[89ab]xxx-xxxxxxxxxxxx, in lower case (RFC 9562). */
static void check_uuid_version_7(const char *id)
{
    assert_int_equal(strlen(id), 36);
    for (size_t i = 0; i < 36; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23)
            assert_int_equal(id[i], '-');
        else
            assert_true(isdigit((unsigned char)id[i]) || (id[i] >= 'a' && id[i] <= 'f'));
    }
    assert_int_equal(id[14], '7');
    assert_non_null(strchr("89ab", id[19]));
}

/* The milliseconds that the UUID's first 48 bits count. */
static int64_t uuid_milliseconds(const char *id)
{
    char hex[13];
    memcpy(hex, id, 8);
    memcpy(hex + 8, id + 9, 4);
    hex[12] = '\0';
    return (int64_t)strtoull(hex, NULL, 16);
}

TEST(null_session_id_makes_a_uuid_of_the_stores_time)
{
    const int64_t times[] = {INT64_C(1700000000000000), INT64_C(1700000000001000), INT64_C(1893456000000999)};
    char id[SES_ID_MAX + 1];
    ses_session *session = NULL;

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        fixture->now = times[i];
        create_without_id(fixture->store, id);
        check_uuid_version_7(id);
        assert_int_equal(uuid_milliseconds(id), times[i] / 1000);
        session = must_get(fixture->store, &(ses_key){"app", "user", id});
        assert_string_equal(ses_session_id(session), id);
        ses_session_close(session);
    }
}

/* The twelve bits after the version count; from where on, is different in each millisecond. The end is by
 * chance. */
MEMORY_TEST(made_ids_begin_to_count_anywhere_in_the_lower_half)
{
    unsigned long any = 0;
    unsigned long long set = 0;
    unsigned long long all = 0xFFFFFFFFFFFF;
    char id[SES_ID_MAX + 1];

    fixture->now = INT64_C(1700000000000000);
    for (int i = 0; i < 64; i++, fixture->now += 1000) {
        create_without_id(fixture->store, id);
        any |= strtoul(id + 15, NULL, 16); /* ends at the next hyphen */
        set |= strtoull(id + 24, NULL, 16);
        all &= strtoull(id + 24, NULL, 16);
    }
    assert_int_equal(any, 0x7FF);
    assert_true(set == 0xFFFFFFFFFFFF);
    assert_true(all == 0);
}

static void check_ascending(struct fixture *fixture, int count, int64_t step)
{
    char before[SES_ID_MAX + 1] = "";
    char id[SES_ID_MAX + 1];

    for (int i = 0; i < support_steps(count); i++) {
        create_without_id(fixture->store, id);
        check_uuid_version_7(id);
        if (strcmp(before, id) >= 0)
            fail_msg("%s was made before %s", before, id);
        strcpy(before, id);
        fixture->now += step;
    }
}

MEMORY_TEST(thousands_of_made_ids_ascend_while_the_clock_stands)
{
    check_ascending(fixture, 10000, 0);
}

MEMORY_TEST(made_ids_ascend_while_the_clock_goes_on)
{
    check_ascending(fixture, 3000, 333);
}

MEMORY_TEST(made_ids_ascend_while_the_clock_goes_back)
{
    check_ascending(fixture, 3000, -1000000);
}

MEMORY_TEST(made_ids_ascend_with_the_systems_clock)
{
    fixture->options.clock = NULL;
    fixture_reopen(fixture);
    check_ascending(fixture, 3000, 0);
}

TEST(made_ids_stand_in_creation_order_in_a_list)
{
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED, .limit = 500};
    char ids[200][SES_ID_MAX + 1];
    ses_page *page = NULL;

    for (size_t i = 0; i < 200; i++) {
        fixture->now += i % 3 == 0 ? -700 : 500;
        create_without_id(fixture->store, ids[i]);
    }
    assert_ok(ses_list(fixture->store, "app", "user", &options, &page, &error));
    assert_int_equal(ses_page_count(page), 200);
    for (size_t i = 0; i < 200; i++)
        assert_string_equal(ses_session_id(ses_page_session(page, i)), ids[i]);
    ses_page_close(page);
}

TEST(events_without_id_get_a_uuid)
{
    const ses_key key = {"app", "user", "session"};
    ses_appended first, second;

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, &first, &error));
    assert_ok(ses_append_by_key(fixture->store, &key, Q("{'id':null}"), SES_NUL, NULL, &second, &error));
    check_uuid_version_7(first.made_id);
    check_uuid_version_7(second.made_id);
    assert_true(strcmp(first.made_id, second.made_id) < 0);
}

TEST(event_ids_obey_the_rules_of_ids)
{
    const ses_key key = {"app", "user", "session"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char event[600];

    for (int len = SES_ID_MAX; len <= SES_ID_MAX + 1; len++) {
        snprintf(event, sizeof event, "{\"id\":\"%0*d\"}", len, 0);
        assert_code(len == SES_ID_MAX ? SES_OK : SES_INVALID,
                    ses_append(session, event, SES_NUL, NULL, NULL, &error));
    }
    assert_code(SES_INVALID, ses_append(session, Q("{'id':''}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_append(session, Q("{'id':'a\\u0000b'}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_append(session, Q("{'id':'\\ud800'}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_JSON, ses_append(session, Q("{'id':'\xFF'}"), SES_NUL, NULL, NULL, &error));
    must_append(session, Q("{'id':'e'}"));
    must_append(session, Q("{'id':'E'}"));
    must_append(session, Q("{'id':'e '}"));
    assert_int_equal(ses_session_stored(session), 4);
    assert_string_equal(ses_session_event(session, 3)->id, "e ");
}

/* ------------------------------------------------------------------------------------ the caller's ids */

/* The next result of make_id. */
struct maker {
    const char *text; /* NULL: fails */
    bool fills;       /* fills all of the memory, without a NUL */
    int calls;
    size_t capacity;
};

static int make_id(void *context, char *id, size_t capacity)
{
    struct maker *maker = context;
    maker->calls++;
    maker->capacity = capacity;
    if (maker->fills)
        memset(id, 'x', capacity);
    else if (maker->text)
        strcpy(id, maker->text);
    return maker->text || maker->fills ? 0 : 1;
}

static void use_maker(struct fixture *fixture, struct maker *maker)
{
    fixture->options.make_id = make_id;
    fixture->options.make_id_context = maker;
    fixture_reopen(fixture);
}

TEST(own_ids_are_used)
{
    struct maker maker = {.text = "my-1"};
    char longest[SES_ID_MAX + 1];
    char id[SES_ID_MAX + 1];
    ses_appended appended;

    use_maker(fixture, &maker);
    create_without_id(fixture->store, id);
    assert_string_equal(id, "my-1");
    assert_int_equal(maker.calls, 1);
    assert_int_equal(maker.capacity, SES_ID_MAX + 1);

    memset(longest, 'y', SES_ID_MAX);
    longest[SES_ID_MAX] = '\0';
    maker.text = longest;
    create_without_id(fixture->store, id);
    assert_string_equal(id, longest);

    const ses_key key = {"app", "user", longest};
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, &appended, &error));
    assert_string_equal(appended.made_id, ""); /* it does not fit */
    maker.text = "event-1";
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, &appended, &error));
    assert_string_equal(appended.made_id, "event-1");
    assert_int_equal(maker.calls, 4);

    ses_session *session = must_get(fixture->store, &key);

    assert_string_equal(ses_session_event(session, 0)->id, longest);
    assert_string_equal(ses_session_event(session, 1)->id, "event-1");
}

TEST(own_ids_are_not_asked_for_where_one_is_given)
{
    struct maker maker = {.text = NULL};
    const ses_key key = {"app", "user", "session"};

    use_maker(fixture, &maker);
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'id':'e'}"));
    assert_int_equal(maker.calls, 0);
}

TEST(own_id_that_exists_is_exists)
{
    struct maker maker = {.text = "same"};
    const ses_key key = {"app", "user", NULL};
    char id[SES_ID_MAX + 1];
    ses_session *session = NULL;

    use_maker(fixture, &maker);
    create_without_id(fixture->store, id);
    assert_code(SES_EXISTS,
                ses_create(fixture->store, &key, Q("{'app:x':1}"), SES_NUL, NULL, &session, &error));
    assert_null(session);
}

TEST(own_ids_that_fail_or_break_the_rules_are_invalid)
{
    const struct maker bad[] = {
        {.text = NULL}, {.fills = true}, {.text = ""}, {.text = "\xFF"}, {.text = "\xED\xA0\x80"}};
    const ses_key key = {"app", "user", NULL};
    const ses_key there = {"app", "user", "there"};
    ses_page *page = NULL;

    must_create(fixture->store, &there, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct maker maker = bad[i];
        ses_session *session = NULL;
        use_maker(fixture, &maker);
        assert_code(SES_INVALID,
                    ses_create(fixture->store, &key, Q("{'app:x':1}"), SES_NUL, NULL, &session, &error));
        assert_null(session);
        assert_int_equal(maker.calls, 1);
        assert_code(SES_INVALID,
                    ses_append_by_key(fixture->store, &there, "{}", SES_NUL, NULL, NULL, &error));
    }
    assert_ok(ses_list(fixture->store, "app", NULL, NULL, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    assert_int_equal(ses_session_stored(ses_page_session(page, 0)), 0);
    assert_string_equal(support_state(ses_page_session(page, 0), NULL), "{}");
    ses_page_close(page);
}
