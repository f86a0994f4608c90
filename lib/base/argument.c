#include "base/argument.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

int ses__check_argument(const void *argument, const char *what, ses_error *error)
{
    return argument ? SES_OK : ses__error_set(error, SES_MISUSE, "the argument `%s` is NULL", what);
}

int ses__check_output(void *output, const char *what, ses_error *error)
{
    void *const nothing = NULL;

    if (!output)
        return ses__check_argument(output, what, error);
    ses__error_clear(error);
    memcpy(output, &nothing, sizeof nothing); /* POSIX: all pointers to objects have one representation */
    return SES_OK;
}

int ses__check_span(const char *text, size_t len, const char *what, struct span *span, ses_error *error)
{
    int code = ses__check_argument(text, what, error);
    if (code == SES_OK)
        *span = (struct span){text, len == SES_NUL ? strlen(text) : len};
    return code;
}

int ses__check_flags(unsigned flags, unsigned known, const char *what, ses_error *error)
{
    return (flags & ~known) == 0 ? SES_OK
                                 : ses__error_set(error, SES_MISUSE, "%s: 0x%x is not a flag of this version",
                                                  what, flags & ~known);
}

/* Returns the first member of every options struct and of every struct for an output. */
static size_t stated_size(const void *given)
{
    size_t size;

    memcpy(&size, given, sizeof size);
    return size;
}

int ses__check_size(const void *given, const char *what, ses_error *error)
{
    return stated_size(given) > sizeof(size_t)
               ? SES_OK
               : ses__error_set(error, SES_MISUSE, "%s: the member `size` is not set to sizeof the struct",
                                what);
}

void ses__give_output(void *output, const void *filled, size_t filled_size)
{
    const size_t stated = stated_size(output);
    const size_t size = stated < filled_size ? stated : filled_size;

    memcpy((char *)output + sizeof size, (const char *)filled + sizeof size, size - sizeof size);
    memset((char *)output + size, 0, stated - size);
}

int ses__take_options(void *own, size_t own_size, const void *given, const char *what, ses_error *error)
{
    memset(own, 0, own_size);
    int code = given ? ses__check_size(given, what, error) : SES_OK;
    if (!given || code != SES_OK)
        return code;
    const size_t size = stated_size(given);
    const char *bytes = given;
    for (size_t i = own_size; i < size; i++) {
        if (bytes[i] != 0)
            return ses__error_set(error, SES_MISUSE, "%s: members are set that this version does not have",
                                  what);
    }
    memcpy(own, given, size < own_size ? size : own_size);
    return SES_OK;
}

int ses__check_id(const char *id, const char *what, ses_error *error)
{
    size_t len = id ? strnlen(id, SES_ID_MAX + 1) : 0;
    int code = ses__check_argument(id, what, error);

    if (code == SES_OK && (len == 0 || len > SES_ID_MAX))
        code = ses__error_set(error, SES_INVALID, "the %s id is %s; it must have 1 to %d bytes", what,
                              len == 0 ? "empty" : "too long", SES_ID_MAX);
    else if (code == SES_OK && !ses__utf8_valid(id, len))
        code = ses__error_set(error, SES_INVALID, "the %s id is not valid UTF-8", what);
    return code;
}

int ses__take_flagged(void *own, size_t own_size, const void *given, unsigned known, const char *what,
                      ses_error *error)
{
    unsigned flags;
    int code = ses__take_options(own, own_size, given, what, error);

    memcpy(&flags, (const char *)own + sizeof(size_t), sizeof flags);
    return code == SES_OK ? ses__check_flags(flags, known, what, error) : code;
}
