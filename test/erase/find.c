/* ses_store_find: every place that can hold a text, in pages of any size. */
#include "erase.h"

#include "erase/find/find.h"
#include "session/token.h"

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

TEST(every_place_is_found_in_pages_of_any_size)
{
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
TEST(inline_data_is_decoded)
{
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'2','author':'u','timestamp':1,'content':{'parts':[{'inlineData':{'mimeType':"
                         "'text/plain','data':'YSBldmVAeC5vcmcgYg=='}}]}}"));
    assert_string_equal(find_all(fixture->store, &key, MARK, 10), "9 app/user/session - 1 -1\n");
}

/* A page ends after 16 MiB, whatever it has found. */
TEST(a_page_is_bounded)
{
    const size_t len = 20 * 1024 * 1024;
    char *large = malloc(len);
    ses_findings *page = NULL;

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

/* The first of two artifacts is deleted between two pages, one of which has ended within it. */
TEST(a_deleted_artifact_hides_no_other)
{
    ses_find_options options = {.size = sizeof options, .limit = 1};
    ses_findings *page = NULL;
    ses_findings *next = NULL;

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_artifact_save_by_key(fixture->store, &key, "a", MARK, SES_NUL, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(fixture->store, &key, "a", "none", 4, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(fixture->store, &key, "b", MARK, SES_NUL, NULL, NULL, &error));
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &page, &error));
    assert_string_equal(ses_findings_at(page, 0)->name, "a");
    assert_ok(ses_artifact_delete_by_key(fixture->store, &key, "a", NULL, NULL, &error));
    options.token = ses_findings_token(page);
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &next, &error));
    assert_int_equal(ses_findings_count(next), 1);
    assert_string_equal(ses_findings_at(next, 0)->name, "b");
    ses_findings_close(next);
    ses_findings_close(page);
}

/* A session that is deleted between two pages is left out. */
TEST(sessions_deleted_meanwhile_are_left_out)
{
    const ses_key first = {"app", "user", "1"};
    const ses_key second = {"app", "user", "2"};
    ses_find_options options = {.size = sizeof options, .limit = 1};
    ses_findings *page = NULL;
    ses_findings *next = NULL;

    must_create(fixture->store, &first, Q("{'k':'" MARK "'}"));
    must_append_by_key(fixture->store, &first, Q("{'id':'1','author':'" MARK "','timestamp':1}"));
    must_create(fixture->store, &second, Q("{'k':'" MARK "'}"));
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &page, &error));
    assert_int_equal(ses_findings_count(page), 2); /* the state, and that it began with */
    must_delete(fixture->store, &first);
    options.token = ses_findings_token(page);
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &next, &error));
    assert_string_equal(ses_findings_at(next, 0)->session, "2");
    ses_findings_close(next);
    options.flags = SES_FIND_IGNORE_CASE;
    assert_code(SES_INVALID, ses_store_find(fixture->store, NULL, MARK, SES_NUL, &options, &next, &error));
    ses_findings_close(page);
}

/* ---- memory */

struct heap {
    long live;
    long until; /* allocations that still succeed; below 0: all do */
};

static void *heap_resize(void *context, void *memory, size_t bytes)
{
    struct heap *heap = context;
    void *fresh = heap->until == 0 ? NULL : realloc(memory, bytes);

    heap->until -= heap->until >= 0;
    heap->live += fresh && !memory;
    return fresh;
}

static void *heap_allocate(void *context, size_t bytes)
{
    return heap_resize(context, NULL, bytes);
}

static void heap_release(void *context, void *memory)
{
    ((struct heap *)context)->live -= memory != NULL;
    free(memory);
}

