/* The hits of a page. */
#include "base/error.h"
#include "model/words/event_words.h"
#include "search/search.h"

enum { HITS_DEFAULT = 20 };

int ses__hits_new(ses_store *store, size_t limit, ses_hits **hits, ses_error *error)
{
    ses_hits *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);

    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    fresh->limit = limit ? limit : HITS_DEFAULT;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    fresh->items = ses__memory_new(&store->allocator, fresh->limit * sizeof *fresh->items);
    *hits = fresh;
    return fresh->items ? SES_OK : ses__error_nomem(error);
}

void ses__search_restart(struct search *search)
{
    search->hits->count = 0;
    ses__arena_reset(&search->hits->arena);
    if (search->taker)
        search->taker->restart(search);
}

int ses__search_add(struct search *search, const struct candidate *candidate, size_t place, ses_error *error)
{
    ses_hits *hits = search->hits;
    struct arena *const arena = &hits->arena;
    const struct search_place *at = &candidate->at;
    ses_hit *hit = &hits->items[hits->count];

    *hit = (ses_hit){.user = ses__arena_text(arena, at->user, strlen(at->user)),
                     .session = ses__arena_text(arena, at->session, strlen(at->session)),
                     .id = ses__arena_text(arena, candidate->id.ptr, candidate->id.len),
                     .author = ses__arena_text(arena, candidate->author.ptr, candidate->author.len),
                     .seq = at->seq,
                     .time_us = candidate->time_us};
    if (search->options->flags & SES_SEARCH_JSON) {
        hit->json = ses__arena_text(arena, candidate->body.ptr, candidate->body.len);
        hit->json_len = candidate->body.len;
    }
    if (!hit->user || !hit->session || !hit->id || !hit->author || (hit->json_len > 0 && !hit->json))
        return ses__error_nomem(error);
    hits->last = *at;
    hits->last.user = hit->user;
    hits->last.session = hit->session;
    hits->count++;
    if (search->options->snippet_bytes == 0)
        return SES_OK;
    struct snippet snippet;
    ses__event_snippet(candidate->body, place, search->options->snippet_bytes, &search->words, &search->plain,
                       &snippet);
    if (search->words.failed || search->plain.failed)
        return ses__error_nomem(error);
    hit->snippet = ses__arena_text(arena, snippet.text.ptr, snippet.text.len);
    hit->snippet_len = snippet.text.len;
    hit->snippet_found = snippet.found;
    return hit->snippet ? SES_OK : ses__error_nomem(error);
}

int ses__search_look(struct search *search, const struct candidate *candidate, ses_error *error)
{
    const ses_search_options *options = search->options;
    size_t place = 0;

    if ((options->before_us && candidate->time_us >= *options->before_us) ||
        (options->since_us && candidate->time_us < *options->since_us))
        return SES_OK;
    ses__event_words(candidate->body, &search->words);
    if (search->words.failed)
        return ses__error_nomem(error);
    const size_t terms = ses__terms_match(&search->terms, &search->words, &place);
    if (terms == 0)
        return SES_OK;
    return search->taker ? search->taker->take(search, candidate, place, terms, error)
                         : ses__search_add(search, candidate, place, error);
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

int ses_hits_indexed(const ses_hits *hits)
{
    return hits->indexed;
}

void ses_hits_close(ses_hits *hits)
{
    if (hits) {
        ses_store *store = hits->store;
        ses__arena_free(&hits->arena);
        ses__memory_free(&store->allocator, hits->items);
        ses__memory_free(&store->allocator, hits->token);
        ses__memory_free(&store->allocator, hits);
        ses__store_release(store);
    }
}
