/* Pages by token: what a walk sees while sessions come, go and change; and which tokens are refused. */
#include "support.h"

#include <stdbool.h>

enum { SESSIONS = 40 };

static void create(ses_store *store, const char *user, const char *name)
{
    must_create(store, &(ses_key){"app", user, name}, NULL);
}

static void touch(ses_store *store, const char *user, const char *name)
{
    must_append_by_key(store, &(ses_key){"app", user, name}, "{}");
}

static void delete (ses_store *store, const char *user, const char *name)
{
    int64_t deleted = 0;
    ses_error error;
    assert_ok(ses_delete(store, &(ses_key){"app", user, name}, NULL, &deleted, &error));
    assert_int_equal(deleted, 1);
}

/* Sessions s00, s01 ..., of two users in turn, a second apart. */
static void make_sessions(struct fixture *fixture)
{
    for (int i = 0; i < SESSIONS; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%02d", i);
        create(fixture->store, i % 2 ? "bob" : "alice", name);
        fixture->now += 1000000;
    }
}

/* A walk in progress: the names in the order in which they came. */
struct walk {
    ses_store *store;
    const char *user;
    ses_list_options options;
    char token[2200];
    char seen[200][16];
    size_t count;
    bool ended;
};

static void walk_start(struct walk *walk, ses_store *store, const char *user, int order, size_t limit)
{
    *walk = (struct walk){.store = store, .user = user};
    walk->options = (ses_list_options){.size = sizeof walk->options, .order = order, .limit = limit};
}

static void walk_page(struct walk *walk)
{
    ses_page *page = NULL;
    ses_error error;

    assert_false(walk->ended);
    assert_ok(ses_list(walk->store, "app", walk->user, &walk->options, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++)
        snprintf(walk->seen[walk->count++], 16, "%s", ses_session_id(ses_page_session(page, i)));
    walk->ended = ses_page_token(page) == NULL;
    if (!walk->ended) {
        assert_true(strlen(ses_page_token(page)) < sizeof walk->token);
        strcpy(walk->token, ses_page_token(page)); /* the page's own goes with the page */
        walk->options.token = walk->token;
    }
    ses_page_close(page);
}

static int times_seen(const struct walk *walk, const char *name)
{
    int times = 0;
    for (size_t i = 0; i < walk->count; i++)
        times += strcmp(walk->seen[i], name) == 0;
    return times;
}

/* ----------------------------------------------------------------------- changes between the pages */

static void check_walk_by_creation(struct fixture *fixture, const char *user, size_t limit, bool reopens)
{
    struct walk walk;
    char name[16];
    int step = 0;

    walk_start(&walk, fixture->store, user, SES_ORDER_CREATED, limit);
    while (!walk.ended) {
        walk_page(&walk);
        if (reopens) { /* a token is a place in the order: it outlives the store */
            fixture_reopen(fixture);
            walk.store = fixture->store;
        }
        fixture->now += 1000000;
        if (step < 10) { /* the third of each three stays as it is */
            snprintf(name, sizeof name, "s%02d", 3 * step);
            delete (fixture->store, 3 * step % 2 ? "bob" : "alice", name);
            snprintf(name, sizeof name, "s%02d", 3 * step + 1);
            touch(fixture->store, (3 * step + 1) % 2 ? "bob" : "alice", name);
            snprintf(name, sizeof name, "n%02d", step);
            create(fixture->store, step % 2 ? "bob" : "alice", name);
            if (step > 0) { /* the same id once more: another session */
                snprintf(name, sizeof name, "s%02d", 3 * step - 3);
                create(fixture->store, (3 * step - 3) % 2 ? "bob" : "alice", name);
                delete (fixture->store, (3 * step - 3) % 2 ? "bob" : "alice", name);
            }
        }
        step++;
    }
    for (int i = 0; i < SESSIONS; i++) {
        bool deleted = i % 3 == 0 && i < 30;
        snprintf(name, sizeof name, "s%02d", i);
        if (!deleted && (!user || strcmp(user, i % 2 ? "bob" : "alice") == 0) && times_seen(&walk, name) != 1)
            fail_msg("%zu a page: %s was seen %d times", limit, name, times_seen(&walk, name));
        assert_true(times_seen(&walk, name) <= 1);
    }
}

TEST_FILE_AND_MEMORY(walk_by_creation_sees_each_lasting_session_once)
{
    static const char *const users[] = {NULL, "alice", "bob"};
    static const size_t limits[] = {1, 2, 3, 5};

    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++) {
            assert_ok(ses_delete_user(fixture->store, "app", "alice", NULL, NULL, NULL, &error));
            assert_ok(ses_delete_user(fixture->store, "app", "bob", NULL, NULL, NULL, &error));
            make_sessions(fixture);
            check_walk_by_creation(fixture, users[i], limits[j], strcmp(fixture->path, ":memory:") != 0);
        }
    }
}

