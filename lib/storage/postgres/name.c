/* What messages call a server's store. */
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/config.h"

/* What the string says of that keyword, or what the environment does; "" if neither. */
static const char *value_of(const PQconninfoOption *given, const PQconninfoOption *defaults,
                            const char *keyword)
{
    for (; given->keyword; given++) {
        if (strcmp(given->keyword, keyword) == 0 && given->val)
            return given->val;
    }
    for (; defaults && defaults->keyword; defaults++) {
        if (strcmp(defaults->keyword, keyword) == 0 && defaults->val)
            return defaults->val;
    }
    return "";
}

static int make_name(const PQconninfoOption *given, const PQconninfoOption *defaults, char **name,
                     ses_error *error)
{
    static const char format[] = "postgresql://%s:%s/%s";
    const char *host = value_of(given, defaults, "host");
    const char *port = value_of(given, defaults, "port");
    const char *database = value_of(given, defaults, "dbname");
    ses_allocator allocator;

    ses__memory_default(&allocator);
    const int len = snprintf(NULL, 0, format, host, port, database);
    *name = len > 0 ? ses__memory_text(&allocator, (size_t)len) : NULL;
    if (!*name)
        return ses__error_nomem(error);
    (void)snprintf(*name, (size_t)len + 1, format, host, port, database);
    return SES_OK;
}

/* May it have a password? libpq's message then quotes perhaps that. */
static bool may_have_password(const char *connection)
{
    const char *user = strstr(connection, "://");
    const char *host = user ? strrchr(user, '@') : NULL;

    return strstr(connection, "pass") || (host && memchr(user + 3, ':', (size_t)(host - user) - 3));
}

static int refuse_string(const char *connection, const char *message, ses_error *error)
{
    if (may_have_password(connection))
        return ses__error_set(
            error, SES_INVALID,
            "this is no connection string of PostgreSQL, such as "
            "postgresql://user@host/database; what is wrong with it is not told, since it may "
            "have a password");
    return ses__error_set(error, SES_INVALID, "this is no connection string of PostgreSQL: %.*s",
                          (int)strcspn(message, "\n"), message);
}

int ses__postgres_name(const char *connection, char **name, ses_error *error)
{
    char *message = NULL;
    PQconninfoOption *given = PQconninfoParse(connection, &message);
    PQconninfoOption *defaults = given ? PQconndefaults() : NULL;
    int code;

    if (given)
        code = make_name(given, defaults, name, error);
    else if (message)
        code = refuse_string(connection, message, error);
    else
        code = ses__error_nomem(error);
    PQconninfoFree(defaults);
    PQconninfoFree(given);
    PQfreemem(message);
    return code;
}
