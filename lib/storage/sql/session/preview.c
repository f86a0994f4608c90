/* Previews of the sessions of a page, from the newest live events of each. */
#include "base/error.h"
#include "model/calls.h"
#include "model/event/stored_event.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/session/jobs.h"

/* A preview looks at this many events from each end of the log. The text is nearly always in the first of
 * them, and among the few that a server sends at first. */
enum { PREVIEW_EVENTS = 8, FEW_FROM_END = 4, FEW_FROM_START = 2 };

/* A server is asked for the events of this many sessions at once, since each may be long. */
enum { ASKED_AT_ONCE = 100 };

/* One session whose preview is under way. */
struct preview_walk {
    const struct snapshot *snapshot;
    ses_preview *preview; /* is filled */
    struct mark_rows marks;
    struct live live;
    struct range range;
    struct range_rows newest;
    struct range_rows oldest; /* unless there is a title, which is shown instead */
};

/* The reader of all previews of a page. */
struct preview_reader {
    const struct list_op *op;
    struct arena arena; /* of one session's texts, ids and names */
    struct stored_event event;
};

static bool has_title(const struct preview_walk *walk)
{
    return walk->snapshot->annotations.title != NULL;
}

static void open_walks(struct preview_walk *walk, struct db *db, ses_error *error)
{
    const struct session_row *row = &walk->snapshot->row;

    walk->range = (struct range){
        .newest = PREVIEW_EVENTS, .since_us = INT64_MIN, .first_seq = 1, .last_seq = row->last_seq};
    ses__range_rows_open(&walk->newest, db, row->id, &walk->range, &walk->live, WALK_BACKWARD, error);
    walk->newest.few = (struct few_events){FEW_FROM_END, INT64_MAX};
    ses__range_rows_open(&walk->oldest, db, row->id, &walk->range, &walk->live, WALK_FORWARD, error);
    walk->oldest.few = (struct few_events){FEW_FROM_START, INT64_MAX};
    if (!ses__db_asks_ahead(db)) /* a statement can be open once */
        return;
    ses__range_rows_ask(&walk->newest);
    if (!has_title(walk))
        ses__range_rows_ask(&walk->oldest);
}

/* ------------------------------------------------------------------------------------------- one event */

/* The beginning of the event's text, between characters. */
static int keep_text(const struct preview_reader *reader, ses_text *kept, ses_error *error)
{
    const struct list_op *op = reader->op;
    const struct buffer *text = &reader->event.text;
    const size_t len = ses_text_cut(text->data, text->len, op->preview_bytes, NULL);

    kept->text = ses__arena_text(op->arena, text->data, len);
    kept->len = len;
    return kept->text ? SES_OK : ses__error_nomem(error);
}

/* Going backward, the responses that were met are those of calls before them. In one event, responses come
 * before calls. */
static int count_pending(struct preview_reader *reader, struct calls *responses, ses_preview *preview,
                         ses_error *error)
{
    const struct stored_event *event = &reader->event;

    for (size_t i = 0; i < event->function_count; i++) {
        const struct stored_function *call = &event->functions[i];
        if (call->is_response)
            continue;
        const struct call *answer = call->id.len > 0 ? ses__calls_find(responses, call->id, call->name)
                                                     : ses__calls_answer(responses, call->id, call->name);
        preview->pending_calls += answer == NULL;
    }
    for (size_t i = 0; i < event->function_count; i++) {
        const struct stored_function *response = &event->functions[i];
        struct call *met = response->is_response ? ses__arena_new(&reader->arena, sizeof *met) : NULL;
        if (response->is_response && (!met || !ses__calls_add(responses, response->id, response->name, met)))
            return ses__error_nomem(error);
    }
    return SES_OK;
}

static int read_shown(struct preview_reader *reader, const struct event_row *row, ses_error *error)
{
    return ses__stored_event_read(&reader->event, row, STORED_CONTENT | STORED_TEXT, error);
}

static bool is_by_user(const struct event_row *row)
{
    return ses__span_is(row->author, ses__span_of("user"));
}

/* --------------------------------------------------------------------------------------- one session */