TEST(token_holds_when_the_session_it_stands_at_is_deleted)
{
    make_sessions(fixture);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        struct walk walk;
        walk_start(&walk, fixture->store, NULL, order, 5);
        walk_page(&walk);
        char last[16];
        int number = atoi(walk.seen[4] + 1);
        strcpy(last, walk.seen[4]);
        delete (fixture->store, number % 2 ? "bob" : "alice", last);
        size_t before = walk.count;
        while (!walk.ended)
            walk_page(&walk);
        assert_int_equal(walk.count - before, SESSIONS - 5 - order); /* one less with every round */
        for (size_t i = 0; i < walk.count; i++)
            assert_int_equal(times_seen(&walk, walk.seen[i]), 1);
    }
}

TEST(everything_behind_the_token_deleted_is_an_empty_end)
{
    struct walk walk;

    make_sessions(fixture);
    walk_start(&walk, fixture->store, "alice", SES_ORDER_NEWEST, 3);
    walk_page(&walk);
    assert_ok(ses_delete_user(fixture->store, "app", "alice", NULL, NULL, NULL, &error));
    walk_page(&walk);
    assert_true(walk.ended);
    assert_int_equal(walk.count, 3);
}

TEST(walk_by_newest_update_while_sessions_change)
{
    struct walk walk;
    char name[8];

    make_sessions(fixture);
    walk_start(&walk, fixture->store, NULL, SES_ORDER_NEWEST, 10);
    walk_page(&walk);                      /* s39 ... s30 */
    touch(fixture->store, "alice", "s38"); /* seen; stays in front */
    touch(fixture->store, "bob", "s05");   /* not seen; moves in front of the place */
    create(fixture->store, "bob", "new");  /* likewise */
    delete (fixture->store, "alice", "s04");
    while (!walk.ended)
        walk_page(&walk);
    for (int i = 0; i < SESSIONS; i++) {
        snprintf(name, sizeof name, "s%02d", i);
        assert_int_equal(times_seen(&walk, name), i == 5 || i == 4 ? 0 : 1);
    }
    assert_int_equal(times_seen(&walk, "new"), 0);
    walk_start(&walk, fixture->store, NULL, SES_ORDER_NEWEST, 10);
    walk_page(&walk);
    assert_int_equal(times_seen(&walk, "new") + times_seen(&walk, "s05") + times_seen(&walk, "s38"), 3);
}

TEST(walk_by_oldest_update_meets_what_moves_again)
{
    struct walk walk;

    make_sessions(fixture);
    walk_start(&walk, fixture->store, NULL, SES_ORDER_OLDEST, 10);
    walk_page(&walk); /* s00 ... s09 */
    touch(fixture->store, "alice", "s04");
    touch(fixture->store, "bob", "s15");
    create(fixture->store, "bob", "new");
    while (!walk.ended)
        walk_page(&walk);
    assert_int_equal(walk.count, SESSIONS + 2);
    assert_int_equal(times_seen(&walk, "s04"), 2); /* at its old place and at its new one */
    assert_int_equal(times_seen(&walk, "s15"), 1);
    assert_int_equal(times_seen(&walk, "new"), 1);
    assert_string_equal(walk.seen[SESSIONS - 1], "new"); /* three of the same time: by id */
    assert_string_equal(walk.seen[SESSIONS], "s04");
    assert_string_equal(walk.seen[SESSIONS + 1], "s15");
}

/* ------------------------------------------------------------------------------------ tokens refused */

