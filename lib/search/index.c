/* The index of words: a search that asks it, and ses_store_index. */
#include "base/error.h"
#include "search/search.h"
#include "session/sql/catch_up.h"
#include "storage/sql/rows/words.h"

/* If the index finds more events than FOUND_MAX, a scan comes upon a page of hits sooner than they are
 * sorted. (Measured in a file of 1,000,000 events.) */
enum { FOUND_MAX = 10000 };
/* The index finds more than there is. So the first batch has FOUND_MORE rows beyond those that the page has
 * room for, and each later one FOUND_TIMES as many as the one before, up to FOUND_AT_ONCE. */
enum { FOUND_MORE = 10, FOUND_TIMES = 10, FOUND_AT_ONCE = 1010 };
/* From a server, this many events are read together. */
enum { OPEN_AT_ONCE = 100 };

enum index_search_end { FINDING_DONE, FINDING_NONE, FINDING_BEHIND, FINDING_MANY };

struct index_search {
    struct search *search;
    struct buffer *text;
    bool as_it_is; /* even if it is behind */
    /* out */
    enum index_search_end end;
    struct user_row owner;
    int64_t session_id;
};

/* ----------------------------------------------------------------------------------------------- its rows */

/* Some of the events that were found, in order, and their names. */
struct found_batch {
    struct arena names;
    struct found_event items[FOUND_AT_ONCE];
    size_t count;
    struct event_rows events[OPEN_AT_ONCE];
};

static int take_found(struct found_batch *batch, struct found_rows *rows, ses_error *error)
{
    struct found_event found;

    batch->count = 0;
    while ((int64_t)batch->count < rows->asked->limit && ses__found_rows_next(rows, &found)) {
        found.name.ptr = ses__arena_text(&batch->names, found.name.ptr, found.name.len);
        found.user.ptr = ses__arena_text(&batch->names, found.user.ptr, found.user.len);
        if (!found.name.ptr || !found.user.ptr)
            ses__query_keep(&rows->query, ses__error_nomem(error));
        batch->items[batch->count++] = found;
    }
    return ses__query_end(&rows->query);
}

static void open_event(const struct found_event *found, struct event_rows *rows, struct db *db,
                       ses_error *error)
{
    ses__event_rows_open(rows, db, found->session_id, found->seq, found->seq, WALK_FORWARD, error);
}

/* The events of the session that was read last that can be hits. */
struct wanted_of {
    int64_t session_id;
    int64_t last_seq;
    struct live live;
};

static int read_wanted_of(struct wanted_of *of, const struct search *search, struct db *db,
                          int64_t session_id, ses_error *error)
{
    int code = SES_OK;

    ses__live_free(&of->live);
    ses__live_init(&of->live, &search->store->allocator);
    of->session_id = session_id;
    of->last_seq = MAX_SEQ;
    if (search->options->flags & SES_SEARCH_LIVE)
        code = ses__load_live(db, session_id, MAX_SEQ, &of->live, error);
    if (code == SES_OK && search->in_memory)
        code = ses__remembered_of(db, session_id, &of->last_seq, error);
    return code;
}

static int can_be_hit(struct wanted_of *of, const struct search *search, struct db *db,
                      const struct found_event *found, bool *wanted, ses_error *error)
{
    int code = SES_OK;

    *wanted = true;
    if (!(search->options->flags & SES_SEARCH_LIVE) && !search->in_memory)
        return SES_OK;
    if (of->session_id != found->session_id)
        code = read_wanted_of(of, search, db, found->session_id, error);
    *wanted = found->seq <= of->last_seq &&
              (!(search->options->flags & SES_SEARCH_LIVE) || ses__live_has(&of->live, found->seq));
    return code;
}

/* One that is not there is left of an event that another program has deleted. */
static int look_at_found(struct search *search, const struct found_event *found, struct event_rows *rows,
                         bool wanted, ses_error *error)
{
    struct event_row event;

    if (ses__event_rows_next(rows, &event) && wanted) {
        const struct candidate candidate = {
            .at = {found->updated_us, found->user_id, found->user.ptr, found->name.ptr, found->seq},
            .id = event.id,
            .author = event.author,
            .time_us = event.time_us,
            .body = event.body};
        ses__query_keep(&rows->query, ses__search_look(search, &candidate, error));
    }
    return ses__event_rows_close(rows);
}

