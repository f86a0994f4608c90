/* Searching and listing what is remembered. */
#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "base/hash.h"
#include "memory/memory.h"
#include "search/search.h"
#include "session/read/filter.h"

enum {
    MEMORY_DEFAULT = 10,
    LOOKED_AT = 10000,   /* events that fit, of which the best are given */
    QUERY_WORD_MAX = 128 /* characters; TERMS_MAX words of them are within TERMS_MAX_BYTES */
};

/* An event that may be given. It has its own copy of all that it points to. */
struct ranked {
    struct candidate candidate;
    size_t place;
    size_t terms;
    uint32_t words; /* a hash of them */
};

/* The best so far, in order. */
struct ranking {
    struct search_taker taker;
    const ses_allocator *allocator;
    struct ranked **items; /* room for one more than `limit` */
    size_t count;
    size_t limit;
    size_t looked; /* at events that fit */
    size_t terms;  /* that were asked for */
};

static void ranking_forget(struct ranking *ranking)
{
    while (ranking->count > 0)
        ses__memory_free(ranking->allocator, ranking->items[--ranking->count]);
    ranking->looked = 0;
    ranking->taker.full = false;
}

static void ranking_free(struct ranking *ranking)
{
    ranking_forget(ranking);
    ses__memory_free(ranking->allocator, ranking->items);
}

/* Less than 0: the one on the left comes first. */
static int compare_ranked(const struct ranked *a, const struct ranked *b)
{
    if (a->terms != b->terms)
        return a->terms > b->terms ? -1 : 1;
    if (a->candidate.time_us != b->candidate.time_us)
        return a->candidate.time_us > b->candidate.time_us ? -1 : 1;
    return a->candidate.at.seq < b->candidate.at.seq ? -1 : a->candidate.at.seq > b->candidate.at.seq;
}

static bool is_alike(const struct ranked *a, const struct ranked *b)
{
    return a->terms == b->terms && a->candidate.time_us == b->candidate.time_us && a->words == b->words &&
           ses__span_is(a->candidate.id, b->candidate.id) &&
           ses__span_is(a->candidate.author, b->candidate.author);
}

/* Copies a text to where `*at` points, with a NUL. */
static struct span put_copy(char **at, struct span text)
{
    const struct span copy = {*at, text.len};

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    (*at)[text.len] = '\0';
    *at += text.len + 1;
    return copy;
}

static struct ranked *copy_ranked(const struct ranked *own, const ses_allocator *allocator)
{
    const struct candidate *from = &own->candidate;
    const struct span user = ses__span_of(from->at.user);
    const struct span session = ses__span_of(from->at.session);
    struct ranked *copy = ses__memory_new(allocator, sizeof *copy + user.len + session.len + from->id.len +
                                                         from->author.len + from->body.len + 5);

    if (!copy)
        return NULL;
    char *at = (char *)(copy + 1);
    *copy = *own;
    copy->candidate.at.user = put_copy(&at, user).ptr;
    copy->candidate.at.session = put_copy(&at, session).ptr;
    copy->candidate.id = put_copy(&at, from->id);
    copy->candidate.author = put_copy(&at, from->author);
    copy->candidate.body = put_copy(&at, from->body);
    return copy;
}

/* Puts it at its place, unless there is no room that far, one like it is there, or nobody said it. */
static int rank(struct ranking *ranking, const struct ranked *own, ses_error *error)
{
    size_t at = ranking->count;
    bool is_said = false;

    while (at > 0 && compare_ranked(own, ranking->items[at - 1]) < 0)
        at--;
    if (at == ranking->limit)
        return SES_OK;
    for (size_t i = 0; i < ranking->count; i++)
        if (is_alike(own, ranking->items[i]))
            return SES_OK;
    const int code = ses__memories_is_said(ranking->allocator, own->candidate.body, &is_said, error);
    if (code != SES_OK || !is_said)
        return code;
    struct ranked *copy = copy_ranked(own, ranking->allocator);
    if (!copy)
        return ses__error_nomem(error);
    memmove(&ranking->items[at + 1], &ranking->items[at], (ranking->count - at) * sizeof *ranking->items);
    ranking->items[at] = copy;
    if (++ranking->count > ranking->limit)
        ses__memory_free(ranking->allocator, ranking->items[--ranking->count]);
    return SES_OK;
}

