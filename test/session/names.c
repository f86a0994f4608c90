/* The names of apps and of their users, in pages. */
#include "support.h"

static ses_names *page_of(ses_store *store, const char *app, const ses_names_options *options)
{
    ses_names *names = NULL;
    ses_error error;

    if (app)
        assert_ok(ses_list_users(store, app, options, &names, &error));
    else
        assert_ok(ses_list_apps(store, options, &names, &error));
    return names;
}

/* All names, page by page, as "a b c". */
static char *all_names(ses_store *store, const char *app, const char *prefix, size_t limit)
{
    ses_names_options options = {.size = sizeof options, .limit = limit, .prefix = prefix};
    char after[SES_ID_MAX + 1];
    char *text = calloc(1, 4096);

    assert_non_null(text);
    for (;;) {
        ses_names *names = page_of(store, app, &options);
        for (size_t i = 0; i < ses_names_count(names); i++) {
            strcat(text, text[0] ? " " : "");
            strcat(text, ses_names_at(names, i));
        }
        assert_true(limit == 0 || ses_names_count(names) <= limit);
        assert_null(ses_names_at(names, ses_names_count(names)));
        if (!ses_names_after(names)) {
            ses_names_close(names);
            return text;
        }
        snprintf(after, sizeof after, "%s", ses_names_after(names));
        options.after = after;
        ses_names_close(names);
    }
}

static void assert_names(ses_store *store, const char *app, const char *prefix, const char *expected)
{
    for (size_t limit = 0; limit < 6; limit++) {
        char *text = all_names(store, app, prefix, limit);
        assert_string_equal(text, expected);
        free(text);
    }
}

static void add(ses_store *store, const char *app, const char *user)
{
    must_create(store, &(ses_key){app, user, "s"}, NULL);
}

TEST_FILE_AND_MEMORY(names_come_by_their_bytes_in_pages)
{
    ses_store *store = fixture->store;

    assert_names(store, NULL, NULL, "");
    assert_names(store, "b", NULL, "");
    add(store, "b", "u2");
    add(store, "b", "\xC3\xA9");
    add(store, "b", "u10");
    add(store, "B", "x");
    add(store, "ab", "y");
    add(store, "b", "u");
    assert_names(store, NULL, NULL, "B ab b");
    assert_names(store, "b", NULL, "u u10 u2 \xC3\xA9");
    assert_names(store, "ab", NULL, "y");
    assert_names(store, "nothing", NULL, "");
}

TEST(a_prefix_selects_names)
{
    ses_store *store = fixture->store;
    const char *const users[] = {"al", "alice", "albert", "am", "a", "b"};
    const ses_names_options after = {.size = sizeof after, .after = "b", .prefix = "al"};

    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++)
        add(store, "app", users[i]);
    assert_names(store, "app", "al", "al albert alice");
    assert_names(store, "app", "alx", "");
    assert_names(store, "app", "", "a al albert alice am b");
    assert_names(store, NULL, "ap", "app");
    ses_names *names = page_of(store, "app", &after);
    assert_int_equal(ses_names_count(names), 0);
    ses_names_close(names);
}

TEST(names_with_only_shared_state_are_listed_until_they_are_deleted)
{
    ses_store *store = fixture->store;
    const ses_key key = {"one", "user", "s"};

    assert_ok(ses_shared_state_change(store, "two", NULL, "{\"k\":1}", SES_NUL, NULL, &error));
    assert_ok(ses_shared_state_change(store, "one", "shared", "{\"k\":1}", SES_NUL, NULL, &error));
    must_create(store, &key, NULL);
    must_delete(store, &key);
    assert_names(store, NULL, NULL, "one two");
    assert_names(store, "one", NULL, "shared user");
    assert_ok(ses_delete_user(store, "one", "user", NULL, NULL, NULL, &error));
    assert_names(store, "one", NULL, "shared");
    assert_ok(ses_delete_app(store, "two", NULL, NULL, &error));
    assert_names(store, NULL, NULL, "one");
}

TEST(a_page_outlives_its_store)
{
    add(fixture->store, "app", "user");
    ses_names *names = page_of(fixture->store, NULL, NULL);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_string_equal(ses_names_at(names, 0), "app");
    ses_names_close(names);
    ses_names_close(NULL);
}

TEST(an_invalid_name_is_refused)
{
    ses_store *store = fixture->store;
    const ses_names_options many = {.size = sizeof many, .limit = 10001};
    const ses_names_options after = {.size = sizeof after, .after = ""};
    const ses_names_options prefix = {.size = sizeof prefix, .prefix = "\xC3"};
    ses_names *names = (ses_names *)&many;

    assert_code(SES_INVALID, ses_list_apps(store, &many, &names, &error));
    assert_null(names);
    assert_code(SES_INVALID, ses_list_apps(store, &after, &names, &error));
    assert_code(SES_INVALID, ses_list_users(store, "app", &prefix, &names, &error));
    assert_code(SES_INVALID, ses_list_users(store, "", NULL, &names, &error));
    assert_code(SES_MISUSE, ses_list_users(store, NULL, NULL, &names, &error));
    assert_code(SES_MISUSE, ses_list_apps(store, NULL, NULL, &error));
}