/* At most OPEN_AT_ONCE events. */
static int look_at_some(struct search *search, const struct found_event *some, size_t count,
                        struct event_rows *events, struct wanted_of *of, struct db *db, ses_error *error)
{
    const bool ahead = ses__db_asks_ahead(db);
    int code = SES_OK;

    for (size_t i = 0; i < count && ahead; i++)
        open_event(&some[i], &events[i], db, error);
    for (size_t i = 0; i < count && code == SES_OK && !ses__search_is_full(search); i++) {
        bool wanted = true;
        code = can_be_hit(of, search, db, &some[i], &wanted, error);
        if (code == SES_OK && !ahead)
            open_event(&some[i], &events[i], db, error);
        if (code == SES_OK)
            code = look_at_found(search, &some[i], &events[i], wanted, error);
    }
    return code;
}

/* Each batch begins after the one before. */
static int look_at_all(struct index_search *own, struct words_asked *asked, struct found_batch *batch,
                       struct db *db, ses_error *error)
{
    struct wanted_of of = {.session_id = 0};
    struct list_place after;
    struct found_rows rows;
    bool more = true;
    int code = SES_OK;

    ses__live_init(&of.live, &own->search->store->allocator);
    while (code == SES_OK && more && !ses__search_is_full(own->search)) {
        ses__found_rows_open(&rows, db, asked, error);
        if (rows.count >= asked->most) {
            own->end = FINDING_MANY;
            code = ses__query_end(&rows.query);
            break;
        }
        code = take_found(batch, &rows, error);
        for (size_t i = 0; i < batch->count && code == SES_OK && !ses__search_is_full(own->search);
             i += OPEN_AT_ONCE) {
            const size_t left = batch->count - i;
            code = look_at_some(own->search, &batch->items[i], left < OPEN_AT_ONCE ? left : OPEN_AT_ONCE,
                                batch->events, &of, db, error);
        }
        more = (int64_t)batch->count == asked->limit;
        if (more) {
            const struct found_event *last = &batch->items[batch->count - 1];
            after = (struct list_place){last->updated_us, last->name, last->user_id, 0};
            asked->after = &after;
            asked->after_seq = last->seq;
            asked->limit *= FOUND_TIMES;
            if (asked->limit > FOUND_AT_ONCE)
                asked->limit = FOUND_AT_ONCE;
        }
    }
    ses__live_free(&of.live);
    return code;
}

