/* Expiry: setting it, and removing sessions that have expired, are idle, or are too many. */
#include "../open.h"
#include "append.h"

static const int64_t DAY = INT64_C(86400000000);

static void assert_sessions(ses_store *store, const char *app, const char *expected)
{
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED};
    char names[2000] = "";
    ses_page *page = NULL;
    ses_error error;

    assert_ok(ses_list(store, app, NULL, &options, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? " " : "",
                 ses_session_id(ses_page_session(page, i)));
    assert_string_equal(names, expected);
    ses_page_close(page);
}

static void create_at(struct fixture *fixture, const char *app, const char *user, const char *id,
                      int64_t time, int64_t expires)
{
    const ses_key of = {app, user, id};
    const ses_create_options options = {
        .size = sizeof options, .created_us = &time, .expires_us = expires ? &expires : NULL};
    ses_error error;

    assert_ok(ses_create(fixture->store, &of, NULL, 0, &options, NULL, &error));
}

static int64_t expire(ses_store *store, int expected, const char *app, const ses_expire_options *options)
{
    int64_t deleted = -1;
    ses_error error;

    assert_code(expected, ses_store_expire(store, app, options, &deleted, &error));
    return deleted;
}

/* -------------------------------------------------------------------------------------------- setting */

TEST(an_expiry_is_shown_and_changes_nothing_else)
{
    const int64_t later = fixture->now + DAY;

    must_create(fixture->store, &key, Q("{'a':1}"));
    ses_session *session = must_get(fixture->store, &key);
    ses_session *other = must_get(fixture->store, &key);
    assert_true(ses_session_expires_us(session) == INT64_MAX);
    char *before = describe(session, 1);
    assert_ok(ses_expiry_set(session, &later, NULL, &error));
    assert_true(ses_session_expires_us(session) == later);
    assert_true(ses_session_expires_us(other) == INT64_MAX);
    char *after = describe_stored(fixture->store, &key);
    assert_string_equal(after, before);
    must_append(other, "{}"); /* it is not stale */
    must_refresh(session);
    assert_true(ses_session_expires_us(session) == later);
    must_refresh(other);
    assert_true(ses_session_expires_us(other) == later);
    assert_ok(ses_expiry_set_by_key(fixture->store, &key, NULL, NULL, &error));
    must_refresh(session);
    assert_true(ses_session_expires_us(session) == INT64_MAX);
    free(before);
    free(after);
}

TEST(an_expiry_can_be_given_on_create)
{
    create_at(fixture, "app", "user", "session", fixture->now, fixture->now + DAY);
    fixture_reopen(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_true(ses_session_expires_us(session) == fixture->now + DAY);
    ses_session_close(session);
}

TEST(an_expiry_in_the_past_is_refused)
{
    const ses_create_options options = {.size = sizeof options, .expires_us = &fixture->now};
    static const ses_key missing = {"app", "user", "missing"};
    const int64_t later = fixture->now + 1;

    assert_code(SES_INVALID, ses_create(fixture->store, &key, NULL, 0, &options, NULL, &error));
    must_create(fixture->store, &key, NULL);
    assert_code(SES_INVALID, ses_expiry_set_by_key(fixture->store, &key, &fixture->now, NULL, &error));
    assert_code(SES_NOTFOUND, ses_expiry_set_by_key(fixture->store, &missing, &later, NULL, &error));
    assert_code(SES_MISUSE, ses_expiry_set(NULL, &later, NULL, &error));
    ses_session *session = must_get(fixture->store, &key);
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, ses_expiry_set(session, &later, NULL, &error));
}

/* ------------------------------------------------------------------------------------------- removing */

TEST(expired_sessions_are_removed)
{
    const int64_t now = fixture->now;
    ses_expire_options options = {.size = sizeof options, .now_us = &fixture->now};

    create_at(fixture, "app", "user", "never", now, 0);
    create_at(fixture, "app", "user", "soon", now, now + 10);
    create_at(fixture, "app", "other", "later", now, now + 20);
    create_at(fixture, "elsewhere", "user", "soon", now, now + 10);
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 0);
    fixture->now = now + 15;
    assert_sessions(fixture->store, "app", "never soon later"); /* nothing is hidden */
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 1);
    assert_sessions(fixture->store, "app", "never later");
    assert_sessions(fixture->store, "elsewhere", "soon");
    fixture->now = now + 20;
    assert_int_equal(expire(fixture->store, SES_OK, NULL, NULL), 2); /* by the store's clock, in all apps */
    assert_sessions(fixture->store, "app", "never");
    assert_sessions(fixture->store, "elsewhere", "");
    assert_int_equal(expire(fixture->store, SES_OK, "no such app", NULL), 0);
    assert_sound(fixture->path);
}

