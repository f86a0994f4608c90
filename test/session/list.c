/* Lists: three orders, for one user and for all, by pages of any size; the state that they show. */
#include "support.h"

#include <stdbool.h>

static const int64_t HOUR = INT64_C(3600000000);

/* The lists are compared with this. */
struct entry {
    const char *user;
    char name[16];
    int64_t updated_us;
    int rank; /* in order of creation */
};

static ses_page *list(ses_store *store, const char *app, const char *user, const ses_list_options *options)
{
    ses_page *page = NULL;
    ses_error error;
    assert_ok(ses_list(store, app, user, options, &page, &error));
    return page;
}

static void create_at(ses_store *store, const struct entry *entry)
{
    const ses_create_options options = {.size = sizeof options, .created_us = &entry->updated_us};
    char json[32];
    ses_error error;

    snprintf(json, sizeof json, "{\"rank\":%d}", entry->rank);
    assert_ok(ses_create(store, &(ses_key){"app", entry->user, entry->name}, json, SES_NUL, &options, NULL,
                         &error));
}

static int compare_newest(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    return a->updated_us != b->updated_us ? (a->updated_us > b->updated_us ? -1 : 1)
                                          : strcmp(a->name, b->name);
}

static int compare_oldest(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    return a->updated_us != b->updated_us ? (a->updated_us < b->updated_us ? -1 : 1)
                                          : strcmp(a->name, b->name);
}

static int compare_created(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    return a->rank - b->rank;
}

/* Walks a list in pages of `limit` and finds exactly `expected`, in that order. */
static void check_walk(ses_store *store, const char *user, int order, size_t limit,
                       const struct entry *expected, size_t count)
{
    ses_list_options options = {.size = sizeof options, .order = order, .limit = limit};
    ses_page *page = list(store, "app", user, &options);
    size_t at = 0;
    bool more = true;

    while (more) {
        size_t on_page = ses_page_count(page);
        assert_true(on_page <= limit);
        for (size_t i = 0; i < on_page; i++, at++) {
            const ses_session *session = ses_page_session(page, i);
            int64_t rank = -1;
            ses_error error;
            assert_true(at < count);
            if (strcmp(ses_session_id(session), expected[at].name) != 0)
                fail_msg("order %d, %zu a page: number %zu is %s, not %s", order, limit, at,
                         ses_session_id(session), expected[at].name);
            assert_string_equal(ses_session_user(session), expected[at].user);
            assert_string_equal(ses_session_app(session), "app");
            assert_int_equal(ses_session_updated_us(session), expected[at].updated_us);
            assert_ok(ses_state_get_int64(session, "rank", &rank, &error));
            assert_int_equal(rank, expected[at].rank);
        }
        assert_null(ses_page_session(page, on_page));
        more = ses_page_token(page) != NULL;
        if (more) {
            assert_int_equal(on_page, limit);
            options.token = ses_page_token(page);
            ses_page *next = list(store, "app", user, &options);
            ses_page_close(page);
            page = next;
            assert_true(ses_page_count(page) > 0); /* the page before knew that more follows */
        }
    }
    ses_page_close(page);
    assert_int_equal(at, count);
}

/* All orders and sizes of page, for each user and for all of them. */
static void check_lists(ses_store *store, const struct entry *entries, size_t count)
{
    static int (*const compare[])(const void *, const void *) = {compare_newest, compare_oldest,
                                                                 compare_created};
    static const size_t limits[] = {1, 2, 3, 7, 50, 10000};
    const char *const users[] = {NULL, "alice", "bob", "carol"};
    struct entry *sorted = malloc(count * sizeof *sorted);

    assert_non_null(sorted);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
        for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
            size_t some = 0;
            for (size_t j = 0; j < count; j++) {
                if (!users[i] || strcmp(users[i], entries[j].user) == 0)
                    sorted[some++] = entries[j];
            }
            qsort(sorted, some, sizeof *sorted, compare[order]);
            for (size_t j = 0; j < sizeof limits / sizeof limits[0]; j++)
                check_walk(store, users[i], order, limits[j], sorted, some);
        }
    }
    free(sorted);
}

/* Names that do not sort like the times, and times that are equal, one apart, or on either side of a whole
 * hour or day, before and after 1970. */
