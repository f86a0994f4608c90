/* ses_store_find. */
#include "erase/find/find.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "session/read/filter.h"
#include "session/token.h"
#include "storage/sql/rows/artifact.h"

enum { FINDINGS_DEFAULT = 100, FINDINGS_MAX = 10000 };

/* ------------------------------------------------------------------------------------------- the token */

static uint32_t hash_of_find(const struct find *find)
{
    static const ses_key all = {NULL, NULL, NULL};
    const ses_key *scope = find->scope ? find->scope : &all;
    const unsigned char flags = (unsigned char)find->options->flags;
    uint32_t hash = ses__hash32(HASH32_BASIS, &flags, 1);

    hash = ses__filter_add_text(hash, 'a', scope->app);
    hash = ses__filter_add_text(hash, 'u', scope->user);
    hash = ses__filter_add_text(hash, 's', scope->session);
    return find->text.ptr ? ses__hash32(hash, find->text.ptr, find->text.len) : hash;
}

static int make_find_token(struct find *find, ses_error *error)
{
    const struct find_place *at = &find->at;
    const char *const texts[] = {at->app,     at->user, at->session_user,
                                 at->session, at->name, at->token ? at->token : ""};
    struct buffer bytes;

    ses__token_begin(&bytes, &find->store->allocator);
    ses__token_put_signed(&bytes, at->step);
    ses__token_put_signed(&bytes, at->seq);
    ses__token_put_signed(&bytes, at->version);
    ses__token_put_signed(&bytes, at->offset);
    ses__token_put(&bytes, at->last);
    ses__token_put(&bytes, at->reading);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const size_t len = strlen(texts[i]);
        ses__token_put(&bytes, len);
        ses__buffer_add(&bytes, texts[i], len);
    }
    find->page->token = ses__token_end(&bytes, hash_of_find(find));
    return find->page->token ? SES_OK : ses__error_nomem(error);
}

static bool get_find_text(struct span *content, struct span *text)
{
    uint64_t len = 0;

    if (!ses__token_get(content, &len) || len > content->len || memchr(content->ptr, '\0', (size_t)len) ||
        !ses__utf8_valid(content->ptr, (size_t)len))
        return false;
    *text = (struct span){content->ptr, (size_t)len};
    *content = (struct span){content->ptr + len, content->len - (size_t)len};
    return true;
}

static bool get_find_name(struct span *content, char *name)
{
    struct span text;

    if (!get_find_text(content, &text) || text.len > SES_ID_MAX)
        return false;
    memcpy(name, text.ptr, text.len);
    name[text.len] = '\0';
    return true;
}

/* True if a walk over this scope can be at that place. Its numbers may be forged. */
static bool is_place_of(const struct find *find, const struct find_place *at)
{
    static const ses_key all = {NULL, NULL, NULL};
    const ses_key *scope = find->scope ? find->scope : &all;
    const int64_t first = scope->session ? FIND_STATES
                          : scope->user  ? FIND_USER
                          : scope->app   ? FIND_APP
                                         : FIND_NEXT_APP;
    const bool in_session = at->step >= FIND_STATES;
    const bool in_user = at->step >= FIND_USER && at->step <= FIND_LOOSE_ARTIFACTS;

    return at->step >= first && at->step < FIND_END && at->step != FIND_ONE_SESSION && at->seq >= 0 &&
           at->seq < INT64_MAX && at->version >= 0 && at->version <= MAX_ARTIFACT_VERSION + 1 &&
           at->offset >= 0 && at->offset <= LARGEST_ARTIFACT && (at->app[0] || at->step == FIND_NEXT_APP) &&
           (at->user[0] || !in_user) && (!in_session || (at->session[0] && at->session_user[0])) &&
           (!scope->app || strcmp(scope->app, at->app) == 0) &&
           (!scope->user || !in_user || strcmp(scope->user, at->user) == 0) &&
           (!scope->user || !in_session || strcmp(scope->user, at->session_user) == 0) &&
           (!scope->session || strcmp(scope->session, at->session) == 0);
}

static bool get_find_place(struct find *find, struct span content, struct span *token)
{
    struct find_place *at = &find->at;
    uint64_t last = 0;
    uint64_t reading = 0;

    const bool good =
        ses__token_get_signed(&content, &at->step) && ses__token_get_signed(&content, &at->seq) &&
        ses__token_get_signed(&content, &at->version) && ses__token_get_signed(&content, &at->offset) &&
        ses__token_get(&content, &last) && ses__token_get(&content, &reading) &&
        get_find_name(&content, at->app) && get_find_name(&content, at->user) &&
        get_find_name(&content, at->session_user) && get_find_name(&content, at->session) &&
        get_find_name(&content, at->name) && get_find_text(&content, token) && content.len == 0;
    at->last = last != 0;
    at->reading = reading != 0;
    return good && is_place_of(find, at);
}

