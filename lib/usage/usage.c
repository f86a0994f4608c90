/* ses_store_usage. */
#include "usage/usage.h"

#include "base/error.h"
#include "base/hash.h"
#include "session/read/filter.h"
#include "session/sql/catch_up.h"
#include "session/token.h"

enum {
    USAGE_ROWS = 100,
    USAGE_ROWS_MAX = 10000,
    USAGE_NAMES = SES_USAGE_BY_APP | SES_USAGE_BY_USER | SES_USAGE_BY_SESSION,
    USAGE_FLAGS = USAGE_NAMES | SES_USAGE_BY_DAY | SES_USAGE_BY_MODEL | SES_USAGE_BY_INVOCATION
};

/* The state of one call. */
struct adding_up {
    ses_store *store;
    ses_key scope;
    const ses_usage_options *options;
    struct list_filter filter;
    struct limits limits;
    struct usage_groups groups;
    bool as_it_is;      /* even if the tally lacks events */
    bool without_tally; /* which is damaged */
    /* out */
    struct usage_walk walk;
};

/* ------------------------------------------------------------------------------------------- the token */

/* The hash of all that a token must agree with. */
static uint32_t hash_of_usage(const struct adding_up *own)
{
    const unsigned char flags = (unsigned char)own->options->flags;
    const int64_t *const times[] = {own->options->since_us, own->options->before_us};
    uint32_t hash = ses__hash32(HASH32_BASIS, &flags, 1);

    hash = ses__filter_add_text(hash, 'a', own->scope.app);
    hash = ses__filter_add_text(hash, 'u', own->scope.user);
    hash = ses__filter_add_text(hash, 's', own->scope.session);
    hash = ses__filter_hash(hash, &own->filter);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const uint64_t time = times[i] ? (uint64_t)*times[i] : 0;
        unsigned char bytes[9] = {times[i] != NULL};
        for (size_t b = 0; b < 8; b++)
            bytes[b + 1] = (unsigned char)(time >> 8 * b & 0xFF);
        hash = ses__hash32(hash, bytes, sizeof bytes);
    }
    return hash;
}

static int make_usage_token(const struct adding_up *own, struct span last_key, ses_usage_rows *rows,
                            ses_error *error)
{
    struct buffer bytes;

    ses__token_begin(&bytes, &own->store->allocator);
    ses__buffer_add(&bytes, last_key.ptr, last_key.len);
    rows->token = ses__token_end(&bytes, hash_of_usage(own));
    return rows->token ? SES_OK : ses__error_nomem(error);
}

/* `bytes` holds what comes after which key the page begins. */
static int take_usage_token(struct adding_up *own, struct buffer *bytes, ses_error *error)
{
    const char *token = own->options->token;

    if (!token || ses__token_read(token, hash_of_usage(own), bytes, &own->groups.after))
        return SES_OK;
    return bytes->failed
               ? ses__error_nomem(error)
               : ses__error_set(error, SES_INVALID, "usage options: the token is not one of such a call");
}

/* ---------------------------------------------------------------------------------------------- the job */

static enum usage_share share_of_usage(void *context, const struct usage_sums *sums)
{
    return ses__groups_share(context, sums);
}

static int visit_usage(void *context, const struct usage_session *session, const struct usage_sums *sums,
                       struct span model, struct span invocation, ses_error *error)
{
    return ses__groups_add(context, session, sums, model, invocation, error);
}

/* NOTFOUND without a message: nobody has written anything there. */
static int find_usage_scope(struct adding_up *own, struct db *db, ses_error *error)
{
    const ses_key *scope = &own->scope;
    struct user_row owner = {0, 0};
    struct session_row row;
    int code = SES_OK;

    if (scope->session) {
        code = ses__session_find(db, scope, &row, error);
        own->walk.session_id = row.id;
        return code == SES_NOTFOUND ? ses__no_such_session(scope, error) : code;
    }
    if (scope->app)
        code = ses__owner_find(db, scope->app, scope->user, &owner, error);
    own->walk.user_id = owner.id;
    own->walk.app_id = owner.app_id;
    return code;
}

static int run_adding_up(struct db *db, void *context, ses_error *error)
{
    struct adding_up *own = context;
    const unsigned flags = own->options->flags;
    bool is_kept = false;
    bool is_wanted = false;
    int code = SES_OK;

    if (!own->without_tally && !(flags & SES_USAGE_BY_INVOCATION))
        code = ses__usage_find_wish(db, &is_kept, &is_wanted, error);
    ses__groups_restart(&own->groups); /* after an earlier run */
    own->walk = (struct usage_walk){.filter = own->filter,
                                    .names = (flags & USAGE_NAMES) != 0,
                                    .is_kept = is_kept,
                                    .stops_if_late = is_wanted && !own->as_it_is,
                                    .by_part = (flags & (SES_USAGE_BY_DAY | SES_USAGE_BY_MODEL)) != 0,
                                    .context = &own->groups,
                                    .share = share_of_usage,
                                    .visit = visit_usage};
    if (code == SES_OK)
        code = find_usage_scope(own, db, error);
    if (code == SES_NOTFOUND && !own->scope.session)
        return SES_OK;
    return code == SES_OK ? ses__usage_walk(db, &own->walk, error) : code;
}

