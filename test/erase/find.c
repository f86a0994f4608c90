/* ses_store_find: every place that can hold a text, in pages of any size. */
#include "erase.h"

#define MARK "eve@x.org"

/* All findings, a line each, by pages of that limit. */
static const char *find_all(ses_store *store, const ses_key *scope, const char *text, size_t limit)
{
    static struct text lines;
    ses_find_options options = {.size = sizeof options, .limit = limit};
    char *token = NULL;
    ses_error error;

    lines.len = 0;
    text_printf(&lines, "%s", "");
    do {
        ses_findings *page = NULL;
        options.token = token;
        assert_ok(ses_store_find(store, scope, text, SES_NUL, &options, &page, &error));
        for (size_t i = 0; i < ses_findings_count(page); i++) {
            const ses_finding *one = ses_findings_at(page, i);
            text_printf(&lines, "%d %s/%s/%s %s %d %d", one->kind, one->app, one->user ? one->user : "-",
                        one->session ? one->session : "-", one->name ? one->name : "-", (int)one->seq,
                        (int)one->version);
            text_printf(&lines, "\n");
            assert_memory_equal(one->text + one->text_found, text, strlen(text));
            assert_true(one->text_found + strlen(text) <= one->text_len);
        }
        free(token);
        token = ses_findings_token(page) ? strdup(ses_findings_token(page)) : NULL;
        ses_findings_close(page);
    } while (token);
    return lines.data;
}