static size_t make_entries(ses_store *store, struct entry *entries)
{
    static const int64_t hours[] = {0, 1, -1, 24, -24, 23, 472222, 472223, -400000, -17000000, 27000000};
    static const int64_t micros[] = {0, -1, 1, 0, 1800000000};
    static const char *const users[] = {"alice", "bob", "carol"};
    size_t count = 0;

    for (size_t i = 0; i < sizeof hours / sizeof hours[0]; i++) {
        for (size_t j = 0; j < sizeof micros / sizeof micros[0]; j++) {
            struct entry *entry = &entries[count];
            entry->user = users[(i * 7 + j) % 3];
            entry->updated_us = hours[i] * HOUR + micros[j];
            entry->rank = (int)count;
            snprintf(entry->name, sizeof entry->name, "%c%zu", (char)('a' + (count * 11) % 26), count);
            create_at(store, entry);
            count++;
        }
    }
    return count;
}

TEST(all_orders_over_hours_days_and_before_1970)
{
    struct entry entries[100];

    size_t count = make_entries(fixture->store, entries);
    check_lists(fixture->store, entries, count);
}

TEST(appended_events_move_sessions)
{
    static const int64_t moves[] = {1, 1800, 3599, 3600, 3601, 86400, 900000};
    struct entry entries[100];

    size_t count = make_entries(fixture->store, entries);
    for (size_t i = 0; i < count; i += 2) {
        const ses_key key = {"app", entries[i].user, entries[i].name};
        int64_t time_us = entries[i].updated_us + moves[i / 2 % 7] * 1000000;
        char json[100];
        snprintf(json, sizeof json, "{\"timestamp\":%s%lld.%06lld}", time_us < 0 ? "-" : "",
                 llabs(time_us) / 1000000, llabs(time_us) % 1000000);
        must_append_by_key(fixture->store, &key, json);
        entries[i].updated_us = time_us;
    }
    for (size_t i = 1; i < count; i += 4) { /* an earlier event moves nothing */
        const ses_key key = {"app", entries[i].user, entries[i].name};
        must_append_by_key(fixture->store, &key, Q("{'timestamp':-62000000000}"));
    }
    check_lists(fixture->store, entries, count);
    fixture_reopen(fixture);
    check_lists(fixture->store, entries, count);
}

TEST(ties_are_ordered_by_session_id)
{
    static const char *const names[] = {"b", "a",  "B", "aa",  "\xC3\xA9", "z",
                                        "1", "10", "2", "a b", "a-b",      "~"};
    enum { NAMES = sizeof names / sizeof names[0] };
    struct entry entries[NAMES];

    for (int i = 0; i < NAMES; i++) {
        entries[i] = (struct entry){.user = i % 2 ? "alice" : "bob", .updated_us = 12 * HOUR, .rank = i};
        snprintf(entries[i].name, sizeof entries[i].name, "%s", names[i]);
        create_at(fixture->store, &entries[i]);
    }
    check_lists(fixture->store, entries, NAMES);
}

/* Several users' sessions of the same id and time: their order is open, but each comes once. */
TEST(same_id_and_time_of_several_users)
{
    enum { USERS = 9 };

    for (int i = 0; i < USERS; i++) {
        char user[8];
        struct entry entry = {.user = user, .name = "same", .rank = i};
        snprintf(user, sizeof user, "u%d", (i * 5) % USERS);
        create_at(fixture->store, &entry);
    }
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
        for (size_t limit = 1; limit <= 4; limit++) {
            ses_list_options options = {.size = sizeof options, .order = order, .limit = limit};
            bool seen[USERS] = {false};
            size_t count = 0;
            ses_page *page = list(fixture->store, "app", NULL, &options);
            while (page) {
                for (size_t i = 0; i < ses_page_count(page); i++, count++) {
                    int user = ses_session_user(ses_page_session(page, i))[1] - '0';
                    assert_false(seen[user]);
                    seen[user] = true;
                }
                options.token = ses_page_token(page);
                ses_page *next = options.token ? list(fixture->store, "app", NULL, &options) : NULL;
                ses_page_close(page);
                page = next;
            }
            assert_int_equal(count, USERS);
        }
    }
}

/* ---------------------------------------------------------------------------------------- arguments */

