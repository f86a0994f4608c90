#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Drops bytes that are not valid UTF-8: a quoted text may be cut in the middle of a character, or not be
 * UTF-8 at all. */
static void drop_torn_characters(char *text)
{
    const char *from = text;
    const char *end = text + strlen(text);
    char *to = text;

    while (from < end) {
        size_t len = ses__utf8_character(from, end);
        memmove(to, from, len);
        to += len;
        from += len ? len : 1;
    }
    *to = '\0';
}

void ses__error_clear(ses_error *error)
{
    if (error) {
        error->code = SES_OK;
        error->version = -1;
        error->engine_code = 0;
        error->sqlstate[0] = '\0';
        error->offset = -1;
        error->index = -1;
        memset(error->reserved, 0, sizeof error->reserved);
        error->message[0] = '\0';
    }
}

static void error_write(ses_error *error, int code, int64_t offset, const char *format, va_list arguments)
{
    ses__error_clear(error);
    error->code = code;
    error->offset = offset;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0)
        error->message[0] = '\0';
    drop_torn_characters(error->message);
}

int ses__error_set(ses_error *error, int code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error_write(error, code, -1, format, arguments);
        va_end(arguments);
    }
    return code;
}

int ses__error_at(ses_error *error, int code, size_t offset, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error_write(error, code, (int64_t)offset, format, arguments);
        va_end(arguments);
    }
    return code;
}

int ses__error_nomem(ses_error *error)
{
    return ses__error_set(error, SES_NOMEM, "out of memory");
}

int ses__error_called(ses_error *error, int result, int max, const ses_error *own, const char *does)
{
    const bool is_code = strcmp(ses_code_name(result), "?") != 0;
    const int code = result > max ? SES_MISUSE : is_code ? result : SES_IO;

    if (result >= 0 && result <= max)
        return result;
    if (result > max || (!is_code && !own->message[0]))
        return ses__error_set(error, code, "the function that %s returned %d", does, result);
    if (!own->message[0])
        return ses__error_set(error, code, "the function that %s has ended the call", does);
    if (error) {
        *error = *own;
        error->code = code;
    }
    return code;
}

void ses__error_prefix(ses_error *error, const char *format, ...)
{
    char message[sizeof error->message];
    va_list arguments;

    if (!error)
        return;
    va_start(arguments, format);
    int len = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (len >= 0 && (size_t)len < sizeof message) {
        snprintf(message + len, sizeof message - (size_t)len, "%s", error->message);
        memcpy(error->message, message, sizeof message);
        drop_torn_characters(error->message);
    }
}

/* -------------------------------------------------------------------------------------------------- codes */

struct code_entry {
    int code;
    const char *name;
    const char *text;
};

static const struct code_entry code_entries[] = {
    {SES_OK, "SES_OK", "success"},
    {SES_PARTIAL, "SES_PARTIAL", "success: a partial event, so nothing was stored"},
    {SES_DUPLICATE, "SES_DUPLICATE", "success: the event was already stored"},
    {SES_EXISTING, "SES_EXISTING", "success: the session already existed"},
    {SES_ROW, "SES_ROW", "success: an event was read"},
    {SES_ABSENT, "SES_ABSENT", "success: the state key does not exist"},
    {SES_UNCHANGED, "SES_UNCHANGED", "success: nothing had to change"},
    {SES_MORE, "SES_MORE", "success: one step is done, and more remain"},
    {SES_RESET, "SES_RESET", "success: followed events were removed; read the session again"},
#define CODE_ENTRY(name, number, text) {SES_##name, "SES_" #name, text},
    SES_CODES(CODE_ENTRY)
#undef CODE_ENTRY
};

static const struct code_entry *code_find(int code)
{
    static const struct code_entry unknown = {0, "?", "not a code of seslite"};

    for (size_t i = 0; i < sizeof code_entries / sizeof code_entries[0]; i++) {
        if (code_entries[i].code == code)
            return &code_entries[i];
    }
    return &unknown;
}

const char *ses_code_name(int code)
{
    return code_find(code)->name;
}

const char *ses_code_text(int code)
{
    return code_find(code)->text;
}
