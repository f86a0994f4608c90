/* The index of words, by FTS5 (https://www.sqlite.org/fts5.html). */
#include "base/error.h"
#include "storage/sqlite/parts.h"
#include "storage/sql/rows/words.h"

/*
 * SQLite cannot drop an index whose content FTS5 cannot read. So its tables, which FTS5 manages, get what those of a new index
 * have (see "FTS5 data structures" there): that is what a defensive connection refuses as a rule.
 */
static int empty_index(struct db *base, ses_error *error)
{
    static const char sql[] = "DELETE FROM search_words_data; DELETE FROM search_words_idx;"
                              "DELETE FROM search_words_config;"
                              "INSERT INTO search_words_data VALUES (1, x''), (10, x'00000000000000');"
                              "INSERT INTO search_words_config VALUES ('version', 4);";
    struct connection *db = ses__connection_of(base);
    int code = SES_OK;
    int rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);

    if (rc == SQLITE_OK)
        code = ses__connection_execute(db, sql, "emptying the index of words", error);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return rc == SQLITE_OK ? code : ses__connection_error(db, rc, "emptying the index of words", error);
}

static int clear_index(struct db *base, ses_error *error)
{
    int64_t tables = 0;
    const int code = ses__connection_read_int(
        ses__connection_of(base),
        "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'search_words'", &tables,
        error);

    return code == SES_OK && tables > 0 ? empty_index(base, error) : code;
}

struct weighing {
    const struct hash_seed *seed;
    uint64_t *sum;
};

static int weigh_word(void *context, sqlite3_stmt *row, ses_error *error)
{
    const struct weighing *weighing = context;
    const char *word = (const char *)sqlite3_column_text(row, 0);
    const size_t len = (size_t)sqlite3_column_bytes(row, 0);

    if (!word)
        return ses__error_nomem(error);
    *weighing->sum += ses__word_weight(weighing->seed, sqlite3_column_int64(row, 1),
                                       sqlite3_column_int64(row, 2), (struct span){word, len});
    return SES_OK;
}

/* https://www.sqlite.org/fts5.html#the_fts5vocab_virtual_table_module. The connection is a private one, and the table goes with
 * it. */
static int weigh_index(struct db *base, const struct hash_seed *seed, uint64_t *sum, ses_error *error)
{
    static const char table[] =
        "PRAGMA query_only = OFF;"
        "CREATE VIRTUAL TABLE temp.search_terms USING fts5vocab(main, search_words, instance);"
        "PRAGMA query_only = ON;";
    static const char words[] =
        "SELECT t.term, p.session_id, p.first_seq + (t.doc & 7) FROM temp.search_terms AS t"
        " LEFT JOIN main.search_places AS p ON p.id = t.doc >> 3";
    struct weighing weighing = {seed, sum};
    struct connection *db = ses__connection_of(base);
    const int code = ses__connection_execute(db, table, "looking into the index of words", error);

    return code == SES_OK ? ses__connection_visit(db, words, weigh_word, &weighing, error) : code;
}

const struct words_engine ses__sqlite_words = {.syntax = {.begin = "(",
                                                          .end = ")",
                                                          .term_begin = "(",
                                                          .term_end = ")",
                                                          .word_begin = "\"",
                                                          .word_end = "\"",
                                                          .prefix_end = "\" *",
                                                          .both = " AND ",
                                                          .either = " OR "},
                                               .clear = clear_index,
                                               .weigh = weigh_index};
