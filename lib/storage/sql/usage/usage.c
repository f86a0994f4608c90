#include "storage/sql/usage/usage.h"

#include "base/error.h"
#include "storage/sql/rows/event.h"

/* EXISTS: another table has its name. */
static int make_usage(struct db *db, bool keeps_pages, ses_error *error)
{
    enum derived_table table = TABLE_MISSING;
    int code = ses__usage_look(db, &table, error);

    if (code == SES_OK && table == TABLE_FOREIGN)
        code = ses__table_refuse(db, "usage_counts", error);
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

int ses__usage_take_event(struct usage_sheet *sheet, const struct event_row *event, struct arena *arena,
                          bool *used, ses_error *error)
{
    struct usage_call call = {.seq = event->seq, .time_us = event->time_us};
    struct span model;
    const int code = ses__usage_read(event->body, arena, &call, &model, used, error);

    sheet->last = event->seq;
    if (code != SES_OK && code != SES_NOMEM)
        return ses__error_set(error, SES_CORRUPT,
                              "event %lld of session number %lld is damaged: its text cannot be read",
                              (long long)event->seq, (long long)sheet->session_id);
    if (code != SES_OK || !*used)
        return code;
    return ses__usage_sheet_add(sheet, &call, model, arena) ? SES_OK : ses__error_nomem(error);
}

/* ------------------------------------------------------------------------------------ bringing up to date */

struct usage_advance {
    struct db *db;
    const struct session_row *row;
    struct deriving *work;
    struct crc32_tables sums;
    struct arena arena;
    struct usage_sheet sheet; /* the last */
};

static int put_sheet(struct usage_advance *own, ses_error *error)
{
    const struct usage_sheet *sheet = &own->sheet;
    struct buffer *bytes = &own->work->text;

    ses__buffer_cut(bytes, 0);
    ses__usage_sheet_write(sheet, &own->sums, bytes);
    if (bytes->failed)
        return ses__error_nomem(error);
    const int code = ses__query_do(own->db, STATEMENT_USAGE_PUT, error,
                                   VALUES(INT(sheet->session_id), INT(sheet->first), INT(sheet->last),
                                          BYTES(((struct span){bytes->data, bytes->len}))));
    return ses__blame(own->db, BLAME_USAGE, code);
}

static bool copy_models(struct usage_sheet *sheet, struct arena *arena)
{
    bool copied = true;

    for (size_t i = 0; i < sheet->model_count && copied; i++) {
        sheet->models[i].ptr = ses__arena_text(arena, sheet->models[i].ptr, sheet->models[i].len);
        copied = sheet->models[i].ptr != NULL;
    }
    return copied;
}

/* The sheet that ends with that event. */
static int take_last_sheet(struct usage_advance *own, int64_t seq, ses_error *error)
{
    struct usage_sheet *sheet = &own->sheet;
    struct query query;
    bool sound = false;

    ses__query_open(&query, own->db, STATEMENT_USAGE_LAST, error, VALUES(INT(own->row->id)));
    if (ses__query_row(&query)) {
        ses__usage_sheet_begin(sheet, own->row->id, ses__query_int(&query, 0));
        sheet->last = ses__query_int(&query, 1);
        sound = sheet->first > 0 && sheet->last == seq &&
                ses__usage_sheet_read(sheet, &own->sums, ses__query_bytes(&query, 2));
        if (sound && !copy_models(sheet, &own->arena))
            ses__query_keep(&query, ses__error_nomem(error));
    }
    int code = ses__query_end(&query);
    if (code == SES_OK && !sound)
        code = ses__usage_refuse(own->db, own->row->id, error);
    return ses__blame(own->db, BLAME_USAGE, code);
}

/* Where to begin: after `*seq`. */
static int find_beginning(struct usage_advance *own, int64_t *seq, ses_error *error)
{
    const struct session_row *row = own->row;
    struct derived_row derived;
    int code = ses__derived_find(own->db, USAGE_FEATURE, row, &derived, error);
    const bool goes_on = derived.current && derived.seq > row->base_seq && derived.seq <= row->last_seq;

    if (code != SES_OK)
        return code;
    *seq = goes_on ? derived.seq : row->base_seq;
    if (goes_on)
        return derived.seq < row->last_seq ? take_last_sheet(own, derived.seq, error) : SES_OK;
    code = ses__usage_leave(own->db, row->id, error);
    if (code == SES_OK)
        code = ses__derived_set(own->db, USAGE_FEATURE, row, row->base_seq, error);
    ses__usage_sheet_begin(&own->sheet, row->id, row->base_seq + 1);
    return code;
}

static int tally_event(struct usage_advance *own, const struct event_row *event, ses_error *error)
{
    struct usage_sheet *sheet = &own->sheet;
    bool used = false;
    int code = SES_OK;

    if (ses__usage_sheet_is_full(sheet)) {
        code = put_sheet(own, error);
        ses__usage_sheet_begin(sheet, sheet->session_id, event->seq);
    }
    if (code == SES_OK)
        code = ses__usage_take_event(sheet, event, &own->arena, &used, error);
    own->work->events++;
    own->work->bytes_left -= (int64_t)event->body.len;
    return code;
}

/* Adds the events after that one, as many as the work has room for; `*seq` becomes the last. */
static int tally_events(struct usage_advance *own, int64_t *seq, ses_error *error)
{
    const struct session_row *row = own->row;
    struct event_rows rows;
    struct event_row event;
    bool more = true;

    ses__event_rows_open_few(&rows, own->db, row->id, *seq + 1, row->last_seq,
                             &(struct few_events){INT64_MAX, own->work->bytes_left}, WALK_FORWARD, error);
    while (own->work->bytes_left > 0) {
        more = ses__event_rows_next(&rows, &event);
        if (!more)
            break;
        *seq = event.seq;
        ses__query_keep(&rows.query, tally_event(own, &event, error));
    }
    if (!more)
        *seq = row->last_seq;
    own->sheet.last = *seq;
    return ses__event_rows_close(&rows);
}

static int advance_session(struct usage_advance *own, bool *done, ses_error *error)
{
    int64_t seq = 0;
    int code = find_beginning(own, &seq, error);

    if (code != SES_OK || seq >= own->row->last_seq)
        return code;
    code = tally_events(own, &seq, error);
    if (code == SES_OK)
        code = put_sheet(own, error);
    *done = seq == own->row->last_seq;
    return code == SES_OK ? ses__derived_set(own->db, USAGE_FEATURE, own->row, seq, error) : code;
}

static int advance_usage(struct db *db, int64_t session_id, struct deriving *work, bool *done,
                         ses_error *error)
{
    struct session_row row;
    const int code = ses__session_by_id(db, session_id, &row, error);

    *done = true;
    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    if (code != SES_OK)
        return code;
    struct usage_advance *own = ses__memory_new(db->allocator, sizeof *own);
    if (!own)
        return ses__error_nomem(error);
    own->db = db;
    own->row = &row;
    own->work = work;
    ses__crc32_prepare(&own->sums);
    ses__arena_init(&own->arena, db->allocator);
    const int advanced = advance_session(own, done, error);
    ses__arena_free(&own->arena);
    ses__memory_free(db->allocator, own);
    return advanced;
}

const struct derived_feature ses__usage_feature = {
    .name = USAGE_FEATURE,
    .find = ses__usage_find,
    .make = make_usage,
    .drop = ses__usage_drop,
    .advance = advance_usage,
};
