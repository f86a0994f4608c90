/* Errors of the server: a trigger raises each by its number. */
#include "mysql/database.h"

static const ses_key key = {"app", "user", "s"};

/* Each UPDATE of a session raises the error; or only the first of each connection. */
static void raise_error(const struct database *database, unsigned number, bool once)
{
    char sql[400];

    snprintf(sql, sizeof sql,
             "CREATE TRIGGER raising BEFORE UPDATE ON seslite_sessions FOR EACH ROW "
             "IF @raised IS NULL THEN SET @raised = %s; "
             "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = %u, MESSAGE_TEXT = 'raised'; END IF",
             once ? "1" : "NULL", number);
    (void)database_ask(database, sql);
}

static int append(ses_store *store, ses_error *error)
{
    return ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, error);
}

static int begin(void **state)
{
    const struct database *database = *state;

    (void)database_ask(database, "DROP DATABASE agents");
    (void)database_ask(database, "CREATE DATABASE agents");
    (void)database_ask(database, "USE agents");
    return 0;
}

/* The caller sees no more than that the call has taken a little longer. */
TEST_WITH(struct database *database, begin, NULL, what_passes_is_tried_again)
{
    static const unsigned numbers[] = {
        1020, /* ER_CHECKREAD */
        1205, /* ER_LOCK_WAIT_TIMEOUT */
        1213, /* ER_LOCK_DEADLOCK */
        1412, /* ER_TABLE_DEF_CHANGED */
        1615, /* ER_NEED_REPREPARE */
        3101, /* ER_TRANSACTION_ROLLBACK_DURING_COMMIT */
    };

    ses_store *maker = database_open(database->uri, 20000);
    must_create(maker, &key, NULL);
    ses_close(maker);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ses_store *store = database_open(database->uri, 20000);
        raise_error(database, numbers[i], true);
        if (append(store, &error) != SES_OK)
            fail_msg("%u: %s", numbers[i], error.message);
        (void)database_ask(database, "DROP TRIGGER raising");
        ses_close(store);
    }
}

TEST_WITH(struct database *database, begin, NULL, what_stays_is_reported)
{
    static const struct {
        unsigned number;
        int code;
    } cases[] = {
        {1213, SES_BUSY},       /* ER_LOCK_DEADLOCK */
        {1615, SES_BUSY},       /* ER_NEED_REPREPARE */
        {1021, SES_FULL},       /* ER_DISK_FULL */
        {1114, SES_FULL},       /* ER_RECORD_FILE_FULL */
        {1878, SES_FULL},       /* ER_TEMP_FILE_WRITE_FAILURE */
        {1026, SES_IO},         /* ER_ERROR_ON_WRITE */
        {1038, SES_IO},         /* ER_OUT_OF_SORTMEMORY */
        {1118, SES_LIMIT},      /* ER_TOO_BIG_ROWSIZE */
        {1197, SES_LIMIT},      /* ER_TRANS_CACHE_FULL */
        {1036, SES_READONLY},   /* ER_OPEN_AS_READONLY */
        {1142, SES_READONLY},   /* ER_TABLEACCESS_DENIED_ERROR */
        {1290, SES_READONLY},   /* ER_OPTION_PREVENTS_STATEMENT */
        {1874, SES_READONLY},   /* ER_INNODB_READ_ONLY */
        {1047, SES_UNKNOWN},    /* ER_UNKNOWN_COM_ERROR, of a node that may have committed before */
        {1180, SES_UNKNOWN},    /* ER_ERROR_DURING_COMMIT */
        {1049, SES_CORRUPT},    /* ER_BAD_DB_ERROR */
        {1194, SES_CORRUPT},    /* ER_CRASHED_ON_USAGE */
        {1812, SES_CORRUPT},    /* ER_TABLESPACE_MISSING */
        {1932, SES_CORRUPT},    /* ER_NO_SUCH_TABLE_IN_ENGINE */
        {3819, SES_CONSTRAINT}, /* ER_CHECK_CONSTRAINT_VIOLATED */
    };

    ses_store *store = database_open(database->uri, 60000);
    ses_store *hasty = database_open(database->uri, 1500);
    must_create(store, &key, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        raise_error(database, cases[i].number, false);
        /* These are tried until the time is over; the last try may be cut off by that, which is BUSY. */
        const bool passes = cases[i].code == SES_BUSY || cases[i].number == 1290;
        const int code = append(passes ? hasty : store, &error);
        if (code != cases[i].code && !(passes && code == SES_BUSY))
            fail_msg("%u: %d %s", cases[i].number, code, code < 0 ? error.message : "");
        (void)database_ask(database, "DROP TRIGGER raising");
    }
    assert_ok(append(store, &error));
    ses_close(hasty);
    ses_close(store);
}

TEST_GROUP(database_setup, database_teardown)
