/* Translates failures of the server, or of the connection to it, into codes. */
#include <string.h>

#include "base/error.h"
#include "storage/postgres/connection/connection.h"

/* By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), whole or just its class, the
 * first two letters. The first match counts. */
struct meaning {
    const char *state;
    int code;
    bool again;       /* the transaction may succeed if it is run again */
    const char *hint; /* or NULL */
};

/* A pooler in transaction mode may give each transaction another connection. */
#define USE_UNPREPARED                                                                                       \
    ": a pooler does not keep prepared statements: set ses_postgres_options.unprepared, or use its session " \
    "mode"
#define USE_GRANTS                                                                                        \
    ": the head of sql/postgres/0002_initial.sql says who creates a store, and which rights other roles " \
    "need"

#define USE_NEWER \
    ": the store uses this feature, which this seslite does not know: open it read-only, or use a newer one"

#define NO_APP ": the row of its app is missing"
#define NO_USER ": the row of its user is missing"

static const struct meaning meanings[] = {
    {"40001", SES_BUSY, true, NULL},              /* serialization failure */
    {"40P01", SES_BUSY, true, NULL},              /* deadlock */
    {"23505", SES_CORRUPT, true, NULL},           /* another call has added this row; else damage */
    {"23502", SES_CORRUPT, true, NULL},           /* another call has deleted the owner; else damage */
    {"55P03", SES_BUSY, true, NULL},              /* lock timeout */
    {"53300", SES_BUSY, true, NULL},              /* too many connections */
    {"22012", JOB_UNSUITED, false, NULL},         /* a guard divides by zero */
    {"22003", SES_CORRUPT, false, NULL},          /* a number is out of range */
    {"57P0", SES_IO, true, NULL},                 /* the server shuts down, has crashed, or is starting */
    {"57014", SES_BUSY, false, NULL},             /* cancelled by somebody, or by a limit of the server */
    {"53100", SES_FULL, false, NULL},             /* the disk is full */
    {"53", SES_IO, false, NULL},                  /* out of resources */
    {"25006", SES_READONLY, false, NULL},         /* a standby, or a read-only transaction */
    {"42501", SES_READONLY, false, USE_GRANTS},   /* missing rights */
    {"26000", SES_MISUSE, false, USE_UNPREPARED}, /* no such prepared statement, */
    {"42P05", SES_MISUSE, false, USE_UNPREPARED}, /* or one of that name exists */
    {"42P01", SES_CORRUPT, false, NULL},          /* no such table, */
    {"42703", SES_CORRUPT, false, NULL},          /* column */
    {"42P02", SES_INTERNAL, false, NULL},         /* or parameter */
    {"3F000", SES_CORRUPT, false, NULL},          /* or schema */
    /* The store's own tables have no foreign keys, so this one belongs to another table. */
    {"23503", SES_CONSTRAINT, false, NULL},
    {"23", SES_CORRUPT, false, NULL},     /* other violations: existing rows are damaged */
    {"54", SES_LIMIT, false, NULL},       /* a limit of the server */
    {"58", SES_IO, false, NULL},          /* errors of the server's system */
    {"08", SES_IO, true, NULL},           /* errors of the connection */
    {"28", SES_CANTOPEN, false, NULL},    /* authentication */
    {"3D000", SES_CANTOPEN, false, NULL}, /* no such database */
    {"XX001", SES_CORRUPT, false, NULL},  /* damaged data */
    {"XX002", SES_CORRUPT, false, NULL},
};

/* Where the state is not enough, words in the message decide. "" means any state. */
static const struct {
    const char *words;
    struct meaning meaning;
} worded[] = {
    /* PgBouncer has one SQLSTATE for all messages of its own, and some come without. */
    {"statement pooling mode", {"", SES_MISUSE, false, ": use its session or transaction mode"}},
    /* begin_settings has met a feature. A value is the same in messages of every language. */
    {"\"feature ", {"22P02", SES_READONLY, false, USE_NEWER}},
};

/* Some states depend on the column that is NULL, and on the beginning of the name of its table, which may be
 * a partition. The session is locked, so nobody has deleted its owner meanwhile. */
static const struct {
    const char *table;
    const char *column;
    struct meaning meaning;
} by_column[] = {
    {"app_state", "app_id", {"23502", SES_CORRUPT, false, NO_APP}},
    {"user_state", "user_id", {"23502", SES_CORRUPT, false, NO_USER}},
};

static bool matches(const char *state, const struct meaning *meaning)
{
    return strncmp(state, meaning->state, strlen(meaning->state)) == 0;
}

/* The result may be NULL. */
static const struct meaning *meaning_of(const char *state, const char *text, const PGresult *result)
{
    const char *table = result ? PQresultErrorField(result, PG_DIAG_TABLE_NAME) : NULL;
    const char *column = result ? PQresultErrorField(result, PG_DIAG_COLUMN_NAME) : NULL;

    for (size_t i = 0; table && column && i < sizeof by_column / sizeof by_column[0]; i++) {
        if (matches(state, &by_column[i].meaning) && strcmp(column, by_column[i].column) == 0 &&
            strncmp(table, by_column[i].table, strlen(by_column[i].table)) == 0)
            return &by_column[i].meaning;
    }
    for (size_t i = 0; i < sizeof worded / sizeof worded[0]; i++) {
        if (matches(state, &worded[i].meaning) && strstr(text, worded[i].words))
            return &worded[i].meaning;
    }
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (matches(state, &meanings[i]))
            return &meanings[i];
    }
    return NULL;
}

void ses__pg_fail(struct pg *pg, const PGresult *result, const char *doing)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *severity = result ? PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED) : NULL;

    /* After some errors the server closes the connection. */
    if (PQstatus(pg->conn) == CONNECTION_BAD ||
        (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)))
        pg->base.lost = true;
    if (pg->base.code != SES_OK)
        return;
    if (!text)
        text = PQerrorMessage(pg->conn);
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n') /* libpq's messages end with a newline */
        len--;
    const struct meaning *meaning = meaning_of(state ? state : "", text, result);
    pg->base.code = meaning ? meaning->code : pg->base.lost ? SES_IO : SES_INTERNAL;
    pg->base.again = pg->base.lost || (meaning && meaning->again);
    (void)ses__error_set(&pg->base.error, pg->base.code, "%s: %s failed: %.*s%s%s%s%s", pg->base.db.name,
                         doing, (int)(len < 400 ? len : 400), text, state ? " (SQLSTATE " : "",
                         state ? state : "", state ? ")" : "", meaning && meaning->hint ? meaning->hint : "");
    if (state)
        (void)strncpy(pg->base.error.sqlstate, state, sizeof pg->base.error.sqlstate - 1);
    const char *constraint = result ? PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME) : NULL;
    (void)strncpy(pg->constraint, constraint ? constraint : "", sizeof pg->constraint - 1);
}
