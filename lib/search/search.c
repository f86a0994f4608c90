/* Searches by reading the events. */
#include "seslite_search.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/argument.h"
#include "base/error.h"
#include "search/event_words.h"
#include "search/terms.h"
#include "search/token.h"
#include "session/handle.h"
#include "session/store.h"

enum { HITS_DEFAULT = 20, HITS_MAX = 1000, SNIPPET_MAX = 64 * 1024, SESSIONS_SEARCHED = 100 };

struct ses_hits {
    ses_store *store;
    struct arena arena;
    ses_hit *items; /* in the arena, room for `limit` */
    size_t count;
    size_t limit;
    const char *token;
};

/* The state of one call. */
struct finder {
    ses_store *store;
    const ses_key *scope;
    const ses_search_options *options;
    struct limits limits;
    struct terms terms;
    struct search_place from; /* where the page before ended; without a session: at the beginning */
    struct buffer words;      /* of the event under way */
    struct buffer plain;      /* of the text that a snippet is cut from */
    ses_hits *hits;
};

/* ----------------------------------------------------------------------------------------------- the hits */

static int add_snippet(struct finder *finder, const ses_event *event, size_t place, ses_hit *hit,
                       ses_error *error)
{
    struct snippet snippet;

    ses__event_snippet((struct span){event->json, event->json_len}, place, finder->options->snippet_bytes,
                       &finder->words, &finder->plain, &snippet);
    if (finder->words.failed || finder->plain.failed)
        return ses__error_nomem(error);
    hit->snippet = ses__arena_text(&finder->hits->arena, snippet.text.ptr, snippet.text.len);
    hit->snippet_len = snippet.text.len;
    hit->snippet_found = snippet.found;
    return hit->snippet ? SES_OK : ses__error_nomem(error);
}

static int add_hit(struct finder *finder, const ses_key *key, const ses_event *event, size_t place,
                   ses_error *error)
{
    struct arena *const arena = &finder->hits->arena;
    ses_hit *hit = &finder->hits->items[finder->hits->count];

    *hit = (ses_hit){.user = ses__arena_text(arena, key->user, strlen(key->user)),
                     .session = ses__arena_text(arena, key->session, strlen(key->session)),
                     .id = ses__arena_text(arena, event->id, strlen(event->id)),
                     .author = ses__arena_text(arena, event->author, strlen(event->author)),
                     .seq = event->seq,
                     .time_us = event->time_us};
    if (!hit->user || !hit->session || !hit->id || !hit->author)
        return ses__error_nomem(error);
    finder->hits->count++;
    return finder->options->snippet_bytes ? add_snippet(finder, event, place, hit, error) : SES_OK;
}

static bool has_all_hits(const struct finder *finder)
{
    return finder->hits->count == finder->hits->limit;
}

/* The page ends with its last hit. `list` is the token of the list of sessions that has its session. */
static int end_page(struct finder *finder, const char *list, ses_error *error)
{
    const ses_hit *last = &finder->hits->items[finder->hits->count - 1];
    const struct search_place place = {last->user, last->session, last->seq, list ? list : ""};

    finder->hits->token = ses__search_token_make(&finder->hits->arena, &place);
    return finder->hits->token ? SES_OK : ses__error_nomem(error);
}

/* ------------------------------------------------------------------------------------------ the sessions */

static int look_into(struct finder *finder, const ses_key *key, const ses_event *event, ses_error *error)
{
    size_t place = 0;

    if (finder->options->before_us && event->time_us >= *finder->options->before_us)
        return SES_OK;
    ses__event_words((struct span){event->json, event->json_len}, &finder->words);
    if (finder->words.failed)
        return ses__error_nomem(error);
    return ses__terms_match(&finder->terms, &finder->words, &place)
               ? add_hit(finder, key, event, place, error)
               : SES_OK;
}

