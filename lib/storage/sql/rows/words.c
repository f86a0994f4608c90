#include "storage/sql/rows/words.h"

#include <stdio.h>

#include "base/error.h"
#include "model/words/event_words.h"
#include "storage/sql/rows/parts.h"

/* ------------------------------------------------------------------------------------------ the index itself */

static int need_module(struct db *db, ses_error *error)
{
    int64_t one = 0;
    const int code = ses__query_number(db, STATEMENT_INDEX_MODULE, &one, error, NULL);

    if (code != SES_NOTFOUND)
        return code;
    return db->engine->words
               ? ses__error_set(error, SES_UNSUPPORTED,
                                "%s: there is no index of words on such a server: searches read the events",
                                db->name)
               : ses__error_set(error, SES_UNSUPPORTED,
                                "%s: the index of words needs FTS5, which the SQLite in use does not have",
                                db->name);
}

/* UNSUPPORTED: there is one, but it cannot be used. */
static int need_module_for(struct db *db, bool is_there, ses_error *error)
{
    return is_there && !ses__words_engine(db)->remove ? need_module(db, error) : SES_OK;
}

int ses__index_find(struct db *db, bool *is_there, ses_error *error)
{
    const int code = ses__feature_find(db, WORDS_FEATURE, is_there, error);
    return code == SES_OK ? need_module_for(db, *is_there, error) : code;
}

int ses__index_serves(struct db *db, bool *serves, ses_error *error)
{
    int64_t one = 0;
    const int code = ses__query_number(db, STATEMENT_INDEX_SERVES, &one, error, NULL);

    *serves = code == SES_OK;
    return code == SES_OK || code == SES_NOTFOUND ? need_module_for(db, *serves, error) : code;
}

int ses__index_drop(struct db *db, ses_error *error)
{
    const struct words_engine *words = ses__words_engine(db);
    int code = words->clear ? words->clear(db, error) : SES_OK;

    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_INDEX_DROP, error, NULL);
    if (code == SES_OK && !words->remove)
        code = ses__query_do(db, STATEMENT_PLACES_DROP, error, NULL);
    return code == SES_OK ? ses__feature_leave(db, WORDS_FEATURE, error) : code;
}

int ses__index_make(struct db *db, ses_error *error)
{
    int code = need_module(db, error);

    if (code == SES_OK)
        code = ses__index_drop(db, error); /* a rest that another program left */
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_INDEX_MAKE, error, NULL);
    if (code == SES_OK && !ses__words_engine(db)->remove)
        code = ses__query_do(db, STATEMENT_PLACES_MAKE, error, NULL);
    return code == SES_OK ? ses__feature_enter(db, WORDS_FEATURE, FEATURE_NEEDS_READING, error) : code;
}

/* ---------------------------------------------------------------------------------------------- its rows */

struct span ses__index_owners(const struct session_row *row, char text[OWNERS_MAX])
{
    const int len = snprintf(text, OWNERS_MAX, "=a%lld =u%lld =s%lld", (long long)row->app_id,
                             (long long)row->user_id, (long long)row->id);
    return (struct span){text, (size_t)len};
}

int ses__index_text_take(struct deriving *indexing, struct span body, ses_error *error)
{
    ses__event_words(body, &indexing->words);
    ses__index_text(&indexing->words, &indexing->text);
    return indexing->words.failed || indexing->text.failed ? ses__error_nomem(error) : SES_OK;
}

static int add_words(struct db *db, const struct session_row *row, const struct event_row *event,
                     struct deriving *indexing, ses_error *error)
{
    const struct buffer *const text = &indexing->text;
    char owners[OWNERS_MAX];
    int code = ses__index_text_take(indexing, event->body, error);

    indexing->events++;
    indexing->bytes_left -= (int64_t)event->body.len;
    if (code != SES_OK || text->len == 0)
        return code;
    if (!ses__words_engine(db)->remove)
        code = ses__query_do(db, STATEMENT_PLACE_ADD, error, VALUES(INT(row->id), INT(event->seq)));
    if (code != SES_OK)
        return code;
    return ses__query_do(db, STATEMENT_WORDS_ADD, error,
                         VALUES(INT(row->id), INT(event->seq), TEXT(((struct span){text->data, text->len})),
                                TEXT(ses__index_owners(row, owners))));
}

int ses__index_seq(struct db *db, const struct session_row *row, int64_t *seq, bool *current,
                   ses_error *error)
{
    struct derived_row derived;
    const int code = ses__derived_find(db, WORDS_FEATURE, row, &derived, error);

    *seq = derived.seq < row->base_seq ? row->base_seq : derived.seq;
    *current = derived.current;
    return code;
}

