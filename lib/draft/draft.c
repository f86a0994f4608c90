/* The calls of seslite_draft.h. A draft is a row of its session. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "seslite_draft.h"
#include "session/store.h"
#include "storage/sql/rows/session.h"

/* ------------------------------------------------------------------------------------ setting, clearing */

struct draft_change {
    struct session_ref session;
    int64_t lease;
    struct limits limits;
    struct session_draft draft; /* without text: it is removed */
    bool was_there;             /* out, of one that is removed */
};

/* On a server the search for the session locks its row, as in an append, so that the session and its lease
 * stay until the end. */
static int run_change(struct db *db, void *context, ses_error *error)
{
    struct draft_change *own = context;
    struct session_row row;
    struct lease_row lease = {.token = own->lease};
    struct query session;
    struct query leases;
    struct query drafts;
    const bool clears = !own->draft.body.ptr;
    int code = ses__session_ask(&session, db, &own->session, &row, error);

    if (code == SES_OK && own->lease != 0)
        ses__lease_ask(&leases, db, row.id, error);
    if (code == SES_OK && clears)
        ses__session_draft_ask(&drafts, db, row.id, error);
    if (code == SES_OK)
        code = ses__session_take(&session, &own->session, &row);
    if (code == SES_OK && own->lease != 0)
        code = ses__lease_take(&leases, row.id, &lease, NULL);
    if (code == SES_OK && lease.token != own->lease)
        code = ses__not_leased(own->lease, error);
    if (code != SES_OK || !clears)
        return code == SES_OK ? ses__session_draft_set(db, row.id, &own->draft, error) : code;
    own->was_there = ses__query_row(&drafts);
    code = ses__query_end(&drafts);
    return code == SES_OK && own->was_there ? ses__session_draft_remove(db, row.id, error) : code;
}

static int change_draft(ses_store *store, struct draft_change *own, const ses_draft_options *given,
                        ses_error *error)
{
    ses_draft_options options;
    int code = ses__check_key(own->session.key, error);

    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "draft options", error);
    if (code == SES_OK && options.lease < 0)
        code = ses__error_set(error, SES_INVALID, "draft options: lease is negative");
    if (code != SES_OK)
        return code;
    own->lease = options.lease;
    own->limits = LIMITS_OF(store, options);
    own->draft.updated_us = ses__store_now(store);
    return ses__run_within(store->storage, &own->limits, TO_WRITE(own->draft.body.len), run_change, own,
                           error);
}

static int draft_set(ses_store *store, const ses_key *key, const char *body, size_t len,
                     const ses_draft_options *options, ses_error *error)
{
    struct draft_change own = {.session = {key, NULL}};
    struct span *text = &own.draft.body;
    int code = ses__check_text(store, body, len, "body", text, error);

    if (code == SES_OK && (memchr(text->ptr, '\0', text->len) || !ses__utf8_valid(text->ptr, text->len)))
        code = ses__error_set(error, SES_INVALID, "the body is not valid UTF-8, or has a NUL");
    return code == SES_OK ? change_draft(store, &own, options, error) : code;
}

int ses_draft_set(ses_store *store, const ses_key *key, const char *body, size_t len,
                  const ses_draft_options *options, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, draft_set(store, key, body, len, options, error)) : code;
}

static int draft_clear(ses_store *store, const ses_key *key, const ses_draft_options *options,
                       ses_error *error)
{
    struct draft_change own = {.session = {key, NULL}};
    const int code = change_draft(store, &own, options, error);
    return code == SES_OK && !own.was_there ? SES_UNCHANGED : code;
}

int ses_draft_clear(ses_store *store, const ses_key *key, const ses_draft_options *options, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, draft_clear(store, key, options, error)) : code;
}

/* ---------------------------------------------------------------------------------------------- reading */

struct draft_reading {
    struct session_ref session;
    const ses_allocator *allocator;
    /* out */
    char *body; /* to be freed by ses_free in any case; NULL: there is none */
    size_t len;
    int64_t updated_us;
};

static int run_draft_reading(struct db *db, void *context, ses_error *error)
{
    struct draft_reading *own = context;
    struct session_row row;
    struct session_draft draft;
    struct query session;
    struct query rows;

    ses_free(own->body); /* of an earlier run */
    own->body = NULL;
    int code = ses__session_ask(&session, db, &own->session, &row, error);
    if (code == SES_OK)
        ses__session_draft_ask(&rows, db, row.id, error);
    ses__db_ask_last(db);
    if (code == SES_OK)
        code = ses__session_take(&session, &own->session, &row);
    if (code != SES_OK)
        return code;
    if (ses__session_draft_next(&rows, &draft)) {
        own->body = ses__memory_text_of(own->allocator, draft.body);
        own->len = draft.body.len;
        own->updated_us = draft.updated_us;
        ses__query_keep(&rows, own->body ? SES_OK : ses__error_nomem(error));
    }
    return ses__query_end(&rows);
}

static int draft_get(ses_store *store, const ses_key *key, const ses_call_options *options, char **body,
                     size_t *len, int64_t *updated_us, ses_error *error)
{
    struct draft_reading own = {.session = {key, NULL}, .allocator = &store->allocator};
    struct limits limits;
    int code = ses__take_call_options(store, options, &limits, error);

    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__run_within(store->storage, &limits, TO_READ, run_draft_reading, &own, error);
    if (code == SES_OK && own.body && updated_us)
        *updated_us = own.updated_us;
    return ses__give_json(code, own.body, own.len, body, len);
}

int ses_draft_get(ses_store *store, const ses_key *key, const ses_call_options *options, char **body,
                  size_t *len, int64_t *updated_us, ses_error *error)
{
    int code = ses__store_begin_giving(store, body, "body", error);
    return code == SES_OK
               ? ses__store_end(store, draft_get(store, key, options, body, len, updated_us, error))
               : code;
}