TEST(list_of_what_is_not_there_is_empty)
{
    const struct entry entry = {.user = "alice", .name = "s"};

    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
        const ses_list_options options = {.size = sizeof options, .order = order};
        const char *const where[][2] = {{"none", "alice"}, {"none", NULL}, {"app", "nobody"}, {"app", "bob"}};
        if (order == SES_ORDER_NEWEST) {
            create_at(fixture->store, &entry);
            must_create(fixture->store, &(ses_key){"app", "bob", "s"}, Q("{'user:u':1}"));
            must_delete(fixture->store, &(ses_key){"app", "bob", "s"});
        }
        for (size_t i = 0; i < 4; i++) {
            ses_page *page = list(fixture->store, where[i][0], where[i][1], &options);
            assert_int_equal(ses_page_count(page), 0);
            assert_null(ses_page_session(page, 0));
            assert_null(ses_page_token(page));
            ses_page_close(page);
        }
    }
    ses_page_close(NULL);
}

MEMORY_TEST(a_page_has_100_sessions_by_default)
{
    for (int i = 0; i < 101; i++) {
        struct entry entry = {.user = "alice", .updated_us = i, .rank = i};
        snprintf(entry.name, sizeof entry.name, "%d", i);
        if (i == 100) {
            ses_page *full = list(fixture->store, "app", "alice", NULL);
            assert_int_equal(ses_page_count(full), 100);
            assert_null(ses_page_token(full));
            ses_page_close(full);
        }
        create_at(fixture->store, &entry);
    }
    ses_page *page = list(fixture->store, "app", "alice", NULL);
    assert_int_equal(ses_page_count(page), 100);
    assert_string_equal(ses_session_id(ses_page_session(page, 0)), "100"); /* the newest first */
    const ses_list_options next = {.size = sizeof next, .token = ses_page_token(page)};
    assert_non_null(next.token);
    ses_page *last = list(fixture->store, "app", "alice", &next);
    assert_int_equal(ses_page_count(last), 1);
    assert_string_equal(ses_session_id(ses_page_session(last, 0)), "0");
    assert_null(ses_page_token(last));
    ses_page_close(last);
    ses_page_close(page);
}

TEST(wrong_arguments_are_refused)
{
    ses_list_options options = {.size = sizeof options, .limit = 10000};
    ses_page *page = list(fixture->store, "app", NULL, &options);

    ses_page_close(page);
    page = (ses_page *)(void *)&error;
    options.limit = 10001;
    assert_code(SES_INVALID, ses_list(fixture->store, "app", NULL, &options, &page, &error));
    assert_null(page);
    options.limit = SIZE_MAX;
    assert_code(SES_INVALID, ses_list(fixture->store, "app", NULL, &options, &page, &error));
    options.limit = 1;
    for (int order = -1; order <= SES_ORDER_CHANGED + 1; order += SES_ORDER_CHANGED + 2) {
        options.order = order;
        assert_code(SES_MISUSE, ses_list(fixture->store, "app", NULL, &options, &page, &error));
    }
    assert_code(SES_MISUSE, ses_list(fixture->store, "app", NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_list(fixture->store, NULL, NULL, NULL, &page, &error));
    assert_code(SES_MISUSE, ses_list(NULL, "app", NULL, NULL, &page, &error));
    assert_null(page);
}

/* ------------------------------------------------------------------------------------------- state */

static void check_listed_state(ses_store *store, const char *user, size_t limit, const char *const expected[],
                               size_t count)
{
    ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED, .limit = limit};
    size_t at = 0;

    do {
        ses_page *page = list(store, "app", user, &options);
        char *token = ses_page_token(page) ? strdup(ses_page_token(page)) : NULL;
        for (size_t i = 0; i < ses_page_count(page); i++, at++) {
            assert_true(at < count);
            assert_string_equal(support_state(ses_page_session(page, i), NULL), expected[at]);
        }
        ses_page_close(page);
        free((char *)(uintptr_t)options.token);
        options.token = token;
    } while (options.token);
    assert_int_equal(at, count);
}