static int take_find_token(struct find *find, ses_error *error)
{
    struct buffer bytes;
    struct span content;
    struct span token;
    int code = SES_OK;

    ses__buffer_init(&bytes, &find->store->allocator);
    if (ses__token_read(find->options->token, hash_of_find(find), &bytes, &content) &&
        get_find_place(find, content, &token))
        code = ses__find_keep_token(find, token, error);
    else if (bytes.failed)
        code = ses__error_nomem(error);
    else
        code = ses__error_set(error, SES_INVALID, "find options: the token is not one of this search");
    ses__buffer_free(&bytes);
    return code;
}

/* -------------------------------------------------------------------------------------------- the call */

static void begin_place(struct find *find)
{
    const ses_key *scope = find->scope;
    struct find_place *at = &find->at;

    at->step = !scope           ? FIND_NEXT_APP
               : scope->session ? FIND_ONE_SESSION
               : scope->user    ? FIND_USER
                                : FIND_APP;
    if (scope)
        memcpy(at->app, scope->app, strlen(scope->app) + 1);
    if (scope && scope->user)
        memcpy(at->user, scope->user, strlen(scope->user) + 1);
}

static int find_all(struct find *find, ses_error *error)
{
    const ses_allocator *allocator = &find->store->allocator;
    ses_findings *page = ses__memory_zeroed(allocator, sizeof *page);
    int code = SES_OK;

    if (!page)
        return ses__error_nomem(error);
    page->store = find->store;
    ses__store_retain(find->store);
    ses__arena_init(&page->arena, allocator);
    find->page = page;
    ses__buffer_init(&find->plain, allocator);
    if (find->options->token)
        code = take_find_token(find, error);
    else
        begin_place(find);
    while (code == SES_OK && find->at.step != FIND_END && !ses__find_is_full(find))
        code = ses__limits_passed(&find->limits) ? ses__limits_refuse(find->store->path, error)
                                                 : ses__find_step(find, error);
    if (code == SES_OK && find->at.step != FIND_END)
        code = make_find_token(find, error);
    ses__buffer_free(&find->plain);
    ses__memory_free(allocator, find->at.token);
    return code;
}

static int take_find_options(ses_find_options *own, const ses_find_options *given, const char *text,
                             size_t len, struct span *span, ses_error *error)
{
    int code = ses__take_flagged(own, sizeof *own, given, SES_FIND_IGNORE_CASE, "find options", error);

    *span = (struct span){NULL, 0};
    if (code == SES_OK && (text != NULL) == (own->find != NULL))
        code = ses__error_set(error, SES_MISUSE,
                              "find: it takes either a text or options with a function that finds");
    if (code == SES_OK && text)
        code = ses__check_span(text, len, "text", span, error);
    if (code == SES_OK && text && (span->len == 0 || span->len > FIND_TEXT_MAX))
        code =
            ses__error_set(error, SES_INVALID, "the text is empty, or longer than %d bytes", FIND_TEXT_MAX);
    if (code == SES_OK && own->limit > FINDINGS_MAX)
        code = ses__error_set(error, SES_INVALID, "find options: limit is more than %d", FINDINGS_MAX);
    return code;
}

static int find_begun(ses_store *store, const ses_key *scope, const char *text, size_t len,
                      const ses_find_options *given, ses_findings **findings, ses_error *error)
{
    ses_find_options options;
    struct span span;
    int code = SES_OK;

    if (scope && scope->session && !scope->user)
        code = ses__error_set(error, SES_MISUSE, "scope: it has a session, but no user");
    else if (scope)
        code = ses__check_owner(scope->app, scope->user, scope->session, error);
    if (code == SES_OK)
        code = take_find_options(&options, given, text, len, &span, error);
    if (code != SES_OK)
        return code;
    struct find find = {.store = store,
                        .scope = scope,
                        .text = span,
                        .options = &options,
                        .limits = LIMITS_OF(store, options),
                        .limit = options.limit ? options.limit : FINDINGS_DEFAULT,
                        .bytes_left = FIND_PAGE_BYTES};
    code = find_all(&find, error);
    if (code == SES_OK)
        *findings = find.page;
    else
        ses_findings_close(find.page);
    return code;
}

int ses_store_find(ses_store *store, const ses_key *scope, const char *text, size_t len,
                   const ses_find_options *options, ses_findings **findings, ses_error *error)
{
    int code = ses__store_begin_giving(store, findings, "findings", error);
    return code == SES_OK
               ? ses__store_end(store, find_begun(store, scope, text, len, options, findings, error))
               : code;
}

size_t ses_findings_count(const ses_findings *findings)
{
    return findings->found.count;
}

const ses_finding *ses_findings_at(const ses_findings *findings, size_t index)
{
    return index < findings->found.count ? &findings->found.items[index] : NULL;
}

const char *ses_findings_token(const ses_findings *findings)
{
    return findings->token;
}

void ses_findings_close(ses_findings *findings)
{
    if (findings) {
        ses_store *store = findings->store;
        ses__arena_free(&findings->arena);
        ses__memory_free(&store->allocator, findings->found.items);
        ses__memory_free(&store->allocator, findings->token);
        ses__memory_free(&store->allocator, findings);
        ses__store_release(store);
    }
}