/* The times in events do not count: a client may have a wrong clock, or send old events. */
TEST(idleness_counts_from_the_write)
{
    static const char *const events[] = {"{'timestamp':90000000000}", "{'timestamp':1}", "{}"};
    ses_expire_options options = {.size = sizeof options, .idle_us = 10 * DAY};
    char id[8];
    const ses_key of = {"app", "user", id};

    for (int i = 0; i < 3; i++) {
        snprintf(id, sizeof id, "s%d", i);
        must_create(fixture->store, &of, NULL);
        must_append_by_key(fixture->store, &of, Q(events[i]));
    }
    fixture->now += 9 * DAY;
    snprintf(id, sizeof id, "s1");
    must_append_by_key(fixture->store, &of, Q("{'timestamp':2}"));
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 0);
    fixture->now += 2 * DAY;
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 2);
    assert_sessions(fixture->store, "app", "s1");
    must_append_by_key(fixture->store, &of, Q("{'timestamp':90000000000}"));
    assert_ok(
        ses_fork_by_key(fixture->store, &of, NULL, &(ses_key){"app", "user", "fork"}, NULL, NULL, &error));
    fixture->now += 9 * DAY;
    must_append_by_key(fixture->store, &of, Q("{}")); /* the session is still ahead, but not idle */
    fixture->now += 2 * DAY;
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 1);
    assert_sessions(fixture->store, "app", "s1");
    fixture->now += 9 * DAY;
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 1);
}

TEST(idle_sessions_are_removed)
{
    ses_expire_options options = {.size = sizeof options, .idle_us = 10 * DAY};

    create_at(fixture, "app", "user", "a", fixture->now - 10 * DAY - 1, 0);
    create_at(fixture, "app", "user", "b", fixture->now - 10 * DAY, 0);
    create_at(fixture, "app", "user", "c", fixture->now - 20 * DAY, 0);
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 2);
    assert_sessions(fixture->store, "app", "b");
    options.idle_us = INT64_MAX;
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 0);
}

TEST(a_fork_is_not_idle_since_its_source_is)
{
    const ses_key source = {"app", "user", "a"};
    const ses_key fork = {"app", "user", "b"};
    const int64_t long_ago = fixture->now - 20 * DAY;
    const ses_fork_options options = {.size = sizeof options, .created_us = &long_ago};
    const ses_expire_options idle = {.size = sizeof idle, .idle_us = 10 * DAY};

    create_at(fixture, "app", "user", "a", long_ago, 0);
    assert_ok(ses_fork_by_key(fixture->store, &source, NULL, &fork, &options, NULL, &error));
    assert_int_equal(expire(fixture->store, SES_OK, "app", &idle), 1);
    assert_sessions(fixture->store, "app", "b");
}

TEST(the_sessions_of_a_user_are_limited)
{
    ses_expire_options options = {.size = sizeof options, .sessions_per_user = 2};
    const int64_t now = fixture->now;

    create_at(fixture, "app", "u1", "a", now - 30, 0);
    create_at(fixture, "app", "u1", "b", now - 10, 0);
    create_at(fixture, "app", "u1", "c", now - 20, 0);
    create_at(fixture, "app", "u2", "d", now - 99, 0);
    create_at(fixture, "app", "u2", "e", now - 99, 0);
    create_at(fixture, "other", "u1", "f", now - 99, 0);
    create_at(fixture, "other", "u1", "g", now - 99, 0);
    create_at(fixture, "other", "u1", "h", now - 99, 0);
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 1);
    assert_sessions(fixture->store, "app", "b c d e");
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 1);
    assert_sessions(fixture->store, "other", "f g"); /* as a list shows the newest first */
    /* Expired sessions do not count among those that stay. */
    create_at(fixture, "app", "u2", "i", now, now + 5);
    fixture->now += 5;
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 1);
    assert_sessions(fixture->store, "app", "b c d e");
}