/* Goes back to the newest text. A model has written no text while a call of its turn waits for a response. */
static int read_newest(struct preview_reader *reader, struct preview_walk *walk, ses_error *error)
{
    struct calls responses = {.allocator = reader->arena.allocator, .seed = reader->op->seed};
    ses_preview *preview = walk->preview;
    struct event_row row;
    int code = SES_OK;

    while (code == SES_OK && !preview->last.text && ses__range_rows_next(&walk->newest, &row)) {
        code = read_shown(reader, &row, error);
        if (code == SES_OK)
            code = count_pending(reader, &responses, preview, error);
        if (code != SES_OK || reader->event.text.len == 0)
            continue;
        preview->last_seq = row.seq;
        preview->last_author = ses__arena_text(reader->op->arena, row.author.ptr, row.author.len);
        code = preview->last_author ? keep_text(reader, &preview->last, error) : ses__error_nomem(error);
    }
    ses__calls_free(&responses);
    const int closed = ses__range_rows_close(&walk->newest);
    return code == SES_OK ? closed : code;
}

static int read_oldest(struct preview_reader *reader, struct preview_walk *walk, ses_error *error)
{
    ses_preview *preview = walk->preview;
    struct event_row row;
    int code = SES_OK;

    while (code == SES_OK && !preview->first.text && ses__range_rows_next(&walk->oldest, &row)) {
        if (!is_by_user(&row))
            continue;
        code = read_shown(reader, &row, error);
        if (code == SES_OK && reader->event.text.len > 0)
            code = keep_text(reader, &preview->first, error);
    }
    const int closed = ses__range_rows_close(&walk->oldest);
    return code == SES_OK ? closed : code;
}

/* ------------------------------------------------------------------------------------------- the page */

/* A server is asked for the marks of these sessions at once, and then for their events. */
static int read_walks(struct preview_reader *reader, struct preview_walk *walks, size_t count, struct db *db,
                      ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < count; i++) {
        const struct session_row *row = &walks[i].snapshot->row;
        ses__mark_rows_open(&walks[i].marks, db, row->id, row->last_seq, error);
    }
    for (size_t i = 0; i < count && code == SES_OK; i++)
        code = ses__mark_rows_take_live(&walks[i].marks, walks[i].snapshot->row.id, &walks[i].live);
    for (size_t i = 0; i < count && code == SES_OK; i++)
        open_walks(&walks[i], db, error);
    for (size_t i = 0; i < count && code == SES_OK; i++) {
        ses__arena_reset(&reader->arena);
        code = read_newest(reader, &walks[i], error);
        if (code == SES_OK && !has_title(&walks[i]))
            code = read_oldest(reader, &walks[i], error);
    }
    return code;
}

int ses__list_preview(struct list_op *op, struct db *db, ses_error *error)
{
    const ses_allocator *allocator = op->arena->allocator;
    struct preview_reader reader = {.op = op};
    struct preview_walk *walks = ses__memory_zeroed(allocator, (op->count + 1) * sizeof *walks);
    int code = SES_OK;

    op->previews = ses__arena_new(op->arena, (op->count + 1) * sizeof *op->previews);
    ses__arena_init(&reader.arena, allocator);
    ses__stored_event_init(&reader.event, &reader.arena);
    if (!walks || !op->previews)
        code = ses__error_nomem(error);
    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        op->previews[i] = (ses_preview){.last_seq = 0};
        walks[i].snapshot = &op->items[i].snapshot;
        walks[i].preview = &op->previews[i];
        ses__live_init(&walks[i].live, allocator);
    }
    const size_t step = ses__db_asks_ahead(db) ? ASKED_AT_ONCE : 1;
    for (size_t at = 0; at < op->count && code == SES_OK; at += step)
        code = read_walks(&reader, walks + at, op->count - at < step ? op->count - at : step, db, error);
    for (size_t i = 0; walks && i < op->count; i++)
        ses__live_free(&walks[i].live);
    ses__stored_event_free(&reader.event);
    ses__arena_free(&reader.arena);
    ses__memory_free(allocator, walks);
    return code;
}