/* The events before that number. */
static ses_range range_of(const struct finder *finder, int64_t before_seq)
{
    ses_range range = {.size = sizeof range, .first_seq = 1, .last_seq = before_seq - 1};

    if (before_seq < INT64_MAX)
        range.which |= SES_RANGE_SEQ;
    if (finder->options->flags & SES_SEARCH_LIVE)
        range.which |= SES_RANGE_LIVE;
    if (finder->options->since_us) {
        range.which |= SES_RANGE_SINCE;
        range.since_us = *finder->options->since_us;
    }
    return range;
}

static int search_session(struct finder *finder, const ses_key *key, int64_t before_seq, ses_error *error)
{
    const ses_range range = range_of(finder, before_seq);
    const ses_cursor_options options = {.size = sizeof options,
                                        .backward = 1,
                                        .range = &range,
                                        .timeout_ms = ses__limits_left_ms(&finder->limits),
                                        .cancel = finder->limits.cancel};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code =
        before_seq == 1 ? SES_OK : ses__begun_cursor_open(finder->store, key, &options, &cursor, error);

    while (cursor && code == SES_OK && !has_all_hits(finder)) {
        code = ses__begun_cursor_next(cursor, &event, error);
        if (code != SES_ROW)
            break;
        code = look_into(finder, key, event, error);
    }
    (void)ses_cursor_close(cursor, NULL); /* its failure is known */
    return code;
}

/* The place in this list of the session where the page before ended; its begin, if it is not there any more. */
static size_t first_session(const struct finder *finder, const ses_page *page)
{
    for (size_t i = 0; finder->from.session && i < ses_page_count(page); i++) {
        const ses_session *session = ses_page_session(page, i);
        if (strcmp(ses_session_id(session), finder->from.session) == 0 &&
            strcmp(ses_session_user(session), finder->from.user) == 0)
            return i;
    }
    return 0;
}

static int64_t seq_to_begin_before(const struct finder *finder, const ses_session *session)
{
    const bool is_same = finder->from.session && strcmp(ses_session_id(session), finder->from.session) == 0 &&
                         strcmp(ses_session_user(session), finder->from.user) == 0;
    return is_same ? finder->from.seq : INT64_MAX;
}

static int search_page(struct finder *finder, const ses_page *page, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = first_session(finder, page); i < ses_page_count(page) && !has_all_hits(finder); i++) {
        const ses_session *session = ses_page_session(page, i);
        const ses_key key = {finder->scope->app, ses_session_user(session), ses_session_id(session)};
        code = search_session(finder, &key, seq_to_begin_before(finder, session), error);
        if (code != SES_OK && code != SES_NOTFOUND &&
            code != SES_STALE) /* deleted, or cut, since it was listed */
            return code;
    }
    finder->from.session = NULL;
    ses__error_clear(error);
    return SES_OK;
}

static int search_list(struct finder *finder, ses_error *error)
{
    const char *token = finder->from.session && finder->from.list[0] ? finder->from.list : NULL;
    ses_page *page = NULL;
    int code = SES_OK;

    do {
        const ses_list_options options = {.size = sizeof options,
                                          .limit = SESSIONS_SEARCHED,
                                          .token = token,
                                          .flags = SES_LIST_NO_STATE,
                                          .timeout_ms = ses__limits_left_ms(&finder->limits),
                                          .cancel = finder->limits.cancel};
        ses_page *next = NULL;
        code =
            ses__begun_list(finder->store, finder->scope->app, finder->scope->user, &options, &next, error);
        if (code == SES_OK)
            code = search_page(finder, next, error);
        if (code == SES_OK && has_all_hits(finder))
            code = end_page(finder, token, error);
        ses_page_close(page); /* which had this one's token */
        page = next;
        token = page ? ses_page_token(page) : NULL;
    } while (code == SES_OK && token && !has_all_hits(finder));
    ses_page_close(page);
    return code;
}

static int search_one(struct finder *finder, ses_error *error)
{
    const int64_t before = finder->from.session ? finder->from.seq : INT64_MAX;
    int code = search_session(finder, finder->scope, before, error);

    return code == SES_OK && has_all_hits(finder) ? end_page(finder, NULL, error) : code;
}

/* ---------------------------------------------------------------------------------------------- the call */