TEST(listed_sessions_show_all_scopes_merged)
{
    const ses_key keys[] = {
        {"app", "alice", "1"}, {"app", "bob", "2"}, {"app", "alice", "3"}, {"app", "carol", "4"}};
    const char *const before[] = {Q("{'app:a':1,'user:u':2,'own':3}"), Q("{'app:a':1,'user:u':4,'user:v':5}"),
                                  Q("{'app:a':1,'user:u':2,'own':6}"), Q("{'app:a':1}")};
    const char *const after[] = {Q("{'app:a':7,'app:b':8,'user:u':9,'own':3}"),
                                 Q("{'app:a':7,'app:b':8,'user:u':4}"), Q("{'app:a':7,'app:b':8,'user:u':9}"),
                                 Q("{'app:a':7,'app:b':8}")};
    const char *const of_alice[] = {after[0], after[2]};

    must_create(fixture->store, &keys[0], Q("{'app:a':1,'user:u':2,'own':3}"));
    must_create(fixture->store, &keys[1], Q("{'user:u':4,'user:v':5}"));
    must_create(fixture->store, &keys[2], Q("{'own':6,'temp:t':1}"));
    must_create(fixture->store, &keys[3], NULL);
    must_create(fixture->store, &(ses_key){"other", "alice", "1"}, Q("{'app:a':99,'user:u':99}"));
    for (size_t limit = 1; limit <= 5; limit++)
        check_listed_state(fixture->store, NULL, limit, before, 4);

    must_append_by_key(fixture->store, &keys[1],
                       Q("{'actions':{'stateDelta':{'app:a':7,'app:b':8,"
                         "'user:v':'__ADK_SENTINEL_REMOVED__','temp:t':1}}}"));
    must_append_by_key(fixture->store, &keys[2],
                       Q("{'actions':{'stateDelta':{'user:u':9,'own':'__ADK_SENTINEL_REMOVED__'}}}"));
    for (size_t limit = 1; limit <= 5; limit++) {
        check_listed_state(fixture->store, NULL, limit, after, 4);
        check_listed_state(fixture->store, "alice", limit, of_alice, 2);
    }
}

TEST(page_is_a_snapshot_without_events)
{
    const ses_key key = {"app", "alice", "s"};

    must_create(fixture->store, &key, Q("{'app:a':'A','user:u':2,'own':3}"));
    must_append_by_key(fixture->store, &key, Q("{'timestamp':1800000000}"));
    ses_page *page = list(fixture->store, "app", NULL, NULL);
    const ses_session *session = ses_page_session(page, 0);
    assert_int_equal(ses_session_event_count(session), 0);
    assert_null(ses_session_event(session, 0));
    assert_int_equal(ses_session_stored(session), 1);
    assert_int_equal(ses_session_version(session), 1);
    assert_int_equal(ses_session_last_seq(session), 1);
    assert_int_equal(ses_session_created_us(session), fixture->now);
    assert_int_equal(ses_session_updated_us(session), INT64_C(1800000000000000));
    assert_int_equal(ses_state_count(session), 3);

    must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'own':4,'app:a':5}}}"));
    assert_ok(ses_delete_user(fixture->store, "app", "alice", NULL, NULL, NULL, &error));
    assert_string_equal(support_state(session, NULL), Q("{'app:a':'A','user:u':2,'own':3}"));
    fixture_reopen(fixture);
    assert_int_equal(ses_page_count(page), 1);
    assert_string_equal(ses_session_id(session), "s");
    ses_page_close(page);
}

static long allocations_left; /* until one fails; below 0: none does */

static void *allocate_some(void *context, size_t bytes)
{
    (void)context;
    return allocations_left-- == 0 ? NULL : malloc(bytes);
}

static void *resize_some(void *context, void *memory, size_t bytes)
{
    (void)context;
    return allocations_left-- == 0 ? NULL : realloc(memory, bytes);
}

static void release_some(void *context, void *memory)
{
    (void)context;
    free(memory);
}

enum { LONGEST = 512 };

/* Ids so long that each takes memory of its own sooner or later. */
TEST(a_page_is_whole_or_not_there)
{
    static const ses_allocator some = {sizeof some, NULL, allocate_some, resize_some, release_some};
    const ses_open_options options = {.size = sizeof options, .allocator = &some};
    char user[LONGEST + 1];
    char id[LONGEST + 1];
    ses_store *store = NULL;
    ses_page *page = NULL;
    int code = SES_NOMEM;

    memset(user, 'u', LONGEST);
    memset(id, 'i', LONGEST);
    user[LONGEST] = id[LONGEST] = '\0';
    for (int i = 0; i < 20; i++) {
        id[0] = (char)('a' + i);
        must_create(fixture->store, &(ses_key){"app", user, id}, NULL);
    }
    allocations_left = -1;
    assert_ok(ses_open(fixture->path, &options, &store, &error));
    for (long fails = 0; code == SES_NOMEM; fails++) {
        allocations_left = fails;
        code = ses_list(store, "app", NULL, NULL, &page, &error);
        allocations_left = -1;
        for (size_t i = 0; page && i < ses_page_count(page); i++)
            assert_string_equal(ses_session_user(ses_page_session(page, i)), user);
        ses_page_close(page);
        page = NULL;
    }
    assert_code(SES_OK, code);
    ses_close(store);
}