PLAIN_TEST(each_allocation_fails)
{
    struct heap heap = {.until = -1};
    const ses_allocator allocator = {sizeof allocator, &heap, heap_allocate, heap_resize, heap_release};
    const ses_open_options open = {.size = sizeof open, .allocator = &allocator};
    ses_find_options options = {.size = sizeof options, .limit = 3};
    ses_findings *page = NULL;
    char text[600];

    ses_store *store = must_open(":memory:", &open);
    snprintf(text, sizeof text, "{\"%0400d " MARK "\":\"" MARK "\"}", 0);
    must_create(store, &key, text);
    assert_ok(ses_artifact_save_by_key(store, &key, "a", "to " MARK, SES_NUL, NULL, NULL, &error));
    assert_ok(ses_store_find(store, NULL, MARK, SES_NUL, &options, &page, &error));
    char *token = strdup(ses_findings_token(page));
    ses_findings_close(page);
    for (int from_token = 0; from_token < 2; from_token++) {
        int code = SES_NOMEM;
        options.token = from_token ? token : NULL;
        for (long count = 0; code != SES_OK; count++) {
            const long live = heap.live;
            heap.until = count;
            code = ses_store_find(store, NULL, MARK, SES_NUL, &options, &page, &error);
            heap.until = -1;
            assert_true(code == SES_OK || (code == SES_NOMEM && !page));
            ses_findings_close(page);
            assert_int_equal(heap.live, live);
        }
    }
    free(token);
    ses_close(store);
    assert_int_equal(heap.live, 0);
}

/* ---- forged tokens */

/* The hash of a search with which its tokens begin, as the sum and the bytes of one show. */
static uint32_t owner_of(const char *token)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    enum { SUM = 1, CONTENT = 5 };
    const uint32_t inverse_prime = UINT32_C(0x359C449B);
    uint8_t bytes[400];
    size_t len = 0;
    uint32_t bits = 0;
    uint32_t hash = 0;

    for (size_t i = 0; token[i] && len < sizeof bytes; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, token[i]) - digits);
        if (i % 4 != 0)
            bytes[len++] = (uint8_t)(bits >> (6 - i % 4 * 2));
    }
    for (int i = SUM; i < CONTENT; i++)
        hash = hash << 8 | bytes[i];
    while (len-- > CONTENT)
        hash = hash * inverse_prime ^ bytes[len];
    return hash;
}

static char *forge(uint32_t owner, const int64_t numbers[4], const char *const texts[6])
{
    ses_allocator allocator;
    struct buffer bytes;

    ses__memory_default(&allocator);
    ses__token_begin(&bytes, &allocator);
    for (int i = 0; i < 4; i++)
        ses__token_put_signed(&bytes, numbers[i]);
    ses__token_put(&bytes, 0);
    ses__token_put(&bytes, 0);
    for (int i = 0; i < 6; i++) {
        ses__token_put(&bytes, strlen(texts[i]));
        ses__buffer_add(&bytes, texts[i], strlen(texts[i]));
    }
    return ses__token_end(&bytes, owner);
}

/* The step, and the numbers of the event, the version and the byte; of a search of one user's sessions. */
TEST(a_forged_token_leads_nowhere)
{
    static const struct {
        int64_t numbers[4];
        int code;
    } places[] = {{{FIND_EVENTS, 0, 0, 0}, SES_OK},
                  {{FIND_EVENTS, INT64_MAX, 0, 0}, SES_INVALID},
                  {{FIND_ARTIFACTS, 0, INT64_MAX, 0}, SES_INVALID},
                  {{FIND_ARTIFACTS, 0, 0, INT64_MAX}, SES_INVALID},
                  {{FIND_NEXT_APP, 0, 0, 0}, SES_INVALID},
                  {{FIND_APP, 0, 0, 0}, SES_INVALID},
                  {{FIND_NEXT_USER, 0, 0, 0}, SES_INVALID},
                  {{FIND_ONE_SESSION, 0, 0, 0}, SES_INVALID},
                  {{FIND_END, 0, 0, 0}, SES_INVALID}};
    const ses_key user = {"app", "user", NULL};
    const char *const texts[] = {"app", "user", "user", "session", "", ""};
    ses_find_options options = {.size = sizeof options, .limit = 1};
    ses_findings *page = NULL;

    must_create(fixture->store, &key, Q("{'k':'" MARK "'}"));
    must_create(fixture->store, &(ses_key){"app", "zoe", "session"}, Q("{'user:k':'" MARK "'}"));
    assert_ok(ses_store_find(fixture->store, &user, MARK, SES_NUL, &options, &page, &error));
    const uint32_t owner = owner_of(ses_findings_token(page));
    ses_findings_close(page);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *token = forge(owner, places[i].numbers, texts);
        options.token = token;
        assert_code(places[i].code,
                    ses_store_find(fixture->store, &user, MARK, SES_NUL, &options, &page, &error));
        ses_findings_close(page);
        free(token);
    }
}

/* --------------------------------------------------------------------------------------- cancel and limit */