int ses__index_advance(struct db *db, int64_t session_id, struct deriving *indexing, bool *done,
                       ses_error *error)
{
    struct session_row row;
    struct event_rows rows;
    struct event_row event;
    int64_t seq = 0;
    bool current = true;
    int code = ses__session_by_id(db, session_id, &row, error);

    *done = true;
    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    if (code == SES_OK)
        code = ses__index_seq(db, &row, &seq, &current, error);
    if (code != SES_OK || (seq >= row.last_seq && current))
        return code;
    ses__event_rows_open_few(&rows, db, row.id, seq + 1, row.last_seq,
                             &(struct few_events){INT64_MAX, indexing->bytes_left}, WALK_FORWARD_BODIES,
                             error);
    *done = false;
    while (!*done && indexing->bytes_left > 0) {
        *done = !ses__event_rows_next(&rows, &event);
        if (*done)
            break;
        seq = event.seq;
        ses__query_keep(&rows.query, add_words(db, &row, &event, indexing, error));
    }
    code = ses__event_rows_close(&rows);
    if (*done || seq >= row.last_seq)
        seq = row.last_seq;
    *done = seq == row.last_seq;
    return code == SES_OK ? ses__derived_set(db, WORDS_FEATURE, &row, seq, error) : code;
}

static int remove_words(struct db *db, const struct session_row *row, int64_t first, int64_t last,
                        struct deriving *indexing, ses_error *error)
{
    const struct buffer *const text = &indexing->text;
    struct event_rows rows;
    struct event_row event;
    char owners[OWNERS_MAX];

    ses__event_rows_open(&rows, db, row->id, first, last, WALK_FORWARD_BODIES, error);
    while (ses__event_rows_next(&rows, &event)) {
        int code = ses__index_text_take(indexing, event.body, error);
        if (code == SES_OK && text->len > 0)
            code = ses__query_do(db, STATEMENT_WORDS_REMOVE, error,
                                 VALUES(INT(row->id), INT(event.seq),
                                        TEXT(((struct span){text->data, text->len})),
                                        TEXT(ses__index_owners(row, owners))));
        if (code == SES_OK && text->len > 0 && db->erased)
            db->erased->index_events++;
        ses__query_keep(&rows.query, code);
    }
    return ses__event_rows_close(&rows);
}

static int remove_indexed(struct db *db, const struct words_removal *removal, int64_t indexed,
                          ses_error *error)
{
    struct deriving indexing;

    ses__deriving_init(&indexing, db, 0);
    int code = remove_words(db, removal->row, removal->first,
                            removal->last < indexed ? removal->last : indexed, &indexing, error);
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_PLACES_REMOVE, error,
                             VALUES(INT(removal->row->id), INT(removal->first), INT(removal->last)));
    db->removed_words = true;
    ses__deriving_free(&indexing);
    return code;
}

int ses__words_remove_begin(struct words_removal *removal, struct db *db, const struct session_row *row,
                            int64_t first, int64_t last, ses_error *error)
{
    int64_t indexed = 0;
    bool current = false;

    *removal = (struct words_removal){.row = row, .first = first, .last = last};
    ses__query_open(&removal->asked, db, STATEMENT_FEATURE_FIND, error, VALUES(STRING(WORDS_FEATURE)));
    if (ses__words_engine(db)->remove)
        return removal->asked.code;
    const bool is_there = ses__query_row(&removal->asked);
    int code = ses__query_end(&removal->asked);
    if (code == SES_OK && is_there)
        code = need_module(db, error);
    if (code == SES_OK && is_there)
        code = ses__index_seq(db, row, &indexed, &current, error);
    return code == SES_OK && is_there ? remove_indexed(db, removal, indexed, error) : code;
}

int ses__words_remove_end(struct words_removal *removal, ses_error *error)
{
    struct db *db = removal->asked.db;
    const struct statement *remove = ses__words_engine(db)->remove;

    if (!remove)
        return SES_OK;
    const bool is_there = ses__query_row(&removal->asked);
    int code = ses__query_end(&removal->asked);
    if (code != SES_OK || !is_there)
        return code;
    code = ses__query_do(db, remove, error,
                         VALUES(INT(removal->row->id), INT(removal->first), INT(removal->last)));
    ses__count_erased(db, index_events);
    return code;
}