/* ------------------------------------------------------------------------------------------ visitors */

struct visits {
    ses_store *store;
    char names[64];
    int end;             /* at the session "c"; 0: goes on */
    const char *message; /* with the end */
    bool deletes;
};

static int visit(void *context, const ses_page *page, size_t index, ses_error *error)
{
    struct visits *visits = context;
    const ses_session *session = ses_page_session(page, index);
    const char *name = ses_session_id(session);
    const ses_key key = {ses_session_app(session), ses_session_user(session), name};

    strcat(visits->names, name);
    if (visits->deletes)
        must_delete(visits->store, &key);
    if (strcmp(name, "c") != 0 || visits->end == 0)
        return 0;
    if (visits->message)
        snprintf(error->message, sizeof error->message, "%s", visits->message);
    return visits->end;
}

static void create_five(ses_store *store)
{
    for (int i = 0; i < 5; i++)
        create_at(store, &(struct entry){i % 2 == 0 ? "eve" : "bob", {(char)('a' + i)}, i * HOUR, i});
}

TEST(a_visitor_sees_every_session_of_all_pages)
{
    for (size_t limit = 0; limit < 7; limit++) {
        const ses_list_options options = {.size = sizeof options, .limit = limit, .order = SES_ORDER_CREATED};
        struct visits all = {.names = ""};
        struct visits bobs = {.names = ""};
        if (limit == 0)
            create_five(fixture->store);
        assert_ok(ses_list_each(fixture->store, "app", NULL, &options, visit, &all, &error));
        assert_string_equal(all.names, "abcde");
        assert_ok(ses_list_each(fixture->store, "app", "bob", &options, visit, &bobs, &error));
        assert_string_equal(bobs.names, "bd");
    }
    struct visits newest = {.names = ""};
    assert_ok(ses_list_each(fixture->store, "app", NULL, NULL, visit, &newest, &error));
    assert_string_equal(newest.names, "edcba");
    ses_page *page =
        list(fixture->store, "app", NULL, &(ses_list_options){.size = sizeof(ses_list_options), .limit = 2});
    const ses_list_options rest = {.size = sizeof rest, .limit = 2, .token = ses_page_token(page)};
    struct visits after = {.names = ""};
    assert_ok(ses_list_each(fixture->store, "app", NULL, &rest, visit, &after, &error));
    assert_string_equal(after.names, "cba");
    ses_page_close(page);
}

TEST(a_visitor_may_write_and_end_the_walk)
{
    const ses_list_options two = {.size = sizeof two, .limit = 2, .order = SES_ORDER_CREATED};
    static const struct {
        int end;
        const char *message;
        int code;
        const char *words;
    } cases[] = {{SES_MORE, NULL, SES_MORE, ""},
                 {SES_LIMIT, "enough", SES_LIMIT, "enough"},
                 {-1000, NULL, SES_IO, "visits sessions"},
                 {SES_ROW, NULL, SES_MISUSE, "visits sessions"}};
    int64_t count = 0;

    create_five(fixture->store);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct visits visits = {.end = cases[i].end, .message = cases[i].message};
        assert_code(cases[i].code, ses_list_each(fixture->store, "app", NULL, &two, visit, &visits, &error));
        assert_string_equal(visits.names, "abc");
        if (cases[i].words[0])
            assert_message(cases[i].words);
    }
    struct visits deleter = {.store = fixture->store, .deletes = true};
    assert_ok(ses_list_each(fixture->store, "app", NULL, &two, visit, &deleter, &error));
    assert_string_equal(deleter.names, "abcde");
    assert_ok(ses_list_count(fixture->store, "app", NULL, NULL, NULL, &count, &error));
    assert_int_equal(count, 0);
}

TEST(a_walk_without_sessions_and_one_that_is_wrong)
{
    const ses_list_options large = {.size = sizeof large, .limit = 10001};
    struct visits none = {.names = ""};

    assert_ok(ses_list_each(fixture->store, "app", NULL, NULL, visit, &none, &error));
    assert_string_equal(none.names, "");
    assert_code(SES_MISUSE, ses_list_each(fixture->store, "app", NULL, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_list_each(NULL, "app", NULL, NULL, visit, &none, &error));
    assert_code(SES_INVALID, ses_list_each(fixture->store, "app", NULL, &large, visit, &none, &error));
    assert_code(SES_INVALID, ses_list_each(fixture->store, "", NULL, NULL, visit, &none, &error));
}