static void fill(ses_store *store)
{
    const ses_key c1 = {"shop", "eve", "c1"};
    const ses_key fork = {"shop", MARK, "fork"};
    const ses_key mark = {"shop", MARK, "of " MARK};
    const ses_key loose = {"shop", "eve", "loose"};
    const ses_label labels[] = {{MARK, "x"}, {"mail", MARK}, {"none", "x"}};
    const ses_create_options create = {
        .size = sizeof create, .title = "Order of " MARK, .labels = labels, .label_count = 3};
    const ses_artifact_save_options named = {
        .size = sizeof named, .metadata = Q("{'by':'" MARK "'}"), .metadata_len = SES_NUL};
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = 1};
    static char large[200000];
    ses_error error;

    assert_ok(ses_create(store, &c1, Q("{'topic':'" MARK "','app:k':'" MARK "','user:" MARK "':1}"), SES_NUL,
                         &create, NULL, &error));
    must_append_by_key(store, &c1,
                       Q("{'id':'1','author':'u','invocationId':'i1','timestamp':1,'actions':{'stateDelta':"
                         "{'address:" MARK "':'Road 1'}}}"));
    must_append_by_key(store, &c1,
                       Q("{'id':'2','author':'u','invocationId':'i2','timestamp':1,'content':{'parts':[{"
                         "'inlineData':{'mimeType':'text/plain','data':'YSBldmVAeC5vcmcgYg=='}}]}}"));
    must_append_by_key(store, &c1, Q("{'id':'3','author':'u','invocationId':'i3','timestamp':1}"));
    assert_ok(ses_prune_by_key(store, &c1, &prune, NULL, &error));
    must_append_by_key(store, &c1,
                       Q("{'id':'4','author':'u','invocationId':'i4','timestamp':1,'x':'\\u0065ve@x.org'}"));
    must_create(store, &mark, NULL);
    assert_ok(ses_fork_by_key(store, &mark, NULL, &fork, NULL, NULL, &error));
    memset(large, 'x', sizeof large);
    memcpy(large + 64 * 1024 - 4, MARK, strlen(MARK)); /* across two reads */
    assert_ok(ses_artifact_save_by_key(store, &c1, "a.txt", large, sizeof large, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(store, &c1, "a.txt", "", 0, &named, NULL, &error));
    assert_ok(ses_artifact_save_by_key(store, &c1, "user:b-" MARK, "none", 4, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(store, &loose, "c.txt", "to " MARK, 12, &anyway, NULL, &error));
}

#define OF_APP "6 shop/-/- app:k 0 -1\n"
#define OF_USER                           \
    "5 shop/eve/- user:" MARK " 0 -1\n"   \
    "10 shop/eve/- user:b-" MARK " 0 0\n" \
    "11 shop/eve/loose c.txt 0 0\n"
#define OF_SESSION                          \
    "3 shop/eve/c1 - 0 -1\n"                \
    "4 shop/eve/c1 " MARK " 0 -1\n"         \
    "4 shop/eve/c1 mail 0 -1\n"             \
    "5 shop/eve/c1 address:" MARK " 0 -1\n" \
    "6 shop/eve/c1 topic 0 -1\n"            \
    "7 shop/eve/c1 topic 0 -1\n"            \
    "7 shop/eve/c1 app:k 0 -1\n"            \
    "7 shop/eve/c1 user:" MARK " 0 -1\n"    \
    "8 shop/eve/c1 app:k 0 -1\n"            \
    "8 shop/eve/c1 user:" MARK " 0 -1\n"    \
    "8 shop/eve/c1 address:" MARK " 0 -1\n" \
    "8 shop/eve/c1 topic 0 -1\n"            \
    "11 shop/eve/c1 a.txt 0 0\n"            \
    "10 shop/eve/c1 a.txt 0 1\n"            \
    "9 shop/eve/c1 - 4 -1\n"
#define OF_OTHER_USER "1 shop/" MARK "/- - 0 -1\n"
#define OF_FORK                            \
    "1 shop/" MARK "/of " MARK " - 0 -1\n" \
    "2 shop/" MARK "/fork - 0 -1\n"

static void test_every_place_is_found_in_pages_of_any_size(void **state)
{
    const struct fixture *fixture = *state;
    const ses_key app = {"shop", NULL, NULL};
    const ses_key user = {"shop", "eve", NULL};
    const ses_key session = {"shop", "eve", "c1"};
    const ses_key other = {"none", NULL, NULL};

    fill(fixture->store);
    for (size_t limit = 1; limit < 30; limit++) {
        assert_string_equal(find_all(fixture->store, NULL, MARK, limit),
                            OF_APP OF_USER OF_OTHER_USER OF_SESSION OF_FORK);
        assert_string_equal(find_all(fixture->store, &app, MARK, limit),
                            OF_APP OF_USER OF_OTHER_USER OF_SESSION OF_FORK);
        assert_string_equal(find_all(fixture->store, &user, MARK, limit), OF_USER OF_SESSION);
        assert_string_equal(find_all(fixture->store, &session, MARK, limit), OF_SESSION);
    }
    assert_string_equal(find_all(fixture->store, &other, MARK, 10), "");
    assert_string_equal(find_all(fixture->store, NULL, "EVE@X.ORG", 10), "");
}

/* The event says it as base64 alone, which a pruned one did, too. */
static void test_inline_data_is_decoded(void **state)
{
    const struct fixture *fixture = *state;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'2','author':'u','timestamp':1,'content':{'parts':[{'inlineData':{'mimeType':"
                         "'text/plain','data':'YSBldmVAeC5vcmcgYg=='}}]}}"));
    assert_string_equal(find_all(fixture->store, &key, MARK, 10), "9 app/user/session - 1 -1\n");
}

/* A page ends after 16 MiB, whatever it has found. */
static void test_a_page_is_bounded(void **state)
{
    const struct fixture *fixture = *state;
    const size_t len = 20 * 1024 * 1024;
    char *large = malloc(len);
    ses_findings *page = NULL;
    ses_error error;

    memset(large, 'x', len);
    memcpy(large + len - strlen(MARK), MARK, strlen(MARK));
    must_create(fixture->store, &key, NULL);
    assert_ok(ses_artifact_save_by_key(fixture->store, &key, "a", large, len, NULL, NULL, &error));
    free(large);
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, NULL, &page, &error));
    assert_int_equal(ses_findings_count(page), 0);
    assert_non_null(ses_findings_token(page));
    ses_findings_close(page);
    assert_string_equal(find_all(fixture->store, NULL, MARK, 10), "11 app/user/session a 0 0\n");
}

/* A session that is deleted between two pages is left out. */
static void test_what_is_deleted_meanwhile_is_left_out(void **state)
{
    const struct fixture *fixture = *state;
    const ses_key first = {"app", "user", "1"};
    const ses_key second = {"app", "user", "2"};
    ses_find_options options = {.size = sizeof options, .limit = 1};
    ses_findings *page = NULL;
    ses_findings *next = NULL;
    ses_error error;

    must_create(fixture->store, &first, Q("{'k':'" MARK "'}"));
    must_append_by_key(fixture->store, &first, Q("{'id':'1','author':'" MARK "','timestamp':1}"));
    must_create(fixture->store, &second, Q("{'k':'" MARK "'}"));
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &page, &error));
    assert_int_equal(ses_findings_count(page), 2); /* the state, and that it began with */
    assert_ok(ses_delete(fixture->store, &first, NULL, NULL, &error));
    options.token = ses_findings_token(page);
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &next, &error));
    assert_string_equal(ses_findings_at(next, 0)->session, "2");
    ses_findings_close(next);
    options.flags = SES_FIND_IGNORE_CASE;
    assert_code(SES_INVALID, ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &next, &error));
    ses_findings_close(page);
}

