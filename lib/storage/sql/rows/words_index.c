/* The index of words as a whole: whether it is there, and how it is made and dropped. */
#include "base/error.h"
#include "storage/sql/rows/words.h"

/* -------------------------------------------------------------------------------------------- is it there */

static int need_module(struct db *db, ses_error *error)
{
    int64_t one = 0;
    const int code = ses__query_number(db, STATEMENT_INDEX_MODULE, &one, error, NULL);

    if (code != SES_NOTFOUND)
        return code;
    return db->engine->words->remove
               ? ses__error_set(error, SES_UNSUPPORTED,
                                "%s: there is no index of words on such a server: searches read the events",
                                db->name)
               : ses__error_set(error, SES_UNSUPPORTED,
                                "%s: the index of words needs FTS5, which the SQLite in use does not have",
                                db->name);
}

int ses__index_take_features(struct query *query, bool *is_own, bool *is_other)
{
    bool own = false;
    bool other = false;

    while (ses__query_row(query)) {
        const bool is = ses__span_is(ses__query_text(query, 0), ses__span_of(WORDS_FEATURE));
        own = own || is;
        other = other || !is;
    }
    *is_own = own && !other;
    if (is_other)
        *is_other = other;
    return ses__query_end(query);
}

static int find_features(struct db *db, bool *is_own, bool *is_other, ses_error *error)
{
    struct query query;

    ses__query_open(&query, db, STATEMENT_INDEX_FEATURES, error, NULL);
    return ses__index_take_features(&query, is_own, is_other);
}

static int look_at_tables(struct db *db, struct index_tables *tables, ses_error *error)
{
    *tables = (struct index_tables){.are_sound = true};
    return db->engine->words->look ? db->engine->words->look(db, tables, error) : SES_OK;
}

int ses__index_find(struct db *db, bool *is_there, ses_error *error)
{
    struct index_tables tables;
    int code = find_features(db, is_there, NULL, error);

    if (code == SES_OK && *is_there)
        code = look_at_tables(db, &tables, error);
    *is_there = code == SES_OK && *is_there && tables.are_sound;
    return *is_there ? need_module(db, error) : code;
}

int ses__index_must_suit(struct db *db, bool *is_there, ses_error *error)
{
    bool is_other = false;
    struct index_tables tables;
    int code = find_features(db, is_there, &is_other, error);

    if (code != SES_OK || !(*is_there || is_other))
        return code;
    code = look_at_tables(db, &tables, error);
    if (code == SES_OK && !(*is_there && tables.are_sound))
        return ses__error_set(
            error, SES_CORRUPT,
            "%s: the tables of the index of words were changed, or are another version's: make it again (SES_INDEX_REBUILD)",
            db->name);
    return code == SES_OK ? need_module(db, error) : code;
}

int ses__index_serves(struct db *db, bool *serves, ses_error *error)
{
    int64_t one = 0;
    const int code =
        ses__query_number(db, STATEMENT_INDEX_SERVES, &one, error, VALUES(STRING(WORDS_FEATURE)));

    *serves = code == SES_OK;
    if (code != SES_OK)
        return code == SES_NOTFOUND ? SES_OK : code;
    return db->engine->words->look ? ses__index_find(db, serves, error) : SES_OK;
}

/* --------------------------------------------------------------------------------------- made and dropped */

/* SQLite looks for rows of the tally that refer to those of `derived`. */
int ses__index_void(struct db *db, ses_error *error)
{
    const int code = ses__query_do(db, STATEMENT_INDEX_LEAVE, error, NULL);
    return code == SES_OK
               ? ses__blame(db, BLAME_USAGE, ses__query_do(db, STATEMENT_INDEX_FORGET, error, NULL))
               : code;
}

int ses__index_drop(struct db *db, bool keeps_pages, ses_error *error)
{
    const int code = db->engine->words->drop(db, keeps_pages, error);
    return code == SES_OK ? ses__index_void(db, error) : code;
}

int ses__index_drop_void(struct db *db, ses_error *error)
{
    struct index_tables tables;
    bool is_own = false;
    bool is_other = false;
    int code = find_features(db, &is_own, &is_other, error);

    if (code != SES_OK || is_own || is_other || !db->engine->words->look)
        return code;
    code = look_at_tables(db, &tables, error);
    return code == SES_OK && tables.are_any ? ses__index_drop(db, false, error) : code;
}

int ses__index_make(struct db *db, bool keeps_pages, ses_error *error)
{
    struct index_tables tables;
    int code = need_module(db, error);

    if (code == SES_OK)
        code = look_at_tables(db, &tables, error);
    if (code == SES_OK && tables.foreign)
        code = ses__table_refuse(db, tables.foreign, error);
    if (code == SES_OK)
        code = ses__index_drop(db, keeps_pages, error); /* a rest that another program left */
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_INDEX_MAKE, error, NULL);
    if (code == SES_OK && !db->engine->words->remove)
        code = ses__query_do(db, STATEMENT_PLACES_MAKE, error, NULL);
    return code == SES_OK ? ses__feature_enter(db, WORDS_FEATURE, FEATURE_NEEDS_READING, error) : code;
}

int ses__index_write(struct db *db, bool merges, ses_error *error)
{
    if (db->engine->words->remove)
        return SES_OK;
    return ses__blame(db, BLAME_WORDS,
                      ses__query_do(db, merges ? STATEMENT_INDEX_MERGE : STATEMENT_INDEX_WRITE, error, NULL));
}