static char *first_token(ses_store *store, const char *app, const char *user, int order)
{
    const ses_list_options options = {.size = sizeof options, .order = order, .limit = 1};
    ses_page *page = NULL;
    ses_error error;
    assert_ok(ses_list(store, app, user, &options, &page, &error));
    assert_non_null(ses_page_token(page));
    char *token = strdup(ses_page_token(page));
    assert_non_null(token);
    ses_page_close(page);
    return token;
}

static void check_token(ses_store *store, const char *app, const char *user, int order, const char *token,
                        int expected)
{
    const ses_list_options options = {.size = sizeof options, .order = order, .limit = 1, .token = token};
    ses_page *page = (ses_page *)(void *)&store;
    ses_error error;
    int code = ses_list(store, app, user, &options, &page, &error);

    if (code != expected)
        print_error("the token is %.200s\n", token);
    assert_code(expected, code);
    assert_int_equal(page != NULL, expected == SES_OK);
    if (page)
        ses_page_close(page);
}

TEST(tokens_of_other_lists_are_invalid)
{
    static const char *const lists[][2] = {{"app", NULL},        {"app", "alice"}, {"app", "bob"},
                                           {"ap", "palice"},     {"ap", NULL},     {"appalice", NULL},
                                           {"appalice", "alice"}};
    enum { LISTS = sizeof lists / sizeof lists[0] };

    for (size_t i = 0; i < LISTS; i++) {
        const char *user = lists[i][1] ? lists[i][1] : "somebody";
        for (int j = 0; j < 3; j++) {
            char name[8];
            snprintf(name, sizeof name, "s%d", j);
            (void)ses_create(fixture->store, &(ses_key){lists[i][0], user, name}, NULL, 0, NULL, NULL,
                             &error);
        }
    }
    for (size_t i = 0; i < LISTS * 3; i++) {
        char *token = first_token(fixture->store, lists[i / 3][0], lists[i / 3][1], (int)(i % 3));
        for (size_t j = 0; j < LISTS * 3; j++)
            check_token(fixture->store, lists[j / 3][0], lists[j / 3][1], (int)(j % 3), token,
                        i == j ? SES_OK : SES_INVALID);
        free(token);
    }
}

TEST(garbage_is_no_token)
{
    static const char *const garbage[] = {
        "",
        " ",
        "0",
        "1",
        "00",
        "token",
        "NULL",
        "\xFF",
        "\xE2\x82\xAC",
        "'; DROP TABLE sessions; --",
        "%s%n",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "000000000000000000000000000000000000000000000000000000000000000000",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    };

    make_sessions(fixture);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++)
        check_token(fixture->store, "app", NULL, SES_ORDER_NEWEST, garbage[i], SES_INVALID);
}

TEST(changed_tokens_are_invalid)
{
    make_sessions(fixture);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        char *token = first_token(fixture->store, "app", "alice", order);
        size_t len = strlen(token);
        for (size_t i = 0; i < len; i++) {
            char before = token[i];
            for (const char *other = "0123456789abcdefABCDEFxz /-\x80"; *other; other++) {
                if (*other != before) {
                    token[i] = *other;
                    check_token(fixture->store, "app", "alice", order, token, SES_INVALID);
                }
            }
            token[i] = '\0'; /* truncated */
            check_token(fixture->store, "app", "alice", order, token, SES_INVALID);
            token[i] = before;
        }
        for (size_t i = 0; i + 1 < len; i++) {
            char one = token[i];
            if (one != token[i + 1]) {
                token[i] = token[i + 1];
                token[i + 1] = one;
                check_token(fixture->store, "app", "alice", order, token, SES_INVALID);
                token[i + 1] = token[i];
                token[i] = one;
            }
        }
        check_token(fixture->store, "app", "alice", order, token, SES_OK); /* as it was, it is good */
        free(token);
    }
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t decode(const char *token, unsigned char *bytes)
{
    size_t count = 0;
    unsigned held = 0;

    for (size_t i = 0; token[i]; i++) {
        held = held << 6 | (unsigned)(strchr(digits, token[i]) - digits);
        if (i % 4 > 0)
            bytes[count++] = (unsigned char)(held >> (6 - i % 4 * 2));
    }
    return count;
}

