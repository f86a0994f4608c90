/*
 * Redacting pieces that a text or a pattern finds: the first line says which, the second what, and the rest
 * is the text of an event and of a name in it. The event stays valid, what was searched for is no longer in
 * it, and the store stays sound.
 */
#include "fuzz.h"

#include "seslite_erase.h"
#include "text/find.h"

/* The C library compiles patterns, and takes long for long ones. */
enum { MAX_PATTERN = 24, MAX_TEXT = 400 };

static const ses_key key = {"app", "user", "session"};

static void append(ses_store *store, const char *text, size_t len)
{
    char *quoted = NULL;
    char event[40 * MAX_TEXT];

    if (ses_text_quote(store, text, len, &quoted, NULL, NULL) != SES_OK)
        return;
    snprintf(
        event, sizeof event,
        "{\"id\":\"e\",\"author\":\"a\",\"content\":{\"parts\":[{\"text\":%s},{\"functionCall\":{\"name\":\"f\","
        "\"args\":{\"a\":%s}}},{\"inlineData\":{\"mimeType\":\"t/t\",\"data\":\"YWJj\"}}]},\"errorMessage\":%s,"
        "\"actions\":{\"stateDelta\":{\"k\":%s,\"user:%s:%s}}}",
        quoted, quoted, quoted, quoted, quoted + 1, quoted);
    ses_free(quoted);
    (void)ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, NULL);
}

/* The text that was searched for is not in the event any more, unless the replacement can be a part of it. */
static void must_be_gone(ses_store *store, struct finder *finder)
{
    ses_content *content = NULL;
    char *json = NULL;
    size_t json_len = 0;
    size_t len = 0;
    size_t begin = 0;
    size_t end = 0;

    if (ses_event_get_by_key(store, &key, "e", NULL, NULL, &json, &json_len, NULL) != SES_OK)
        return;
    must(fuzz_is_utf8(json, json_len));
    must(ses_content_open(store, json, json_len, &content, NULL) == SES_OK);
    const char *text = ses_content_text(content, &len);
    if (finder->text && text && !strchr(finder->text, '[') && !strchr(finder->text, ']') &&
        !strchr(finder->text, 'x') && !strchr(finder->text, 'X'))
        must(finder_find(finder, text, len, 0, &begin, &end, NULL) == 0);
    ses_content_close(content);
    ses_free(json);
}

/* Nor is it in a name of the state, if names were to go. */
static void must_name_nothing(ses_store *store, struct finder *finder)
{
    ses_session *session = NULL;
    const char *name = NULL;
    const char *json = NULL;
    size_t len = 0;
    size_t begin = 0;
    size_t end = 0;

    must(ses_get(store, &key, NULL, &session, NULL) == SES_OK);
    for (size_t i = 0; i < ses_state_count(session); i++) {
        must(ses_state_at(session, i, &name, &json, &len, NULL) == SES_OK);
        must(finder_find(finder, name, strlen(name), 0, &begin, &end, NULL) == 0);
    }
    ses_session_close(session);
}

static void redact(struct finder *finder, const char *text, size_t len, unsigned flags)
{
    const ses_check_options check = {.size = sizeof check, .level = SES_CHECK_LOG};
    const ses_redact_options options = {
        .size = sizeof options, .flags = flags, .text = "[x]", .find = finder_find, .find_context = finder};
    ses_store *store = fuzz_store();
    ses_error error;
    int64_t problems = -1;

    ses_session_close(fuzz_session(store));
    append(store, text, len);
    int code = ses_redact_by_key(store, &key, NULL, 0, &options, NULL, &error);
    must_tell(code, &error);
    must(code != SES_MISUSE);
    if (code >= 0)
        must_be_gone(store, finder);
    if (code >= 0 && flags & SES_REDACT_NAMES)
        must_name_nothing(store, finder);
    must(ses_store_check(store, &check, &problems, NULL) == SES_OK && problems == 0);
    ses_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size, 0};
    char *kind = fuzz_take_line(&input);
    char *searched = fuzz_take_line(&input);
    const size_t at = input.at < size ? input.at : size;
    const bool is_pattern = kind[0] == 'p';
    struct finder finder;
    struct text why = {NULL, 0, 0};

    if (*searched && strlen(searched) <= MAX_PATTERN && size - at <= MAX_TEXT) {
        if (finder_begin(&finder, is_pattern ? NULL : searched, is_pattern ? searched : NULL,
                         strchr(kind, 'i') != NULL, &why)) {
            const unsigned flags = strchr(kind, 'n')   ? SES_REDACT_STATE | SES_REDACT_NAMES
                                   : strchr(kind, 's') ? SES_REDACT_STATE
                                                       : 0;
            redact(&finder, (const char *)data + at, size - at, flags);
            finder_end(&finder);
        } else {
            must(why.len > 0);
        }
    }
    text_free(&why);
    free(searched);
    free(kind);
    return 0;
}
