/* Translates failures of the server, or of the connection to it, into codes. */
#include <errmsg.h>
#include <mysqld_error.h>
#include <string.h>

#include "base/error.h"
#include "storage/mysql/connection/connection.h"

#define USE_GRANTS                                                                                     \
    ": the head of sql/mysql/0002_initial.sql says who creates a store, and which rights other users " \
    "need"
#define USE_NEWER \
    ": the store uses a feature that this seslite does not know: open it read-only, or use a newer one"
#define USE_PRIMARY ": the server is read-only, as a replica is"
#define NO_APP ": the row of its app is missing"
#define NO_USER ": the row of its user is missing"
#define USE_PACKET ": raise the server's max_allowed_packet, or write less at once"

/* Errors that one of the two servers has, and the headers of the other do not name. */
enum {
    DISK_FULL_WRITE = 3,
    TABLESPACE_MISSING = 1812,
    READ_ONLY_MODE = 1836,
    INNODB_READ_ONLY = 1874,
    TEMP_FILE_WRITE_FAILURE = 1878,
    CONNECTION_KILLED = 1927,
    NO_SUCH_TABLE_IN_ENGINE = 1932,
    STATEMENT_TIMEOUT = 1969,
    QUERY_TIMEOUT = 3024,
    REPLICATION_ROLLBACK = 3101,
    MYSQL_CHECK_VIOLATED = 3819,
    CHECK_VIOLATED = 4025,
    CLIENT_IDLE = 4031
};

/* By the number of the error (https://mariadb.com/kb/en/mariadb-error-code-reference). */
struct meaning {
    unsigned number;
    int code;
    bool again;       /* the transaction may succeed if it is run again */
    bool lost;        /* the connection is over */
    const char *hint; /* or NULL */
};

static const struct meaning meanings[] = {
    {ER_LOCK_DEADLOCK, SES_BUSY, true, false, NULL},
    {ER_LOCK_WAIT_TIMEOUT, SES_BUSY, true, false, NULL},
    {REPLICATION_ROLLBACK, SES_BUSY, true, false, NULL}, /* another member of a group was first */
    {ER_CHECKREAD, SES_BUSY, true, false, NULL},         /* the same, where a snapshot is isolated */
    {ER_TABLE_DEF_CHANGED, SES_BUSY, true, false, NULL}, /* somebody alters a table, or has just done so */
    {ER_NEED_REPREPARE, SES_BUSY, true, false, NULL},
    {ER_DUP_ENTRY, SES_CORRUPT, true, false, NULL},      /* another call has added this row; else damage */
    {ER_BAD_NULL_ERROR, SES_CORRUPT, true, false, NULL}, /* another call has deleted the owner; else damage */
    {ER_DATA_OUT_OF_RANGE, SES_CORRUPT, false, false, NULL},
    {ER_CON_COUNT_ERROR, SES_BUSY, true, true, NULL},
    {ER_TOO_MANY_USER_CONNECTIONS, SES_BUSY, true, true, NULL},
    {ER_USER_LIMIT_REACHED, SES_BUSY, false, false, NULL},
    {ER_QUERY_INTERRUPTED, SES_BUSY, false, false, NULL}, /* by somebody, or by a limit of the server */
    {STATEMENT_TIMEOUT, SES_BUSY, false, false, NULL},
    {QUERY_TIMEOUT, SES_BUSY, false, false, NULL},
    {ER_MAX_PREPARED_STMT_COUNT_REACHED, SES_BUSY, true, false, NULL},
    {ER_UNKNOWN_STMT_HANDLER, SES_IO, true, true, NULL}, /* a proxy has changed the server's connection */
    {ER_UNKNOWN_COM_ERROR, SES_IO, true, true, NULL},    /* this node of a cluster is not ready */
    {ER_ERROR_DURING_COMMIT, SES_IO, true, true, NULL},  /* so it may be committed, or not */
    {ER_SERVER_SHUTDOWN, SES_IO, true, true, NULL},
    {CLIENT_IDLE, SES_IO, true, true, NULL},
    {CONNECTION_KILLED, SES_IO, true, true, NULL},
    {CR_SERVER_GONE_ERROR, SES_IO, true, true, NULL},
    {CR_SERVER_LOST, SES_IO, true, true, NULL},
    {CR_MALFORMED_PACKET, SES_IO, true, true, NULL},
    {CR_COMMANDS_OUT_OF_SYNC, SES_INTERNAL, false, true, NULL},
    {CR_OUT_OF_MEMORY, SES_NOMEM, false, true, NULL},
    {CR_NET_PACKET_TOO_LARGE, SES_LIMIT, false, true, USE_PACKET},
    {ER_NET_PACKET_TOO_LARGE, SES_LIMIT, false, true, USE_PACKET},
    {ER_DISK_FULL, SES_FULL, false, false, NULL},
    {DISK_FULL_WRITE, SES_FULL, false, false, NULL},
    {ER_RECORD_FILE_FULL, SES_FULL, false, false, NULL},
    {TEMP_FILE_WRITE_FAILURE, SES_FULL, false, false, NULL},
    {ER_TRANS_CACHE_FULL, SES_LIMIT, false, false, NULL},
    {ER_LOCK_TABLE_FULL, SES_LIMIT, false, false, NULL},
    {ER_DATA_TOO_LONG, SES_LIMIT, false, false, NULL},
    {ER_TOO_BIG_ROWSIZE, SES_LIMIT, false, false, NULL},
    /* A replica, or a primary that has become one. Its answer to a commit, too, says that nothing was
       written. */
    {ER_OPTION_PREVENTS_STATEMENT, SES_READONLY, true, false, USE_PRIMARY},
    {READ_ONLY_MODE, SES_READONLY, true, false, USE_PRIMARY},
    {ER_OPEN_AS_READONLY, SES_READONLY, false, false, NULL},
    {INNODB_READ_ONLY, SES_READONLY, false, false, NULL},
    {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, SES_READONLY, false, false, NULL},
    {ER_TABLEACCESS_DENIED_ERROR, SES_READONLY, false, false, USE_GRANTS},
    {ER_COLUMNACCESS_DENIED_ERROR, SES_READONLY, false, false, USE_GRANTS},
    {ER_DBACCESS_DENIED_ERROR, SES_READONLY, false, false, USE_GRANTS},
    {ER_SPECIFIC_ACCESS_DENIED_ERROR, SES_READONLY, false, false, USE_GRANTS},
    {ER_BAD_DB_ERROR, SES_CORRUPT, false, false, NULL},
    {ER_NO_SUCH_TABLE, SES_CORRUPT, false, false, NULL},
    {NO_SUCH_TABLE_IN_ENGINE, SES_CORRUPT, false, false, NULL},
    {TABLESPACE_MISSING, SES_CORRUPT, false, false, NULL},
    {ER_BAD_FIELD_ERROR, SES_CORRUPT, false, false, NULL},
    {ER_NO_REFERENCED_ROW_2, SES_CONSTRAINT, false, false, NULL}, /* of a table that is not the store's */
    {ER_ROW_IS_REFERENCED_2, SES_CONSTRAINT, false, false, NULL},
    {MYSQL_CHECK_VIOLATED, SES_CONSTRAINT, false, false, NULL},
    {CHECK_VIOLATED, SES_CONSTRAINT, false, false, NULL},
    {ER_CRASHED_ON_USAGE, SES_CORRUPT, false, false, NULL},
    {ER_INDEX_CORRUPT, SES_CORRUPT, false, false, NULL},
    {ER_TABLE_CORRUPT, SES_CORRUPT, false, false, NULL},
    {ER_NOT_KEYFILE, SES_CORRUPT, false, false, NULL},
    {ER_ERROR_ON_WRITE, SES_IO, false, false, NULL},
    {ER_GET_ERRNO, SES_IO, false, false, NULL},
    {ER_OUTOFMEMORY, SES_IO, false, false, NULL},
    {ER_OUT_OF_SORTMEMORY, SES_IO, false, false, NULL},
    {ER_OUT_OF_RESOURCES, SES_IO, false, false, NULL},
};

