/* Searches by reading the events of the scope, session by session. */
#include "base/error.h"
#include "search/search.h"

enum { SESSIONS_SEARCHED = 100 };

/* The events before that number. */
static ses_range range_of(const struct search *search, int64_t before_seq)
{
    const ses_search_options *options = search->options;
    ses_range range = {.size = sizeof range, .first_seq = 1, .last_seq = before_seq - 1};

    if (before_seq < INT64_MAX)
        range.which |= SES_RANGE_SEQ;
    if (options->flags & SES_SEARCH_LIVE)
        range.which |= SES_RANGE_LIVE;
    if (options->since_us) {
        range.which |= SES_RANGE_SINCE;
        range.since_us = *options->since_us;
    }
    return range;
}

/* `at` is the place in the session before which its events are looked at. NOTFOUND: it was deleted. */
static int scan_session(struct search *search, const struct search_place *at, ses_error *error)
{
    const ses_key key = {search->scope->app, at->user, at->session};
    const ses_range range = range_of(search, at->seq);
    const ses_cursor_options options = {
        .size = sizeof options, .flags = SES_CURSOR_BACKWARD, .range = &range, LEFT_OF(&search->limits)};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code =
        at->seq <= 1 ? SES_OK : ses__begun_cursor_open(search->store, &key, &options, false, &cursor, error);

    while (cursor && code == SES_OK && !ses__search_is_full(search)) {
        code = ses__begun_cursor_next(cursor, &event, error);
        if (code != SES_ROW)
            break;
        struct candidate candidate = {.at = *at,
                                      .id = ses__span_of(event->id),
                                      .author = ses__span_of(event->author),
                                      .time_us = event->time_us,
                                      .body = {event->json, event->json_len}};
        candidate.at.seq = event->seq;
        code = ses__search_look(search, &candidate, error);
    }
    (void)ses_cursor_close(cursor, NULL); /* its failure is known */
    return code;
}

/* One that was deleted, or cut, since it was listed, is left out. */
static int scan_listed(struct search *search, const struct search_place *at, ses_error *error)
{
    const int code = scan_session(search, at, error);

    if (code != SES_NOTFOUND && code != SES_STALE)
        return code;
    ses__error_clear(error);
    return SES_OK;
}

/* The number before which the events of a listed session are looked at. */
static int64_t seq_before(const struct search *search, const struct snapshot *snapshot)
{
    if (!search->in_memory || (snapshot->row.details & DETAIL_MEMORY))
        return INT64_MAX;
    return snapshot->annotations.remembered_seq + 1;
}

/* Each page of the list begins after the last session of the one before. */
static int scan_list(struct search *search, struct list_op *list, ses_error *error)
{
    bool more = true;
    int code = SES_OK;

    while (code == SES_OK && more && !ses__search_is_full(search)) {
        code = ses__door_list(search->store->storage, list, error);
        for (size_t i = 0; i < list->count && code == SES_OK && !ses__search_is_full(search); i++) {
            const struct listed *item = &list->items[i];
            const struct session_row *row = &item->snapshot.row;
            code = scan_listed(search,
                               &(struct search_place){row->updated_us, row->user_id, item->user, item->name,
                                                      seq_before(search, &item->snapshot)},
                               error);
        }
        more = code == SES_OK && list->more;
        if (more) {
            const struct listed *last = &list->items[list->count - 1];
            const struct session_row *row = &last->snapshot.row;
            struct span name = ses__span_of(last->name);
            ses__arena_reset(&search->kept);
            name.ptr = ses__arena_text(&search->kept, name.ptr, name.len);
            list->from_start = false;
            list->after = (struct list_place){row->updated_us, name, row->user_id, row->id};
            if (!name.ptr)
                code = ses__error_nomem(error);
        }
        ses__list_op_free(list, &search->store->allocator);
        ses__arena_reset(list->arena);
    }
    return code;
}

/* The sessions after the place where the page before ended, which is in the list there. */
static int scan_owner(struct search *search, ses_error *error)
{
    const struct search_place *from = &search->from;
    const int64_t *since_us = search->options->since_us;
    struct arena names;
    struct list_op list = {.limits = search->limits,
                           .app = search->scope->app,
                           .user = search->scope->user,
                           .filter = search->filter,
                           .no_state = true,
                           .order = SES_ORDER_NEWEST,
                           .limit = SESSIONS_SEARCHED,
                           .from_start = !from->session,
                           .seed = ses__store_seed(search->store),
                           .arena = &names};
    int code = SES_OK;

    /* The last event of a session that was not updated since is earlier. */
    if (since_us && *since_us > list.filter.since_us)
        list.filter.since_us = *since_us;
    if (from->session) {
        list.after = (struct list_place){from->updated_us, ses__span_of(from->session), from->user_id, 0};
        code = scan_listed(search, from, error);
    }
    ses__arena_init(&names, &search->store->allocator);
    if (code == SES_OK)
        code = scan_list(search, &list, error);
    ses__arena_free(&names);
    return code;
}

int ses__search_scan(struct search *search, ses_error *error)
{
    const ses_key *scope = search->scope;
    const struct search_place whole = {0, 0, scope->user, scope->session, INT64_MAX};

    if (!scope->session)
        return scan_owner(search, error);
    return scan_session(search, search->from.session ? &search->from : &whole, error);
}