static int take_search_options(ses_search_options *own, const ses_search_options *given, ses_error *error)
{
    int code =
        ses__take_flagged(own, sizeof *own, given, SES_SEARCH_ANY | SES_SEARCH_PHRASE | SES_SEARCH_LIVE,
                          "search options", error);

    if (code == SES_OK && own->limit > HITS_MAX)
        code = ses__error_set(error, SES_INVALID, "search options: limit is more than %d", HITS_MAX);
    if (code == SES_OK && own->snippet_bytes > SNIPPET_MAX)
        code =
            ses__error_set(error, SES_INVALID, "search options: snippet_bytes is more than %d", SNIPPET_MAX);
    return code;
}

static int check_scope(const ses_key *scope, ses_error *error)
{
    int code = ses__check_argument(scope, "scope", error);

    if (code == SES_OK && scope->session && !scope->user)
        code = ses__error_set(error, SES_MISUSE, "scope: it has a session, but no user");
    return code == SES_OK ? ses__check_owner(scope->app, scope->user, scope->session, error) : code;
}

static int hits_new(ses_store *store, size_t limit, ses_hits **hits, ses_error *error)
{
    ses_hits *fresh = ses__memory_zeroed(ses__store_allocator(store), sizeof *fresh);

    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    fresh->limit = limit ? limit : HITS_DEFAULT;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, ses__store_allocator(store));
    fresh->items = ses__arena_new(&fresh->arena, fresh->limit * sizeof *fresh->items);
    *hits = fresh;
    return fresh->items ? SES_OK : ses__error_nomem(error);
}

/* All but the checks of the arguments. */
static int search_events(struct finder *finder, struct span words, ses_error *error)
{
    const ses_allocator *const allocator = ses__store_allocator(finder->store);
    int code = ses__terms_take(&finder->terms, words, finder->options->flags, allocator, error);

    ses__buffer_init(&finder->words, allocator);
    ses__buffer_init(&finder->plain, allocator);
    if (code == SES_OK)
        code = hits_new(finder->store, finder->options->limit, &finder->hits, error);
    if (code == SES_OK && finder->options->token)
        code = ses__search_token_read(&finder->hits->arena, finder->options->token, &finder->from, error);
    if (code == SES_OK)
        code = finder->scope->session ? search_one(finder, error) : search_list(finder, error);
    ses__buffer_free(&finder->plain);
    ses__buffer_free(&finder->words);
    ses__terms_free(&finder->terms);
    return code;
}

static int search_begun(ses_store *store, const ses_key *scope, const char *words, size_t len,
                        const ses_search_options *given, ses_hits **hits, ses_error *error)
{
    ses_search_options options;
    struct span span;
    int code = check_scope(scope, error);

    if (code == SES_OK)
        code = ses__check_span(words, len, "words", &span, error);
    if (code == SES_OK)
        code = take_search_options(&options, given, error);
    if (code != SES_OK)
        return code;
    struct finder finder = {
        .store = store, .scope = scope, .options = &options, .limits = LIMITS_OF(store, options)};
    code = search_events(&finder, span, error);
    if (code == SES_OK)
        *hits = finder.hits;
    else
        ses_hits_close(finder.hits);
    return code;
}

int ses_store_search(ses_store *store, const ses_key *scope, const char *words, size_t len,
                     const ses_search_options *options, ses_hits **hits, ses_error *error)
{
    int code = ses__store_begin_giving(store, hits, "hits", error);
    return code == SES_OK
               ? ses__store_end(store, search_begun(store, scope, words, len, options, hits, error))
               : code;
}

size_t ses_hits_count(const ses_hits *hits)
{
    return hits->count;
}

const ses_hit *ses_hits_at(const ses_hits *hits, size_t index)
{
    return index < hits->count ? &hits->items[index] : NULL;
}

const char *ses_hits_token(const ses_hits *hits)
{
    return hits->token;
}

void ses_hits_close(ses_hits *hits)
{
    if (hits) {
        ses_store *store = hits->store;
        ses__arena_free(&hits->arena);
        ses__memory_free(ses__store_allocator(store), hits);
        ses__store_release(store);
    }
}
