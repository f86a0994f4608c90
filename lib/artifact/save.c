/* Saves an artifact by itself, and deletes one. */
#include "artifact/artifact.h"
#include "base/error.h"

struct saving {
    const struct artifact_call *call;
    const struct artifact_new *fresh;
    int64_t now_us;
    /* out */
    int64_t version;
};

static int run_saving(struct db *db, void *context, ses_error *error)
{
    struct saving *saving = context;
    const bool anyway = (saving->fresh->options.flags & SES_ARTIFACT_WITHOUT_SESSION) != 0;
    const struct span name = ses__span_of(saving->call->name);
    struct artifact_owner owner;
    int code = ses__artifact_make_owner(db, saving->call, anyway, &owner, error);

    if (code == SES_OK)
        code = ses__contents_sweep(db, owner.user_id, saving->now_us, error);
    return code == SES_OK ? ses__artifact_store_next(db, &owner, saving->fresh, name, saving->now_us,
                                                     &saving->version, error)
                          : code;
}

static int save(const struct target *target, const char *name, const void *bytes, size_t len,
                const ses_artifact_save_options *options, int64_t *version, ses_error *error)
{
    struct artifact_call call;
    struct artifact_new fresh;
    struct saving saving = {.call = &call, .fresh = &fresh};
    int code = ses__artifact_begin(&call, target, name ? name : "", error);

    if (code != SES_OK)
        return code;
    ses_store *store = call.at.store;
    code = ses__artifact_upload(&fresh, &call, bytes, len, options, error);
    if (code == SES_OK) {
        const size_t size = fresh.blob.bytes ? (size_t)fresh.blob.size : 0;
        saving.now_us = ses__store_now(store);
        code = ses__run_within(store->storage, &fresh.limits, TO_WRITE(size), run_saving, &saving, error);
    }
    if (code == SES_OK && version)
        *version = saving.version;
    ses__artifact_new_free(&fresh, store);
    return ses__call_end(&call.at, code);
}

int ses_artifact_save(ses_session *session, const char *name, const void *bytes, size_t len,
                      const ses_artifact_save_options *options, int64_t *version, ses_error *error)
{
    return save(ON(session), name, bytes, len, options, version, error);
}

int ses_artifact_save_by_key(ses_store *store, const ses_key *key, const char *name, const void *bytes,
                             size_t len, const ses_artifact_save_options *options, int64_t *version,
                             ses_error *error)
{
    return save(AT(store, key), name, bytes, len, options, version, error);
}

/* ------------------------------------------------------------------------------------------- deleting */

struct removal {
    struct erasure erasure;
    const struct artifact_call *call;
    /* out */
    int64_t removed;
};

static int run_removal(struct db *db, void *context, ses_error *error)
{
    struct removal *removal = context;
    struct artifact_owner owner;
    struct query user;
    int code = ses__artifact_ask_owner(&user, db, removal->call, &owner, error);

    removal->removed = 0;
    if (code == SES_OK)
        code = ses__artifacts_remove(db, &owner, ses__span_of(removal->call->name), &removal->removed, error);
    if (code == SES_OK)
        code = ses__artifact_take_owner(&user, &owner);
    return code == SES_NOTFOUND ? SES_OK : code; /* there is no such user */
}

static int delete_artifact(const struct target *target, const char *name, const ses_delete_options *given,
                           int64_t *deleted, ses_error *error)
{
    struct artifact_call call;
    struct removal removal = {.call = &call};
    ses_delete_options options;
    int code = ses__artifact_begin(&call, target, name ? name : "", error);

    if (code != SES_OK)
        return code;
    code = ses__delete_options_take(call.at.store, given, 0, &options, &removal.erasure, error);
    if (code == SES_OK)
        code = ses__run_delete(call.at.store->storage, &removal.erasure, run_removal, &removal, error);
    if (code == SES_OK && deleted)
        *deleted = removal.removed;
    if (code == SES_OK)
        ses__receipt_end(options.erased, &removal.erasure);
    return ses__call_end(&call.at, code == SES_OK && removal.erasure.unclean ? SES_MORE : code);
}

int ses_artifact_delete(ses_session *session, const char *name, const ses_delete_options *options,
                        int64_t *deleted, ses_error *error)
{
    return delete_artifact(ON(session), name, options, deleted, error);
}

int ses_artifact_delete_by_key(ses_store *store, const ses_key *key, const char *name,
                               const ses_delete_options *options, int64_t *deleted, ses_error *error)
{
    return delete_artifact(AT(store, key), name, options, deleted, error);
}
