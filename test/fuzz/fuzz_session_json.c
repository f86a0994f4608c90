/*
 * The JSON of a session: whatever the text, it is loaded or refused with a message, the store stays sound,
 * and the JSON of what was loaded loads as the same session.
 */
#include "fuzz.h"

static const ses_key key = {"app", "user", "session"};

static int load(ses_store *store, const char *json, size_t len, unsigned flags)
{
    const ses_load_options options = {.size = sizeof options, .flags = flags};
    ses_error error;
    int code = ses_load_json(store, &key, json, len, &options, NULL, &error);

    must_tell(code, &error);
    return code;
}

static void must_be_sound(ses_store *store)
{
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    int64_t problems = -1;

    must(ses_store_check(store, &options, &problems, NULL) == SES_OK);
    must(problems == 0);
}

/* The times of an event without one are the clock's: it has them in its JSON, so that the second loading
 * knows them. */
static void must_load_again(ses_store *store)
{
    ses_session *session = NULL;
    char *json = NULL;
    char *again = NULL;
    size_t len = 0;
    size_t again_len = 0;

    must(ses_get(store, &key, NULL, &session, NULL) == SES_OK);
    must(ses_session_json(session, &json, &len, NULL) == SES_OK);
    ses_session_close(session);
    must(ses_delete(store, &key, NULL, NULL, NULL) == SES_OK);
    must(load(store, json, len, 0) == SES_OK);
    must(ses_get(store, &key, NULL, &session, NULL) == SES_OK);
    must(ses_session_json(session, &again, &again_len, NULL) == SES_OK);
    must(again_len == len && memcmp(again, json, len) == 0);
    ses_session_close(session);
    ses_free(again);
    ses_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ses_store *store;

    if (!store)
        store = fuzz_store();
    if (load(store, (const char *)data, size, 0) >= 0) {
        if (size % 16 == 0)
            must_be_sound(store);
        must_load_again(store);
        must(ses_delete(store, &key, NULL, NULL, NULL) == SES_OK);
    }
    return 0;
}
