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

static void error_write(ses_error *error, int code, int64_t offset, const char *format, va_list arguments)
{
    error->code = code;
    error->version = -1;
    error->engine_code = 0;
    error->sqlstate[0] = '\0';
    error->offset = offset;
    error->index = -1;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0)
        error->message[0] = '\0';
    drop_torn_characters(error->message);
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
        error->message[0] = '\0';
    }
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

void ses__error_prefix(ses_error *error, const char *format, ...)
{
    if (error) {
        char message[sizeof error->message];
        va_list arguments;

        va_start(arguments, format);
        int len = vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        if (len >= 0 && (size_t)len < sizeof message) {
            snprintf(message + len, sizeof message - (size_t)len, "%s", error->message);
            memcpy(error->message, message, sizeof message);
            drop_torn_characters(error->message);
        }
    }
}
