/* Statements, run on one connection of an engine that speaks SQL. */
#ifndef SESLITE_STORAGE_SQL_QUERY_H
#define SESLITE_STORAGE_SQL_QUERY_H

#include "storage/sql/engine.h"
#include "statements.h"

/* Numbers of users or sessions, given to a statement as one parameter. */
struct owner_list {
    const int64_t *ids;
    size_t count;
};

/* A few numbers of sessions. */
enum { MAX_SESSION_IDS = 100 };
struct session_ids {
    int64_t items[MAX_SESSION_IDS];
    size_t count;
};

/* Texts (without a pointer: NULL), given to a statement of a server's as one parameter. */
struct text_list {
    const struct span *texts;
    size_t count;
};

/* A connection, as operations see it. An engine's own struct begins with this one. */
struct db {
    const struct engine *engine;
    const struct engine_traits *traits; /* the engine's */
    const ses_allocator *allocator;
    const char *name;            /* of the store, for messages */
    int64_t timeout_us;          /* for which a call waits for others ... */
    int64_t deadline_us;         /* ... and until when the call under way does, by the steady clock */
    const struct limits *limits; /* of that call; NULL: none */
    int64_t events;              /* that were stored, not yet counted in the storage's */
    int64_t found_id;            /* the session that was found last, ... */
    int64_t found_version;
    bool outrun;        /* another transaction came first: it may go well when all is done again */
    bool looks_first;   /* an event that may be there already is looked for before it is added */
    bool has_clock;     /* times are the application's, not the server's */
    bool removed_words; /* words were taken out of the index of words, where their bytes may still be */
    unsigned blamed; /* derived data that may be to blame if the job under way fails (storage/sql/derived) */
    ses_erased *erased; /* of the job under way: counts what it removes; NULL: nobody asks */
};

/*
 * One run of a prepared statement. The first failure is kept in `code` and makes the rest do nothing, so only
 * ses__query_end needs looking at. Bound texts must live until then. A query whose rows are not needed after
 * all may be left as it is: the end of the job ends it.
 *
 *     ses__query_open(&query, db, STATEMENT_X, error, VALUES(INT(id), STRING(name)));
 *     while (ses__query_row(&query)) ...
 *     code = ses__query_end(&query);
 */
struct query {
    struct db *db;
    void *run; /* the engine's */
    const struct statement *source;
    size_t bytes; /* of the texts that were bound */
    int code;
    ses_error *error;
};

/* All that a job needs can be asked for before the first answer is read: then it waits once. */
static inline bool ses__db_asks_ahead(const struct db *db)
{
    return db->engine->ask_last != NULL;
}

/* After the last query that a job asks, before the answer is read: the transaction ends with it. A job that
 * reads may still ask more. */
static inline void ses__db_ask_last(struct db *db)
{
    if (db->engine->ask_last)
        db->engine->ask_last(db);
}

static inline bool ses__query_row(struct query *query)
{
    return query->db->engine->row(query);
}

static inline enum sql_type ses__query_type(const struct query *query, int column)
{
    return query->db->engine->type(query, column);
}

static inline int64_t ses__query_int(struct query *query, int column)
{
    return query->db->engine->int_of(query, column);
}

/* Borrowed until the next row; running out of memory is kept like any failure. Without a pointer: NULL, or a
 * BLOB. */
static inline struct span ses__query_text(struct query *query, int column)
{
    return query->db->engine->text_of(query, column);
}

/* The bytes of a BLOB, borrowed in the same way. Without a pointer: NULL, or a value of another type. */
static inline struct span ses__query_bytes(struct query *query, int column)
{
    return query->db->engine->bytes_of(query, column);
}

static inline int ses__query_end(struct query *query)
{
    return query->db->engine->end(query);
}

/* Records the result of processing a row. Anything but SES_OK ends the rows, and ses__query_end
 * returns it. */
static inline void ses__query_keep(struct query *query, int code)
{
    if (query->code == SES_OK)
        query->code = code;
}

