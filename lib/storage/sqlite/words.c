/* The index of words, by FTS5 (https://www.sqlite.org/fts5.html). */
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

const struct words_engine ses__sqlite_words = {.syntax = {.begin = "words : (",
                                                          .end = ")",
                                                          .term_begin = "\"",
                                                          .word_end = " ",
                                                          .term_end = "\"",
                                                          .both = " AND ",
                                                          .either = " OR ",
                                                          .owner_begin = " AND owners : \"",
                                                          .owner_end = "\""},
                                               .clear = clear_index};
