#include "storage/sql/rows/words.h"

#include <stdio.h>

#include "base/error.h"
#include "model/words/event_words.h"
#include "storage/sql/rows/parts.h"

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

/* Without a place for the event nothing is changed. */
static int check_placed(struct db *db, const struct session_row *row, int64_t seq, ses_error *error)
{
    if (db->engine->words->remove || ses__db_changed(db) > 0)
        return SES_OK;
    return ses__error_set(
        error, SES_CORRUPT,
        "%s: the index of words has no place for event %lld of session number %lld: make it again (SES_INDEX_REBUILD)",
        db->name, (long long)seq, (long long)row->id);
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
    if (!db->engine->words->remove)
        code = ses__query_do(db, STATEMENT_PLACE_ADD, error, VALUES(INT(row->id), INT(event->seq)));
    if (code == SES_OK)
        code =
            ses__query_do(db, STATEMENT_WORDS_ADD, error,
                          VALUES(INT(row->id), INT(event->seq), TEXT(((struct span){text->data, text->len})),
                                 TEXT(ses__index_owners(row, owners))));
    if (code == SES_OK)
        code = check_placed(db, row, event->seq, error);
    return ses__blame(db, BLAME_WORDS, code);
}

/* Refuses a row of `derived` that cannot be true: the log lacks the event, or the index has later ones. */
static int check_found_seq(struct db *db, const struct session_row *row, int64_t derived_seq, int64_t seq,
                           ses_error *error)
{
    int64_t one = 0;
    int code = derived_seq < 0 || derived_seq > row->last_seq ? SES_OK : SES_NOTFOUND;

    if (code == SES_NOTFOUND && !db->engine->words->remove)
        code = ses__query_number(db, STATEMENT_PLACE_AFTER, &one, error, VALUES(INT(row->id), INT(seq)));
    if (code != SES_OK)
        return code == SES_NOTFOUND ? SES_OK : code;
    return ses__error_set(
        error, SES_CORRUPT,
        "%s: the index of words does not hold the events of session number %lld up to %lld: make it again (SES_INDEX_REBUILD)",
        db->name, (long long)row->id, (long long)derived_seq);
}

int ses__index_seq(struct db *db, const struct session_row *row, int64_t *seq, bool *current,
                   ses_error *error)
{
    struct derived_row derived;
    int code = ses__derived_find(db, WORDS_FEATURE, row, &derived, error);

    *seq = derived.seq < row->base_seq ? row->base_seq : derived.seq;
    *current = derived.current;
    if (code == SES_OK)
        code = check_found_seq(db, row, derived.seq, *seq, error);
    return ses__blame(db, BLAME_WORDS, code);
}

static int advance_index(struct db *db, int64_t session_id, struct deriving *indexing, bool *done,
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

static int end_advancing(struct db *db, ses_error *error)
{
    return ses__index_write(db, false, error);
}

const struct derived_feature ses__index_feature = {
    .name = WORDS_FEATURE,
    .find = ses__index_find,
    .make = ses__index_make,
    .drop = ses__index_drop,
    .advance = advance_index,
    .end = end_advancing,
};

static int remove_event_words(struct db *db, const struct session_row *row, const struct event_row *event,
                              struct deriving *indexing, ses_error *error)
{
    const struct buffer *const text = &indexing->text;
    char owners[OWNERS_MAX];
    int code = ses__index_text_take(indexing, event->body, error);

    if (code != SES_OK || text->len == 0)
        return code;
    code = ses__query_do(db, STATEMENT_WORDS_REMOVE, error,
                         VALUES(INT(row->id), INT(event->seq), TEXT(((struct span){text->data, text->len})),
                                TEXT(ses__index_owners(row, owners))));
    if (code == SES_OK)
        code = check_placed(db, row, event->seq, error);
    if (code == SES_OK && db->erased)
        db->erased->index_events++;
    return code;
}

static int remove_indexed(struct db *db, const struct words_removal *removal, ses_error *error)
{
    const struct session_row *row = removal->row;
    struct deriving indexing;
    struct event_rows rows;
    struct event_row event;
    int64_t indexed = 0;
    bool current = false;
    int code = ses__index_seq(db, row, &indexed, &current, error);

    if (code != SES_OK)
        return code;
    ses__deriving_init(&indexing, db, 0);
    ses__event_rows_open(&rows, db, row->id, removal->first,
                         removal->last < indexed ? removal->last : indexed, WALK_FORWARD_BODIES, error);
    while (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, remove_event_words(db, row, &event, &indexing, error));
    code = ses__event_rows_close(&rows);
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_PLACES_REMOVE, error,
                             VALUES(INT(row->id), INT(removal->first), INT(removal->last)));
    db->removed_words = true;
    ses__deriving_free(&indexing);
    return code;
}

