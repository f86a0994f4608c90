/*
 * The short texts that a program takes from its clients: list and search tokens, places of followers, ids, labels, prefixes,
 * words to search for, names of state keys. The first byte of the input says what the rest is. Whatever it is, the call
 * takes it or refuses it with a message, and what it stores it also finds.
 */
#include "fuzz.h"

#include "seslite_search.h"
#include "seslite_usage.h"

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

static int try_list_token(const char *text)
{
    const ses_list_options options = {.size = sizeof options, .limit = 2, .token = text};
    ses_page *page = NULL;
    int code = ses_list(store, key.app, key.user, &options, &page, &error);

    ses_page_close(page);
    return code;
}

static int try_oldest_token(const char *text)
{
    const ses_list_options options = {
        .size = sizeof options, .limit = 2, .order = SES_ORDER_OLDEST, .token = text};
    ses_page *page = NULL;
    int code = ses_list(store, key.app, NULL, &options, &page, &error);

    ses_page_close(page);
    return code;
}

static int try_search_token(const char *text)
{
    const ses_search_options options = {.size = sizeof options, .limit = 2, .token = text};
    const ses_key scope = {key.app, NULL, NULL};
    ses_hits *hits = NULL;
    int code = ses_store_search(store, &scope, "some", SES_NUL, &options, &hits, &error);

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

    ses_usage_rows_close(rows);
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

static int try_place(const char *text)
{
    const ses_follow_options options = {.size = sizeof options, .place = text};
    const ses_key user = {key.app, key.user, NULL};
    const ses_event *event = NULL;
    ses_follower *follower = NULL;
    int code = ses_follower_open(store, text[0] == 'u' ? &user : &key, &options, &follower, &error);

    for (int i = 0; code >= 0 && i < 10; i++)
        if ((code = ses_follower_next(follower, 0, &event, &error)) == 0)
            break;
    ses_follower_close(follower);
    return code;
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

static try_text *const tries[] = {try_list_token, try_oldest_token, try_search_token, try_usage_token,
                                  try_names,      try_place,        try_words,        try_filter,
                                  try_label,      try_label_name,   try_title,        try_id,
                                  try_state_name, try_delta};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size, 1};

    if (!store)
        store = store_with_sessions();
    if (size == 0)
        return 0;
    char *text = fuzz_take_line(&input);
    error = (ses_error){.code = 0};
    int code = tries[data[0] % (sizeof tries / sizeof tries[0])](text);
    must_tell(code, &error);
    must(code != SES_MISUSE && code != SES_CORRUPT && code != SES_NOMEM);
    free(text);
    return 0;
}
