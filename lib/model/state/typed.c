#include "model/state/typed.h"

#include "json/decimal.h"
#include "base/error.h"
#include "json/reader.h"
#include "base/memory.h"

/* Also removes the white space around the value, because a value written by hand can have some. */
static int check_type(struct span *value, const char *name, enum json_type type, ses_error *error)
{
    *value = ses__json_trim(*value);
    enum json_type is = ses__json_type_of(*value);

    return is == type ? SES_OK
                      : ses__error_set(error, SES_TYPE, "the value of \"%.200s\" is %s, not %s", name,
                                       ses__json_type_name(is), ses__json_type_name(type));
}

int ses__typed_int64(struct span value, const char *name, int64_t *number, ses_error *error)
{
    int64_t exact = 0;
    int code = check_type(&value, name, JSON_NUMBER, error);

    if (code != SES_OK)
        return code;
    switch (ses__decimal_round(value, 0, &exact)) {
    case DECIMAL_INEXACT:
        return ses__error_set(error, SES_TYPE, "the value of \"%.200s\" is not an integer", name);
    case DECIMAL_TOO_LARGE:
        return ses__error_set(error, SES_RANGE, "the value of \"%.200s\" does not fit into 64 bits", name);
    default:
        *number = exact;
        return SES_OK;
    }
}

int ses__typed_double(struct span value, const char *name, double *number, ses_error *error)
{
    bool nomem = false;
    int code = check_type(&value, name, JSON_NUMBER, error);

    if (code != SES_OK)
        return code;
    if (ses__decimal_to_double(value, number, &nomem))
        return SES_OK;
    return nomem
               ? ses__error_nomem(error)
               : ses__error_set(error, SES_RANGE, "the value of \"%.200s\" is larger than any double", name);
}

int ses__typed_bool(struct span value, const char *name, int *flag, ses_error *error)
{
    int code = check_type(&value, name, JSON_BOOL, error);
    if (code == SES_OK)
        *flag = value.ptr[0] == 't';
    return code;
}

static int lone_surrogate(const char *name, ses_error *error)
{
    return ses__error_set(error, SES_RANGE,
                          "the value of \"%.200s\" holds a lone surrogate, which UTF-8 cannot express", name);
}

int ses__typed_text(struct span value, const char *name, const ses_allocator *allocator, char **text,
                    size_t *len, ses_error *error)
{
    int code = check_type(&value, name, JSON_STRING, error);

    if (code != SES_OK)
        return code;
    char *plain = ses__memory_new(allocator, value.len);
    if (!plain)
        return ses__error_nomem(error);
    if (!ses__json_unescape(ses__json_string_of(value), plain, len)) {
        ses__memory_free(allocator, plain);
        return lone_surrogate(name, error);
    }
    plain[*len] = '\0';
    *text = plain;
    return SES_OK;
}

int ses__typed_add_text(struct span value, const char *name, struct buffer *buffer, ses_error *error)
{
    int code = check_type(&value, name, JSON_STRING, error);

    if (code == SES_OK && !ses__json_add_text(buffer, ses__json_string_of(value)))
        code = lone_surrogate(name, error);
    return code;
}
