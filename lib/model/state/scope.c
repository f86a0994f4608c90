#include "model/state/scope.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static const struct span prefixes[SCOPE_COUNT] = {[SCOPE_APP] = {"app:", 4},
                                                  [SCOPE_USER] = {"user:", 5},
                                                  [SCOPE_SESSION] = {"", 0},
                                                  [SCOPE_TEMP] = {"temp:", 5}};

struct span ses__scope_prefix(enum scope scope)
{
    return prefixes[scope];
}

bool ses__scope_is_shared(enum scope scope)
{
    return scope == SCOPE_APP || scope == SCOPE_USER;
}

/* Returns the only scope, other than the session's, that a name with this first byte can have. */
static enum scope scope_by_first(char first)
{
    return first == 'a' ? SCOPE_APP : first == 'u' ? SCOPE_USER : first == 't' ? SCOPE_TEMP : SCOPE_SESSION;
}

enum scope ses__scope_of(struct span name, struct span *key)
{
    enum scope scope = scope_by_first(name.len > 0 ? name.ptr[0] : '\0');

    if (name.len < prefixes[scope].len || memcmp(name.ptr, prefixes[scope].ptr, prefixes[scope].len) != 0)
        scope = SCOPE_SESSION;
    if (key)
        *key = (struct span){name.ptr + prefixes[scope].len, name.len - prefixes[scope].len};
    return scope;
}

int ses__scope_check_name(struct span name, ses_error *error)
{
    struct span key;

    (void)ses__scope_of(name, &key);
    if (key.len > SES_ID_MAX)
        return ses__error_set(
            error, SES_INVALID,
            "the state key \"%.40s...\" has %zu bytes after its prefix; at most %d are allowed", name.ptr,
            key.len, SES_ID_MAX);
    if (key.len && memchr(key.ptr, '\0', key.len))
        return ses__error_set(error, SES_INVALID, "the state key \"%s\" contains a NUL", name.ptr);
    return ses__utf8_valid(name.ptr, name.len)
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "a state key is not valid UTF-8");
}

bool ses__scope_is_tombstone(struct span value)
{
    /* Only this exact spelling counts: with an escape in it, it is an ordinary string. */
    return ses__span_is(value, TOMBSTONE_VALUE);
}