/* The times of the events of a client with a wrong clock do not matter. */
TEST(those_last_written_can_be_kept)
{
    ses_expire_options options = {
        .size = sizeof options, .flags = SES_EXPIRE_CHANGED | SES_EXPIRE_DRY_RUN, .sessions_per_user = 2};
    const char *const ids[] = {"a", "b", "c", "d"};
    const ses_key old = {"app", "user", "a"};
    char ahead[64];

    for (int i = 0; i < 4; i++) {
        fixture->now += 1000000;
        create_at(fixture, "app", "user", ids[i], fixture->now, 0);
        snprintf(ahead, sizeof ahead, "{\"timestamp\":%lld}",
                 (long long)(fixture->now / 1000000 + (9 - i) * 3600));
        must_append_by_key(fixture->store, &(ses_key){"app", "user", ids[i]}, ahead);
    }
    fixture->now += 1000000;
    must_append_by_key(fixture->store, &old, "{\"timestamp\":1}");
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 2);
    options.flags = SES_EXPIRE_CHANGED;
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 2);
    assert_sessions(fixture->store, "app", "a d");
    options = (ses_expire_options){.size = sizeof options, .sessions_per_user = 1};
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 1); /* as before: by update time */
    assert_sessions(fixture->store, "app", "a");
}

TEST(those_in_the_archive_go_first)
{
    ses_expire_options idle = {.size = sizeof idle, .idle_us = DAY, .limit = 1};
    const ses_expire_options few = {.size = sizeof few, .sessions_per_user = 2};
    const int64_t now = fixture->now;

    create_at(fixture, "app", "u", "a", now - 40 * DAY, 0);
    create_at(fixture, "app", "u", "b", now - 30 * DAY, 0);
    create_at(fixture, "app", "u", "c", now - 20 * DAY, 0);
    create_at(fixture, "app", "u", "d", now, 0);
    assert_ok(ses_archive_set_by_key(fixture->store, &(ses_key){"app", "u", "c"}, 1, NULL, &error));
    assert_ok(ses_archive_set_by_key(fixture->store, &(ses_key){"app", "u", "d"}, 1, NULL, &error));
    assert_int_equal(expire(fixture->store, SES_MORE, "app", &idle), 1);
    assert_sessions(fixture->store, "app", "a b d");
    assert_int_equal(expire(fixture->store, SES_OK, "app", &few), 1);
    assert_sessions(fixture->store, "app", "a b");
    idle.limit = 10;
    assert_int_equal(expire(fixture->store, SES_OK, "app", &idle), 2);
}

TEST(a_call_removes_so_many)
{
    ses_expire_options options = {.size = sizeof options, .limit = 3, .sessions_per_user = 1, .idle_us = DAY};
    char id[20];

    for (int i = 0; i < 4; i++) {
        snprintf(id, sizeof id, "expires-%d", i);
        create_at(fixture, "app", id, id, fixture->now, fixture->now + 5);
        snprintf(id, sizeof id, "idle-%d", i);
        create_at(fixture, "app", id, id, fixture->now - 2 * DAY, 0);
        snprintf(id, sizeof id, "many-%d", i);
        create_at(fixture, "app", "many", id, fixture->now + i, 0);
    }
    fixture->now += 5;
    for (int64_t left = 11; left >= 3; left -= 3)
        assert_int_equal(expire(fixture->store, SES_MORE, NULL, &options), 3);
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 2);
    assert_sessions(fixture->store, "app", "many-3");
}