/* A parameter's value, made by INT, INT_IF, TEXT, STRING, BYTES, OWNERS or TEXTS. */
struct value {
    int type; /* an sql_type, or 0 after the last value */
    int64_t number;
    struct span text;
    const struct owner_list *owners;
    const struct text_list *texts;
};

#define INT(x) ((struct value){.type = SQL_INT, .number = (x)})
/* NULL unless the condition is true. */
#define INT_IF(condition, x) ((struct value){.type = (condition) ? SQL_INT : SQL_NULL, .number = (x)})
/* The number of a session, a user or an app; 0: of the session that this transaction finds by its name, or of
 * its owner. Only where everything is asked for at once. */
#define OWNER(id) INT_IF((id) != 0, (id))
/* A span without a pointer is NULL. */
#define TEXT(x) ((struct value){.type = SQL_TEXT, .text = (x)})
#define STRING(x) ses__string_value(x)
/* A span of bytes, for a BLOB. */
#define BYTES(x) ((struct value){.type = SQL_BLOB, .text = (x)})
/* A list, which lives until the end of the query; NULL: the owners that this transaction finds. */
#define OWNERS(x) ((struct value){.type = SQL_NULL, .owners = (x)})
#define TEXTS(x) ((struct value){.type = SQL_NULL, .texts = (x)})
/* The values of the parameters from the first on. */
#define VALUES(...) ((const struct value[]){__VA_ARGS__, {.type = 0}})

/* A pointer that is NULL gives the value NULL. */
SESLITE_PRIVATE struct value ses__string_value(const char *string);

/* Starts a query and binds the values (NULL: none). */
SESLITE_PRIVATE void ses__query_open(struct query *query, struct db *db, const struct statement *source,
                                     ses_error *error, const struct value *values);
/* Runs a statement that returns no rows. */
SESLITE_PRIVATE int ses__query_do(struct db *db, const struct statement *source, ses_error *error,
                                  const struct value *values);
/* Reads the number in the first row. SES_NOTFOUND (without a message) if there is no row; then it is 0. */
SESLITE_PRIVATE int ses__query_number(struct db *db, const struct statement *source, int64_t *number,
                                      ses_error *error, const struct value *values);

/* To be called after a function of the application, which takes its time: that of waiting for others begins
 * anew. (Where a journal is used, readers keep what is written from the file.) Returns the code. */
SESLITE_PRIVATE int ses__db_wait_anew(struct db *db, int code);

/* The number of rows that the last statement has changed. -1: it failed, or one before it, and the end of the
 * job says so. */
static inline int64_t ses__db_changed(const struct db *db)
{
    return db->engine->changed(db);
}

/* Counts the rows that the last statement has removed in a member of `erased`, if a receipt is asked for. */
#define ses__count_erased(db, member) \
    ((db)->erased ? (void)((db)->erased->member += ses__db_changed(db)) : (void)0)

/* Locks the state of an app or a user: `exclusive` before reading it for a change that depends on it, and
 * before deleting its owner; shared before changing it unseen. The next query reports a failure. */
static inline void ses__db_lock(struct db *db, enum scope scope, int64_t owner, bool exclusive)
{
    if (db->engine->lock)
        db->engine->lock(db, scope, owner, exclusive);
}

/* The number that the last statement has given to the session or the lease that it added. */
static inline int64_t ses__db_given(const struct db *db)
{
    return db->engine->given(db);
}

/* ---- stores with features that this library does not know are refused */

/* In a transaction. TOONEW: the store has an unknown feature that needs 3. `denied` (SES_OK: none) is the
 * code for one that needs 2, if there is none that needs 3: READONLY to a writer, UNSUPPORTED to an export.
 * The message names it. */
SESLITE_PRIVATE int ses__features_check(struct db *db, int denied, ses_error *error);
/* The refusal of a feature with one of these codes, or SES_OK. */
SESLITE_PRIVATE int ses__feature_refuse(const char *store, struct span feature, int code, ses_error *error);

#endif
