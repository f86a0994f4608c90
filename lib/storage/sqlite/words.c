/* The index of words, by FTS5 (https://www.sqlite.org/fts5.html). */
#include <stdio.h>

#include "base/error.h"
#include "storage/sqlite/parts.h"
#include "storage/sql/rows/words.h"

/* All of them, with the SQL that makes each. FTS5 makes those in the middle, and would take a table with the
 * last two names for its own (https://www.sqlite.org/fts5.html#fts5_data_structures). */
static const struct index_table {
    const char *name;
    const struct statement *made;
    const char *sql; /* if there is no statement; NULL: FTS5 makes none for this index */
} index_tables[] = {
    {"search_words", STATEMENT_INDEX_MAKE, NULL},
    {"search_places", STATEMENT_PLACES_MAKE, NULL},
    {"search_words_data", NULL, "CREATE TABLE 'search_words_data'(id INTEGER PRIMARY KEY, block BLOB)"},
    {"search_words_idx", NULL,
     "CREATE TABLE 'search_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID"},
    {"search_words_config", NULL, "CREATE TABLE 'search_words_config'(k PRIMARY KEY, v) WITHOUT ROWID"},
    {"search_words_content", NULL, NULL},
    {"search_words_docsize", NULL, NULL},
};
enum { INDEX_TABLES = sizeof index_tables / sizeof index_tables[0], SOUND_TABLES = 5 };

static int look_at_index_table(struct db *db, size_t i, enum derived_table *table, ses_error *error)
{
    const struct index_table *own = &index_tables[i];
    const char *const sql = own->made ? own->made->name + strlen(own->made->name) + 1 : own->sql;
    const int code = ses__table_look(db, own->name, sql ? sql : ";", table, error);

    if (!sql && *table != TABLE_MISSING)
        *table = TABLE_FOREIGN;
    return code;
}

static int look_at_index(struct db *db, struct index_tables *tables, ses_error *error)
{
    size_t sound = 0;
    int code = SES_OK;

    *tables = (struct index_tables){.are_sound = false};
    for (size_t i = 0; i < INDEX_TABLES && code == SES_OK; i++) {
        enum derived_table table = TABLE_MISSING;
        code = look_at_index_table(db, i, &table, error);
        sound += table == TABLE_SOUND;
        tables->are_any = tables->are_any || table == TABLE_SOUND || table == TABLE_CHANGED;
        if (table == TABLE_FOREIGN)
            tables->foreign = index_tables[i].name;
    }
    tables->are_sound = sound == SOUND_TABLES && !tables->foreign;
    return code;
}

/* FTS5 cannot drop an index that it cannot read, and without FTS5 SQLite cannot drop any. So the index
 * itself, which has no pages, is unlinked, and then its tables are ordinary ones. */
static int drop_index(struct db *db, bool keeps_pages, ses_error *error)
{
    char sql[100];
    int code = SES_OK;

    for (size_t i = 0; i < INDEX_TABLES && code == SES_OK; i++) {
        enum derived_table table = TABLE_MISSING;
        code = look_at_index_table(db, i, &table, error);
        if (code != SES_OK || table == TABLE_MISSING || table == TABLE_FOREIGN)
            continue;
        (void)snprintf(sql, sizeof sql, "DROP TABLE main.%s", index_tables[i].name);
        code = i == 0 || keeps_pages
                   ? ses__table_unlink(db, index_tables[i].name, error)
                   : ses__blame(db, BLAME_PAGES,
                                ses__connection_execute(ses__connection_of(db), sql,
                                                        "dropping the index of words", error));
    }
    return code;
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

/* https://www.sqlite.org/fts5.html#the_fts5vocab_virtual_table_module. The connection is a private one, and
 * the table goes with it. */
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
                                               .look = look_at_index,
                                               .drop = drop_index,
                                               .weigh = weigh_index};
