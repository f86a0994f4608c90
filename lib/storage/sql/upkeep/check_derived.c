/* Checks rows that are derived from a log: each filter of invocations must name every event that it is about,
 * and no call of a live event up to where the log is settled may lack a response. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/upkeep/check.h"

void ses__check_filters_init(struct check_filters *own, const ses_allocator *allocator)
{
    for (int part = 0; part < FILTER_PARTS; part++) {
        own->filters[part] = (struct filter){part, 0, 0, {NULL, 0}};
        ses__buffer_init(&own->keys[part], allocator);
    }
}

void ses__check_filters_free(struct check_filters *own)
{
    for (int part = 0; part < FILTER_PARTS; part++)
        ses__buffer_free(&own->keys[part]);
}

int ses__check_filters_begin(struct check *check, struct check_filters *own, const struct session_row *row)
{
    return ses__check_settle(check, ses__filters_find(check->db, row, &own->are_there, &check->error),
                             SES_PROBLEM_INDEX);
}

/* Reads the first that ends at the event or after it. If there is none, or it is damaged, it is about no
 * event. */
static int read_filter(struct check *check, struct filter *filter, struct buffer *keys,
                       const struct session_row *row, int64_t seq)
{
    struct query query;
    struct filter read;

    ses__buffer_cut(keys, 0);
    filter->first = MAX_SEQ + 1;
    filter->last = MAX_SEQ;
    ses__filters_open(&query, check->db, row->id, filter->part, seq, &check->error);
    if (ses__query_row(&query)) {
        if (ses__filter_read(&query, row->id, filter->part, &read))
            filter->first = read.first;
        else
            ses__check_found(check, SES_PROBLEM_INDEX, 0,
                             "a filter of invocations up to event %lld is damaged, and is not used",
                             (long long)read.last);
        filter->last = read.last;
        ses__buffer_add(keys, read.keys.ptr, read.keys.len);
    }
    const int code = ses__query_end(&query);
    filter->keys = (struct span){keys->data, keys->len};
    return code == SES_OK && keys->failed ? ses__error_nomem(&check->error) : code;
}

int ses__check_filters_event(struct check *check, struct check_filters *own, const struct session_row *row,
                             const struct event_row *event)
{
    const int parts[] = {0, ses__filter_part(event->invocation_id)};
    int code = SES_OK;

    for (int i = 0; i < 2 && code == SES_OK && own->are_there && event->invocation_id.len > 0; i++) {
        struct filter *filter = &own->filters[parts[i]];
        if (event->seq > filter->last)
            code = read_filter(check, filter, &own->keys[parts[i]], row, event->seq);
        if (code != SES_OK || event->seq < filter->first ||
            ses__filter_next(filter, event->invocation_id, event->seq) == event->seq)
            continue;
        ses__check_found(
            check, SES_PROBLEM_INDEX, event->seq,
            "the filter of invocations up to event %lld lacks event %lld: drop the table invocation_filters, which is made again",
            (long long)filter->last, (long long)event->seq);
        filter->first = MAX_SEQ + 1; /* once for each filter */
    }
    own->are_there = own->are_there && code == SES_OK;
    return ses__check_settle(check, code, SES_PROBLEM_INDEX);
}

/* ------------------------------------------------------------------------------- how far a log is settled */

void ses__check_settled_init(struct check_settled *own, const ses_allocator *allocator, struct hash_seed seed)
{
    *own = (struct check_settled){.open = {.allocator = allocator, .seed = seed, .forgets = true}};
    ses__live_init(&own->live, allocator);
    ses__arena_init(&own->arena, allocator);
}

void ses__check_settled_free(struct check_settled *own)
{
    ses__live_free(&own->live);
    ses__calls_free(&own->open);
    ses__arena_free(&own->arena);
}

int ses__check_settled_begin(struct check *check, struct check_settled *own, const struct session_row *row)
{
    int code = ses__settled_find(check->db, row, NULL, &own->seq, &check->error);

    if (code == SES_OK && own->seq > 0) {
        code = ses__load_live(check->db, row->id, row->last_seq, &own->live, &check->error);
        if (code != SES_OK || !ses__live_has(&own->live, own->seq)) /* damage to marks is found elsewhere */
            own->seq = 0;
        if (code == SES_CORRUPT)
            ses__error_clear(&check->error);
    }
    return code == SES_CORRUPT ? SES_OK : code;
}

/* Within an event, responses come before calls. */
static int match_calls(struct check_settled *own, const struct event_row *event, ses_error *error)
{
    struct stored_event stored;
    bool ok = true;

    ses__stored_event_init(&stored, &own->arena);
    const int code = ses__stored_event_read(&stored, event, STORED_CONTENT, error);
    for (size_t i = 0; i < stored.function_count && code == SES_OK; i++) {
        if (stored.functions[i].is_response)
            (void)ses__calls_answer(&own->open, stored.functions[i].id, stored.functions[i].name);
    }
    for (size_t i = 0; i < stored.function_count && code == SES_OK && ok; i++) {
        const struct stored_function *function = &stored.functions[i];
        struct call *call = function->is_response ? NULL : ses__arena_new(&own->arena, sizeof *call);
        ok =
            function->is_response || (call && ses__calls_add(&own->open, function->id, function->name, call));
    }
    ses__stored_event_free(&stored);
    if (own->open.groups.count == 0)
        ses__arena_reset(&own->arena);
    return ok ? code : ses__error_nomem(error);
}

int ses__check_settled_event(struct check *check, struct check_settled *own, const struct event_row *event)
{
    int code = SES_OK;

    if (own->seq == 0)
        return SES_OK;
    if (event->seq <= own->seq && ses__stored_event_may_call(event) && ses__live_has(&own->live, event->seq))
        code = match_calls(own, event, &check->error);
    if (code == SES_OK && event->seq >= own->seq && own->open.groups.count > 0)
        ses__check_found(
            check, SES_PROBLEM_INDEX, own->seq,
            "a row of derived says that no call is pending up to event %lld, which is wrong: delete the row",
            (long long)own->seq);
    if (code != SES_OK || event->seq >= own->seq)
        own->seq = 0;
    return ses__check_settle(check, code, SES_PROBLEM_BODY);
}
