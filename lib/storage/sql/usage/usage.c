#include "storage/sql/usage/usage.h"

#include "base/error.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/parts.h"

/* EXISTS: another table has its name. */
static int make_usage(struct db *db, bool keeps_pages, ses_error *error)
{
    enum derived_table table = TABLE_MISSING;
    int code = ses__usage_look(db, &table, error);

    if (code == SES_OK && table == TABLE_FOREIGN)
        code = ses__table_refuse(db, "usage_sums", error);
    if (code == SES_OK)
        code = ses__usage_drop(db, keeps_pages, error); /* a rest that another program left */
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_USAGE_MAKE, error, NULL);
    return code == SES_OK ? ses__feature_enter(db, USAGE_FEATURE, FEATURE_NEEDS_NOTHING, error) : code;
}

int ses__usage_refuse(const struct db *db, int64_t session_id, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT,
                          "%s: the table of used tokens is damaged at session number %lld: make it again "
                          "(SES_TALLY_REBUILD)",
                          db->name, (long long)session_id);
}

int ses__usage_of_event(const struct event_row *event, int64_t session_id, struct arena *arena,
                        struct usage_sums *call, struct span *model, bool *used, ses_error *error)
{
    const int code = ses__usage_read(event->body, arena, call, model, used, error);

    call->first_seq = call->last_seq = event->seq;
    call->first_us = call->last_us = event->time_us;
    if (code == SES_OK || code == SES_NOMEM)
        return code;
    return ses__error_set(error, SES_CORRUPT,
                          "event %lld of session number %lld is damaged: its text cannot be read",
                          (long long)event->seq, (long long)session_id);
}

/* ------------------------------------------------------------------------------------------------- rows */

/* Columns of usage_of_sessions. */
enum {
    ROW_SESSION,
    ROW_QUARTER,
    ROW_MODEL,
    ROW_FIRST_SEQ,
    ROW_LAST_SEQ,
    ROW_CALLS,
    ROW_ODD,
    ROW_FIRST_US,
    ROW_LAST_US,
    ROW_COUNTS
};

void ses__usage_rows_open(struct query *query, struct db *db, const struct owner_list *ids, bool only_whole,
                          ses_error *error)
{
    ses__query_open(query, db, STATEMENT_USAGE_OF_SESSIONS, error,
                    VALUES(OWNERS(ids), INT(only_whole ? USAGE_OF_SESSION : INT64_MAX)));
}

static bool is_row_sound(const struct usage_row *row)
{
    const struct usage_sums *sums = &row->sums;
    const bool is_whole = row->quarter == USAGE_OF_SESSION;
    bool sound = sums->first_seq > 0 && sums->first_seq <= sums->last_seq && sums->last_seq <= MAX_SEQ &&
                 sums->calls >= (is_whole ? 0 : 1) && sums->calls <= sums->last_seq - sums->first_seq + 1 &&
                 sums->odd >= 0 && sums->odd <= USAGE_COUNTS * sums->calls;

    for (int i = 0; i < USAGE_COUNTS; i++)
        sound = sound && sums->counts[i] >= 0;
    if (!sound || sums->calls == 0)
        return sound;
    return ses__timestamp_holds(sums->first_us) && ses__timestamp_holds(sums->last_us) &&
           sums->first_us <= sums->last_us &&
           (is_whole || (ses__usage_quarter(sums->first_us) == row->quarter &&
                         ses__usage_quarter(sums->last_us) == row->quarter)) &&
           (row->model.len == 0 || ses__is_id(row->model));
}

bool ses__usage_row_read(struct query *query, struct usage_row *row)
{
    row->session_id = ses__query_int(query, ROW_SESSION);
    row->quarter = ses__query_int(query, ROW_QUARTER);
    row->model = ses__query_text(query, ROW_MODEL);
    row->sums = (struct usage_sums){.first_seq = ses__query_int(query, ROW_FIRST_SEQ),
                                    .last_seq = ses__query_int(query, ROW_LAST_SEQ),
                                    .calls = ses__query_int(query, ROW_CALLS),
                                    .odd = ses__query_int(query, ROW_ODD),
                                    .first_us = ses__query_int(query, ROW_FIRST_US),
                                    .last_us = ses__query_int(query, ROW_LAST_US)};
    for (int i = 0; i < USAGE_COUNTS; i++)
        row->sums.counts[i] = ses__query_int(query, ROW_COUNTS + i);
    return is_row_sound(row);
}

/* Adds to the row, or makes it. */
static int add_to_row(struct db *db, int64_t session_id, int64_t quarter, struct span model,
                      const struct usage_sums *sums, ses_error *error)
{
    const int64_t *const counts = sums->counts;
    const int code = ses__query_do(
        db, STATEMENT_USAGE_ADD, error,
        VALUES(INT(session_id), INT(quarter), TEXT(model), INT(sums->first_seq), INT(sums->last_seq),
               INT(sums->calls), INT(sums->odd), INT(sums->first_us), INT(sums->last_us), INT(counts[0]),
               INT(counts[1]), INT(counts[2]), INT(counts[3]), INT(counts[4]), INT(counts[5])));

    return ses__blame(db, BLAME_USAGE, code);
}