int ses__words_put(struct db *db, const struct session_row *row, const struct event_row *event,
                   ses_error *error)
{
    struct deriving indexing;
    int64_t indexed = 0;
    bool current = true;
    bool is_there = false;
    int code = ses__index_find(db, &is_there, error);

    if (code == SES_OK && is_there)
        code = ses__index_seq(db, row, &indexed, &current, error);
    if (code != SES_OK || event->seq > indexed)
        return code;
    ses__deriving_init(&indexing, db, 0);
    code = add_words(db, row, event, &indexing, error);
    ses__deriving_free(&indexing);
    return code;
}

/* --------------------------------------------------------------------------------------------- what is found */

/* Columns of words_found. The first row has only the last of them. */
enum {
    FOUND_SESSION,
    FOUND_SEQ,
    FOUND_NAME,
    FOUND_USER,
    FOUND_USER_ID,
    FOUND_UPDATED,
    FOUND_APP_ID,
    FOUND_COUNT
};

static void write_query(const struct words_asked *asked, const struct db *db)
{
    const struct user_row *owner = asked->owner;
    char whose[OWNERS_MAX];

    if (asked->session_id)
        (void)snprintf(whose, sizeof whose, "=s%lld", (long long)asked->session_id);
    else
        (void)snprintf(whose, sizeof whose, "=%c%lld", owner->id ? 'u' : 'a',
                       (long long)(owner->id ? owner->id : owner->app_id));
    ses__index_query(asked->terms, &ses__words_engine(db)->syntax, whose, asked->text);
}

void ses__found_rows_open(struct found_rows *rows, struct db *db, const struct words_asked *asked,
                          ses_error *error)
{
    const struct list_filter *filter = asked->filter;
    const struct list_place *after = asked->after;
    const struct value none = INT_IF(false, 0);
    struct value label[3] = {none, none, none};
    struct value prefix[2] = {none, none};

    *rows = (struct found_rows){.asked = asked};
    write_query(asked, db);
    if (filter->label)
        ses__label_values(label, filter);
    if (filter->id_prefix)
        ses__prefix_values(prefix, filter, &rows->end);
    ses__query_open(&rows->query, db, STATEMENT_WORDS_FOUND, error,
                    VALUES(TEXT(((struct span){asked->text->data, asked->text->len})), INT(asked->most),
                           INT(filter->since_us), INT(filter->before_us), label[0], label[1], label[2],
                           INT_IF(after, after ? after->time_us : 0),
                           TEXT((after ? after->name : (struct span){NULL, 0})),
                           INT_IF(after, after ? after->user_id : 0), INT_IF(after, asked->after_seq),
                           INT(asked->limit), prefix[0], prefix[1]));
    if (asked->text->failed)
        ses__query_keep(&rows->query, ses__error_nomem(error));
    if (ses__query_row(&rows->query))
        rows->count = ses__query_int(&rows->query, FOUND_COUNT);
}

/* An index may lead anywhere. */
static int check_found(struct found_rows *rows, const struct found_event *found)
{
    struct query *query = &rows->query;
    const struct user_row *owner = rows->asked->owner;
    const int64_t session_id = rows->asked->session_id;
    const bool belongs = ses__query_int(query, FOUND_APP_ID) == owner->app_id &&
                         (owner->id == 0 || owner->id == found->user_id) &&
                         (session_id == 0 || session_id == found->session_id);

    if (!belongs)
        return ses__refuse_stranger(query->db, "session", query->error);
    if (found->seq < 1 || found->seq > MAX_SEQ || !ses__is_id(found->name) || !ses__is_id(found->user))
        return ses__error_set(
            query->error, SES_CORRUPT,
            "%s: an event of session number %lld has no number, or the session no name that is an id",
            query->db->name, (long long)found->session_id);
    return SES_OK;
}

bool ses__found_rows_next(struct found_rows *rows, struct found_event *found)
{
    struct query *query = &rows->query;

    if (!ses__query_row(query))
        return false;
    *found = (struct found_event){.session_id = ses__query_int(query, FOUND_SESSION),
                                  .seq = ses__query_int(query, FOUND_SEQ),
                                  .user_id = ses__query_int(query, FOUND_USER_ID),
                                  .updated_us = ses__query_int(query, FOUND_UPDATED),
                                  .name = ses__query_text(query, FOUND_NAME),
                                  .user = ses__query_text(query, FOUND_USER)};
    if (query->code == SES_OK) /* its texts could be read */
        ses__query_keep(query, check_found(rows, found));
    return query->code == SES_OK;
}