static int take_remembered(struct search *search, const struct candidate *candidate, size_t place,
                           size_t terms, ses_error *error)
{
    struct ranking *ranking = (struct ranking *)search->taker;
    const struct ranked own = {.candidate = *candidate,
                               .place = place,
                               .terms = terms,
                               .words = ses__hash32(HASH32_BASIS, search->words.data, search->words.len)};

    ranking->terms = search->terms.count;
    ranking->taker.full = ++ranking->looked >= LOOKED_AT;
    return rank(ranking, &own, error);
}

static void restart(struct search *search)
{
    ranking_forget((struct ranking *)search->taker);
}

static int ranking_init(struct ranking *ranking, const ses_allocator *allocator, size_t limit,
                        ses_error *error)
{
    *ranking = (struct ranking){.taker = {.take = take_remembered, .restart = restart},
                                .allocator = allocator,
                                .limit = limit,
                                .items = ses__memory_new(allocator, (limit + 1) * sizeof *ranking->items)};
    return ranking->items ? SES_OK : ses__error_nomem(error);
}

/* ------------------------------------------------------------------------------------ the state of a call */

struct recall {
    ses_store *store;
    ses_key whose;
    ses_memory_options options;
    struct limits limits;
    struct ranking best;
};

static int recall_begin(struct recall *recall, ses_store *store, const char *app, const char *user,
                        const ses_memory_options *given, ses_error *error)
{
    ses_memory_options *own = &recall->options;
    int code = ses__take_options(own, sizeof *own, given, "memory options", error);

    *recall = (struct recall){.store = store, .whose = {app, user, NULL}, .options = *own};
    if (code == SES_OK)
        code = ses__check_argument(user, "user", error);
    if (code == SES_OK)
        code = ses__check_owner(app, user, NULL, error);
    if (code == SES_OK)
        code = ses__memories_check_project(own->project, error);
    if (code == SES_OK && own->limit > LOOKED_AT)
        code = ses__error_set(error, SES_INVALID, "memory options: limit is more than %d", LOOKED_AT);
    if (code == SES_OK && own->snippet_bytes > SNIPPET_MAX)
        code =
            ses__error_set(error, SES_INVALID, "memory options: snippet_bytes is more than %d", SNIPPET_MAX);
    if (code != SES_OK)
        return code;
    own->limit = own->limit ? own->limit : MEMORY_DEFAULT;
    recall->limits = LIMITS_OF(store, *own);
    return ranking_init(&recall->best, &store->allocator, own->limit, error);
}

/* The sessions with what belongs to no project, or to that one. */
static ses_filter filter_of(const char *project)
{
    return (ses_filter){.size = sizeof(ses_filter),
                        .label = project ? MEMORY_PROJECT : NULL,
                        .label_value = project,
                        .without_label = project ? NULL : MEMORY_PROJECT,
                        .remembered = 1};
}

/* Looks at what belongs to no project, and at what belongs to that of the options. */
static int find_both(struct recall *recall,
                     int (*find)(struct recall *recall, const char *project, ses_error *error),
                     ses_error *error)
{
    const int code = find(recall, NULL, error);
    return code == SES_OK && recall->options.project ? find(recall, recall->options.project, error) : code;
}