/* ------------------------------------------------------------------------------------ bringing up to date */

/* Finds the event after which to begin. CORRUPT: the table does not say that the session was counted up to
 * it. */
static int find_beginning(struct db *db, const struct session_row *row, int64_t *seq, ses_error *error)
{
    struct derived_row derived;
    struct usage_row whole;
    struct query query;
    int code = ses__derived_find(db, USAGE_FEATURE, row, &derived, error);
    const bool goes_on = derived.current && derived.seq > row->base_seq && derived.seq <= row->last_seq;

    *seq = goes_on ? derived.seq : row->base_seq;
    if (code != SES_OK || (goes_on && *seq == row->last_seq))
        return code;
    if (goes_on) {
        ses__usage_rows_open(&query, db, &(struct owner_list){&row->id, 1}, true, error);
        const bool sound = ses__query_row(&query) && ses__usage_row_read(&query, &whole) &&
                           whole.sums.first_seq <= row->base_seq + 1 && whole.sums.last_seq == *seq;
        code = ses__query_end(&query);
        if (code == SES_OK && !sound)
            code = ses__usage_refuse(db, row->id, error);
        return ses__blame(db, BLAME_USAGE, code);
    }
    code = ses__usage_leave(db, row->id, error);
    return code == SES_OK ? ses__derived_set(db, USAGE_FEATURE, row, row->base_seq, error) : code;
}

/* Reads the events after that one, as many as the work has room for; `*seq` becomes the last. */
static int tally_events(struct db *db, const struct session_row *row, struct deriving *work,
                        struct usage_tally *tally, int64_t *seq, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    bool more = true;

    ses__event_rows_open_few(&rows, db, row->id, *seq + 1, row->last_seq,
                             &(struct few_events){INT64_MAX, work->bytes_left}, WALK_FORWARD, error);
    while (work->bytes_left > 0) {
        struct usage_sums call;
        struct span model;
        bool used = false;
        more = ses__event_rows_next(&rows, &event);
        if (!more)
            break;
        *seq = event.seq;
        work->events++;
        work->bytes_left -= (int64_t)event.body.len;
        int code = ses__usage_of_event(&event, row->id, &tally->arena, &call, &model, &used, error);
        if (code == SES_OK && used && !ses__usage_tally_add(tally, &call, model))
            code = ses__error_nomem(error);
        ses__query_keep(&rows.query, code);
    }
    if (!more)
        *seq = row->last_seq;
    return ses__event_rows_close(&rows);
}

static int put_tally(struct db *db, const struct session_row *row, struct usage_tally *tally,
                     ses_error *error)
{
    const struct span no_model = {"", 0};
    int code = add_to_row(db, row->id, USAGE_OF_SESSION, no_model, &tally->total, error);
    size_t at = 0;

    while (code == SES_OK) {
        const struct usage_part *part = (struct usage_part *)ses__table_next(&tally->parts, &at);
        if (!part)
            break;
        code = add_to_row(db, row->id, part->quarter, part->model, &part->sums, error);
    }
    return code;
}

static int advance_session(struct db *db, const struct session_row *row, struct deriving *work, bool *done,
                           ses_error *error)
{
    const struct hash_seed seed = {{0, 0}}; /* a MiB of events has too few models to make a table slow */
    struct usage_tally tally;
    int64_t seq = 0;
    int code = find_beginning(db, row, &seq, error);

    if (code != SES_OK || seq >= row->last_seq)
        return code;
    ses__usage_tally_init(&tally, db->allocator, seed);
    tally.total.first_seq = seq + 1;
    code = tally_events(db, row, work, &tally, &seq, error);
    tally.total.last_seq = seq;
    if (code == SES_OK)
        code = put_tally(db, row, &tally, error);
    ses__usage_tally_free(&tally);
    *done = seq == row->last_seq;
    return code == SES_OK ? ses__derived_set(db, USAGE_FEATURE, row, seq, error) : code;
}

static int advance_usage(struct db *db, int64_t session_id, struct deriving *work, bool *done,
                         ses_error *error)
{
    struct session_row row;
    const int code = ses__session_by_id(db, session_id, &row, error);

    *done = true;
    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    return code == SES_OK ? advance_session(db, &row, work, done, error) : code;
}

const struct derived_feature ses__usage_feature = {
    .name = USAGE_FEATURE,
    .find = ses__usage_find,
    .make = make_usage,
    .drop = ses__usage_drop,
    .advance = advance_usage,
};