static void encode(const unsigned char *bytes, size_t count, char *token)
{
    unsigned held = 0;

    for (size_t i = 0; i < count; i++) {
        held = held << 8 | bytes[i];
        *token++ = digits[held >> (i % 3 * 2 + 2) & 63];
        if (i % 3 == 2)
            *token++ = digits[held & 63];
    }
    if (count % 3 > 0)
        *token++ = digits[held << (6 - count % 3 * 2) & 63];
    *token = '\0';
}

/* The sum of a token (32-bit FNV-1a, after the first byte) is not keyed: whoever has a token can make
 * another. */
static char *forge_last_byte(const char *token, unsigned char last)
{
    const uint32_t prime = 16777619;
    const uint32_t inverse = 0x359C449B; /* of the prime, modulo 2^32 */
    unsigned char bytes[2048];
    char *forged = malloc(strlen(token) + 1);
    size_t count = decode(token, bytes);
    uint32_t sum = 0;

    assert_non_null(forged);
    for (int i = 1; i <= 4; i++)
        sum = sum << 8 | bytes[i];
    sum = ((sum * inverse) ^ bytes[count - 1] ^ last) * prime;
    for (int i = 4; i >= 1; i--, sum >>= 8)
        bytes[i] = (unsigned char)sum;
    bytes[count - 1] = last;
    encode(bytes, count, forged);
    return forged;
}

TEST(forged_tokens_lead_to_ids_only)
{
    static const unsigned char bad[] = {0x00, 0x80, 0xC3, 0xFF};

    make_sessions(fixture);
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        char *token = first_token(fixture->store, "app", "alice", order);
        char *other = forge_last_byte(token, 'x');
        check_token(fixture->store, "app", "alice", order, other, SES_OK);
        free(other);
        for (size_t i = 0; i < sizeof bad; i++) {
            char *forged = forge_last_byte(token, bad[i]);
            check_token(fixture->store, "app", "alice", order, forged, SES_INVALID);
            free(forged);
        }
        free(token);
    }
}

TEST(lengthened_and_huge_tokens_are_invalid)
{
    const size_t huge = (size_t)1 << 20;
    char *text = malloc(huge + 1);

    make_sessions(fixture);
    assert_non_null(text);
    char *token = first_token(fixture->store, "app", NULL, SES_ORDER_NEWEST);
    size_t len = strlen(token);
    for (size_t more = 1; len + more <= huge; more = more * 2 + 1) {
        memcpy(text, token, len);
        memset(text + len, '0', more);
        text[len + more] = '\0';
        check_token(fixture->store, "app", NULL, SES_ORDER_NEWEST, text, SES_INVALID);
        text[len + more - 1] = '\0';
        check_token(fixture->store, "app", NULL, SES_ORDER_NEWEST, text, more == 1 ? SES_OK : SES_INVALID);
    }
    free(token);
    free(text);
}

TEST(tokens_of_the_longest_ids_are_good)
{
    char names[4][SES_ID_MAX + 1];
    struct walk walk;

    for (int i = 0; i < 4; i++) {
        memset(names[i], 'x', SES_ID_MAX);
        names[i][SES_ID_MAX - 1] = (char)('a' + i);
        names[i][SES_ID_MAX] = '\0';
        create(fixture->store, names[0], names[i]);
    }
    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
        for (int whole_app = 0; whole_app <= 1; whole_app++) {
            walk_start(&walk, fixture->store, whole_app ? NULL : names[0], order, 1);
            while (!walk.ended)
                walk_page(&walk);
            assert_int_equal(walk.count, 4);
        }
    }
}

TEST(token_goes_with_any_limit)
{
    struct walk walk;

    make_sessions(fixture);
    walk_start(&walk, fixture->store, "alice", SES_ORDER_NEWEST, 1);
    walk_page(&walk);
    walk.options.limit = 7;
    walk_page(&walk);
    walk.options.limit = 0;
    walk_page(&walk);
    assert_true(walk.ended);
    assert_int_equal(walk.count, SESSIONS / 2);
    assert_string_equal(walk.seen[1], "s36");
    assert_string_equal(walk.seen[8], "s22");
}