/* Where the number is not enough, the statement decides, by its name or the beginning of that. */
static const struct {
    const char *doing;
    struct meaning meaning;
} by_statement[] = {
    /* A guard has met a feature, or says that a job has to look. */
    {"begin_guard", {ER_DATA_OUT_OF_RANGE, SES_READONLY, false, false, USE_NEWER}},
    {"append_by_", {ER_DATA_OUT_OF_RANGE, JOB_UNSUITED, false, false, NULL}},
    /* The session, or the owner, is locked: so nobody has deleted the owner meanwhile. */
    {"app_state_set", {ER_BAD_NULL_ERROR, SES_CORRUPT, false, false, NO_APP}},
    {"user_state_set", {ER_BAD_NULL_ERROR, SES_CORRUPT, false, false, NO_USER}},
};

static const struct meaning *meaning_of(unsigned number, const char *doing)
{
    for (size_t i = 0; i < sizeof by_statement / sizeof by_statement[0]; i++) {
        if (by_statement[i].meaning.number == number &&
            strncmp(doing, by_statement[i].doing, strlen(by_statement[i].doing)) == 0)
            return &by_statement[i].meaning;
    }
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].number == number)
            return &meanings[i];
    }
    return NULL;
}

void ses__my_fail(struct my *my, const char *doing)
{
    const unsigned number = mysql_errno(my->conn);
    const char *text = mysql_error(my->conn);
    const char *state = mysql_sqlstate(my->conn);
    const struct meaning *meaning = meaning_of(number, doing);

    if (number == 0 || (meaning && meaning->lost)) /* 0: the server has ended with fewer answers */
        my->base.lost = true;
    my->is_plain |= number == ER_MAX_PREPARED_STMT_COUNT_REACHED || number == ER_NEED_REPREPARE;
    if (my->base.code != SES_OK)
        return;
    my->number = number;
    my->base.code = meaning ? meaning->code : my->base.lost ? SES_IO : SES_INTERNAL;
    my->base.again = my->base.lost || (meaning && meaning->again);
    (void)ses__error_set(&my->base.error, my->base.code, "%s: %s failed: %.400s (error %u)%s",
                         my->base.db.name, doing, *text ? text : "an answer is missing", number,
                         meaning && meaning->hint ? meaning->hint : "");
    my->base.error.engine_code = (int)number;
    (void)strncpy(my->base.error.sqlstate, state, sizeof my->base.error.sqlstate - 1);
}