static int run_once(struct adding_up *own, ses_error *error)
{
    return ses__run_within(own->store->storage, &own->limits, TO_READ_BEFORE_WRITING, run_adding_up, own,
                           error);
}

/* Brings the tally up to date, and makes its table if that is missing. If the store cannot be written to, or
 * the tally is damaged, it stays as it is. */
static int bring_up_to_date(const struct adding_up *own, ses_error *error)
{
    struct catch_up catching_up = {.store = own->store,
                                   .limits = own->limits,
                                   .feature = &ses__usage_feature,
                                   .app_id = own->walk.app_id,
                                   .user_id = own->walk.user_id,
                                   .session_id = own->walk.session_id};
    const int code =
        own->walk.is_kept ? ses__catch_up(&catching_up, error) : ses__feature_keep(&catching_up, 0, error);

    if (code != SES_READONLY && code != SES_FULL && code != SES_CORRUPT)
        return code;
    ses__error_clear(error);
    return SES_OK;
}

static int add_up_by_tally(struct adding_up *own, ses_error *error)
{
    int code = run_once(own, error);

    if (code != SES_OK || !own->walk.is_late)
        return code;
    code = bring_up_to_date(own, error);
    own->as_it_is = true;
    return code == SES_OK ? run_once(own, error) : code;
}

/* A tally that is damaged counts as not there. If the events are damaged, that is found without it, too. */
static int add_all_up(struct adding_up *own, ses_error *error)
{
    const int code = add_up_by_tally(own, error);

    if (code != SES_CORRUPT || !own->walk.is_kept)
        return code;
    ses__error_clear(error);
    own->without_tally = true;
    return run_once(own, error);
}

/* --------------------------------------------------------------------------------------------- the call */

static int take_usage_options(ses_usage_options *own, const ses_usage_options *given, ses_error *error)
{
    const int code = ses__take_flagged(own, sizeof *own, given, USAGE_FLAGS, "usage options", error);

    if (code == SES_OK && own->limit > USAGE_ROWS_MAX)
        return ses__error_set(error, SES_INVALID, "usage options: limit is more than %d", USAGE_ROWS_MAX);
    if (own->limit == 0)
        own->limit = USAGE_ROWS;
    return code;
}

static int take_usage_scope(ses_key *own, const ses_key *given, ses_error *error)
{
    *own = given ? *given : (ses_key){NULL, NULL, NULL};
    if ((own->user && !own->app) || (own->session && !own->user))
        return ses__error_set(error, SES_MISUSE, "scope: it has a %s, but no %s",
                              own->session && !own->user ? "session" : "user",
                              own->session && !own->user ? "user" : "app");
    return own->app ? ses__check_owner(own->app, own->user, own->session, error) : SES_OK;
}

static int make_rows(struct adding_up *own, ses_usage_rows *rows, ses_error *error)
{
    struct buffer bytes;
    struct span last_key = {NULL, 0};
    bool more = false;

    ses__buffer_init(&bytes, &own->store->allocator);
    ses__groups_init(&own->groups, own->store, &rows->arena, own->options);
    int code = take_usage_token(own, &bytes, error);
    if (code == SES_OK)
        code = add_all_up(own, error);
    if (code == SES_OK && !ses__groups_take(&own->groups, own->options->limit, rows, &last_key, &more))
        code = ses__error_nomem(error);
    if (code == SES_OK && more)
        code = make_usage_token(own, last_key, rows, error);
    ses__groups_free(&own->groups);
    ses__buffer_free(&bytes);
    return code;
}

static ses_usage_rows *new_rows(ses_store *store)
{
    ses_usage_rows *rows = ses__memory_zeroed(&store->allocator, sizeof *rows);

    if (!rows)
        return NULL;
    rows->store = store;
    ses__store_retain(store);
    ses__arena_init(&rows->arena, &store->allocator);
    return rows;
}

static int usage_begun(ses_store *store, const ses_key *scope, const ses_usage_options *given,
                       ses_usage_rows **rows, ses_error *error)
{
    ses_usage_options options;
    struct adding_up own = {.store = store, .options = &options};
    int code = take_usage_scope(&own.scope, scope, error);

    if (code == SES_OK)
        code = take_usage_options(&options, given, error);
    if (code == SES_OK)
        code = ses__filter_take(options.filter, own.scope.user, &own.filter, error);
    if (code != SES_OK)
        return code;
    if (options.since_us && *options.since_us > own.filter.since_us) /* no event is later than its session */
        own.filter.since_us = *options.since_us;
    own.limits = LIMITS_OF(store, options);
    ses_usage_rows *made = new_rows(store);
    if (!made)
        return ses__error_nomem(error);
    code = make_rows(&own, made, error);
    if (code == SES_OK)
        *rows = made;
    else
        ses_usage_rows_close(made);
    return code;
}

int ses_store_usage(ses_store *store, const ses_key *scope, const ses_usage_options *options,
                    ses_usage_rows **rows, ses_error *error)
{
    int code = ses__store_begin_giving(store, rows, "rows", error);
    return code == SES_OK ? ses__store_end(store, usage_begun(store, scope, options, rows, error)) : code;
}
