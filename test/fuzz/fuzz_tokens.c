/*
 * The short texts that a program takes from its clients: list and search tokens, places of followers, ids,
 * labels, prefixes, words to search for, names of state keys. The first byte of the input says what the rest
 * is. The call accepts any text or refuses it with a message, and finds what it has stored.
 */
#include "fuzz.h"

#include "base/memory.h"
#include "seslite_erase.h"
#include "seslite_search.h"
#include "seslite_usage.h"
#include "session/token.h"

static const ses_key key = {"app", "user", "session"};

static ses_store *store_with_sessions(void)
{
    ses_store *store = fuzz_store();
    char id[16];

    for (int i = 0; i < 8; i++) {
        const ses_key one = {key.app, key.user, id};
        snprintf(id, sizeof id, i ? "session%d" : "session", i);
        must(ses_create(store, &one, NULL, 0, NULL, NULL, NULL) == SES_OK);
        must(ses_append_by_key(
                 store, &one,
                 "{\"content\":{\"parts\":[{\"text\":\"some w\\u00f6rds\"}]},\"modelVersion\":\"m\","
                 "\"usageMetadata\":{\"totalTokenCount\":1}}",
                 SES_NUL, NULL, NULL, NULL) == SES_OK);
    }
    must(ses_store_index(store, NULL, NULL, NULL) == SES_OK);
    return store;
}

static ses_store *store;
static ses_error error;
static char last_token[256];

static void keep_token(const char *token)
{
    snprintf(last_token, sizeof last_token, "%s", token ? token : "");
}

static int try_list_token(const char *text)
{
    const ses_list_options options = {.size = sizeof options, .limit = 2, .token = text};
    ses_page *page = NULL;
    int code = ses_list(store, key.app, key.user, &options, &page, &error);

    keep_token(page ? ses_page_token(page) : NULL);
    ses_page_close(page);
    return code;
}

static int try_oldest_token(const char *text)
{
    const ses_list_options options = {
        .size = sizeof options, .limit = 2, .order = SES_ORDER_OLDEST, .token = text};
    ses_page *page = NULL;
    int code = ses_list(store, key.app, NULL, &options, &page, &error);

    keep_token(page ? ses_page_token(page) : NULL);
    ses_page_close(page);
    return code;
}

static int try_search_token(const char *text)
{
    const ses_search_options options = {.size = sizeof options, .limit = 2, .token = text};
    const ses_key scope = {key.app, NULL, NULL};
    ses_hits *hits = NULL;
    int code = ses_store_search(store, &scope, "some", SES_NUL, &options, &hits, &error);

    keep_token(hits ? ses_hits_token(hits) : NULL);
    ses_hits_close(hits);
    return code;
}

static int try_usage_token(const char *text)
{
    const ses_usage_options options = {.size = sizeof options,
                                       .flags = SES_USAGE_BY_SESSION | SES_USAGE_BY_MODEL,
                                       .limit = 1,
                                       .token = text};
    ses_usage_rows *rows = NULL;
    int code = ses_store_usage(store, NULL, &options, &rows, &error);

    keep_token(rows ? ses_usage_rows_token(rows) : NULL);
    ses_usage_rows_close(rows);
    return code;
}

static int try_find_token(const char *text)
{
    const ses_find_options options = {.size = sizeof options, .limit = 1, .token = text};
    const ses_key scope = {key.app, key.user, NULL};
    ses_findings *findings = NULL;
    int code = ses_store_find(store, &scope, "some", SES_NUL, &options, &findings, &error);

    keep_token(findings ? ses_findings_token(findings) : NULL);
    ses_findings_close(findings);
    return code;
}

static int try_names(const char *text)
{
    const ses_names_options options = {.size = sizeof options, .limit = 2, .after = text};
    ses_names *names = NULL;
    int code = ses_list_users(store, key.app, &options, &names, &error);

    ses_names_close(names);
    return code;
}

static int follow(const ses_key *followed, const char *place)
{
    const ses_follow_options options = {.size = sizeof options, .place = place};
    const ses_event *event = NULL;
    ses_follower *follower = NULL;
    int code = ses_follower_open(store, followed, &options, &follower, &error);

    for (int i = 0; code >= 0 && i < 10; i++)
        if ((code = ses_follower_next(follower, 0, &event, &error)) == 0)
            break;
    keep_token(follower ? ses_follower_place(follower) : NULL);
    ses_follower_close(follower);
    return code;
}

static int try_place(const char *text)
{
    return follow(&key, text);
}

static int try_user_place(const char *text)
{
    return follow(&(ses_key){key.app, key.user, NULL}, text);
}

static int try_words(const char *text)
{
    ses_hits *hits = NULL;
    const ses_key scope = {key.app, key.user, NULL};
    int code = ses_store_search(store, &scope, text, SES_NUL, NULL, &hits, &error);

    ses_hits_close(hits);
    return code;
}