static int ask_index(struct index_search *own, struct db *db, ses_error *error)
{
    struct search *search = own->search;
    const struct search_place *from = &search->from;
    const struct list_place after = {from->updated_us, ses__span_of(from->session), from->user_id, 0};
    const int64_t limit = (int64_t)search->hits->limit + FOUND_MORE;
    struct words_asked asked = {.terms = &search->terms,
                                .text = own->text,
                                .owner = &own->owner,
                                .session_id = own->session_id,
                                .filter = &search->filter,
                                .after = from->session ? &after : NULL,
                                .after_seq = from->seq,
                                .most = FOUND_MAX,
                                .limit = limit < FOUND_AT_ONCE ? limit : FOUND_AT_ONCE};
    struct found_batch *batch = ses__memory_new(&search->store->allocator, sizeof *batch);

    if (!batch)
        return ses__error_nomem(error);
    ses__arena_init(&batch->names, &search->store->allocator);
    const int code = look_at_all(own, &asked, batch, db, error);
    ses__arena_free(&batch->names);
    ses__memory_free(&search->store->allocator, batch);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the job */

static int find_scope(struct index_search *own, struct db *db, ses_error *error)
{
    const ses_key *scope = own->search->scope;
    struct session_row row;
    int code = SES_OK;

    own->session_id = 0;
    if (!scope->session)
        return ses__owner_find(db, scope->app, scope->user, &own->owner, error);
    code = ses__session_find(db, scope, &row, error);
    own->owner = (struct user_row){row.user_id, row.app_id};
    own->session_id = row.id;
    return code == SES_NOTFOUND ? ses__no_such_session(scope, error) : code;
}

static int run_index_search(struct db *db, void *context, ses_error *error)
{
    struct index_search *own = context;
    struct session_ids behind = {.count = 0};
    bool serves = false;

    ses__search_restart(own->search); /* after an earlier run */
    own->end = FINDING_NONE;
    int code = ses__index_serves(db, &serves, error);
    if (code != SES_OK || !serves)
        return code;
    own->end = FINDING_DONE;
    code = find_scope(own, db, error);
    if (code == SES_NOTFOUND && !own->search->scope->session)
        return SES_OK; /* nobody has written anything there */
    if (code == SES_OK && !own->as_it_is) {
        const struct behind asked = {WORDS_FEATURE, own->owner.app_id, own->owner.id, own->session_id, 0};
        code = ses__behind_find(db, &asked, &behind, error);
    }
    if (code != SES_OK)
        return code;
    if (behind.count == 0)
        return ask_index(own, db, error);
    own->end = FINDING_BEHIND;
    return SES_OK;
}

static int run_finding_on(struct index_search *own, ses_error *error)
{
    const struct search *search = own->search;
    return ses__run_within(search->store->storage, &search->limits, TO_READ_BEFORE_WRITING, run_index_search,
                           own, error);
}

int ses__search_index(struct search *search, bool *found, ses_error *error)
{
    struct buffer text;
    struct index_search own = {.search = search, .text = &text};

    ses__buffer_init(&text, &search->store->allocator);
    int code = run_finding_on(&own, error);
    if (code == SES_OK && own.end == FINDING_BEHIND) {
        struct catch_up catching_up = {.store = search->store,
                                       .limits = search->limits,
                                       .feature = &ses__index_feature,
                                       .app_id = own.owner.app_id,
                                       .user_id = own.owner.id,
                                       .session_id = own.session_id};
        own.as_it_is = true;
        code = ses__catch_up(&catching_up, error);
        if (code == SES_OK)
            code = run_finding_on(&own, error);
    }
    ses__buffer_free(&text);
    *found = code == SES_OK && own.end == FINDING_DONE;
    /* Even if it only said that there are many. */
    search->hits->indexed = code == SES_OK && (*found || own.end == FINDING_MANY);
    if (!*found)
        ses__search_restart(search);
    /* A scan serves if the index is damaged, or could not be brought up to date for a reason that stays: the
     * store cannot be written to, or there is no FTS5, without which the index cannot even be read. If the
     * events are damaged, the scan finds that, too. */
    if (code != SES_READONLY && code != SES_FULL && code != SES_UNSUPPORTED && code != SES_CORRUPT)
        return code;
    ses__error_clear(error);
    return SES_OK;
}

/* ---------------------------------------------------------------------------------------- ses_store_index */

enum { INDEX_FLAGS = SES_INDEX_REBUILD | SES_INDEX_DROP };
_Static_assert((int)SES_INDEX_REBUILD == (int)KEEP_REBUILD && (int)SES_INDEX_DROP == (int)KEEP_DROP,
               "the flags are passed on");

static int index_begun(ses_store *store, const ses_index_options *given, int64_t *events, ses_error *error)
{
    ses_index_options options;
    int code = ses__take_flagged(&options, sizeof options, given, INDEX_FLAGS, "index options", error);

    if (code == SES_OK && options.flags == INDEX_FLAGS)
        code = ses__error_set(error, SES_MISUSE, "index options: both SES_INDEX_REBUILD and SES_INDEX_DROP");
    if (code != SES_OK)
        return code;
    struct catch_up keeping = {.store = store,
                               .limits = LIMITS_OF(store, options),
                               .feature = &ses__index_feature,
                               .progress = options.progress,
                               .progress_context = options.progress_context};
    code = ses__feature_keep(&keeping, options.flags, error);
    if (events)
        *events = keeping.events;
    return code;
}

int ses_store_index(ses_store *store, const ses_index_options *options, int64_t *events, ses_error *error)
{
    int code = ses__store_begin(store, error);

    if (events)
        *events = 0;
    return code == SES_OK ? ses__store_end(store, index_begun(store, options, events, error)) : code;
}