/* Every step of the walk asks for memory. At one of those calls the handle is pulled, or the time passes. */
static struct {
    int calls;
    int at;
    ses_cancel *pulled; /* NULL: the time passes */
} interrupting;

enum { LIMIT_MS = 5 };

static void interrupt_now(void)
{
    if (interrupting.calls++ != interrupting.at)
        return;
    if (interrupting.pulled)
        ses_cancel_pull(interrupting.pulled);
    else
        support_pause_us(2 * LIMIT_MS * 1000);
}

static void *counted_allocate(void *context, size_t bytes)
{
    (void)context;
    interrupt_now();
    return malloc(bytes);
}

static void *counted_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    interrupt_now();
    return realloc(memory, bytes);
}

static void counted_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static const ses_allocator counted = {sizeof counted, NULL, counted_allocate, counted_resize,
                                      counted_release};

/* The code of a search for everything that is interrupted at that call. A finding is returned as a whole or
 * not at all. */
static int find_interrupted(ses_store *store, int at, const ses_find_options *options, size_t expected)
{
    ses_findings *page = NULL;
    ses_error error;

    interrupting.calls = 0;
    interrupting.at = at;
    interrupting.pulled = options->cancel;
    const int code = ses_store_find(store, NULL, MARK, SES_NUL, options, &page, &error);
    interrupting.at = -1;
    if (code == SES_OK) {
        assert_int_equal(ses_findings_count(page), expected);
    } else {
        assert_code(SES_INTERRUPTED, code);
        assert_message(options->cancel ? "cancelled" : "timeout_ms");
        assert_null(page);
    }
    ses_findings_close(page);
    return code;
}

/* Looks at the handle or at the time come often enough that only what is done after the last event goes
 * on. */
static void interrupt_each(struct fixture *fixture, ses_find_options options, int apart)
{
    enum { AFTER_THE_LAST = 10 };
    const ses_find_options plain = {.size = sizeof plain};
    ses_findings *page = NULL;
    ses_error error;

    interrupting.calls = 0;
    assert_ok(ses_store_find(fixture->store, NULL, MARK, SES_NUL, &plain, &page, &error));
    const size_t expected = ses_findings_count(page);
    const int calls = interrupting.calls;
    ses_findings_close(page);
    assert_true(calls > 100);
    for (int at = 0; at < calls; at += apart) {
        const bool is_found = find_interrupted(fixture->store, at, &options, expected) == SES_OK;
        if (is_found && at < calls - AFTER_THE_LAST)
            fail_msg("at call %d of %d it went on to the end", at, calls);
        if (options.cancel)
            ses_cancel_reset(options.cancel);
    }
    options.timeout_ms = 0;
    assert_int_equal(find_interrupted(fixture->store, -1, &options, expected), SES_OK);
}

static void fill_counted(struct fixture *fixture)
{
    fixture->options.allocator = &counted;
    interrupting.at = -1;
    fixture_reopen(fixture);
    fill(fixture->store);
}

TEST(a_cancel_at_each_step)
{
    ses_find_options options = {.size = sizeof options};

    fill_counted(fixture);
    assert_ok(ses_cancel_open(fixture->store, &options.cancel, &error));
    interrupt_each(fixture, options, 1);
    ses_cancel_close(options.cancel);
}

TEST(a_time_limit_at_each_step)
{
    if (support_on_server()) /* whose answers may take longer than the limit */
        skip();
    fill_counted(fixture);
    interrupt_each(fixture, (ses_find_options){.size = sizeof(ses_find_options), .timeout_ms = LIMIT_MS}, 3);
}

/* ---------------------------------------------------------------------------------------------- arguments */

static int find_end(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                    ses_error *error)
{
    (void)text, (void)from, (void)error;
    *begin = len;
    *end = len + 1;
    return *(int *)context;
}

TEST(wrong_searches_are_refused)
{
    int code = 1;
    const ses_key absent = {"app", "user", "absent"};
    const ses_key odd = {"app", NULL, "session"};
    ses_find_options bad = {.size = sizeof bad, .find = find_end, .find_context = &code};
    const ses_find_options good = {.size = sizeof good, .find = find_text, .find_context = MARK};
    const ses_find_options any = {.size = sizeof any, .flags = SES_FIND_IGNORE_CASE};
    const ses_find_options many = {.size = sizeof many, .limit = 10001};
    const ses_find_options token = {.size = sizeof token, .token = "x"};
    ses_findings *page = NULL;
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