/* Makes the page, and ends the call. */
static int recall_end(struct recall *recall, int code, ses_hits **hits, ses_error *error)
{
    const ses_search_options options = {
        .size = sizeof options, .flags = SES_SEARCH_JSON, .snippet_bytes = recall->options.snippet_bytes};
    struct search search = {.store = recall->store, .options = &options};
    const struct ranking *best = &recall->best;

    ses__buffer_init(&search.words, best->allocator);
    ses__buffer_init(&search.plain, best->allocator);
    if (code == SES_OK)
        code = ses__hits_new(recall->store, best->limit, &search.hits, error);
    for (size_t i = 0; i < best->count && code == SES_OK; i++) {
        code = ses__search_add(&search, &best->items[i]->candidate, best->items[i]->place, error);
        if (code == SES_OK && best->terms > 0)
            search.hits->items[i].score = (double)best->items[i]->terms / (double)best->terms;
    }
    if (code == SES_OK)
        *hits = search.hits;
    else
        ses_hits_close(search.hits);
    ses__buffer_free(&search.words);
    ses__buffer_free(&search.plain);
    ranking_free(&recall->best);
    return code;
}

/* ---------------------------------------------------------------------------------------------- searching */

/* Adds the words of a query that are searched for, each once. */
static void choose_words(struct buffer *out, struct span query)
{
    static const char space[] = " \t\r\n\v\f";
    struct span words[TERMS_MAX];
    size_t count = 0;

    while (query.len > 0 && count < TERMS_MAX) {
        struct span word = {query.ptr, 0};
        size_t characters = 0;
        bool is_known = false;
        while (word.len < query.len && !memchr(space, word.ptr[word.len], sizeof space - 1))
            characters += ((unsigned char)word.ptr[word.len++] & 0xc0) != 0x80;
        query.ptr += word.len < query.len ? word.len + 1 : word.len;
        query.len -= word.len < query.len ? word.len + 1 : word.len;
        for (size_t i = 0; i < count && !is_known; i++)
            is_known = ses__span_is(words[i], word);
        if (word.len == 0 || characters > QUERY_WORD_MAX || is_known)
            continue;
        words[count++] = word;
        ses__buffer_add(out, word.ptr, word.len);
        ses__buffer_add(out, " ", 1);
    }
}

struct memory_search {
    struct recall recall;
    struct buffer words;
};

static int search_in(struct recall *recall, const char *project, ses_error *error)
{
    const struct buffer *words = &((struct memory_search *)recall)->words;
    const ses_filter filter = filter_of(project);
    const ses_search_options options = {.size = sizeof options,
                                        .flags = SES_SEARCH_ANY | SES_SEARCH_LIVE,
                                        .since_us = recall->options.since_us,
                                        .before_us = recall->options.before_us,
                                        .limit = recall->best.limit};
    struct ranking own;
    struct search search = {.store = recall->store,
                            .scope = &recall->whose,
                            .options = &options,
                            .limits = recall->limits,
                            .in_memory = true,
                            .taker = &own.taker};
    int code = ranking_init(&own, recall->best.allocator, recall->best.limit, error);

    if (code == SES_OK)
        code = ses__filter_take(&filter, recall->whose.app, recall->whose.user, &search.filter, error);
    if (code == SES_OK)
        code = ses__search_run(&search, (struct span){words->data, words->len}, error);
    for (size_t i = 0; i < own.count && code == SES_OK; i++)
        code = rank(&recall->best, own.items[i], error);
    recall->best.terms = own.terms;
    ses_hits_close(search.hits);
    ranking_free(&own);
    return code;
}

/* A query without a word finds nothing. */
static int search_words(struct memory_search *search, struct span query, ses_error *error)
{
    int code = SES_OK;

    choose_words(&search->words, query);
    if (search->words.failed)
        return ses__error_nomem(error);
    if (search->words.len > 0)
        code = find_both(&search->recall, search_in, error);
    if (code != SES_INVALID) /* all else was checked before */
        return code;
    ses__error_clear(error);
    return SES_OK;
}

int ses_memory_search(ses_store *store, const char *app, const char *user, const char *query, size_t len,
                      const ses_memory_options *options, ses_hits **hits, ses_error *error)
{
    struct memory_search search;
    struct span span;
    int code = ses__store_begin_giving(store, hits, "hits", error);

    if (code != SES_OK)
        return code;
    code = ses__check_span(query, len, "query", &span, error);
    if (code == SES_OK)
        code = recall_begin(&search.recall, store, app, user, options, error);
    if (code != SES_OK)
        return ses__store_end(store, code);
    ses__buffer_init(&search.words, &store->allocator);
    code = recall_end(&search.recall, search_words(&search, span, error), hits, error);
    ses__buffer_free(&search.words);
    return ses__store_end(store, code);
}