/* Every failure here is blamed on the index. */
int ses__words_remove_begin(struct words_removal *removal, struct db *db, const struct session_row *row,
                            int64_t first, int64_t last, ses_error *error)
{
    bool is_there = false;

    *removal = (struct words_removal){.row = row, .first = first, .last = last};
    if (db->engine->words->remove) {
        ses__query_open(&removal->asked, db, STATEMENT_INDEX_FEATURES, error, NULL);
        return removal->asked.code;
    }
    removal->asked.db = db;
    int code = ses__index_must_suit(db, &is_there, error);
    if (code == SES_OK && is_there)
        code = remove_indexed(db, removal, error);
    return ses__blame(db, BLAME_WORDS, code);
}

int ses__words_remove_end(struct words_removal *removal, ses_error *error)
{
    struct db *db = removal->asked.db;
    const struct statement *remove = db->engine->words->remove;
    bool is_there = false;
    bool is_other = false;

    if (!remove)
        return SES_OK;
    /* A row has the words of one event, whatever the number of the rules is. */
    int code = ses__index_take_features(&removal->asked, &is_there, &is_other);
    if (code != SES_OK || !(is_there || is_other))
        return code;
    code = ses__query_do(db, remove, error,
                         VALUES(INT(removal->row->id), INT(removal->first), INT(removal->last)));
    ses__count_erased(db, index_events);
    return ses__blame(db, BLAME_WORDS, code);
}

int ses__words_put(struct db *db, const struct session_row *row, const struct event_row *event,
                   ses_error *error)
{
    struct deriving indexing;
    int64_t indexed = 0;
    bool current = true;
    bool is_there = false;
    int code = ses__blame(db, BLAME_WORDS, ses__index_find(db, &is_there, error));

    if (code == SES_OK && is_there)
        code = ses__index_seq(db, row, &indexed, &current, error);
    if (code != SES_OK || !is_there || event->seq > indexed)
        return code;
    ses__deriving_init(&indexing, db, 0);
    code = add_words(db, row, event, &indexing, error);
    ses__deriving_free(&indexing);
    return code;
}

/* ------------------------------------------------------------------------------------------ what is found */

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

void ses__found_rows_open(struct found_rows *rows, struct db *db, const struct words_asked *asked,
                          ses_error *error)
{
    const struct list_filter *filter = asked->filter;
    const struct list_place *after = asked->after;
    const struct value none = INT_IF(false, 0);
    struct value label[3] = {none, none, none};
    struct value prefix[2] = {none, none};
    struct value pass[PASS_VALUES];
    const struct user_row *owner = asked->owner;
    char whose[OWNERS_MAX];

    *rows = (struct found_rows){.asked = asked};
    if (asked->session_id)
        (void)snprintf(whose, sizeof whose, "=s%lld", (long long)asked->session_id);
    else
        (void)snprintf(whose, sizeof whose, "=%c%lld", owner->id ? 'u' : 'a',
                       (long long)(owner->id ? owner->id : owner->app_id));
    ses__index_query(asked->terms, &db->engine->words->syntax, whose, asked->text);
    if (filter->label)
        ses__label_values(label, filter);
    if (filter->id_prefix)
        ses__prefix_values(prefix, filter, &rows->end);
    ses__pass_values(pass, filter, filter->without_shelves);
    ses__query_open(&rows->query, db, STATEMENT_WORDS_FOUND, error,
                    VALUES(TEXT(((struct span){asked->text->data, asked->text->len})), INT(asked->most),
                           INT(filter->since_us), INT(filter->before_us), label[0], label[1], label[2],
                           INT_IF(after, after ? after->time_us : 0),
                           TEXT((after ? after->name : (struct span){NULL, 0})),
                           INT_IF(after, after ? after->user_id : 0), INT_IF(after, asked->after_seq),
                           INT(asked->limit), prefix[0], prefix[1], pass[0], pass[1], pass[2], pass[3],
                           pass[4], pass[5]));
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
