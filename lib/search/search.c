/* ses_store_search. */
#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "search/search.h"
#include "session/read/filter.h"
#include "session/token.h"

/* ------------------------------------------------------------------------------------------- the token */

/* The hash of all that a token must agree with. */
static uint32_t hash_of_search(const struct search *search)
{
    const struct buffer *words = &search->terms.words;
    const unsigned char flags = (unsigned char)(search->options->flags & ~(unsigned)SES_SEARCH_JSON);
    uint32_t hash = ses__hash32_name(ses__hash32(HASH32_BASIS, &flags, 1), search->scope->app);

    hash = ses__filter_add_text(hash, 'u', search->scope->user);
    hash = ses__filter_add_text(hash, 's', search->scope->session);
    hash = ses__filter_hash(hash, &search->filter);
    return ses__hash32(hash, words->data, words->len);
}

/* The page ends with its last hit. */
static int make_search_token(const struct search *search, ses_error *error)
{
    const struct search_place *last = &search->hits->last;
    struct buffer bytes;

    ses__token_begin(&bytes, &search->store->allocator);
    ses__token_put_signed(&bytes, last->updated_us);
    ses__token_put_signed(&bytes, last->user_id);
    ses__token_put_signed(&bytes, last->seq);
    ses__token_put(&bytes, strlen(last->user));
    ses__buffer_add_word(&bytes, last->user);
    ses__buffer_add_word(&bytes, last->session);
    search->hits->token = ses__token_end(&bytes, hash_of_search(search));
    return search->hits->token ? SES_OK : ses__error_nomem(error);
}

static bool is_name(struct span text)
{
    return text.len > 0 && text.len <= SES_ID_MAX && !memchr(text.ptr, '\0', text.len) &&
           ses__utf8_valid(text.ptr, text.len);
}

/* Takes the names out of what is left of a token. */
static bool take_session_names(struct search *search, struct span content)
{
    struct search_place *from = &search->from;
    uint64_t user_len = 0;

    if (!ses__token_get(&content, &user_len) || user_len > content.len)
        return false;
    const struct span user = {content.ptr, (size_t)user_len};
    const struct span session = {content.ptr + user.len, content.len - user.len};
    if (!is_name(user) || !is_name(session))
        return false;
    from->user = ses__arena_text(&search->kept, user.ptr, user.len);
    from->session = ses__arena_text(&search->kept, session.ptr, session.len);
    return true;
}

static int take_search_token(struct search *search, const char *token, ses_error *error)
{
    struct search_place *from = &search->from;
    struct buffer bytes;
    struct span content;
    int code = SES_OK;

    ses__buffer_init(&bytes, &search->store->allocator);
    const bool good = ses__token_read(token, hash_of_search(search), &bytes, &content) &&
                      ses__token_get_signed(&content, &from->updated_us) &&
                      ses__token_get_signed(&content, &from->user_id) &&
                      ses__token_get_signed(&content, &from->seq) && from->seq > 0 &&
                      take_session_names(search, content);
    if (bytes.failed || (good && !(from->user && from->session)))
        code = ses__error_nomem(error);
    else if (!good)
        code = ses__error_set(error, SES_INVALID, "search options: the token is not one of this search");
    ses__buffer_free(&bytes);
    return code;
}

/* ---------------------------------------------------------------------------------------------- the call */

static int take_search_options(ses_search_options *own, const ses_search_options *given, const ses_key *scope,
                               struct list_filter *filter, ses_error *error)
{
    const unsigned either = SES_SEARCH_ANY | SES_SEARCH_PHRASE;
    const unsigned known = either | SES_SEARCH_LIVE | SES_SEARCH_JSON;
    int code = ses__take_flagged(own, sizeof *own, given, known, "search options", error);

    if (code == SES_OK && (own->flags & either) == either)
        code = ses__error_set(error, SES_MISUSE,
                              "search options: SES_SEARCH_ANY and SES_SEARCH_PHRASE contradict each other");
    if (code == SES_OK && own->limit > HITS_MAX)
        code = ses__error_set(error, SES_INVALID, "search options: limit is more than %d", HITS_MAX);
    if (code == SES_OK && own->snippet_bytes > SNIPPET_MAX)
        code =
            ses__error_set(error, SES_INVALID, "search options: snippet_bytes is more than %d", SNIPPET_MAX);
    if (code == SES_OK && own->filter && scope->session)
        code =
            ses__error_set(error, SES_MISUSE, "search options: a filter, but the scope is a single session");
    return code == SES_OK ? ses__filter_take(own->filter, scope->app, scope->user, filter, error) : code;
}

int ses__search_run(struct search *search, struct span words, ses_error *error)
{
    const ses_allocator *const allocator = &search->store->allocator;
    bool found = false;
    int code = ses__terms_take(&search->terms, words, search->options->flags, allocator, error);

    ses__buffer_init(&search->words, allocator);
    ses__buffer_init(&search->plain, allocator);
    ses__arena_init(&search->kept, allocator);
    if (code == SES_OK)
        code = ses__hits_new(search->store, search->options->limit, &search->hits, error);
    if (code == SES_OK && search->options->token)
        code = take_search_token(search, search->options->token, error);
    if (code == SES_OK)
        code = ses__search_index(search, &found, error);
    if (code == SES_OK && !found)
        code = ses__search_scan(search, error);
    if (code == SES_OK && !search->taker && ses__search_is_full(search))
        code = make_search_token(search, error);
    ses__arena_free(&search->kept);
    ses__buffer_free(&search->plain);
    ses__buffer_free(&search->words);
    ses__terms_free(&search->terms);
    return code;
}

static int search_begun(ses_store *store, const ses_key *scope, const char *words, size_t len,
                        const ses_search_options *given, ses_hits **hits, ses_error *error)
{
    ses_search_options options;
    struct list_filter filter;
    struct span span;
    int code = ses__check_argument(scope, "scope", error);

    if (code == SES_OK && scope->session && !scope->user)
        code = ses__error_set(error, SES_MISUSE, "scope: it has a session, but no user");
    if (code == SES_OK)
        code = ses__check_owner(scope->app, scope->user, scope->session, error);
    if (code == SES_OK)
        code = ses__check_span(words, len, "words", &span, error);
    if (code == SES_OK)
        code = take_search_options(&options, given, scope, &filter, error);
    if (code != SES_OK)
        return code;
    struct search search = {.store = store,
                            .scope = scope,
                            .options = &options,
                            .filter = filter,
                            .limits = LIMITS_OF(store, options)};
    code = ses__search_run(&search, span, error);
    if (code == SES_OK)
        *hits = search.hits;
    else
        ses_hits_close(search.hits);
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
