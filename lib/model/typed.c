#include "model/typed.h"

#include "json/decimal.h"
#include "base/error.h"
#include "json/reader.h"
#include "base/memory.h"

/* Takes off the white space around the value as well: one that was written by hand can have some. */
static int check_type(struct span *value, const char *name, enum json_type type, ses_error *error)
{
    static const char *const names[] = {
        [JSON_NONE] = "not JSON",    [JSON_NULL] = "null",       [JSON_BOOL] = "true or false",
        [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };

    *value = ses__json_trim(*value);
    enum json_type is = ses__json_type_of(*value);

    return is == type ? SES_OK
                      : ses__error_set(error, SES_TYPE, "the value of \"%.200s\" is %s, not %s", name,
                                       names[is], names[type]);
}

int ses__typed_int64(struct span value, const char *name, int64_t *number, ses_error *error)
{
    int code = check_type(&value, name, JSON_NUMBER, error);

    if (code == SES_OK) {
        int64_t exact = 0;
        switch (ses__decimal_round(value, 0, &exact)) {
        case DECIMAL_EXACT:
            *number = exact;
            break;
        case DECIMAL_INEXACT:
            code = ses__error_set(error, SES_TYPE, "the value of \"%.200s\" is not an integer", name);
            break;
        case DECIMAL_TOO_LARGE:
            code =
                ses__error_set(error, SES_RANGE, "the value of \"%.200s\" does not fit into 64 bits", name);
            break;
        }
    }
    return code;
}

int ses__typed_double(struct span value, const char *name, double *number, ses_error *error)
{
    int code = check_type(&value, name, JSON_NUMBER, error);

    if (code == SES_OK) {
        bool nomem = false;
        bool finite = ses__decimal_to_double(value, number, &nomem);
        if (nomem)
            code = ses__error_nomem(error);
        else if (!finite)
            code =
                ses__error_set(error, SES_RANGE, "the value of \"%.200s\" is larger than any double", name);
    }
    return code;
}

int ses__typed_bool(struct span value, const char *name, int *flag, ses_error *error)
{
    int code = check_type(&value, name, JSON_BOOL, error);
    if (code == SES_OK)
        *flag = value.ptr[0] == 't';
    return code;
}

int ses__typed_text(struct span value, const char *name, const ses_allocator *allocator, char **text,
                    size_t *len, ses_error *error)
{
    int code = check_type(&value, name, JSON_STRING, error);
    char *plain = code == SES_OK ? ses__memory_new(allocator, value.len) : NULL;

    if (code == SES_OK && !plain)
        code = ses__error_nomem(error);
    if (code == SES_OK) {
        const struct json_string string = {{value.ptr + 1, value.len - 2}, true};
        if (ses__json_unescape(string, plain, len)) {
            plain[*len] = '\0';
            *text = plain;
        } else {
            ses__memory_free(allocator, plain);
            code = ses__error_set(
                error, SES_RANGE,
                "the value of \"%.200s\" holds a lone surrogate, which UTF-8 cannot express", name);
        }
    }
    return code;
}