static int try_filter(const char *text)
{
    const char *equals = strchr(text, '=');
    const ses_filter filter = {.size = sizeof filter,
                               .label = equals ? "l" : NULL,
                               .label_value = equals ? equals + 1 : NULL,
                               .id_prefix = equals ? NULL : text};
    int64_t count = 0;

    return ses_list_count(store, key.app, key.user, &filter, NULL, &count, &error);
}

static int try_label(const char *text)
{
    const ses_label label = {"l", text};
    ses_session *session = NULL;
    int code = ses_labels_set_by_key(store, &key, &label, 1, NULL, &error);

    if (code >= 0) {
        must(ses_get(store, &key, NULL, &session, NULL) == SES_OK);
        const char *stored = ses_session_label_value(session, "l");
        must(stored && strcmp(stored, text) == 0);
        ses_session_close(session);
    }
    return code;
}

static int try_label_name(const char *text)
{
    const ses_label labels[] = {{text, "v"}, {text, NULL}};
    int code = ses_labels_set_by_key(store, &key, labels, 1, NULL, &error);

    if (code >= 0)
        must(ses_labels_set_by_key(store, &key, labels + 1, 1, NULL, NULL) >= 0);
    return code;
}

static int try_title(const char *text)
{
    return ses_title_set_by_key(store, &key, text, NULL, &error);
}

static int try_id(const char *text)
{
    const ses_key made = {"made", "user", text};
    ses_session *session = NULL;
    int code = ses_create(store, &made, NULL, 0, NULL, &session, &error);

    if (code >= 0) {
        must(strcmp(ses_session_id(session), text) == 0);
        ses_session_close(session);
        must(ses_delete(store, &made, NULL, NULL, NULL) == SES_OK);
    }
    return code;
}

static int try_state_name(const char *text)
{
    char *json = NULL;
    int code = ses_state_get_by_key(store, &key, text, NULL, &json, NULL, &error);

    must((code == SES_OK) == (json != NULL));
    ses_free(json);
    return code;
}

static int try_delta(const char *text)
{
    return ses_shared_state_change(store, "shared", "user", text, SES_NUL, NULL, &error);
}

typedef int try_text(const char *text);

/* ------------------------------------------------------------------------------ tokens with the right sum */

static size_t decode(const char *text, uint8_t *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    size_t len = 0;

    for (size_t i = 0; text[i]; i++) {
        const char *digit = strchr(digits, text[i]);
        must(digit != NULL);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4 != 0)
            bytes[len++] = (uint8_t)(bits >> (6 - i % 4 * 2));
    }
    return len;
}

/* The sum is not keyed: whoever has a real token finds what it begins with, by hashing backwards. */
static uint32_t owner_of(const char *token)
{
    enum { SUM = 1, CONTENT = 5 };
    const uint32_t inverse_prime = UINT32_C(0x359C449B);
    uint8_t bytes[sizeof last_token];
    size_t len = decode(token, bytes);
    uint32_t hash = 0;

    must(len > CONTENT);
    for (int i = SUM; i < CONTENT; i++)
        hash = hash << 8 | bytes[i];
    while (len-- > CONTENT)
        hash = hash * inverse_prime ^ bytes[len];
    return hash;
}

/* The first byte says of which kind the token is, the others are its content. */
static int try_forged(const uint8_t *data, size_t size)
{
    static try_text *const kinds[] = {try_list_token, try_oldest_token, try_search_token, try_usage_token,
                                      try_place,      try_user_place,   try_find_token};
    try_text *const kind = kinds[data[0] % (sizeof kinds / sizeof kinds[0])];
    ses_allocator allocator;
    struct buffer bytes;

    ses__memory_default(&allocator);
    must(kind(NULL) >= 0);
    const uint32_t owner = owner_of(last_token);
    ses__token_begin(&bytes, &allocator);
    ses__buffer_add(&bytes, (const char *)data + 1, size - 1);
    char *token = ses__token_end(&bytes, owner);
    must(token != NULL);
    int code = kind(token);
    ses__memory_free(&allocator, token);
    return code;
}

static try_text *const tries[] = {try_list_token, try_oldest_token, try_search_token, try_usage_token,
                                  try_names,      try_place,        try_words,        try_filter,
                                  try_label,      try_label_name,   try_title,        try_id,
                                  try_state_name, try_delta,        try_find_token};
enum { TRIES = sizeof tries / sizeof tries[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size, 1};

    if (!store)
        store = store_with_sessions();
    if (size < 2)
        return 0;
    char *text = fuzz_take_line(&input);
    const size_t kind = data[0] % (TRIES + 1);
    error = (ses_error){.code = 0};
    int code = kind < TRIES ? tries[kind](text) : try_forged(data + 1, size - 1);
    must_tell(code, &error);
    must(code != SES_MISUSE && code != SES_CORRUPT && code != SES_NOMEM);
    free(text);
    return 0;
}