/* ------------------------------------------------------------------------------------------------ listing */

/* The latest events of a session that somebody said, until there are as many as are given at most. */
static int list_session(struct recall *recall, const ses_session *session, ses_error *error)
{
    const bool is_memory = ses_session_kind(session) == SES_KIND_MEMORY;
    const ses_range range = {.size = sizeof range,
                             .which = SES_RANGE_SEQ | SES_RANGE_LIVE,
                             .first_seq = 1,
                             .last_seq = is_memory ? MAX_SEQ : ses_session_remembered_seq(session)};
    const ses_cursor_options options = {
        .size = sizeof options, .flags = SES_CURSOR_BACKWARD, .range = &range, LEFT_OF(&recall->limits)};
    const ses_key key = {recall->whose.app, recall->whose.user, ses_session_id(session)};
    const ses_memory_options *asked = &recall->options;
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    size_t said = 0;
    int code = ses__begun_cursor_open(recall->store, &key, &options, false, &cursor, error);

    for (size_t looked = 0; cursor && code >= 0 && said < recall->best.limit && looked < LOOKED_AT;) {
        code = ses__begun_cursor_next(cursor, &event, error);
        if (code != SES_ROW)
            break;
        if ((asked->since_us && event->time_us < *asked->since_us) ||
            (asked->before_us && event->time_us >= *asked->before_us))
            continue;
        const struct ranked own = {
            .candidate = {.at = {.user = key.user, .session = key.session, .seq = event->seq},
                          .id = ses__span_of(event->id),
                          .author = ses__span_of(event->author),
                          .time_us = event->time_us,
                          .body = {event->json, event->json_len}},
            .words = ses__hash32(HASH32_BASIS, event->json, event->json_len)};
        bool is_said = false;
        code = ses__memories_is_said(recall->best.allocator, own.candidate.body, &is_said, error);
        if (code == SES_OK && is_said)
            code = rank(&recall->best, &own, error);
        said += is_said;
        looked++;
    }
    (void)ses_cursor_close(cursor, NULL); /* its failure is known */
    if (code != SES_NOTFOUND && code != SES_STALE)
        return code < 0 ? code : SES_OK;
    ses__error_clear(error); /* it was deleted meanwhile */
    return SES_OK;
}

/* Sessions come by the times of their last events: behind one that is too early, all are. */
static int visit_remembered(void *context, const ses_page *page, size_t index, ses_error *error)
{
    struct recall *recall = context;
    const struct ranking *best = &recall->best;
    const ses_session *session = ses_page_session(page, index);

    if (best->count == best->limit &&
        ses_session_updated_us(session) < best->items[best->count - 1]->candidate.time_us)
        return SES_MORE;
    return list_session(recall, session, error);
}

static int list_in(struct recall *recall, const char *project, ses_error *error)
{
    const ses_filter filter = filter_of(project);
    const ses_list_options options = {
        .size = sizeof options, .flags = SES_LIST_NO_STATE, .filter = &filter, LEFT_OF(&recall->limits)};
    const int code = ses_list_each(recall->store, recall->whose.app, recall->whose.user, &options,
                                   visit_remembered, recall, error);

    return code == SES_MORE ? SES_OK : code;
}

int ses_memory_list(ses_store *store, const char *app, const char *user, const ses_memory_options *options,
                    ses_hits **hits, ses_error *error)
{
    struct recall recall;
    int code = ses__store_begin_giving(store, hits, "hits", error);

    if (code != SES_OK)
        return code;
    code = recall_begin(&recall, store, app, user, options, error);
    if (code == SES_OK)
        code = recall_end(&recall, find_both(&recall, list_in, error), hits, error);
    return ses__store_end(store, code);
}
