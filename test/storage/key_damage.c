/*
 * A file with a key, one byte of which was changed: opening it, or reading all of it, returns CORRUPT or KEY,
 * or all is as it was. SESLITE_KEY_FLIPS says how many bytes are changed, 400 if it is not given.
 */
#include "key.h"

enum { SESSIONS = 5, EVENTS = 40 };

static void make_store(const char *path)
{
    char id[20];
    char event[300];
    ses_store *store = NULL;
    ses_error error;

    assert_ok(key_open(path, first_key, &store, &error));
    for (int i = 0; i < SESSIONS; i++) {
        snprintf(id, sizeof id, "session-%d", i);
        const ses_key key = {"app", "user", id};
        must_create(store, &key, "{\"user:name\":\"someone\"}");
        for (int k = 0; k < EVENTS; k++) {
            snprintf(event, sizeof event,
                     "{\"author\":\"user\",\"text\":\"%0100d\",\"actions\":{\"stateDelta\":{\"k%d\":%d}}}", k,
                     k % 5, k);
            must_append_by_key(store, &key, event);
        }
    }
    ses_close(store);
}

/* All sessions of a store as text, or why not. */
static int read_all(const char *path, struct text *all, ses_error *error)
{
    ses_store *store = NULL;
    int code = key_open(path, first_key, &store, error);

    for (int i = 0; i < SESSIONS && code >= 0; i++) {
        char id[20];
        ses_session *session = NULL;
        char *json = NULL;
        size_t len = 0;
        snprintf(id, sizeof id, "session-%d", i);
        code = ses_get(store, &(ses_key){"app", "user", id}, NULL, &session, error);
        if (code >= 0)
            code = ses_session_json(session, &json, &len, error);
        if (code >= 0)
            text_add(all, json, len);
        ses_free(json);
        ses_session_close(session);
    }
    ses_close(store);
    return code;
}

struct tally {
    int refused;
    int without_effect;
};

static void try_flip(const struct folder *folder, const struct text *before, char *bytes, size_t len,
                     size_t at, unsigned char by, struct tally *tally)
{
    struct text all = {NULL, 0};
    ses_error error;

    bytes[at] = (char)(bytes[at] ^ by);
    write_file(folder->path, bytes, len);
    bytes[at] = (char)(bytes[at] ^ by);
    const int code = read_all(folder->path, &all, &error);
    if (code != SES_CORRUPT && code != SES_KEY && code < 0)
        print_error("byte %zu by %d: %s %s\n", at, by, ses_code_name(code), error.message);
    assert_true(code == SES_CORRUPT || code == SES_KEY || code >= 0);
    if (code >= 0) {
        assert_int_equal(all.len, before->len);
        assert_memory_equal(all.data, before->data, before->len);
        tally->without_effect++;
    } else {
        tally->refused++;
    }
    free(all.data);
}

FOLDER_TEST(a_byte_that_was_changed_is_found)
{
    const char *given = getenv("SESLITE_KEY_FLIPS");
    const int flips = given ? atoi(given) : 400;
    struct text before = {NULL, 0};
    struct tally tally = {0, 0};
    uint64_t random = 88172645463325252u;
    size_t len = 0;

    key_need();
    make_store(folder->path);
    assert_true(read_all(folder->path, &before, &error) >= 0);
    char *bytes = support_read_file(folder->path, &len);
    for (int i = 0; i < flips; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        /* Each byte of the header, and then others. */
        const size_t at = i < 100 ? (size_t)i : (size_t)(random >> 8) % len;
        try_flip(folder, &before, bytes, len, at, (unsigned char)(1u << (random & 7)), &tally);
    }
    print_message("%d bytes: %d were found, %d had no effect\n", flips, tally.refused, tally.without_effect);
    assert_true(tally.refused > flips / 4);
    free(bytes);
    free(before.data);
}

/* Pages of another file with the same key, and older ones of the same file, are as good as any to the cipher.
 * Pages that change places are not. */
FOLDER_TEST(pages_do_not_change_places)
{
    enum { PAGE = 4096 };
    struct text all = {NULL, 0};
    char page[PAGE];
    size_t len = 0;

    key_need();
    make_store(folder->path);
    char *bytes = support_read_file(folder->path, &len);
    memcpy(page, bytes + PAGE, PAGE);
    for (size_t at = PAGE; at + 2 * PAGE <= len; at += PAGE)
        memcpy(bytes + at, bytes + at + PAGE, PAGE);
    memcpy(bytes + len - PAGE, page, PAGE);
    write_file(folder->path, bytes, len);
    assert_code(SES_CORRUPT, read_all(folder->path, &all, &error));
    free(all.data);
    free(bytes);
}