static int find_end(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                    ses_error *error)
{
    (void)text, (void)from, (void)error;
    *begin = len;
    *end = len + 1;
    return *(int *)context;
}

static void test_what_finds_and_what_is_refused(void **state)
{
    const struct fixture *fixture = *state;
    int code = 1;
    const ses_key absent = {"app", "user", "absent"};
    const ses_key odd = {"app", NULL, "session"};
    ses_find_options bad = {.size = sizeof bad, .find = find_end, .find_context = &code};
    const ses_find_options good = {.size = sizeof good, .find = find_text, .find_context = MARK};
    const ses_find_options any = {.size = sizeof any, .flags = SES_FIND_IGNORE_CASE};
    const ses_find_options many = {.size = sizeof many, .limit = 10001};
    const ses_find_options token = {.size = sizeof token, .token = "x"};
    ses_findings *page = NULL;
    ses_error error;
    ses_store *store = fixture->store;

    must_create(store, &key, Q("{'k':'Eve@X.org'}"));
    assert_ok(ses_store_find(store, &key, NULL, 0, &good, &page, &error));
    assert_int_equal(ses_findings_count(page), 0);
    ses_findings_close(page);
    assert_ok(ses_store_find(store, &key, MARK, SES_NUL, &any, &page, &error));
    assert_int_equal(ses_findings_count(page), 2);
    assert_null(ses_findings_at(page, 2));
    ses_findings_close(page);
    assert_code(SES_MISUSE, ses_store_find(store, NULL, NULL, 0, &bad, &page, &error));
    assert_message("outside of the text");
    code = SES_INTERRUPTED;
    assert_code(SES_INTERRUPTED, ses_store_find(store, NULL, NULL, 0, &bad, &page, &error));
    ses_find_options cancelled = {.size = sizeof cancelled};
    assert_ok(ses_cancel_open(store, &cancelled.cancel, &error));
    ses_cancel_pull(cancelled.cancel);
    assert_code(SES_INTERRUPTED, ses_store_find(store, NULL, MARK, SES_NUL, &cancelled, &page, &error));
    ses_cancel_close(cancelled.cancel);
    assert_code(SES_MISUSE, ses_store_find(store, NULL, MARK, SES_NUL, &bad, &page, &error));
    assert_code(SES_MISUSE, ses_store_find(store, NULL, NULL, 0, NULL, &page, &error));
    assert_code(SES_MISUSE, ses_store_find(store, &odd, MARK, SES_NUL, NULL, &page, &error));
    assert_code(SES_INVALID, ses_store_find(store, NULL, "", 0, NULL, &page, &error));
    assert_code(SES_INVALID, ses_store_find(store, NULL, MARK, SES_NUL, &many, &page, &error));
    assert_code(SES_INVALID, ses_store_find(store, NULL, MARK, SES_NUL, &token, &page, &error));
    assert_code(SES_NOTFOUND, ses_store_find(store, &absent, MARK, SES_NUL, NULL, &page, &error));
    assert_null(page);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_place_is_found_in_pages_of_any_size),
        TEST(test_inline_data_is_decoded),
        TEST(test_a_page_is_bounded),
        TEST(test_what_is_deleted_meanwhile_is_left_out),
        TEST(test_what_finds_and_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