TEST(a_count_is_what_all_calls_delete)
{
    const ses_key ahead = {"app", "user", "ahead"};
    ses_expire_options options = {
        .size = sizeof options, .flags = SES_EXPIRE_DRY_RUN, .sessions_per_user = 2, .idle_us = 10 * DAY};
    const int64_t now = fixture->now;
    int64_t deleted = 0;

    must_create(fixture->store, &ahead, NULL); /* idle, although its event is not yet due */
    must_append_by_key(fixture->store, &ahead, Q("{'timestamp':90000000000}"));
    create_at(fixture, "app", "user", "idle", now, 0);
    create_at(fixture, "app", "user", "both", now - 30 * DAY, now + 5);
    create_at(fixture, "app", "user", "expired", now, now + 5);
    create_at(fixture, "app", "other user", "expired", now, now + 5);
    fixture->now += 11 * DAY;
    for (char id[] = "s0"; id[1] < '5'; id[1]++) /* three too many */
        create_at(fixture, "app", "user", id, fixture->now, 0);
    create_at(fixture, "app", "user", "expires later", fixture->now, fixture->now + 5);
    create_at(fixture, "app", "third user", "stays", fixture->now, 0);
    create_at(fixture, "other", "user", "idle", now, 0);
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 4 + 4 + 1);
    assert_int_equal(expire(fixture->store, SES_OK, "no such app", &options), 0);
    options.limit = 3; /* holds for what deletes */
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 10);
    options.flags = 0;
    for (int code = SES_MORE; code == SES_MORE;) {
        code = ses_store_expire(fixture->store, NULL, &options, &deleted, &error);
        assert_true(code >= 0);
        options.limit += deleted;
    }
    assert_int_equal(options.limit, 3 + 10);
    options.flags = SES_EXPIRE_DRY_RUN | SES_SECURE;
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 0);
}

/* More users and apps than one transaction looks at. */
TEST(all_users_are_looked_at)
{
    enum { USERS = 2100, APPS = 130 };
    ses_expire_options options = {.size = sizeof options, .sessions_per_user = 1, .limit = 1000};
    char name[SES_ID_MAX + 1];

    memset(name, 'z', SES_ID_MAX);
    name[SES_ID_MAX] = '\0';
    create_at(fixture, "app", name, "a", fixture->now, 0);
    create_at(fixture, "app", name, "b", fixture->now, 0);
    for (int i = 0; i < USERS; i++) {
        snprintf(name, sizeof name, "user-%d", i);
        create_at(fixture, "app", name, "a", fixture->now, 0);
        if (i % 700 == 699)
            create_at(fixture, "app", name, "b", fixture->now, 0);
    }
    assert_int_equal(expire(fixture->store, SES_OK, "app", &options), 4);
    for (int i = 0; i < APPS; i++) {
        snprintf(name, sizeof name, "app-%d", i);
        create_at(fixture, name, "user", "a", fixture->now, fixture->now + 1);
    }
    fixture->now++;
    assert_int_equal(expire(fixture->store, SES_MORE, NULL, &options), 100);
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 30);
}

/* ses_store_check would call it damage. */
TEST(an_expiry_that_is_no_time_is_refused)
{
    const int64_t times[] = {INT64_MIN, INT64_MAX - 1, INT64_C(253402300800000000)};

    must_create(fixture->store, &key, "{}");
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const ses_key other = {"a", "u", "other"};
        const ses_create_options create = {.size = sizeof create, .expires_us = &times[i]};
        const ses_loaded loaded = {.size = sizeof loaded, .expires_us = &times[i]};
        assert_code(SES_INVALID, ses_expiry_set_by_key(fixture->store, &key, &times[i], NULL, &error));
        assert_code(SES_INVALID, ses_create(fixture->store, &other, NULL, 0, &create, NULL, &error));
        assert_code(SES_INVALID, ses_load(fixture->store, &other, &loaded, NULL, NULL, &error));
    }
}

TEST(wrong_arguments_are_refused)
{
    ses_expire_options options = {.size = sizeof options};

    assert_code(SES_MISUSE, ses_store_expire(NULL, NULL, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_store_expire(fixture->store, "", NULL, NULL, &error));
    options.flags = 0x80;
    assert_code(SES_MISUSE, ses_store_expire(fixture->store, NULL, &options, NULL, &error));
    options.flags = 0;
    options.limit = -1;
    assert_code(SES_INVALID, ses_store_expire(fixture->store, NULL, &options, NULL, &error));
    options.limit = 0;
    options.idle_us = -1;
    assert_code(SES_INVALID, ses_store_expire(fixture->store, NULL, &options, NULL, &error));
    fixture->options.flags = SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    assert_code(SES_READONLY, ses_store_expire(fixture->store, NULL, NULL, NULL, &error));
    options = (ses_expire_options){.size = sizeof options, .flags = SES_EXPIRE_DRY_RUN};
    assert_int_equal(expire(fixture->store, SES_OK, NULL, &options), 0);
}
