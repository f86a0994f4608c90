/* What a failure of the server, or of the way to it, means for a caller. */
#include <string.h>

#include "base/error.h"
#include "storage/postgres/connection.h"

/* By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html): a whole one, or the two letters of its
 * class. The first that fits counts. */
struct meaning {
    const char *state;
    int code;
    bool again; /* it may go well when all is done again */
};

static const struct meaning meanings[] = {
    {"40001", SES_BUSY, true},      /* could not be serialized */
    {"40P01", SES_BUSY, true},      /* a deadlock */
    {"23505", SES_CORRUPT, true},   /* another has made the same row in between; else it is there again */
    {"23502", SES_CORRUPT, true},   /* another has deleted the user, or the app, in between; else the same */
    {"55P03", SES_BUSY, true},      /* a lock that is not available */
    {"53300", SES_BUSY, true},      /* too many connections */
    {"57P01", SES_IO, true},        /* the server is shut down, */
    {"57P02", SES_IO, true},        /* has crashed, */
    {"57P03", SES_IO, true},        /* or is starting */
    {"57014", SES_BUSY, false},     /* cancelled, by somebody or by a limit of the server */
    {"53100", SES_FULL, false},     /* the disk is full */
    {"53", SES_IO, false},          /* resources */
    {"25006", SES_READONLY, false}, /* a standby, or a transaction that may only read */
    {"42501", SES_READONLY, false}, /* no rights */
    {"42P01", SES_CORRUPT, false},  /* no such table, */
    {"42703", SES_CORRUPT, false},  /* column */
    {"42P02", SES_INTERNAL, false}, /* or parameter */
    {"3F000", SES_CORRUPT, false},  /* or schema */
    {"23", SES_CORRUPT, false},  /* the library keeps every constraint, so the rows that are there must not */
    {"54", SES_LIMIT, false},    /* beyond a limit of the server */
    {"58", SES_IO, false},       /* the server's system */
    {"08", SES_IO, true},        /* the connection */
    {"28", SES_CANTOPEN, false}, /* who it is */
    {"3D000", SES_CANTOPEN, false}, /* no such database */
    {"XX001", SES_CORRUPT, false},  /* damaged */
    {"XX002", SES_CORRUPT, false},
};

static const struct meaning *meaning_of(const char *state)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strncmp(state, meanings[i].state, strlen(meanings[i].state)) == 0)
            return &meanings[i];
    }
    return NULL;
}

void ses__pg_fail_as(struct pg *pg, int code, const char *doing)
{
    if (pg->code != SES_OK)
        return;
    pg->code = code;
    if (code == SES_NOMEM)
        (void)ses__error_nomem(&pg->error);
    else if (code == SES_INTERRUPTED)
        (void)ses__refuse_interrupted(doing, &pg->error);
    else
        (void)ses__error_set(&pg->error, code, "%s: %s was not answered within %lld ms", pg->base.name, doing,
                             (long long)(pg->base.timeout_us / 1000));
}

/* libpq's messages end with a newline. */
static int len_of(const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        len--;
    return (int)(len < 400 ? len : 400);
}

/* The server closes the connection after it. */
static bool is_last_word(const PGresult *result)
{
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    return severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

void ses__pg_fail(struct pg *pg, const PGresult *result, const char *doing)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const struct meaning *meaning = state ? meaning_of(state) : NULL;

    if (PQstatus(pg->conn) == CONNECTION_BAD || (result && is_last_word(result)))
        pg->lost = true;
    if (pg->code != SES_OK)
        return;
    if (!text)
        text = PQerrorMessage(pg->conn);
    pg->code = meaning ? meaning->code : pg->lost ? SES_IO : SES_INTERNAL;
    pg->again = pg->lost || (meaning && meaning->again);
    (void)ses__error_set(&pg->error, pg->code, "%s: %s failed: %.*s%s%s%s", pg->base.name, doing,
                         len_of(text), text, state ? " (SQLSTATE " : "", state ? state : "",
                         state ? ")" : "");
    if (state)
        (void)strncpy(pg->error.sqlstate, state, sizeof pg->error.sqlstate - 1);
}
